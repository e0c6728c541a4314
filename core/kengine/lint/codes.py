"""Which rules there are, so that a code that names none is not taken for a wish to have no lint at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kengine.errors import UsageError
from kengine.lint.rule import is_selected
from kengine.lint.runner import hear

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kengine.plugins.backend import Backend

OWN = "KE99"
"""How the codes begin by which kengine reports its own and plugins' failures; nothing switches them off."""


@dataclass(frozen=True)
class Codes:
    """Codes of the rules that look at candidates of a backend, and the titles of plugins that do not tell theirs."""

    known: frozenset[str]
    silent: tuple[str, ...] = ()

    def names(self, prefix: str) -> bool:
        """Whether a rule that is known has a code that begins so."""
        return prefix.startswith(OWN) or OWN.startswith(prefix) or any(code.startswith(prefix) for code in self.known)

    def left(self, select: Iterable[str], ignore: Iterable[str]) -> int:
        """How many of the known rules `select` and `ignore` leave."""
        chosen, left_out = tuple(select), tuple(ignore)
        return sum(is_selected(code, chosen, left_out) for code in self.known)

    def nearest(self, code: str) -> str:
        """The code that was perhaps meant, "" when none is near."""
        from difflib import get_close_matches

        wanted = code.upper()
        beginning = sorted(known for known in self.known if known.startswith(wanted))
        return next(iter(beginning or get_close_matches(wanted, sorted(self.known), 1)), "")


def find_codes(backend: Backend) -> Codes:
    """The rules of the core, of a backend and of its packs; those count that run by `kengine.lint.run`.

    A plugin is asked for its findings in an empty file.
    """
    from kengine.lint.rules import RULES
    from kengine.model import Candidate, SourceFile, Target, Task

    known = {rule.code for rule in RULES}
    silent = []
    candidate = Candidate((SourceFile("empty.py", ""),), "candidate")
    task = Task("none", "function", "")
    for title, call in backend.linters():
        with hear() as heard:
            try:
                call(candidate=candidate, task=task, target=Target(backend.name, "none"))
            except Exception:  # its failure is told where it is asked for real findings
                heard.codes.clear()
        known |= heard.codes
        if not heard.codes:
            silent.append(title)
    return Codes(frozenset(known), tuple(silent))


def check_codes(codes: Codes, selections: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
    """Check what was asked for, as pairs of an option and the codes given with it; returns warnings.

    Raises UsageError for a code that no rule has, with the nearest one. Where a plugin does not tell its rules it may
    be one of these: then it is a warning.
    """
    warnings = []
    for option, given in selections:
        for code in given:
            if codes.names(code):
                continue
            near = codes.nearest(code)
            hint = f"; did you mean {near}?" if near else "; docs/rules.md lists the codes"
            problem = f"{option} {code}: no lint rule has a code that begins so{hint}"
            if not codes.silent:
                raise UsageError(problem)
            warnings.append(f"{problem}; {' and '.join(codes.silent)} do not tell theirs")
    return warnings
