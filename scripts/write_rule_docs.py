"""Write docs/rules.md from the docstrings of the lint rules; a test compares the two."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from kengine.lint.rule import SECTIONS, Rule
from kengine.lint.rules import RULES

ROOT = Path(__file__).resolve().parents[1]
INTRODUCTION = """\
# Lint rules

Lint looks at the text of a candidate; nothing is executed. A `reject` ends the run with `lint_rejected`, a `warn` is
only reported. Comments never count, and strings count only where code uses them as names or as C++ sources. Those, and
files of CUDA and HIP, are read after a preprocessor of kengine's own: macros expanded, tokens pasted, dead branches
dropped. What stands in a branch of which the text does not say whether it is compiled is only a `warn`. A candidate
cannot switch a rule off; the command line (`--select`, `--ignore`) can, and the verdict says so. A task may permit
operators and libraries with `allow = ["aten::mm", "cublas", "torch.compile"]` in its block.

Rules are tripwires, not verdicts: what they do not see, the integrity checks look for while the kernel runs.

This page is written by `scripts/write_rule_docs.py`.
"""


def render() -> str:
    """The whole page."""
    from kengine_cuda.lint.rules import RULES as CUDA
    from kengine_hip.lint.rules import RULES as HIP
    from kengine_nki.lint.rules import RULES as NKI
    from kengine_triton.lint.rules import RULES as TRITON

    every = (*RULES, *TRITON, *CUDA, *HIP, *NKI)
    parts = [INTRODUCTION, "| code | name | severity |\n|---|---|---|"]
    for rule in every:
        anchor = f"{rule.code} {rule.name}".lower().replace(" ", "-")
        parts[-1] += f"\n| [{rule.code}](#{anchor}) | {rule.name} | {rule.severity} |"
    parts[-1] += "\n"
    parts += [_page(rule) for rule in every]
    return "\n".join(parts)


def _page(rule: Rule) -> str:
    sections = rule.sections
    lines = [f"## {rule.code} {rule.name}", "", sections[""].strip(), "", f"Severity: {rule.severity}.", ""]
    for title in SECTIONS:
        text = sections[title]
        lines += [f"**{title}**", ""]
        if text.startswith("    "):
            lines += [f"```{_language(rule)}", textwrap.dedent(text).strip("\n"), "```", ""]
        else:
            lines += [text.strip(), ""]
    return "\n".join(lines)


def _language(rule: Rule) -> str:
    """The language of a rule's examples."""
    native = rule.code.startswith(("KE4", "KH", "KC102", "KC103", "KC105", "KC106")) and rule.code != "KE404"
    return "cpp" if native else "python"


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    (ROOT / "docs").mkdir(exist_ok=True)
    (ROOT / "docs" / "rules.md").write_text(render())
