"""What is asked of one runner about one candidate: load, compile, launch, and have the judge compare."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kengine import codec, wire
from kengine.errors import CandidateFault
from kengine.model import Artifact, Comparison, Launch, Mode, Target

if TYPE_CHECKING:
    from kengine.engine.device import Device
    from kengine.engine.job import Job
    from kengine.engine.judge import Judge, OpenTask
    from kengine.engine.runner import Runner

MAX_SAMPLES = 16
"""Most cases whose inputs a compiler sees; equal specialisations are compiled once whatever their number."""


class Execution:
    """One candidate in one runner; `stage` is the stage that it is in, for the record of a fault."""

    def __init__(self, job: Job, judge: Judge, task: OpenTask, runner: Runner, device: Device) -> None:
        self.job = job
        self.device = device
        self.judge = judge
        self.task = task
        self.runner = runner
        self.stage = "compile"
        self.artifact: Artifact | None = None

    def compile(self, target: Target) -> Artifact:
        """Load the candidate into the runner and compile it. Raises CandidateFault."""
        self.stage = "compile"
        timeout = self.job.plan.compile_timeout_s
        with self.job.stage("compile"):
            self.runner.request(
                "load",
                {
                    "candidate": codec.to_json(self.job.candidate),
                    "view": codec.to_json(self.job.view),
                    "target": str(target),
                },
                timeout,
            )
            cases = list(range(min(MAX_SAMPLES, len(self.task.cases))))
            bundles, fds = self.judge.lend(self.task, cases, "compile", self.runner.holder)
            try:
                with self.device.shared():
                    reply = self.runner.request(
                        "compile", {"target": str(target), "bundles": bundles}, timeout, tuple(fds)
                    )
            finally:
                wire.close_all(fds)
        self.artifact = _read_artifact(reply.get("artifact"), target)
        return self.artifact

    def launch(self, case: int, phase: str, mode: Mode) -> tuple[Any, tuple[Launch, ...], dict[str, Any]]:
        """Call the candidate once on fresh inputs: its own description of the outputs, launches, details.

        Raises CandidateFault. Everything returned here is the runner's word.
        """
        self.stage = "launch"
        bundles, fds = self.judge.lend(self.task, [case], phase, self.runner.holder)
        try:
            with self.device.shared():
                begun = time.perf_counter_ns()
                with self.job.stage("launch"):
                    reply = self.runner.request(
                        "launch",
                        {"case": codec.to_json(self.task.views[case]), "mode": mode.value, "bundle": bundles[0]},
                        self.job.task.spec.timeout_s or self.job.plan.launch_timeout_s,
                        tuple(fds),
                    )
                spent = time.perf_counter_ns() - begun
        finally:
            wire.close_all(fds)
        elapsed = reply.get("elapsed_ns")
        if isinstance(elapsed, int) and 0 <= elapsed <= spent:
            self.job.durations_ns["candidate"] = self.job.durations_ns.get("candidate", 0) + elapsed
        return reply.get("outputs"), _read_launches(reply.get("launches")), _read_details(reply.get("details"))

    def check(
        self, case: int, phase: str, mode: Mode = Mode.normal
    ) -> tuple[Comparison, tuple[Launch, ...], dict[str, Any]]:
        """Launch on fresh inputs and have the judge compare. Raises CandidateFault."""
        outputs, launches, details = self.launch(case, phase, mode)
        self.stage = "compare"
        with self.job.stage("compare"):
            # Where the answer is meant to be wrong, nobody wants to know in what way.
            brief = mode is not Mode.normal
            comparison, digest = self.judge.compare(self.task, case, phase, self.runner.holder, outputs, brief)
        if mode is Mode.normal:
            self.job.digests[f"{phase}/{self.task.cases[case].name}"] = digest
        return comparison, launches, details


def _read_artifact(value: Any, target: Target) -> Artifact:
    try:
        artifact = codec.from_json(value, Artifact)
    except codec.CodecError as error:
        raise CandidateFault("tampered", f"the result channel carried an artifact that is not one: {error}") from None
    if artifact.target != target:
        raise CandidateFault("tampered", f"the artifact is for {artifact.target}, asked for was {target}")
    return artifact


def _read_launches(value: Any) -> tuple[Launch, ...]:
    if not isinstance(value, list) or len(value) > 100_000:
        raise CandidateFault("tampered", "the result channel carried a list of launches that is not one")
    try:
        return tuple(codec.from_json(v, Launch) for v in value[:1000])
    except codec.CodecError as error:
        raise CandidateFault("tampered", f"the result channel carried a launch that is not one: {error}") from None


def _read_details(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    return {str(k)[:80]: v for k, v in list(value.items())[:100] if isinstance(v, (str, int, float, bool))}
