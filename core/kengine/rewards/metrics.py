"""How good a model is, from the verdicts on several candidates for each of several tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, exp, log
from typing import Any

from kengine.errors import UsageError
from kengine.model import Status
from kengine.rewards.outcome import Judged, Outcome, read, require_number

Groups = Sequence[Sequence[Judged]]
"""The candidates of each task. What the machine failed on (None, InfraError) and `unsupported` count nowhere."""


@dataclass(frozen=True)
class Interval:
    """A value, the ends of its interval, and how many values it was computed from."""

    value: float
    low: float
    high: float
    count: int


def unbiased_at_k(n: int, c: int, k: int) -> float:
    """Probability that at least one of k candidates is good, estimated from n of which c are:

        1 - C(n - c, k) / C(n, k)

    Chen et al., arXiv 2107.03374, equation 1. Raises UsageError unless 0 <= c <= n and 1 <= k <= n.
    """
    for name, value in (("n", n), ("c", c), ("k", k)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise UsageError(f"{name}: want a whole number, got {value!r}")
    if not 0 <= c <= n:
        raise UsageError(f"c: want a count from 0 to {n}, got {c}")
    if not 1 <= k <= n:
        raise UsageError(f"k: {k} of {n} candidates cannot be drawn; judge at least k candidates for each task")
    return 1.0 - comb(n - c, k) / comb(n, k)


def comp_at_k(groups: Groups, k: int, *, allow_self_referenced: bool = False) -> float:
    """Mean over tasks of the unbiased probability that one of k candidates compiles; a sham or tampered one counts not.

    Raises UsageError without tasks, and for a task with fewer than k candidates that were judged.
    """
    return _at_k([[bool(o.compiled) for o in group] for group in _read(groups, allow_self_referenced)], k)


def corr_at_k(groups: Groups, k: int, *, allow_self_referenced: bool = False) -> float:
    """As `comp_at_k`, for being right on every case; a candidate that is right and `too_slow` counts."""
    return _at_k([[bool(o.correct) for o in group] for group in _read(groups, allow_self_referenced)], k)


def pass_at_k(groups: Groups, k: int, *, allow_self_referenced: bool = False) -> float:
    """As `comp_at_k`, for passing every stage of the plan, a least speed-up included where one was asked for."""
    held = _read(groups, allow_self_referenced)
    return _at_k([[bool(o.correct) and o.status is Status.passed for o in group] for group in held], k)


def speed_at_k(groups: Groups, k: int, *, p: float = 1.0, allow_self_referenced: bool = False) -> float:
    """As `comp_at_k`, for being right and more than p times as fast as the baseline; an unclear timing counts not.

    Raises UsageError also for emulated targets and for verdicts without timing.
    """
    require_number("p", p, 0.0)
    held = _read(groups, allow_self_referenced, speed=True)
    return _at_k([[bool(o.correct) and o.speed > p for o in group] for group in held], k)


def best_speedup_at_k(groups: Groups, k: int, *, allow_self_referenced: bool = False) -> float:
    """Mean over tasks of the expected largest speed-up among k candidates, 0 for what is not right or not clear:

        sum over j of C(j - 1, k - 1) / C(n, k) * s_j,    s_1 <= ... <= s_n

    Nichols et al., arXiv 2401.12554 (speedup_n@k). Raises UsageError as `speed_at_k`.
    """
    held = _read(groups, allow_self_referenced, speed=True)
    values = []
    for group in held:
        n = len(group)
        unbiased_at_k(n, 0, k)
        speeds = sorted(o.speed for o in group)
        values.append(sum(comb(j - 1, k - 1) * s for j, s in enumerate(speeds, 1)) / comb(n, k))
    return sum(values) / len(values)


def fast_p(judged: Iterable[Judged], p: float = 1.0, *, allow_self_referenced: bool = False) -> float:
    """Share of the candidates that are right and more than p times as fast as the baseline:

        1/N * sum of 1[k and s > p]

    KernelBench (Ouyang et al., arXiv 2502.10517, section 3.3), one candidate for each task. p=0 is the share of right
    ones and needs no timing. Raises UsageError when nothing was judged, and as `speed_at_k`.
    """
    require_number("p", p, 0.0)
    (held,) = _read([list(judged)], allow_self_referenced, speed=p > 0)
    return sum(bool(o.correct) and (p == 0 or o.speed > p) for o in held) / len(held)


def speedups(groups: Groups, *, allow_self_referenced: bool = False) -> list[float]:
    """For each task with a right candidate, the geometric mean of the measured speed-ups of its right ones.

    These are measurements, not credit: an unclear timing counts with what was measured.
    """
    held = _read(groups, allow_self_referenced, speed=True, unclear=float("inf"))
    right = [[o.speed for o in group if o.correct and o.speed > 0] for group in held]
    return [exp(sum(map(log, group)) / len(group)) for group in right if group]


def geometric_mean(
    values: Sequence[float], *, confidence: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> Interval:
    """Geometric mean of speed-ups with its percentile bootstrap interval (Efron 1979) over the values.

    The same values and seed give the same interval; one value has no width. Raises UsageError for no values, for
    values that are not above 0, a confidence outside (0, 1) and fewer than 1 resample.
    """
    if not values:
        raise UsageError("values: no speed-up to take the mean of; no candidate was right")
    for n, value in enumerate(values):
        require_number(f"values[{n}]", value)
        if value <= 0:
            raise UsageError(f"values[{n}]: want a speed-up above 0, got {value!r}")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence: want a number between 0 and 1, got {confidence!r}")
    if resamples < 1:
        raise UsageError(f"resamples: want at least 1, got {resamples!r}")
    logs = [log(v) for v in values]
    value = exp(sum(logs) / len(logs))
    low, high = _bootstrap(logs, confidence, resamples, seed)
    return Interval(value, min(exp(low), value), max(exp(high), value), len(values))


def _bootstrap(values: list[float], confidence: float, resamples: int, seed: int) -> tuple[float, float]:
    import numpy as np

    generator = np.random.default_rng(seed)
    table = np.asarray(values)
    # In pieces, so that many values do not need a table of resamples times values at once.
    step = max(1, 4_000_000 // len(values))
    means: list[Any] = []
    for begun in range(0, resamples, step):
        rows = min(step, resamples - begun)
        means.append(table[generator.integers(0, len(values), (rows, len(values)))].mean(axis=1))
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(means), (tail, 1 - tail))
    return float(low), float(high)


def _read(
    groups: Groups, allow_self_referenced: bool, speed: bool = False, unclear: float = 0.0
) -> list[list[Outcome]]:
    held = []
    for group in groups:
        outcomes = (read(j, speed=speed, unclear=unclear, allow_self_referenced=allow_self_referenced) for j in group)
        held.append([o for o in outcomes if o is not None])
    if not any(held):
        raise UsageError("no candidate was judged: there is nothing to score")
    return held


def _at_k(good: list[list[bool]], k: int) -> float:
    return sum(unbiased_at_k(len(group), sum(group), k) for group in good) / len(good)
