"""Inputs that are nearly those of the call before: what a cache goes by is the same, and the answer is not.

Phase `PHASE~pair` holds the inputs of PHASE with two elements in each other's places, so that shape, address, sum and
nearly every sample are what they were; `~swapped` moves an eighth of them, where two make no difference to the answer;
`~changed` has new values there, for answers that do not depend on order; `~same` is PHASE once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kengine.judge.inputs import Drawn
from kengine.judge.leaves import arrays, is_float, is_torch

if TYPE_CHECKING:
    from kengine.judge.session import Session
    from kengine.model import Case

PAIR, SWAPPED, CHANGED, SAME = "~pair", "~swapped", "~changed", "~same"
KEPT = 16
"""Elements at either end that stay, since a fingerprint of few elements looks there."""
_LISTED = 1 << 24
"""Elements of an array up to which all its places are listed to choose from; two of more are found by trying."""


def base(phase: str) -> str | None:
    """The phase whose inputs a near one starts from; None for a phase of its own."""
    for ending in (PAIR, SWAPPED, CHANGED):
        if phase.endswith(ending):
            return phase.removesuffix(ending)
    return None


def shared(phase: str) -> str:
    """The phase whose inputs and answer these are: `~same` has none of its own."""
    while phase.endswith(SAME):
        phase = phase.removesuffix(SAME)
    return phase


def choose(session: Session, case: Case, phase: str) -> str:
    """The near phase of PHASE whose answer that of PHASE is not right for; "" when both answers are the same."""
    key = f"{case.name}\0{phase}"
    if key not in session.near:
        session.near[key] = next(
            (n for n in (phase + PAIR, phase + SWAPPED, phase + CHANGED) if _differs(session, case, phase, n)), ""
        )
    return session.near[key]


def _differs(session: Session, case: Case, phase: str, other: str) -> bool:
    from kengine.judge.compare import accepts
    from kengine.judge.expected import namespace

    before, after = session.expected(case, phase), session.expected(case, other)
    xp, tolerance = namespace(session.device), session.task.spec.tolerance
    pairs = list(zip(before.outputs, after.outputs))
    with np.errstate(all="ignore"):
        return any(a.form.spec != b.form.spec or not accepts(b, a.exact, tolerance, xp) for a, b in pairs)


def alter(drawn: Drawn, other: Drawn, seed: int, phase: str) -> None:
    """Change the floating-point arguments of a draw in place at random places; `other` is another draw."""
    chance = np.random.default_rng(seed)
    for array, fresh in zip(arrays(drawn.args), arrays(other.args)):
        size = int(np.prod(tuple(array.shape)))
        if not is_float(array) or size < 4 or tuple(array.shape) != tuple(fresh.shape):
            continue
        places = _places(chance, size, phase.endswith(PAIR))
        if is_torch(array):
            _alter_torch(array, fresh, places, not phase.endswith(CHANGED))
        else:
            flat = array.reshape(-1).copy()
            flat[places] = np.roll(flat[places], 1) if not phase.endswith(CHANGED) else fresh.reshape(-1)[places]
            array[...] = flat.reshape(array.shape)


def _places(chance: np.random.Generator, size: int, pair: bool) -> Any:
    """Places to change, two or a random eighth, that leave out both ends and every power-of-two stride."""
    kept = min(KEPT, size // 8)
    stride = max(size // 64, 1)
    if pair and size > _LISTED:
        return _pair(chance, kept, size - kept, stride)
    middle = np.arange(kept, size - kept)
    odd = middle[(middle % stride != 0) | (stride < 4)]
    pool = odd if len(odd) >= 2 else middle if len(middle) >= 2 else np.arange(size)
    return np.sort(chance.choice(pool, 2 if pair else max(2, len(pool) // 8), replace=False))


def _pair(chance: np.random.Generator, low: int, high: int, stride: int) -> Any:
    """Two places of a large array as `_places` chooses them, without a list of all."""
    found: set[int] = set()
    while len(found) < 2:
        place = int(chance.integers(low, high))
        if place % stride:
            found.add(place)
    return np.array(sorted(found))


def _alter_torch(array: Any, fresh: Any, places: Any, swapped: bool) -> None:
    import torch

    with torch.no_grad():
        at = torch.from_numpy(places).to(array.device)
        flat = array.reshape(-1).clone()
        flat[at] = flat[at].roll(1) if swapped else fresh.reshape(-1)[at]
        array.copy_(flat.reshape(array.shape))
