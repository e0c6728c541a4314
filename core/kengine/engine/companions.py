"""Real compiles for chips that are not here, side by side with the launch."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from kengine.engine.device import Device
from kengine.engine.executions import Execution
from kengine.errors import CandidateFault
from kengine.model import Artifact, Capability, TargetInfo

if TYPE_CHECKING:
    from kengine.engine.crew import Crew
    from kengine.engine.job import Job
    from kengine.engine.judge import Judge, OpenTask
    from kengine.engine.runner import Runner

GRACE_S = 1.0
"""How long compiles may still take when the launch beside them has run out of time."""


class Companions:
    """The compiles of one candidate for its other targets, one thread for each."""

    def __init__(self, job: Job, crew: Crew, judge: Judge, task: OpenTask, infos: tuple[TargetInfo, ...]) -> None:
        self._results: list[Artifact | CandidateFault | BaseException | None] = [None] * len(infos)
        self._runners: list[Runner | None] = [None] * len(infos)
        self._abandoned = False
        self._threads = [
            threading.Thread(target=self._compile, args=(n, job, crew, judge, task, info), daemon=True)
            for n, info in enumerate(infos)
        ]
        for thread in self._threads:
            thread.start()

    def abandon(self) -> None:
        """End what is not done shortly: a compile runs the candidate's host code, which has just not come to an end."""
        until = time.monotonic() + GRACE_S
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._abandoned = True
        for runner in self._runners:
            if runner is not None:
                runner.kill()

    def result(self) -> tuple[tuple[Artifact, ...], CandidateFault | None]:
        """Wait for all: the artifacts in order, and the first fault. Raises what was only the machine's fault."""
        for thread in self._threads:
            thread.join()
        fault = None
        artifacts = []
        for result in self._results:
            if isinstance(result, Artifact):
                artifacts.append(result)
            elif isinstance(result, CandidateFault):
                # "unsupported" by a companion says only that this compile could not be tried.
                if fault is None and result.status != "unsupported":
                    fault = result
            elif result is not None:
                raise result
        return tuple(artifacts), fault

    def _compile(self, n: int, job: Job, crew: Crew, judge: Judge, task: OpenTask, info: TargetInfo) -> None:
        try:
            with crew.runner(info, job.backend.module) as runner:
                self._runners[n], runner.until = runner, job.until
                try:
                    self._results[n] = Execution(job, judge, task, runner, Device()).compile(info.target)
                except CandidateFault as fault:
                    named = fault.message.startswith(f"{info.target}:")
                    message = fault.message if named else f"{info.target}: {fault.message}"
                    self._results[n] = CandidateFault(fault.status, message, fault.log, fault.line)
                finally:
                    self._runners[n] = None
                    judge.release(runner.holder)
        except BaseException as error:
            self._results[n] = error
        if self._abandoned:
            self._results[n] = None


def start(job: Job, crew: Crew, judge: Judge, task: OpenTask) -> Companions:
    """Begin compiling for the targets that were asked for; those that cannot compile here are left out."""
    known = {info.target: info for info in job.backend.targets()}
    infos = [known[t] for t in job.compile_for if t in known and t != job.info.target]
    return Companions(job, crew, judge, task, tuple(i for i in infos if Capability.compile in i.capabilities))
