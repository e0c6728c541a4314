"""How far each element of an output may lie from the exact answer.

For an output with exact values e (the reference in float64) and honest values h (the reference as it is):

    size_i    = max(|e_i|, min(typical_i, 4 * typical sens around it))
    typical_i = max(min(RMS of its row, RMS of its column), RMS of the tensor / 1024), and the same of sens
    sens_i    = RMS over a few runs of |e'_i - e_i| / s, where e' is the exact answer to inputs that were each moved by
                a relative +-0.6 s to +-1.4 s; at most 1000 times the larger of the row's and the tensor's RMS,
                where more than a twentieth of the elements would have more
    r_i       = |h_i - e_i| / max(size_i, sens_i)
    honest_i  = max(|h_i - e_i|, 2 max(size_i, sens_i) * min(RMS of r in its row, RMS of r in its column))
    allowed_i = max(storage * size_i, arithmetic * max(size_i, sens_i), inner * sens_i, honest_factor * honest_i, least)

    storage    = 3u for float16 and bfloat16, 2u for fp8, where u is the dtype's unit roundoff: one rounding to store,
                 and room for a second one before it
    inner      = 2u for float16 and bfloat16, else 0: what is summed may itself have been rounded to the dtype (the
                 weights of an attention, a product before its bias), which shows where it cancels
    least      = 1.5 steps of the subnormal numbers of a narrow dtype, the smallest normal number of a wide one, below
                 which processors may flush to zero; in a case of tiny values at least 4 v of the RMS that the answer
                 has on the task's own draw, since 1 - exp(-x) is an honest way to write a function
    arithmetic = v * max(64, 16 + 3 sqrt(n)), where v is u of the dtype, but of float32 at least: narrow outputs are
                 accumulated wide. n estimates the longest reduction.

sqrt(n) is how the error of summing n terms one after the other grows when roundings are independent: about 0.33 sqrt(n)
v of the sum for terms of one sign and 0.41 sqrt(n) v of sens for terms of both (Higham, Accuracy and Stability of
Numerical Algorithms, chapter 4, statistical model). The largest of a million elements of such a product has 1.9 sqrt(n)
v, because some partial sums stray far from where they end; 3 sqrt(n) leaves room for larger outputs and for what sens,
measured in a few runs, falls short of. The column keeps a row's large elements from excusing errors in its small ones,
sens keeps cancellation from condemning an honest order. Constants such as the -1e9 of a mask have no sens, so that they
do not pass for the size of the elements between them; where nothing has sens, typical_i stands alone. `Tolerance.rtol`
replaces storage and bounds arithmetic. With precision "tf32" v is 2**-11 / 16 for float32 outputs. Where the reference
does not run in float64, e is h and both floors are doubled. Bool, integer and string outputs are exact: nothing is
allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod, sqrt
from typing import Any

from kengine.model import Tolerance

UNIT_ROUNDOFF = {
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float32": 2.0**-24,
    "float64": 2.0**-53,
    "complex64": 2.0**-24,
    "complex128": 2.0**-53,
    "float8_e4m3fn": 2.0**-4,
    "float8_e4m3fnuz": 2.0**-4,
    "float8_e5m2": 2.0**-3,
    "float8_e5m2fnuz": 2.0**-3,
    "float8_e8m0fnu": 2.0**-1,
}
"""Half the distance from 1 to the next number, for each inexact dtype."""

LEAST = {
    "float16": 1.5 * 2.0**-24,
    "bfloat16": 2.0**-126,
    "float32": 2.0**-126,
    "complex64": 2.0**-126,
    "float8_e4m3fn": 1.5 * 2.0**-9,
    "float8_e4m3fnuz": 1.5 * 2.0**-10,
    "float8_e5m2": 1.5 * 2.0**-16,
    "float8_e5m2fnuz": 1.5 * 2.0**-17,
}
"""Absolute error that every element may have, for each dtype; 2**-1022 where none is listed."""

INNER_STEPS = 2.0
"""Unit roundoffs of sens that an output of float16 or bfloat16 may be off for roundings in between."""

OUTLIER_STEPS = 8
"""Unit roundoffs of the RMS of an output that it may be off in a case with an outlier."""

SMALL_STEPS = 4
"""Unit roundoffs of the ordinary magnitude of an output that its answer to tiny inputs may be off."""

_SINGLE = 2.0**-24
_TF32 = 2.0**-11
_MAX_SENSITIVITY = 1000.0
_FEW = 1 / 20
"""Share of elements whose sens may lie above its bound, and is then taken as it is."""
_SHORT = 8
"""Rows and columns of fewer elements say nothing of a magnitude; the whole tensor does."""


def is_inexact(dtype: str) -> bool:
    """Whether values of this dtype are compared with a tolerance."""
    return dtype in UNIT_ROUNDOFF


def arithmetic_roundoff(dtype: str) -> float:
    """Unit roundoff of the precision that an output of this dtype is computed in: float32, or its own if wider."""
    return min(UNIT_ROUNDOFF[dtype], _SINGLE)


def floors(dtype: str, tolerance: Tolerance, reduction: int, native: bool = False) -> tuple[float, float]:
    """The factors `storage` and `arithmetic` for an output, see above. Pure numbers."""
    u = UNIT_ROUNDOFF[dtype]
    wide = arithmetic_roundoff(dtype)
    if tolerance.precision == "tf32" and wide == _SINGLE:
        wide = _TF32 / 16
    arithmetic = wide * max(64.0, 16.0 + 3.0 * sqrt(max(reduction, 1)))
    storage = (2.0 if dtype.startswith("float8") else 3.0) * u
    if tolerance.rtol is not None:
        storage, arithmetic = tolerance.rtol, min(arithmetic, tolerance.rtol)
    return (2 * storage, 2 * arithmetic) if native else (storage, arithmetic)


def tighten(tolerance: Tolerance, chip_error: float) -> tuple[Tolerance, str]:
    """What an emulator's answer may be off, and a sentence about it ("" when that is what the task says).

    An emulator that computes more exactly than its chip leaves out the relative error `chip_error`. The two errors are
    independent, so that the answer on the chip keeps to rtol when the emulated one keeps to
    sqrt(rtol**2 - chip_error**2).
    """
    rtol = tolerance.rtol
    if rtol is None or chip_error <= 0.0:
        return tolerance, ""
    if rtol <= chip_error:
        return tolerance, (
            f"rtol {rtol:g} is less than the error {chip_error:.3g} that the chip's own matrix products of float32 "
            "make: what passes on this emulator may fail on the chip"
        )
    tight = sqrt(rtol**2 - chip_error**2)
    if tight > 0.99 * rtol:
        return tolerance, ""
    return replace(tolerance, rtol=tight), (
        f"rtol {rtol:g} is judged as {tight:.3g}: this emulator does not make the error {chip_error:.3g} of the "
        "chip's own matrix products of float32"
    )


def estimate_reduction(inputs: list[tuple[int, ...]], output: tuple[int, ...]) -> int:
    """How many terms one element of `output` may be a sum of, from shapes alone.

    For each input: the product of the dimensions that the output does not have, and its largest dimension.
    """
    longest = 1
    for shape in inputs:
        left = list(output)
        missing = []
        for n in shape:
            if n in left:
                left.remove(n)
            else:
                missing.append(n)
        longest = max(longest, prod(missing), *shape) if shape else longest
    return min(longest, 1 << 26)


def allowed_error(
    exact: Any,
    honest: Any,
    sensitivity: Any,
    dtype: str,
    tolerance: Tolerance,
    reduction: int,
    xp: Any,
    native: bool = False,
    least_size: float = 0.0,
    least_error: float = 0.0,
) -> Any:
    """Allowed absolute error of each element, float64, of the same shape; 0 where `exact` is not finite.

    exact, honest: arrays of `xp` (numpy or torch) in float64 or complex128. sensitivity: what `sensitivities` gives,
    or None. least_size: a magnitude below which no element counts as small (for inputs of zeros, whose answer has no
    magnitude of its own). least_error: an error that every element may have.
    """
    storage, arithmetic = floors(dtype, tolerance, reduction, native)
    finite = xp.isfinite(exact)
    zero = _zeros(xp.abs(exact), xp)
    size = xp.where(finite, xp.abs(exact), zero)
    typical, overall = _neighbourhood(size, xp)
    extent = _largest(typical, overall, xp)
    typical = _largest(typical, overall / 1024, xp)
    if sensitivity is not None:
        sensitivity = xp.where(finite, _bounded(sensitivity, _MAX_SENSITIVITY * extent, xp), zero)
        around, whole = _neighbourhood(sensitivity, xp)
        if whole > 0:
            typical = xp.minimum(typical, 4.0 * _largest(around, whole / 1024, xp))
    size = _largest(_largest(size, typical, xp), least_size, xp)
    allowed = max(storage if dtype not in ("float32", "float64", "complex64", "complex128") else 0.0, arithmetic) * size
    if tolerance.rtol is not None:
        allowed = storage * size
    if sensitivity is not None:
        halves = dtype in ("float16", "bfloat16") and tolerance.rtol is None
        inner = INNER_STEPS * UNIT_ROUNDOFF[dtype] if halves else 0.0
        allowed = xp.maximum(allowed, max(arithmetic, inner) * sensitivity)
    error = xp.abs(honest - exact)
    error = xp.where(xp.isfinite(error) & finite, error, zero)
    if sensitivity is not None:
        size = xp.maximum(size, sensitivity)
    nearby, _ = _neighbourhood(xp.where(size > 0, error / _largest(size, 1e-300, xp), zero), xp)
    allowed = xp.maximum(allowed, tolerance.honest_factor * xp.maximum(error, 2.0 * nearby * size))
    return xp.where(finite, _largest(allowed, max(LEAST.get(dtype, 2.0**-1022), least_error), xp), zero)


def sensitivities(exact: Sequence[Any], runs: Iterable[Sequence[Any]], step: float, xp: Any) -> list[Any]:
    """For each output, sens of the formula above before its bound: RMS over `runs` of the change that a relative move
    of `step` makes. One run is held at a time."""
    totals = [xp.zeros_like(xp.abs(e)) for e in exact]
    count = 0
    for run in runs:
        count += 1
        for n, (e, other) in enumerate(zip(exact, run)):
            change = xp.abs(other - e) / step
            totals[n] = totals[n] + xp.where(xp.isfinite(change), change, xp.zeros_like(change)) ** 2
    return [xp.sqrt(t / max(count, 1)) for t in totals]


def _bounded(sensitivity: Any, bound: Any, xp: Any) -> Any:
    """sens, at most `bound` unless only few elements are above it: there honest kernels do lose what it says (two
    large logits that nearly tie), while sens above its bound all over means that the answer is noise."""
    few = int((sensitivity > bound).sum()) <= prod(tuple(sensitivity.shape)) * _FEW
    return sensitivity if few else xp.minimum(sensitivity, bound)


def is_steep(exact: Any, sensitivity: Any, xp: Any) -> bool:
    """Whether sens lies above its bound for more than a twentieth of the elements: what is allowed there is then less
    than what honest kernels lose."""
    if sensitivity is None:
        return False
    size = xp.abs(exact)
    usual = root_mean_square(xp.where(xp.isfinite(size), size, _zeros(size, xp)), xp)
    over = xp.isfinite(sensitivity) & (sensitivity > _MAX_SENSITIVITY * usual)
    return bool(int(over.sum()) > prod(tuple(over.shape)) * _FEW)


def _zeros(array: Any, xp: Any) -> Any:
    return xp.zeros_like(array)


def _largest(a: Any, b: Any, xp: Any) -> Any:
    return xp.where(a > b, a, b + 0 * a)


def root_mean_square(values: Any, xp: Any) -> float:
    """RMS of an array without overflow, 0.0 when it is empty."""
    if values.size == 0 if xp.__name__ == "numpy" else values.numel() == 0:
        return 0.0
    top = float(values.max())
    if top == 0.0:
        return 0.0
    return top * float(xp.sqrt(xp.mean((values / top) ** 2)))


def _neighbourhood(values: Any, xp: Any) -> tuple[Any, float]:
    """For each element the smaller of the RMS of its row and of its column, and the RMS of all."""
    overall = root_mean_square(values, xp)
    shape = tuple(values.shape)
    if overall == 0.0 or len(shape) == 0 or shape[-1] < _SHORT or prod(shape) == shape[-1]:
        return xp.zeros_like(values) + overall, overall
    top = float(values.max())
    rows = (values / top).reshape(-1, shape[-1]) ** 2
    typical = xp.sqrt(xp.mean(rows, axis=1, keepdims=True)) * top
    if rows.shape[0] >= _SHORT:
        column = xp.sqrt(xp.mean(rows, axis=0, keepdims=True)) * top
        typical = xp.minimum(typical + xp.zeros_like(column), column + xp.zeros_like(typical))
    return (typical + xp.zeros_like(rows)).reshape(shape), overall
