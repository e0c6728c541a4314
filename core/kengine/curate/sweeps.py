"""Variants of a task: the same reference at other sizes and dtypes. Whether it accepts them, only execution says."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kengine.model import Case, JsonValue, Task
from kengine.syntax import parse_tree

MAX_EXTENT = 8192
"""Largest size that a variant gives a dimension which was not larger before."""


@dataclass(frozen=True)
class Variant:
    """A task with one set of sizes, and how it differs from the one it came from."""

    name: str
    task: Task


def variants(task: Task, dtypes: Sequence[str] = (), seed: int = 0) -> Iterator[Variant]:
    """Other sizes first, then other dtypes, then both; the same for the same task and seed; endless in none of them.

    Sizes are the whole numbers among the parameters of make_inputs, and for other forms the module-level constants
    that get_inputs reads. Nothing comes for a task that has neither.
    """
    draw = random.Random(f"{seed} {task.digest}")
    shapes = list(_by_params(task, draw) if task.form == "function" else _by_constants(task, draw))
    known = {c.dtype for c in task.spec.cases}
    others = [d for d in dtypes if d not in known] or list(dtypes)
    for n, variant in enumerate(shapes):
        yield variant
        if n < len(others):
            yield _with_dtype(Variant("", _first_case(task)), others[n])
    for variant in shapes:
        for dtype in others:
            yield _with_dtype(variant, dtype)
    for dtype in others[len(shapes) :]:
        yield _with_dtype(Variant("", _first_case(task)), dtype)


def shapes_of(task: Task) -> int:
    """Number of different sets of parameters among a task's cases."""
    return len({str(sorted(c.params.items())) for c in task.spec.cases})


def _first_case(task: Task) -> Task:
    case = task.spec.cases[0] if task.spec.cases else Case("default")
    return replace(task, spec=replace(task.spec, cases=(case,)))


def _with_dtype(variant: Variant, dtype: str) -> Variant:
    case = variant.task.spec.cases[0] if variant.task.spec.cases else Case("default")
    name = f"{variant.name} {dtype}".strip()
    case = replace(case, name=name, dtype=dtype)
    return Variant(name, replace(variant.task, spec=replace(variant.task.spec, cases=(case,))))


def _sizes(values: dict[str, int], draw: random.Random) -> Iterator[dict[str, int]]:
    """Sizes near the given ones: odd, halved, doubled, and mixtures; each once, none that is all the same."""
    seen = {tuple(values.values())}
    steps = ((1, 1), (1, -1), (2, 0), (0.5, 0), (1, 3), (2, 1), (0.5, 1), (1.5, 0), (3, 0), (0.25, 1))
    for n in range(4 * len(steps)):
        made = {}
        for name, value in values.items():
            factor, offset = steps[n] if n < len(steps) else draw.choice(((1, 0), *steps))
            made[name] = min(max(1, int(value * factor) + offset), max(MAX_EXTENT, value))
        if tuple(made.values()) not in seen:
            seen.add(tuple(made.values()))
            yield made


def _by_params(task: Task, draw: random.Random) -> Iterator[Variant]:
    defaults = _defaults(task.source)
    first = task.spec.cases[0] if task.spec.cases else Case("default")
    base: dict[str, JsonValue] = {**defaults, **first.params}
    numbers = {k: v for k, v in base.items() if type(v) is int and v > 1}
    if not numbers:
        return
    known = {tuple({**base, **c.params}.get(k) for k in numbers) for c in task.spec.cases}
    for sizes in _sizes(numbers, draw):
        if tuple(sizes.values()) in known:
            continue
        name = ",".join(f"{k}={v}" for k, v in sizes.items())
        case = Case(f"{name} {first.dtype}".strip(), {**first.params, **sizes}, first.dtype)
        yield Variant(name, replace(task, spec=replace(task.spec, cases=(case,))))


def _by_constants(task: Task, draw: random.Random) -> Iterator[Variant]:
    try:
        tree = parse_tree(task.source)
    except (SyntaxError, ValueError, RecursionError):
        return
    constants: dict[str, ast.Constant] = {}
    used: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, ast.Constant) and type(value.value) is int and value.value > 1:
                constants[node.targets[0].id] = value
        if isinstance(node, ast.FunctionDef) and node.name == "get_inputs":
            used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    chosen = {k: c for k, c in constants.items() if k in used}
    for sizes in _sizes({k: int(str(c.value)) for k, c in chosen.items()}, draw):
        name = ",".join(f"{k}={v}" for k, v in sizes.items())
        yield Variant(name, replace(task, source=_rewrite(task.source, {chosen[k]: str(v) for k, v in sizes.items()})))


def _rewrite(source: str, changes: dict[ast.Constant, str]) -> str:
    """The source with some numbers replaced, everything else as it was."""
    lines = [line.encode() for line in source.split("\n")]
    for node, text in sorted(changes.items(), key=lambda item: (-item[0].lineno, -item[0].col_offset)):
        line = lines[node.lineno - 1]
        lines[node.lineno - 1] = line[: node.col_offset] + text.encode() + line[node.end_col_offset :]
    return b"\n".join(lines).decode()


def _defaults(source: str) -> dict[str, JsonValue]:
    """Defaults of make_inputs' parameters after seed and device, where they are written out."""
    try:
        tree = parse_tree(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[str, JsonValue] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "make_inputs":
            names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
            values = node.args.defaults
            pairs: list[tuple[str, ast.expr | None]] = list(zip(names[len(names) - len(values) :], values))
            pairs += [(a.arg, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults)]
            for name, value in pairs:
                if isinstance(value, ast.Constant) and isinstance(value.value, (bool, int, float, str)):
                    found[name] = value.value
    return found
