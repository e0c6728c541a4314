"""The operators that a reference calls, as torch dispatches them: seen, and altered one at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch

from kengine.provenance.modes import DispatchMode

Way = Literal["disturb", "skip"]
"""disturb: every element of its result is changed. skip: its result is one of its arguments as it came in."""

_MOVES = frozenset({
    "view", "_unsafe_view", "reshape", "_reshape_alias", "clone", "contiguous", "_to_copy", "copy_", "copy", "detach",
    "alias", "lift_fresh", "lift_fresh_copy", "expand", "permute", "t", "transpose", "select", "slice", "unsqueeze",
    "squeeze", "cat", "stack", "empty_strided",
})  # fmt: skip
"""Operators that move values and compute none: to leave one out means nothing."""
_MAKERS = ("_like", "new_")


@dataclass(frozen=True)
class Operator:
    """One call: its number in the run, its name, and the line of the task's source that made it.

    skips: how many of its arguments could stand in the place of its result. inert: its result was one of them, bit
    for bit.
    """

    number: int
    name: str
    line: int
    skips: int
    inert: bool

    def __str__(self) -> str:
        return f"{self.name} at line {self.line}" if self.line else self.name


class Tracer(DispatchMode):
    """Notes every operator that computes floating-point or boolean values out of tensors."""

    def __init__(self, filename: str) -> None:
        super().__init__()
        self.seen: list[Operator] = []
        self._filename = filename
        self._count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        number, self._count = self._count, self._count + 1
        if not _computes(func, args, kwargs):
            return func(*args, **(kwargs or {}))
        before = [a.clone() for a in _tensors(args)] if _writes(func) else _tensors(args)
        result = func(*args, **(kwargs or {}))
        out = _first(result)
        if out is not None and _alterable(out):
            stand_ins = [a for a in before if _alike(a, out)] if out.is_floating_point() else []
            inert = any(torch.equal(a, out) for a in stand_ins)
            self.seen.append(Operator(number, _name(func), self._line(), min(len(stand_ins), 2), inert))
        return result

    def _line(self) -> int:
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename == self._filename:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return 0


class Alteration(DispatchMode):
    """Alters one operator and leaves all others as they are; `done` says whether a run came to it.

    choice: which of its arguments stands in for its result, for way "skip". An operator that writes into an argument
    is altered there too.
    """

    def __init__(self, operator: Operator, way: Way, choice: int = 0) -> None:
        super().__init__()
        self.operator, self.way, self.choice = operator, way, choice
        self.done = False
        self._count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        number, self._count = self._count, self._count + 1
        if number != self.operator.number or _name(func) != self.operator.name:
            return func(*args, **(kwargs or {}))
        self.done = True
        before = [a.clone() for a in _tensors(args)]
        result = func(*args, **(kwargs or {}))
        if self.way == "disturb":
            return _map_first_level(result, lambda r: _put(func, r, _disturbed(r)))
        out = _first(result)
        stand_in = [a for a in before if _alike(a, out)][self.choice]
        put = _put(func, out, stand_in)
        return put if isinstance(result, torch.Tensor) else type(result)((put, *result[1:]))


def _put(func: Any, result: Any, value: Any) -> Any:
    """The value in the place of a result: in its memory where the operator writes to memory that others hold."""
    return result.copy_(value) if _writes(func) else value


def _disturbed(value: Any) -> Any:
    """Every element changed, each in its own way; integers (which may be places) are left alone."""
    if value.dtype == torch.bool:
        return ~value
    if not value.is_floating_point() or value.numel() == 0:
        return value
    generator = torch.Generator(value.device).manual_seed(value.numel())
    noise = torch.rand(value.shape, generator=generator, device=value.device, dtype=torch.float32)
    size = value.float().abs()
    typical = torch.where(torch.isfinite(size), size, torch.zeros_like(size)).mean()
    return (value.float() * (0.5 + noise) + typical * (0.25 + 0.5 * noise)).to(value.dtype)


def _computes(func: Any, args: Any, kwargs: Any) -> bool:
    name = func._schema.name.partition("::")[2]
    if name in _MOVES or any(part in name for part in _MAKERS):
        return False
    is_view = any(r.alias_info is not None and not r.alias_info.is_write for r in func._schema.returns)
    return not is_view and bool(_tensors(args) or _tensors(tuple((kwargs or {}).values())))


def _name(func: Any) -> str:
    return str(func.overloadpacket).replace("aten.", "aten::")


def _writes(func: Any) -> bool:
    return bool(func._schema.is_mutable)


def _alterable(out: Any) -> bool:
    return bool(out.numel()) and (out.is_floating_point() or out.dtype == torch.bool)


def _alike(a: Any, out: Any) -> bool:
    return bool(a.shape == out.shape and a.dtype == out.dtype)


def _tensors(args: Any) -> list[Any]:
    return list(_walk(args))


def _walk(value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _walk(v)


def _first(result: Any) -> Any:
    return next(_walk(result), None)


def _map_first_level(result: Any, change: Any) -> Any:
    if isinstance(result, torch.Tensor):
        return change(result)
    if isinstance(result, (list, tuple)):
        made = [change(r) if isinstance(r, torch.Tensor) else r for r in result]
        return made if isinstance(result, list) else tuple(made)
    return result
