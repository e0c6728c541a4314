"""Classes of values: large, tiny, zeros and one outlier, made of what the task itself draws so that they stay valid."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from kengine.judge.inputs import Drawn
from kengine.judge.leaves import arrays, dtype_name, is_float, is_torch, map_leaves
from kengine.model import ValueClass

DERIVED: tuple[ValueClass, ...] = ("outlier", "large", "tiny", "zeros", "binary")
"""Classes that change the scale of a draw and may therefore leave the domain of a reference."""

SCALED: tuple[ValueClass, ...] = ("large", "tiny", "outlier")
"""Classes that leave masks as they are."""

_WIDE = {"large": (2.0**10, 2.0**6, 2.0**3), "tiny": (2.0**-10, 2.0**-4), "outlier": (2.0**10, 2.0**5)}
_NARROW = {"large": (2.0**6, 2.0**3), "tiny": (2.0**-6, 2.0**-3), "outlier": (2.0**6, 2.0**3)}
_DENSITIES = (0.5, 0.25, 0.125, 0.0625)
"""Shares of ones among binary inputs: fewer where a sum of so many terms is more than a narrow dtype counts to."""
_BEYOND_HALF, _BELOW_HALF = 2.0 * 65504.0, 2.0**-15
"""Twice the largest finite number of float16, and half of its smallest normal one."""


def factors(values: ValueClass, drawn: Drawn) -> tuple[float, ...]:
    """Factors to try for a class, the strongest first; (1.0,) for classes that have none, () without float inputs, or
    where the class would change none of them.

    The strongest one takes dtypes of a wider range than float16 to where float16 overflows, or has no normal numbers.
    """
    floats = [a for a in arrays(drawn.args) if is_float(a)]
    if values in SCALED:
        floats = [a for a in floats if not is_mask(a)]
    if values in DERIVED and not floats:
        return ()
    if values == "binary":
        return _DENSITIES
    if any(dtype_name(a).startswith(("float16", "float8")) for a in floats):
        return _NARROW.get(values, (1.0,))
    known = _WIDE.get(values, (1.0,))
    if values in ("large", "tiny") and (top := max(map(_top, floats), default=0.0)) > 0:
        if values == "large":
            strongest = _power(_BEYOND_HALF / top, math.ceil)
            return (strongest, *known) if strongest > known[0] else known
        strongest = _power(_BELOW_HALF / top, math.floor)
        return (strongest, *known) if strongest < known[0] else known
    return known


def _power(factor: float, to: Callable[[float], int]) -> float:
    return 2.0 ** max(min(to(math.log2(factor)), 40), -40)


def _top(array: Any) -> float:
    """Largest finite magnitude of an array, 0.0 when it has none."""
    if is_torch(array):
        import torch

        size = array.detach().to(torch.float64).abs()
        return float(torch.where(torch.isfinite(size), size, torch.zeros_like(size)).amax()) if size.numel() else 0.0
    size = np.abs(np.asarray(array, dtype=np.float64))
    return float(np.where(np.isfinite(size), size, 0.0).max()) if size.size else 0.0


def apply_values(drawn: Drawn, values: ValueClass, factor: float, seed: int) -> None:
    """Give the floating-point arguments of a draw another class of values, in place of the draw's arguments.

    large, tiny: all times `factor`, outlier: one element of each array times `factor`; masks stay (`is_mask`).
    zeros: all zero.
    normal, uniform: fresh values of N(0, 1) or U[0, 1), whatever the task drew. binary: ones at random places, a share
    of `factor`, and zeros; parameters too. drawn: nothing.
    """
    if values == "drawn":
        return

    def changed(array: Any) -> Any:
        kept = not is_float(array) or (values in SCALED and is_mask(array))
        return array if kept else change[values](array)

    chooser = random.Random(seed ^ 0x9E3779B97F4A7C15)
    change: dict[str, Callable[[Any], Any]] = {
        "large": lambda a: _times(a, factor),
        "tiny": lambda a: _times(a, factor),
        "zeros": lambda a: _times(a, 0.0),
        "outlier": lambda a: _outlier(a, factor, chooser),
        "normal": lambda a: _random(a, chooser, lambda g, s: g.standard_normal(s)),
        "uniform": lambda a: _random(a, chooser, lambda g, s: g.random(s)),
        "binary": lambda a: _random(a, chooser, lambda g, s: np.float64(g.random(s) < factor)),
    }
    drawn.args = [map_leaves(changed, v) for v in drawn.args]
    if values == "binary" and drawn.model is not None and hasattr(drawn.model, "parameters"):
        import torch

        with torch.no_grad():
            for parameter in drawn.model.parameters():
                if parameter.dtype.is_floating_point:
                    parameter.copy_(change["binary"](parameter.detach()))


def is_mask(array: Any) -> bool:
    """Whether an array holds zeros and one other value, both: a mask, kept or dropped, whatever number stands for it.

    A kernel may well test such a number against zero where the reference multiplies by it.
    """
    if is_torch(array):
        import torch

        flat = array.detach().to(torch.float64).flatten()
    else:
        flat = np.asarray(array, dtype=np.float64).reshape(-1)
    other = flat[flat != 0]
    return 0 < len(other) < len(flat) and bool((other == other[0]).all())


def _times(array: Any, factor: float) -> Any:
    if is_torch(array):
        import torch

        wide = array.detach().to(torch.float64)
        changed = torch.zeros_like(wide) if factor == 0.0 else wide * factor
        return changed.to(array.dtype)
    wide = np.asarray(array, dtype=np.float64)
    return (np.zeros_like(wide) if factor == 0.0 else wide * factor).astype(array.dtype)


def _outlier(array: Any, factor: float, chooser: random.Random) -> Any:
    count = array.numel() if is_torch(array) else array.size
    if count < 2:
        return array
    at = _place(tuple(array.shape), chooser)
    if is_torch(array):
        import torch

        flat = array.detach().to(torch.float64).flatten().clone()
        flat[at] = _raised(float(flat[at]), float(flat.abs().max()), factor)
        return flat.reshape(array.shape).to(array.dtype)
    flat = np.array(array, dtype=np.float64).reshape(-1)
    flat[at] = _raised(float(flat[at]), float(np.abs(flat).max()), factor)
    return flat.reshape(array.shape).astype(array.dtype)


def _place(shape: tuple[int, ...], chooser: random.Random) -> int:
    """Where the outlier stands: at the end of a row in half of all draws, at its start in a quarter, else anywhere.

    A reduction that leaves out the ends of its rows is right on most draws otherwise: an extreme is seldom there.
    """
    length = shape[-1] if shape else 1
    row = chooser.randrange(max(math.prod(shape[:-1]), 1))
    column = chooser.choice((length - 1, length - 1, 0, chooser.randrange(length)))
    return row * length + column


def _raised(value: float, top: float, factor: float) -> float:
    """The outlier: `factor` times the largest magnitude, with the sign of what stood there."""
    return -top * factor if value < 0 else top * factor


def _random(array: Any, chooser: random.Random, fill: Callable[[Any, Any], Any]) -> Any:
    if is_torch(array):
        import torch

        fresh = fill(np.random.default_rng(chooser.getrandbits(64)), tuple(array.shape))
        return torch.as_tensor(fresh, dtype=torch.float64).to(device=array.device, dtype=array.dtype)
    return np.asarray(fill(np.random.default_rng(chooser.getrandbits(64)), array.shape)).astype(array.dtype)
