"""Whether a reference is homogeneous: all inputs times s give its answer times a power of s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kengine.judge import reference
from kengine.judge.leaves import is_float, map_leaves, shape_of
from kengine.judge.module import TaskModule
from kengine.judge.packing import Packed
from kengine.judge.reference import Answer

_SCALES = (2.0**10, 2.0**-40)
_POWERS = (0, 1, 2, 3, 4, -1, -2)
_CLOSE = 1e-9


def is_homogeneous(
    module: TaskModule, packed: Packed, model: Any, writes: tuple[int, ...], seed: int, exact: Answer
) -> bool:
    """Whether every floating-point output of the exact answer scales by one power as all inputs do, up and far down.

    Such a reference (sums, products, norms without an epsilon) adds nothing to its inputs that is larger than they
    are, so that no honest way to compute it loses digits on tiny ones. False where it raises on scaled inputs.
    """
    return all(
        _scales(packed, scale, exact, lambda v: reference.run_exact(module, v, model, writes, seed))
        for scale in _SCALES
    )


def _scales(packed: Packed, scale: float, exact: Answer, run: Callable[[list[Any]], Answer]) -> bool:
    wider = lambda a: reference.widen(a) * scale if is_float(a) else a  # noqa: E731
    try:
        other = run([map_leaves(wider, v) for v in packed.values(packed.image)])
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception:
        return False
    pairs = list(zip(exact.arrays(), other.arrays()))
    return all(shape_of(a) == shape_of(b) for a, b in pairs) and all(
        _follows(_host(a), _host(b), scale) for a, b in pairs if is_float(a)
    )


def _follows(exact: Any, other: Any, scale: float) -> bool:
    with np.errstate(all="ignore"):
        size = np.abs(exact).max() if exact.size else 0.0
        if not np.isfinite(size):
            return False
        return any(bool((np.abs(other / scale**k - exact) <= _CLOSE * size).all()) for k in _POWERS)


def _host(array: Any) -> Any:
    # A reference may end in a cast to a dtype that numpy has not.
    return array.detach().cpu().double().numpy() if hasattr(array, "detach") else np.asarray(array, np.float64)
