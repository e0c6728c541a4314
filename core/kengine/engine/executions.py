"""What is asked of one runner about one candidate: load, compile, launch, and have the judge compare."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

from kengine import codec, wire
from kengine.engine.accounts import find_processes
from kengine.errors import CandidateFault
from kengine.model import Artifact, Comparison, Launch, Mode, Target
from kengine.provenance import Facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kengine.engine.device import Device
    from kengine.engine.job import Job
    from kengine.engine.judge import Judge, OpenTask
    from kengine.engine.runner import Runner

MAX_SAMPLES = 16
"""Most cases whose inputs a compiler sees; equal specialisations are compiled once whatever their number."""


ROOM = (4, 3)
"""Inputs of the form of the first case, and of any case, that lie in a runner's memory at once in the longest sequence:
with less it would have to be moved for that."""

_MODES = (Mode.normal, Mode.traced)


class Execution:
    """One candidate in one runner; `stage` is the stage that it is in, for the record of a fault.

    facts: what was seen of the calls that were followed, and `traced` the case of each. others: the cases of other
    forms than the first one's on which it is followed (`integrity.order.draw_others`).
    """

    def __init__(self, job: Job, judge: Judge, task: OpenTask, runner: Runner, device: Device) -> None:
        self.job = job
        self.device = device
        self.judge = judge
        self.task = task
        self.runner = runner
        self.stage = "compile"
        self.artifact: Artifact | None = None
        self.held: list[tuple[int, str]] = []
        self.compared: list[Comparison] = []
        self.launched: list[tuple[Launch, ...]] = []
        self.followed: list[bool] = []
        self.places: dict[int, Any] = {}
        self.facts: list[Facts] = []
        self.traced: list[int] = []
        self.others: frozenset[int] = frozenset()
        self.unjoined: set[str] = set()
        self.calls = 0
        self.processes: frozenset[int] = frozenset()

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
            # Nothing of the candidate's has run yet: what is started while it is imported is its own as well.
            self.processes = find_processes(self.runner.pid)
            cases = list(range(min(MAX_SAMPLES, len(self.task.cases))))
            bundles, fds = self.judge.lend(self.task, cases, "compile", self.runner.holder, room=ROOM)
            # Compiling may take many times as long as what is launched in the end, and needs no device until then.
            turn = self.device.shared if target == self.job.info.target and self.job.info.device != "cpu" else None
            try:
                reply = self.runner.request(
                    "compile", {"target": str(target), "bundles": bundles}, timeout, tuple(fds), turn
                )
            finally:
                wire.close_all(fds)
        self.artifact = self.job.artifact = _read_artifact(reply.get("artifact"), target)
        return self.artifact

    def launch(
        self, case: int, phase: str, mode: Mode, elsewhere: bool = False
    ) -> tuple[Any, tuple[Launch, ...], dict[str, Any]]:
        """Call the candidate once on fresh inputs: its own description of the outputs, launches, details.

        elsewhere: in memory other than that of the calls before. Raises CandidateFault. Everything returned here is
        the runner's word.
        """
        self.stage = "launch"
        bundles, fds = self.judge.lend(self.task, [case], phase, self.runner.holder, elsewhere)
        self.places[case] = place_of(bundles[0])
        try:
            with self.device.shared():
                begun = time.perf_counter_ns()
                with self.job.stage("launch"):
                    reply = self.runner.request(
                        "launch",
                        {"case": codec.to_json(self.task.views[case]), "mode": mode.value, "bundle": bundles[0]},
                        self._timeout_s,
                        tuple(fds),
                    )
        finally:
            wire.close_all(fds)
        self._count(reply, begun)
        if mode is Mode.traced:
            self._note_facts(case, reply.get("facts"))
        return reply.get("outputs"), _read_launches(reply.get("launches")), _read_details(reply.get("details"))

    def check(
        self, case: int, phase: str, mode: Mode = Mode.normal, elsewhere: bool = False
    ) -> tuple[Comparison, tuple[Launch, ...], dict[str, Any]]:
        """Launch on fresh inputs, as `launch` does, and have the judge compare. Raises CandidateFault.

        What was seen of a call that is followed (mode traced) is then in `facts`, the runner's word.
        """
        outputs, launches, details = self.launch(case, phase, mode, elsewhere)
        self.stage = "compare"
        with self.job.stage("compare"):
            # Where the answer is meant to be wrong, nobody wants to know in what way.
            brief = mode not in _MODES
            kept = mode is Mode.normal or (mode is Mode.traced and case in self.others)
            comparison, digest = self.judge.compare(
                self.task, case, phase, self.runner.holder, outputs, brief, digest=kept
            )
        if kept:
            self.job.digests[f"{phase}/{self.task.cases[case].name}"] = digest
        return comparison, launches, details

    def withhold(self, case: int, phase: str, before: str) -> tuple[bool, str]:
        """Call the candidate once with launches that do nothing: whether the answer is right, and which parts of a
        wrong one are. before: a phase in which this case was called already. Raises CandidateFault."""
        outputs, _, _ = self.launch(case, phase, Mode.noop)
        self.stage = "compare"
        with self.job.stage("compare"):
            return self.judge.compare_withheld(self.task, case, phase, self.runner.holder, outputs, before)

    def trace(self, case: int, phase: str) -> tuple[Comparison, tuple[Launch, ...]]:
        """Call the candidate once while it is followed, and compare. Raises CandidateFault."""
        comparison, launches, _ = self.check(case, phase, Mode.traced)
        return comparison, launches

    def sequence(self, cases: Sequence[int], phases: Sequence[str], at: Any = None, again: int = 0) -> bool:
        """Call the candidate on several cases in one go; what each call gave at once is compared into `compared`, what
        it launched is in `launched`, and whether it was followed in `followed`.

        at: the place (`place_of`) where the first of them must lie. False, without a call, when it lies elsewhere;
        else one call on the case `again` at least is followed and one is not, and so is the first call where it is
        another case's.
        """
        self.stage = "launch"
        bundles, fds = self.judge.lend(self.task, cases, phases, self.runner.holder)
        views = [codec.to_json(self.task.views[case]) for case in cases]
        try:
            if at is not None and place_of(bundles[0]) != at:
                return False
            with self.device.shared():
                self.followed = _draw_followed(cases, at is not None, again)
                modes = [_MODES[followed].value for followed in self.followed]
                body = {"cases": views, "bundles": bundles, "modes": modes}
                begun = time.perf_counter_ns()
                reply = self.runner.request("sequence", body, self._timeout_s * len(cases), tuple(fds))
        finally:
            wire.close_all(fds)
        self._count(reply, begun, len(cases))
        launches = reply.get("launches")
        if not isinstance(launches, list) or len(launches) != len(cases):
            raise CandidateFault("tampered", "the result channel carried no list of launches for each call")
        self.launched = [_read_launches(each) for each in launches]
        followed = reply.get("facts")
        on = [case for case, each in zip(cases, self.followed) if each]
        if not isinstance(followed, list) or len(followed) != len(on):
            raise CandidateFault(
                "tampered", "the result channel carried no list of facts for each call that was followed"
            )
        for case, each in zip(on, followed):
            self._note_facts(case, each)
        self.held = list(zip(cases, phases))
        self.compared = self._compare_held(reply.get("outputs"))
        return True

    def look_again(self) -> list[Comparison]:
        """Compare what the calls of the last sequence returned as it is now."""
        with self.device.shared():
            reply = self.runner.request("held", {}, self._timeout_s)
        return self._compare_held(reply.get("outputs"))

    def _compare_held(self, outputs: Any) -> list[Comparison]:
        if not isinstance(outputs, list) or len(outputs) != len(self.held):
            raise CandidateFault("tampered", "the result channel carried another number of results than calls")
        self.stage = "compare"
        holder = self.runner.holder
        return [
            self.judge.compare(self.task, case, phase, holder, each, False)[0]
            for (case, phase), each in zip(self.held, outputs)
        ]

    def _note_facts(self, case: int, value: Any) -> None:
        self.facts.append(_read_facts(value))
        self.traced.append(case)

    def _count(self, reply: dict[str, Any], begun: int, calls: int = 1) -> None:
        """Add what the runner says of the candidate's own time, as far as it can be true."""
        elapsed = reply.get("elapsed_ns")
        self.calls += calls
        self.unjoined |= _read_names(reply.get("unjoined", []))
        if isinstance(elapsed, int) and 0 <= elapsed <= time.perf_counter_ns() - begun:
            self.job.durations_ns["candidate"] = self.job.durations_ns.get("candidate", 0) + elapsed

    @property
    def call_ns(self) -> int:
        """Mean time of the candidate's calls so far, by its own account."""
        return self.job.durations_ns.get("candidate", 0) // max(self.calls, 1)

    @property
    def _timeout_s(self) -> float:
        return float(self.job.task.spec.timeout_s or self.job.plan.launch_timeout_s)


def place_of(bundle: dict[str, Any]) -> Any:
    """Where the inputs of a bundle lie and of what form they are: equal for two that lie in the same memory."""
    return [bundle.get(part) for part in ("arena", "args", "init_args", "state")]


def _draw_followed(cases: Sequence[int], both: bool, again: int = 0) -> list[bool]:
    """Which calls of a sequence are followed: some of those on the case `again`, the first where that is another one's.

    Drawn anew: a candidate that behaves while it is followed misbehaves in a call that is not. both: some of them are
    and some are not.
    """
    while True:
        drawn = [case == again and secrets.choice((True, False)) for case in cases]
        ours = {followed for followed, case in zip(drawn, cases) if case == again}
        if len(ours) == 2 or not both or list(cases).count(again) < 2:
            return [again != 0 or drawn[0], *drawn[1:]]


def _read_artifact(value: Any, target: Target) -> Artifact:
    try:
        artifact = codec.from_json(value, Artifact)
    except codec.CodecError as error:
        raise CandidateFault("tampered", f"the result channel carried an artifact that is not one: {error}") from None
    if artifact.target != target:
        raise CandidateFault("tampered", f"the artifact is for {artifact.target}, asked for was {target}")
    return artifact


def _read_names(value: Any) -> set[str]:
    if not isinstance(value, list) or len(value) > 1000 or not all(isinstance(name, str) for name in value):
        raise CandidateFault("tampered", "the result channel carried names of kernels that are none")
    return {name[:200] for name in value}


def _read_facts(value: Any) -> Facts:
    try:
        return codec.from_json(value, Facts)
    except codec.CodecError as error:
        raise CandidateFault("tampered", f"the result channel carried facts that are none: {error}") from None


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
