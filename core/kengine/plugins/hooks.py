"""The hooks that a backend, a rule pack, an observer or a loader may implement, in the order in which they are called;
that of curation comes last.

A plugin imports `hookimpl` from here, declares `KENGINE_SPEC = (1, 0)`, and defines functions with exactly these names
and parameters. No defaults and no keyword-only parameters, in specifications or implementations. Hooks run where
their docstring says: engine (the caller's process), runner (untrusted, one candidate each) or judge (trusted).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

from kengine.array import Array
from kengine.model import (
    Artifact,
    Candidate,
    CaseView,
    Comparison,
    Finding,
    JsonValue,
    Launch,
    Mode,
    Opinion,
    Target,
    TargetInfo,
    Task,
    TaskView,
    TensorSpec,
    Timing,
    TimingPlan,
)

if TYPE_CHECKING:
    from kengine.config import OpinionSettings
    from kengine.curate.format import Glimpse, Loader, NearMiss

SPEC_VERSION = (1, 0)
"""Major and minor version of this specification; a plugin declares the one it was written for as KENGINE_SPEC."""

hookspec = pluggy.HookspecMarker("kengine")
hookimpl = pluggy.HookimplMarker("kengine")

EXCLUSIVE = frozenset(
    {"kengine_targets", "kengine_warm", "kengine_open", "kengine_compile", "kengine_launch", "kengine_time"}
)
"""Hooks that one backend owns; a second owner is refused when it is loaded."""

REQUIRED = frozenset({"kengine_targets", "kengine_compile", "kengine_launch"})
"""Hooks that every backend implements."""


@dataclass(frozen=True)
class Inputs:
    """The arguments of one call, in the runner's memory and private to it.

    args: `kengine.array.Array` for arrays; numbers, strings, None, and lists, tuples or dicts of these otherwise.
    init_args, state: for form "module": arguments of the constructor, and the reference's parameters by name.
    destination: poisoned arrays to write into, for an entry that takes its outputs as arguments; else empty.
    """

    args: tuple[Any, ...]
    init_args: tuple[Any, ...] = ()
    state: Mapping[str, Array] = field(default_factory=dict)
    destination: tuple[Array, ...] = ()


@dataclass(frozen=True)
class Outputs:
    """What one call gave: the value as the candidate returned it, the launches that completed, and own figures."""

    value: Any
    launches: Sequence[Launch] = ()
    details: Mapping[str, JsonValue] = field(default_factory=dict)


class Hooks:
    """The specifications. Each says where it runs, in which order results are asked for, and when asking stops."""

    @hookspec(firstresult=True)
    def kengine_targets(self) -> Sequence[TargetInfo] | None:
        """List every target of this backend and what it can do on this machine.

        Runs in: engine. Stops at the first result; exclusive. Must be quick, must not raise, must not touch a driver
        in this process: probe in a child (`kengine.plugins.probe`). A missing toolchain is a reason, not an exception.
        """

    @hookspec
    def kengine_lint(self, candidate: Candidate, task: Task, target: Target) -> Sequence[Finding] | None:
        """Look at a candidate's text and report findings; nothing is executed.

        Runs in: engine. All results are collected: core, backend, rule packs.
        """

    @hookspec(firstresult=True)
    def kengine_warm(self, target: Target) -> bool | None:
        """Import and warm up whatever every runner of this target needs, without touching a device.

        Runs in: zygote, once, before any fork. Stops at the first result; exclusive; optional. Return True. A backend
        names its libraries here: `kengine.runner.watch.trust("lib")` for one that hands tensors' memory to kernels, and
        `kengine.runner.state.include("lib", "lib.launch.Launcher")` for modules and classes no candidate may change.
        """

    @hookspec(firstresult=True)
    def kengine_open(self, target: Target) -> bool | None:
        """Open the device and finish warming up, in a standby runner that has no candidate yet.

        Runs in: runner. Stops at the first result; exclusive; optional. Return True.
        """

    @hookspec(firstresult=True)
    def kengine_compile(
        self, candidate: Candidate, task: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
    ) -> Artifact | None:
        """Compile a candidate for one target.

        Runs in: runner. Stops at the first result; exclusive. `workdir` holds the candidate's files already and is
        private and writable. `samples` are the inputs of some cases, for toolchains that compile what is launched.
        It may run while another candidate is timed: `kengine.runner.turn.take()` before a first launch on a device.
        Raises CandidateFault (compile_failed, launch_failed, unsupported).
        """

    @hookspec(firstresult=True)
    def kengine_launch(self, artifact: Artifact, case: CaseView, inputs: Inputs, mode: Mode) -> Outputs | None:
        """Call the candidate once and wait until its results are in memory.

        Runs in: runner, after kengine_compile in the same process for the launch target. Stops at the first result;
        exclusive. `mode`: normal; noop: kernel launches do nothing; raise: they raise; traced: as normal, with every
        launch in `Outputs.launches`. Raises CandidateFault (launch_failed, crashed, unsupported, ...).
        """

    @hookspec(firstresult=True)
    def kengine_compare(
        self, task: Task, index: int, expected: Sequence[Any], actual: Sequence[Any]
    ) -> Comparison | None:
        """Compare the outputs of one case, for a dtype or a structure that the core's own comparison does not know.

        Runs in: judge, on the judge's own copies. Stops at the first result; the core's answer comes last.
        """

    @hookspec(firstresult=True)
    def kengine_time(
        self, artifact: Artifact, case: CaseView, inputs: Sequence[Inputs], plan: TimingPlan
    ) -> Timing | None:
        """Time `plan.calls` calls, rotating over `inputs`; durations in nanoseconds of device time.

        A timing that could not be measured by `plan.method` has no samples and says why in `failed`.

        Runs in: runner, with the device held alone. Stops at the first result; exclusive; optional for backends
        whose targets never have the capability `time`.
        """

    @hookspec
    def kengine_judge(
        self,
        candidate: Candidate,
        task: Task,
        findings: Sequence[Finding],
        launches: Sequence[Sequence[Launch]],
        settings: OpinionSettings,
    ) -> Opinion | None:
        """Read a candidate's text and say whether it genuinely implements the operator; nothing is executed.

        Runs in: engine, in several threads at once, after every other stage and only for candidates that passed them,
        and only when the plan holds `OpinionSettings`. All results are collected; None is no voice at all. `findings`
        are those of lint, `launches` the kernel launches of each case. Must end within `settings.timeout_s`. The text
        is hostile: it may address whoever reads it. What goes wrong on the way (no answer, an answer that is none)
        is `Opinion(None, reason)`; an exception counts as that too and never fails a candidate.
        """

    @hookspec
    def kengine_stage_finished(self, stage: str, record: object) -> None:
        """Observe the record of a stage that just ended.

        Runs in: engine. All are called; results are ignored; an exception is logged and never fails the run.
        """

    @hookspec
    def kengine_load(self, glimpse: Glimpse) -> Sequence[Loader | NearMiss] | Loader | NearMiss | None:
        """Recognise a source of samples by its content, for `kengine curate`.

        Runs in: the process of `kengine curate`. All results are collected: the surest offer reads the source, and when
        there is none, the nearest miss is shown to the user. Must look at the glimpse only; None for a strange source.
        """


def describe(spec: TensorSpec) -> str:
    """Write a tensor spec for a person: `float32[64, 1024]`, with strides when they are not row-major."""
    text = f"{spec.dtype}{list(spec.shape)}"
    return f"{text} strides {list(spec.strides)}" if spec.strides else text
