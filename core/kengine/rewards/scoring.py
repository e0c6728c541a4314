"""The score of a set of verdicts: every metric that they allow, over tasks on one target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kengine.errors import UsageError
from kengine.model import Verdict
from kengine.rewards import metrics
from kengine.rewards.metrics import Interval
from kengine.rewards.outcome import read


@dataclass(frozen=True)
class Score:
    """Metrics of the candidates on one target. Keys of the mappings are k, and for `fast` the threshold p.

    tasks: tasks with a judged candidate. candidates: judged ones. left_out: without a verdict or `unsupported`.
    fewest: candidates of the task that has the fewest. timed: the speed metrics could be computed; without it they are
    empty. speedup: geometric mean over tasks of the right candidates' speed-ups, with its 95 % interval.
    """

    target: str
    tasks: int
    candidates: int
    left_out: int
    fewest: int
    comp: dict[int, float] = field(default_factory=dict)
    corr: dict[int, float] = field(default_factory=dict)
    passed: dict[int, float] = field(default_factory=dict)
    timed: bool = False
    speed: dict[int, float] = field(default_factory=dict)
    fast: dict[float, float] = field(default_factory=dict)
    speedup: Interval | None = None


def score(
    verdicts: Sequence[Verdict], *, ks: Sequence[int] = (1,), ps: Sequence[float] = (0.0, 1.0, 2.0), p: float = 1.0,
    speed: bool | None = None, allow_self_referenced: bool = False,
) -> Score:  # fmt: skip
    """Score verdicts that were reached on one target; candidates of a task are found by the task's content.

    ks: numbers of candidates. ps: thresholds of fast_p. p: threshold of speed@k. speed: None computes the speed metrics
    when every right candidate was timed. fast_p here is the mean over tasks of each task's share. Raises UsageError for
    several targets, for a task with fewer than k judged candidates, and for speed where nothing was timed.
    """
    targets = sorted({str(v.target) for v in verdicts})
    if len(targets) != 1:
        raise UsageError(f"want verdicts on one target, got {', '.join(targets) or 'none'}: score each on its own")
    if speed and any(v.emulated for v in verdicts):
        raise UsageError(
            f"{targets[0]} is an emulator, it never times: leave fast_p and the other speed metrics out, or judge on a "
            "device"
        )
    groups: dict[str, list[Verdict]] = {}
    left_out = 0
    for verdict in verdicts:
        if read(verdict, allow_self_referenced=allow_self_referenced) is None:
            left_out += 1
        else:
            groups.setdefault(verdict.digests.get("task") or verdict.task.digest, []).append(verdict)
    if not groups:
        raise UsageError("no candidate was judged: there is nothing to score")
    fewest = min(groups.values(), key=len)
    for k in ks:
        if k > len(fewest):
            raise UsageError(
                f"k: {k}, but task {fewest[0].task.name!r} has {len(fewest)} judged candidates; judge more of it, or "
                "leave that k out"
            )
    held = list(groups.values())
    timed = _timed(held, allow_self_referenced) if speed is None else speed
    comp, corr, passed = (
        {k: rate(held, k, allow_self_referenced=allow_self_referenced) for k in ks}
        for rate in (metrics.comp_at_k, metrics.corr_at_k, metrics.pass_at_k)
    )
    plain = Score(targets[0], len(held), sum(map(len, held)), left_out, len(fewest), comp, corr, passed, timed)
    return _with_speed(plain, held, ks, ps, p, allow_self_referenced) if timed else plain


def _timed(groups: list[list[Verdict]], allow_self_referenced: bool) -> bool:
    everything = [v for group in groups for v in group]
    if any(v.emulated for v in everything):
        return False
    outcomes = [(v, read(v, allow_self_referenced=allow_self_referenced)) for v in everything]
    right = [v for v, outcome in outcomes if outcome is not None and outcome.correct]
    return bool(right) and all(v.speedup is not None for v in right)


def _with_speed(
    plain: Score, held: list[list[Verdict]], ks: Sequence[int], ps: Sequence[float], p: float, allow: bool
) -> Score:
    speedups = metrics.speedups(held, allow_self_referenced=allow)
    return replace(
        plain,
        speed={k: metrics.speed_at_k(held, k, p=p, allow_self_referenced=allow) for k in ks},
        fast={
            each: sum(metrics.fast_p(group, each, allow_self_referenced=allow) for group in held) / len(held)
            for each in ps
        },
        speedup=metrics.geometric_mean(speedups) if speedups else None,
    )
