"""A second opinion: the same call with its independent iterations in reverse order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .border import is_torch
from .options import Options
from .session import Session, session


@dataclass(frozen=True)
class Race:
    """An output that depends on the order of iterations that were declared independent."""

    output: int
    different: int
    size: int
    first_index: tuple[int, ...]
    forward: float
    backward: float

    def __str__(self) -> str:
        return (
            f"race: output {self.output} differs in {self.different} of {self.size} elements when affine_range loops "
            f"and independent programs run in reverse order; at {self.first_index} it is {self.forward} forwards and "
            f"{self.backward} backwards"
        )


def _copy(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if is_torch(value):
        return value.clone()
    if isinstance(value, (list, tuple)):
        return type(value)(_copy(v) for v in value)
    return value


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [a for v in value for a in _arrays(v)]
    if is_torch(value):
        return [value.detach().float().numpy()]
    return [value] if isinstance(value, np.ndarray) else []


def _race(number: int, a: Any, b: Any, rtol: float, atol: float) -> Race | None:
    if np.array_equal(a, b):
        return None
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    same = np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True)
    if same.all():
        return None
    index = tuple(int(i) for i in np.argwhere(~same)[0])
    return Race(number, int((~same).sum()), x.size, index, float(x[index]), float(y[index]))


def run_twice_and_compare(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    options: Options | None = None,
    rtol: float = 1e-4,
    atol: float = 1e-5,
) -> tuple[Any, list[Race], Session]:
    """Call `function` (a kernel or host wrapper) forwards and backwards on copies of the arguments.

    Returns the forward result, the outputs (and updated inputs) that differ by more than the tolerances that a changed
    order of float additions may explain, and the forward session.
    """
    chosen = options or Options()
    outcomes = []
    for reverse in (False, True):
        own = [_copy(a) for a in args]
        named = {k: _copy(v) for k, v in (kwargs or {}).items()}
        with session(dataclasses.replace(chosen, reverse_ranges=reverse)) as run:
            result = function(*own, **named)
        outcomes.append((result, _arrays(result) + _arrays(own) + _arrays(list(named.values())), run))
    races = find_races(outcomes[0][1], outcomes[1][1], rtol, atol)
    return outcomes[0][0], races, outcomes[0][2]


def find_races(forward: Any, backward: Any, rtol: float = 1e-4, atol: float = 1e-5) -> list[Race]:
    """Arrays, anywhere in lists and tuples, that differ by more than a changed order of float additions explains."""
    pairs = enumerate(zip(_arrays(forward), _arrays(backward)))
    return [race for number, (a, b) in pairs if (race := _race(number, a, b, rtol, atol)) is not None]
