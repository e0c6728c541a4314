"""From the keys of a block to a `TaskSpec`, with an error for everything that has no meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn, cast, get_args

from kengine.array import ITEMSIZE
from kengine.errors import TaskError
from kengine.model import Case, JsonValue, Layout, TaskSpec, Tolerance, ValueClass
from kengine.tasks import extra_values
from kengine.tasks.block import Block, suggest

MAX_CASES = 1024
"""Most cases of one task."""

_LAYOUTS: tuple[str, ...] = get_args(Layout)
_VALUES: tuple[str, ...] = get_args(ValueClass)
_DEVICES = ("cpu", "cuda")
_CASE_KEYS = ("name", "dtype", "layout", "values", "draw", "draws", "params")
_TOLERANCE_KEYS = ("rtol", "honest_factor", "precision", "nan_equal")


def read_spec(block: Block | None) -> TaskSpec:
    """Read the keys of a task. Cases are the [[cases]] tables times dtypes, layouts, values and draws.

    A table's own dtype, layout, values or draws take the place of the common list. Cases of which the block does not
    say what values they have get `extra_values` beside them. Without any of these keys there are no cases, and the
    judge draws its own. Raises TaskError with file, line, key and what is allowed.
    """
    if block is None:
        return TaskSpec()
    read = _Reader(block)
    return TaskSpec(
        cases=_read_cases(read),
        tolerance=_read_tolerance(read),
        allow=read.texts("allow"),
        writes=read.texts("writes"),
        device=read.choice("device", _DEVICES) if "device" in block.values else "",
        timeout_s=read.number("timeout_s", 0.001, 86400.0) if "timeout_s" in block.values else None,
        category=read.text("category"),
        level=read.whole("level", 0, 1000) if "level" in block.values else None,
        license=read.text("license"),
        origin=read.text("origin"),
    )


def read_name(block: Block | None, default: str) -> str:
    """The key `name`, else `default`."""
    return (_Reader(block).text("name") if block else "") or default


class _Reader:
    """Typed access to the keys of one table, every failure a TaskError with its place."""

    def __init__(self, block: Block, table: Mapping[str, JsonValue] | None = None, prefix: str = "") -> None:
        self.block = block
        self.table = block.values if table is None else table
        self.prefix = prefix

    def fail(self, key: str, problem: str) -> NoReturn:
        raise TaskError(f"{self.block.where(self.prefix + key)}: {problem}")

    def text(self, key: str) -> str:
        value = self.table.get(key, "")
        if not isinstance(value, str):
            self.fail(key, f"{value!r} is not text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.table.get(key, ())
        items = (value,) if isinstance(value, str) else value
        if not isinstance(items, tuple) or not all(isinstance(i, str) and i for i in items):
            self.fail(key, f"{value!r} is not a list of texts")
        return cast("tuple[str, ...]", items)

    def choice(self, key: str, allowed: Sequence[str]) -> str:
        value = self.table[key]
        if not isinstance(value, str) or value not in allowed:
            hint = suggest(value, allowed) if isinstance(value, str) else ""
            self.fail(key, f"{value!r} is not known{hint}; allowed: {', '.join(allowed)}")
        return value

    def choices(self, key: str, allowed: Sequence[str]) -> tuple[str, ...]:
        value = self.table[key]
        items = (value,) if isinstance(value, str) else value
        if not isinstance(items, tuple) or not items:
            self.fail(key, f"{value!r} is not a list of {', '.join(allowed)}")
        return tuple(_Reader(self.block, {key: item}, self.prefix).choice(key, allowed) for item in items)

    def flag(self, key: str) -> bool:
        value = self.table[key]
        if not isinstance(value, bool):
            self.fail(key, f"{value!r} is not true or false")
        return value

    def number(self, key: str, low: float, high: float) -> float:
        value = self.table[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            self.fail(key, f"{value!r} is not a number from {low:g} to {high:g}")
        return float(value)

    def whole(self, key: str, low: int, high: int) -> int:
        value = self.table[key]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fail(key, f"{value!r} is not a whole number from {low} to {high}")
        return value


def _read_tolerance(read: _Reader) -> Tolerance:
    value = read.table.get("tolerance", {})
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = {"rtol": value}
    if not isinstance(value, Mapping):
        read.fail("tolerance", f"{value!r} is not a table; allowed keys: {', '.join(_TOLERANCE_KEYS)}")
    inner = _Reader(read.block, value, "tolerance.")
    for key in value:
        if key not in _TOLERANCE_KEYS:
            inner.fail(key, f"unknown key{suggest(key, _TOLERANCE_KEYS)}; allowed: {', '.join(_TOLERANCE_KEYS)}")
    nan_equal = inner.flag("nan_equal") if "nan_equal" in value else True
    precision = inner.choice("precision", ("strict", "tf32")) if "precision" in value else "strict"
    return Tolerance(
        rtol=inner.number("rtol", 1e-16, 0.5) if "rtol" in value else None,
        honest_factor=inner.number("honest_factor", 1.0, 1000.0) if "honest_factor" in value else 4.0,
        precision="tf32" if precision == "tf32" else "strict",
        nan_equal=nan_equal,
    )


def _read_cases(read: _Reader) -> tuple[Case, ...]:
    table = read.table
    if not {"cases", "dtypes", "layouts", "values", "draws"} & set(table):
        if "extra_values" in table:
            read.fail("extra_values", 'needs cases; values = ["drawn"] keeps to what the task itself draws')
        return ()
    common = {
        "dtype": read.choices("dtypes", tuple(ITEMSIZE)) if "dtypes" in table else ("",),
        "layout": read.choices("layouts", _LAYOUTS) if "layouts" in table else ("contiguous",),
        "values": read.choices("values", _VALUES) if "values" in table else ("drawn",),
    }
    draws = read.whole("draws", 1, 100) if "draws" in table else 1
    tables = table.get("cases", ({},))
    if not isinstance(tables, tuple) or not tables or not all(isinstance(t, Mapping) for t in tables):
        read.fail("cases", "expected [[cases]] tables, one for each set of parameters")
    tables = cast("tuple[Mapping[str, JsonValue], ...]", tables)
    cases: dict[str, Case] = {}
    for i, own in enumerate(tables):
        for case in _expand(_Reader(read.block, own, f"cases[{i}]."), common, draws):
            if case.name in cases:
                read.fail(f"cases[{i}]", f"a second case is called {case.name!r}; give it a name of its own")
            cases[case.name] = case
            if len(cases) > MAX_CASES:
                read.fail("cases", f"cases times dtypes, layouts, values and draws give more than {MAX_CASES}")
    silent = "values" not in table and any("values" not in own for own in tables)
    wanted = read.flag("extra_values") if "extra_values" in table else silent
    return extra_values.add(tuple(cases.values())) if wanted else tuple(cases.values())


def _expand(read: _Reader, common: Mapping[str, tuple[str, ...]], draws: int) -> list[Case]:
    table = read.table
    params = table.get("params", {})
    if not isinstance(params, Mapping):
        read.fail("params", f"{params!r} is not a table of arguments of make_inputs")
    params = {**{k: v for k, v in table.items() if k not in _CASE_KEYS}, **params}
    for key in params:
        if not key.isidentifier():
            read.fail(key, "is not a name of a parameter")
    base = read.text("name") or ",".join(f"{k}={_short(v)}" for k, v in params.items()) or "default"
    dtypes = read.choices("dtype", tuple(ITEMSIZE)) if "dtype" in table else common["dtype"]
    layouts = read.choices("layout", _LAYOUTS) if "layout" in table else common["layout"]
    values = read.choices("values", _VALUES) if "values" in table else common["values"]
    numbers: Sequence[int] = range(read.whole("draws", 1, 100) if "draws" in table else draws)
    if "draw" in table:
        numbers = (read.whole("draw", 0, 2**31),)
    return [
        Case(
            " ".join([base, *filter(None, (d, "" if lay == "contiguous" else lay, "" if v == "drawn" else v)),
                      *([f"#{n}"] if n else [])]),
            params, d, cast("Layout", lay), cast("ValueClass", v), n,
        )
        for d in dtypes for lay in layouts for v in values for n in numbers
    ]  # fmt: skip


def _short(value: JsonValue) -> str:
    if isinstance(value, tuple):
        return "[" + ",".join(_short(v) for v in value) + "]"
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
