"""What a lint rule is: a code, a check over one parsed file, and the page that explains it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kengine.model import Finding, Target, Task

if TYPE_CHECKING:
    from kengine.lint.source import SourceTree

Severity = Literal["reject", "warn"]
SECTIONS = ("What it does", "Why is this bad", "Example", "Use instead")
"""Headings that the docstring of a rule's module has, in this order."""

_CODE = re.compile(r"[A-Z]{2,4}\d{3}\Z")


@dataclass(frozen=True)
class Hit:
    """One place that a rule found. `severity` overrides the rule's own for this place."""

    line: int
    message: str
    column: int = 0
    severity: Severity | None = None


def hit(node: ast.AST, message: str, severity: Severity | None = None) -> Hit:
    """A hit at a node of the tree."""
    return Hit(getattr(node, "lineno", 0), message, getattr(node, "col_offset", 0) + 1, severity)


@dataclass(frozen=True)
class Context:
    """What a rule may know besides the file: the task, the target, and the names of the candidate's own modules."""

    task: Task
    target: Target
    modules: frozenset[str] = frozenset()

    def allows(self, *names: str) -> bool:
        """Whether the task's `allow` names one of these, or a package or prefix (`torch.special.*`) that holds it."""
        for allowed in self.task.spec.allow:
            prefix = allowed.removesuffix("*").rstrip(".")
            for name in names:
                if name in (allowed, prefix) or name.startswith(prefix + "."):
                    return True
        return False


ALL = ("python", "cuda", "hip")
"""Languages of a rule about C++: sources stand in bare files and in strings of Python files."""

Check = Callable[["SourceTree", Context], Iterable[Hit]]


@dataclass(frozen=True)
class Rule:
    """One rule. Raises ValueError for a code that is not two to four capitals and three digits.

    languages: of the candidates that it looks at. severity: `reject` only for unambiguous tampering or delegation.
    doc: the docstring of its module, with the headings of `SECTIONS`. main_only: skips further files of a candidate.
    """

    code: str
    name: str
    severity: Severity
    check: Check
    doc: str
    languages: tuple[str, ...] = ("python",)
    main_only: bool = False

    def __post_init__(self) -> None:
        if not _CODE.match(self.code):
            raise ValueError(f"rule code {self.code!r} is not two to four capitals and three digits")

    @property
    def sections(self) -> dict[str, str]:
        """Text under each heading of the docstring; the first paragraph under ""."""
        found: dict[str, list[str]] = {"": []}
        current = ""
        for line in self.doc.strip().split("\n"):
            if line.strip().rstrip(":") in SECTIONS and line.strip().endswith(":"):
                current = line.strip().rstrip(":")
                found[current] = []
            else:
                found[current].append(line)
        return {key: "\n".join(lines).strip("\n") for key, lines in found.items()}


def select_rules(rules: Iterable[Rule], select: Iterable[str], ignore: Iterable[str]) -> tuple[Rule, ...]:
    """Rules whose code starts with one of `select` (all when it is empty) and with none of `ignore`."""
    chosen, left_out = tuple(select), tuple(ignore)
    return tuple(rule for rule in rules if is_selected(rule.code, chosen, left_out))


def is_selected(code: str, select: tuple[str, ...], ignore: tuple[str, ...]) -> bool:
    """Whether a code is chosen by prefixes."""
    return (not select or code.startswith(select)) and not (ignore and code.startswith(ignore))


def make_finding(rule: Rule, found: Hit, path: str) -> Finding:
    """The record of one hit."""
    return Finding(rule.code, found.severity or rule.severity, found.message, path, found.line, found.column)
