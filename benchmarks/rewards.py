"""Rewards over 100,000 verdicts that lie in memory as a trainer holds them, for every preset, and what reading the same
verdicts from a file costs beside that. The verdicts differ in status, speed-up and records as those of a training run.
"""

from __future__ import annotations

import functools
import json
import random
import sys
import time

import arguments
from kengine import codec, rewards
from kengine.model import (
    Artifact,
    Candidate,
    CaseTiming,
    Check,
    CompareRecord,
    Comparison,
    CompileRecord,
    Environment,
    IntegrityRecord,
    Launch,
    LaunchRecord,
    LintRecord,
    SourceFile,
    Stages,
    Status,
    Target,
    Task,
    TimeRecord,
    Verdict,
)
from kengine.rewards.presets import HOME

COUNT = 100_000
LIMIT_S = 2.0
GIVEN = {"sol_score": {"sol_ns": 10.0}, "cuda_agent": {"unknown": 2.0}}
SOURCE = "import triton\n" + "# a line of a kernel as long as they usually are\n" * 40


def verdicts() -> list[Verdict]:
    """As many as wanted, all different objects."""
    draw = random.Random(7)
    statuses = [Status.passed, Status.passed, Status.wrong_result, Status.compile_failed, Status.sham, Status.too_slow]
    target, task = Target("triton", "sm_90"), Task("rmsnorm", "function", SOURCE)
    return [_verdict(n, draw, draw.choice(statuses), target, task) for n in range(COUNT)]


def _verdict(n: int, draw: random.Random, status: Status, target: Target, task: Task) -> Verdict:
    right = status in (Status.passed, Status.too_slow)
    speedup = draw.lognormvariate(0.1, 0.5) if right else None
    comparisons = tuple(Comparison(f"case {i}", right or status is Status.sham, total=4096) for i in range(6))
    stages = Stages(lint=LintRecord(rules=26))
    if status is not Status.compile_failed:
        checks = (Check("launched", True), Check("repeat", True), Check("launches do nothing", True, right))
        launches = LaunchRecord(((Launch("k", (16,)),),) * 6, {"coverage": draw.random()})
        stages = Stages(
            stages.lint,
            CompileRecord((Artifact(target),)),
            launches,
            CompareRecord(comparisons),
            IntegrityRecord(checks),
        )
    if speedup is not None:
        label = draw.choice(["faster", "same", "slower", "unclear"])
        samples = tuple(draw.randrange(900, 1100) for _ in range(30))
        baseline = tuple(int(s * speedup) + 1 for s in samples)
        case = CaseTiming("case 0", samples, baseline, "event", speedup, speedup, speedup, label, 10**6)
        stages = Stages(
            stages.lint, stages.compile, stages.launch, stages.compare, stages.integrity,
            TimeRecord((case,), speedup, label, "eager"),
        )  # fmt: skip
    candidate = Candidate((SourceFile(f"{n}.py", SOURCE),), "candidate")
    stage = "" if right else {Status.wrong_result: "compare", Status.sham: "integrity"}.get(status, "compile")
    return Verdict(
        status, "", target, False, False, task, candidate, stages, Environment("0", "3.11", "Linux"), speedup, stage
    )


def main() -> int:
    held = verdicts()
    worst = 0.0
    for name in sorted(HOME):
        reward = functools.partial(getattr(rewards, name), **GIVEN.get(name, {}))
        begun = time.perf_counter()
        values = [reward(verdict) for verdict in held]
        took = time.perf_counter() - begun
        worst = max(worst, took)
        mean = sum(v for v in values if v is not None) / COUNT
        print(f"{name:20} {took:6.3f} s, {took / COUNT * 1e6:5.2f} us each, mean reward {mean:6.3f}")
    print(f"slowest over {COUNT} verdicts: {worst:.3f} s, limit {LIMIT_S} s, {LIMIT_S / worst:.1f} times within it")
    begun = time.perf_counter()
    texts = [rewards.write_feedback(verdict) for verdict in held[: COUNT // 10]]
    print(f"feedback: {(time.perf_counter() - begun) / len(texts) * 1e6:.1f} us each")
    lines = [codec.dumps(verdict) for verdict in held[: max(COUNT // 100, 1)]]
    begun = time.perf_counter()
    for line in lines:
        json.loads(line)
    parsed = (time.perf_counter() - begun) / len(lines) * 1e6
    begun = time.perf_counter()
    for line in lines:
        codec.loads(line, Verdict)
    read = (time.perf_counter() - begun) / len(lines) * 1e6
    size = sum(map(len, lines)) / len(lines)
    print(f"reading from a file first: {read:.0f} us a verdict of {size / 1000:.1f} kB, {parsed:.0f} us of it in json")
    return int(worst > LIMIT_S)


if __name__ == "__main__":
    COUNT = arguments.read(__doc__, count=COUNT).count
    sys.exit(main())
