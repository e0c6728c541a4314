"""Cut a single file in two: what the judge executes, and what the runner is given.

Both keep the line numbers of the file. The judge's half holds reference, inputs and what they need; the candidate's
half holds everything but these and what only they need. Imports, constants and helpers that both need stay in both.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kengine.errors import TaskError
from kengine.tasks.names import Unit, first_line, split_units
from kengine.tasks.source import Source


@dataclass(frozen=True)
class Halves:
    """The two texts of a single file."""

    task: str
    candidate: str


def slice_file(source: Source, roots: Collection[str], entry: str) -> Halves:
    """Divide a file into task and candidate; `roots` are the names that make up the task.

    Raises TaskError when the reference or the inputs need the entry, or one statement binds both.
    """
    roots = frozenset(roots)
    units = split_units(source, roots | {entry})
    binders: dict[str, list[int]] = {}
    for i, unit in enumerate(units):
        for name in unit.binds:
            binders.setdefault(name, []).append(i)
    for i in binders.get(entry, ()):
        if units[i].binds & roots and not units[i].is_import:
            both = ", ".join(sorted(units[i].binds & roots))
            raise TaskError(
                f"{source.name}:{units[i].node.lineno}: one statement defines both {entry!r} and {both}; "
                "write them as statements of their own"
            )
    task = _reach(units, binders, roots, stop=frozenset())
    task = _with_changes(units, binders, task, entry)
    if any(entry in units[i].binds and not units[i].binds & roots for i in task):
        user = next((units[i] for i in sorted(task) if entry in units[i].uses), units[min(task)])
        lines = [n.lineno for n in ast.walk(user.node) if isinstance(n, ast.Name) and n.id == entry]
        raise TaskError(
            f"{source.name}:{min(lines, default=user.node.lineno)}: "
            f"the reference or the inputs use {entry!r}, the kernel under judgement; "
            "a task must give its answer without it"
        )
    mine = _reach(units, binders, frozenset({entry}), stop=roots)
    spoiled = _spoiled(units, binders, task, mine, roots)
    rest = [i for i in range(len(units)) if i not in task and i not in spoiled]
    needed = frozenset().union(*(units[i].uses | units[i].headers for i in rest)) - roots
    keep = _reach(units, binders, needed, stop=roots) | mine | set(rest)
    for i in keep:
        if units[i].binds & roots and not units[i].is_import:
            both = ", ".join(sorted(units[i].binds & roots))
            raise TaskError(
                f"{source.name}:{units[i].node.lineno}: one statement defines {both} and a name that {entry!r} uses; "
                "write them as statements of their own"
            )
    everywhere = {i for i, unit in enumerate(units) if unit.is_everywhere}
    wanted = _names_used(units, keep) - roots
    return Halves(
        task=_cut(source, units, task | everywhere, _names_used(units, task) | roots, drop_roots=frozenset()),
        candidate=_cut(source, units, keep | everywhere, wanted | {entry}, drop_roots=roots),
    )


def _reach(
    units: list[Unit], binders: Mapping[str, list[int]], names: Collection[str], stop: frozenset[str]
) -> set[int]:
    """Units needed for `names`, following uses; names of `stop` are not followed."""
    found: set[int] = set()
    pending = list(names)
    seen = set(stop) | set(pending)
    while pending:
        for i in binders.get(pending.pop(), ()):
            if i in found:
                continue
            found.add(i)
            if units[i].is_import:
                continue
            for name in (units[i].uses | units[i].headers) - seen:
                seen.add(name)
                pending.append(name)
    return found


def _with_changes(units: list[Unit], binders: Mapping[str, list[int]], task: set[int], entry: str) -> set[int]:
    """Add executed statements that alter in place what the task needs (`SIZES.append(3)`), but never an import."""
    while True:
        own = frozenset().union(*(units[i].binds for i in task if not units[i].is_import)) if task else frozenset()
        more: set[int] = set()
        for i, unit in enumerate(units):
            if i in task or unit.is_definition or unit.is_import or unit.is_script or not unit.changes & own:
                continue
            needs = _reach(units, binders, unit.uses | unit.headers, frozenset())
            if not any(entry in units[j].binds for j in needs):
                more |= {i} | needs
        if more <= task:
            return task
        task = task | more


def _spoiled(
    units: list[Unit], binders: Mapping[str, list[int]], task: set[int], mine: set[int], roots: frozenset[str]
) -> set[int]:
    """Units of nobody's that cannot stay once the roots are gone: tests and benchmarks, and the script part."""
    spoiled = {i for i, unit in enumerate(units) if unit.is_script and i not in mine}
    lost = set(roots)
    while True:
        more = {
            i
            for i, unit in enumerate(units)
            if i not in task and i not in mine and i not in spoiled and unit.uses & lost
        }
        if not more:
            return spoiled
        spoiled |= more
        for i in more:
            for name in units[i].binds:
                if all(j in spoiled for j in binders[name]):
                    lost.add(name)


def _names_used(units: list[Unit], kept: Iterable[int]) -> frozenset[str]:
    return frozenset().union(*(units[i].uses | units[i].headers for i in kept if not units[i].is_import))


def _cut(
    source: Source, units: list[Unit], keep: Collection[int], names: frozenset[str], drop_roots: frozenset[str]
) -> str:
    """The text without the units outside `keep`, and without the names of kept imports that nobody of it uses."""
    lines = source.text.encode().split(b"\n")
    inhabited = {id(units[i].container) for i in keep}
    gone: set[int] = set()
    for i in reversed(range(len(units))):
        unit = units[i]
        if unit.container is not None and id(unit.container) not in inhabited:
            if id(unit.container) not in gone:
                gone.add(id(unit.container))
                _blank(lines, unit.container, b"")
        elif i not in keep:
            _blank(lines, unit.node, b"pass" if unit.container else b"")
        elif (unit.is_import and unit.binds & drop_roots) or (unit.is_import and not drop_roots):
            reduced = _reduce_import(unit.node, names, drop_roots)
            if reduced is not unit.node:
                _blank(lines, unit.node, ast.unparse(reduced).encode() if reduced else b"pass")
    return b"\n".join(lines).decode()


def _reduce_import(node: ast.stmt, names: frozenset[str], drop: frozenset[str]) -> ast.stmt | None:
    """The import without the aliases that bind a name of `drop`, or (on the judge's side) nobody's name."""
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    if isinstance(node, ast.ImportFrom) and (node.module == "__future__" or node.names[0].name == "*"):
        return node
    kept = []
    for alias in node.names:
        name = alias.asname or (alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name)
        if name not in drop and (drop or name in names):
            kept.append(alias)
    if len(kept) == len(node.names):
        return node
    if not kept:
        return None
    reduced = copy.copy(node)
    reduced.names = kept
    return reduced


def _blank(lines: list[bytes], node: ast.stmt, instead: bytes) -> None:
    """Replace a statement by `instead`, keeping the count of lines; by `pass` where it shares a line with another."""
    first, last = first_line(node) - 1, (node.end_lineno or node.lineno) - 1
    start, end = node.col_offset, node.end_col_offset or 0
    head, tail = lines[first][:start], lines[last][end:]
    rest = tail.strip()
    if not instead and (head.strip() or rest.startswith(b";")):
        instead = b"pass"
    if last == first:
        lines[first] = head + instead + tail
        return
    for i in range(first + 1, last):
        lines[i] = b""
    if rest.startswith(b";"):
        lines[first] = head + instead
        lines[last] = (b"" if head.strip() else head) + rest[1:].lstrip()
    else:
        lines[first] = head + instead
        lines[last] = tail.strip()
    if not head.strip() and not instead:
        lines[first] = b""
