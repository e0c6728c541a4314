"""Whether a reference is homogeneous: all inputs times s give its answer times a power of s."""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine.judge import reference
from kengine.judge.leaves import is_float, map_leaves, shape_of
from kengine.judge.module import TaskModule
from kengine.judge.packing import Packed
from kengine.judge.reference import Answer

_SCALE = 2.0**10
_POWERS = (0, 1, 2, 3, 4, -1, -2)
_CLOSE = 1e-9


def is_homogeneous(
    module: TaskModule, packed: Packed, model: Any, writes: tuple[int, ...], seed: int, exact: Answer, device: str
) -> bool:
    """Whether every floating-point output of the exact answer scales by one power as all inputs do.

    Such a reference (sums, products, norms without an epsilon) adds nothing to its inputs that is larger than they
    are, so that no honest way to compute it loses digits on tiny ones. False where it raises on scaled inputs.
    """
    scaled = [map_leaves(lambda a: reference.widen(a) * _SCALE if is_float(a) else a, v) for v in packed.values(packed.image)]
    try:
        other = reference.run_exact(module, scaled, model, writes, seed)
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception:
        return False
    pairs = list(zip(exact.arrays(), other.arrays()))
    return all(shape_of(a) == shape_of(b) for a, b in pairs) and all(
        _scales(_host(a), _host(b)) for a, b in pairs if is_float(a)
    )


def _scales(exact: Any, other: Any) -> bool:
    with np.errstate(all="ignore"):
        size = np.abs(exact).max() if exact.size else 0.0
        if not np.isfinite(size):
            return False
        return any(bool((np.abs(other / _SCALE**k - exact) <= _CLOSE * size).all()) for k in _POWERS)


def _host(array: Any) -> Any:
    return array.detach().cpu().numpy() if hasattr(array, "detach") else np.asarray(array)
