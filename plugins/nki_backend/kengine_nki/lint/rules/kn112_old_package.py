"""A kernel of `neuronxcc.nki` for a chip that only the standalone `nki` compiles for.

What it does:
Finds imports of `neuronxcc.nki` when the target is `nki:trn3`.

Why is this bad:
Since NKI 0.4 the old package is refused inside of kernels, and it never knew this chip. The interpreter still runs
it.

Example:
    import neuronxcc.nki.language as nl  # with --target nki:trn3

Use instead:
    import nki.language as nl
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.kernels import generations


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at the imports."""
    node = generations(source).get("old")
    if node is not None and context.target.arch == "trn3":
        yield hit(
            node, "trn3 needs the standalone `nki` package: write the kernel with `import nki`, not neuronxcc.nki"
        )


RULE = Rule("KN112", "old-package", "warn", check, __doc__)
