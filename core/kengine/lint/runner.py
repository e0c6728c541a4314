"""Run rules over a candidate. A rule that breaks leaves one warning, never a lost or failed verdict."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath

from kengine.lint.cpp.sources import EXTENSIONS
from kengine.lint.rule import Context, Rule, Severity, is_selected, make_finding, select_rules
from kengine.lint.source import SourceTree
from kengine.model import Candidate, Finding, LintRecord, Target, Task
from kengine.tasks.source import SourceError, parse

RULE_FAILED = "KE991"
"""Code of the warning that a rule broke."""

NOT_READ = "KE992"
"""Code of the warning that a file was too large to look at."""

MAX_CHARACTERS = 2_000_000
"""Most characters of a file that rules look at."""

MAX_NODES = 50_000
"""Most nodes of a file's tree that rules look at; some 5,000 lines, fifty times a generated kernel."""

MAX_FINDINGS = 20
"""Most findings of one rule; the rest is summed up in one."""

_heard: ContextVar[Heard | None] = ContextVar("_heard", default=None)


def run(
    candidate: Candidate,
    task: Task,
    target: Target,
    rules: Iterable[Rule],
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
) -> LintRecord:
    """Run the rules that `select` and `ignore` (codes or their beginnings) leave, on every file they understand.

    A file that does not parse has no findings: compiling it says so with the line.
    """
    chosen, left_out, rules = tuple(select), tuple(ignore), tuple(rules)
    if (heard := _heard.get()) is not None:
        heard.codes.update(rule.code for rule in rules)
        heard.fitting.update(rule.code for rule in rules if candidate.language in rule.languages)
    active = [r for r in select_rules(rules, chosen, left_out) if candidate.language in r.languages]
    context = Context(task, target, frozenset(PurePath(f.path).stem for f in candidate.files))
    findings: list[Finding] = []
    for source in read_sources(candidate):
        if isinstance(source, Finding):
            findings.append(source)
            continue
        native = not source.tree.body
        for rule in active:
            if (source.entry or not rule.main_only) and not (native and rule.languages == ("python",)):
                findings += _apply(rule, source, context)
    order = {"reject": 0, "warn": 1}
    findings.sort(key=lambda f: (order[f.severity], f.path, f.line, f.code))
    return LintRecord(tuple(findings), len(active), left_out)


@dataclass
class Heard:
    """Codes of rules that were run, and of those among them that look at the candidate's language."""

    codes: set[str] = field(default_factory=set)
    fitting: set[str] = field(default_factory=set)


@contextmanager
def hear() -> Iterator[Heard]:
    """Gather the rules that are run within, whoever has them run."""
    heard = Heard()
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


def read_sources(candidate: Candidate) -> list[SourceTree | Finding]:
    """Parse the files of a candidate, the main one first; Python files that do not parse are left out.

    A file in C++ has a tree without nodes. In place of a file that is too large stands the warning that says so.
    """
    found: list[SourceTree | Finding] = []
    for file in candidate.files:
        main = file is candidate.main
        python = file.path.endswith(".py") or (main and candidate.language == "python")
        if len(file.text) > MAX_CHARACTERS:
            message = f"the file has {len(file.text):,} characters, rules look at no more than {MAX_CHARACTERS:,}"
            found.append(Finding(NOT_READ, "warn", message, file.path, 1))
        elif python:
            source = _read(file.text, file.path, candidate.entry if main else "")
            if source is not None:
                found.append(source)
        elif main or file.path.endswith(EXTENSIONS):
            found.append(_native(file.text, file.path, candidate.entry if main else ""))
    return found


@lru_cache(maxsize=16)
def _native(text: str, path: str, entry: str) -> SourceTree:
    return SourceTree(text, ast.Module([], []), path, entry)


@lru_cache(maxsize=16)
def _read(text: str, path: str, entry: str) -> SourceTree | Finding | None:
    """Parse once for the core's rules and for every pack that looks at the same candidate after it."""
    try:
        source = parse(text, path)
        # A character makes no more than four nodes.
        count = sum(1 for _ in ast.walk(source.tree)) if 4 * len(text) > MAX_NODES else 0
        if count > MAX_NODES:
            message = f"the file has {count:,} syntax nodes, rules look at no more than {MAX_NODES:,}"
            return Finding(NOT_READ, "warn", message, path, 1)
        return SourceTree(source.text, source.tree, path, entry)
    except (SourceError, RecursionError, MemoryError):
        return None


def _apply(rule: Rule, source: SourceTree, context: Context) -> list[Finding]:
    try:
        hits = {(h.line, h.column, h.message): h for h in rule.check(source, context)}
    except Exception as error:  # a rule meets hostile text; its own failure is not the candidate's
        problem = f"rule {rule.code} failed on this file ({type(error).__name__}: {error}); it found nothing"
        return [Finding(RULE_FAILED, "warn", problem, source.path)]
    ordered = sorted(hits.values(), key=lambda h: (h.line, h.column))
    found = [make_finding(rule, h, source.path) for h in ordered[:MAX_FINDINGS]]
    if len(ordered) > MAX_FINDINGS:
        more = len(ordered) - MAX_FINDINGS
        severe: Severity = (
            "reject" if any((h.severity or rule.severity) == "reject" for h in ordered[MAX_FINDINGS:]) else "warn"
        )
        line = ordered[MAX_FINDINGS].line
        found.append(Finding(rule.code, severe, f"{more} more of the same kind from here on", source.path, line))
    return found


def keep_selected(findings: Iterable[Finding], select: Iterable[str], ignore: Iterable[str]) -> tuple[Finding, ...]:
    """Findings of packs that `select` and `ignore` leave; reports about broken plugins and rules always stay."""
    chosen, left_out = tuple(select), tuple(ignore)
    return tuple(f for f in findings if f.code.startswith("KE99") or is_selected(f.code, chosen, left_out))
