"""Loads and stores without a mask.

What it does:
Finds kernels in which no `tl.load` and no `tl.store` of a `tl.arange` tile has a mask, and no block pointer or
descriptor with bounds is used.

Why is this bad:
Sizes that are no multiple of the block read and write beyond the end. It is a warning: a wrapper may pad, or the
task may only have such sizes.

Example:
    x = tl.load(x_ptr + pid * BLOCK + tl.arange(0, BLOCK))

Use instead:
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_triton.lint.kernels import find_kernels, language_calls

_BOUNDED = ("make_block_ptr", "make_tensor_descriptor", "where", "atomic_add", "cat")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at loads and stores."""
    for kernel in find_kernels(source).functions:
        stores = language_calls(source, kernel, "store")
        touches = [*language_calls(source, kernel, "load"), *stores]
        if not stores or not language_calls(source, kernel, "arange"):
            continue
        masked = any(
            any(k.arg in ("mask", "boundary_check") for k in call.keywords) or len(call.args) > (1 + (call in stores))
            for call in touches
        )
        if not masked and not any(language_calls(source, kernel, name) for name in _BOUNDED):
            yield hit(kernel, f"kernel {kernel.name!r} loads and stores without a mask; other sizes go out of bounds")


RULE = Rule("KT104", "no-tail-mask", "warn", check, __doc__)
