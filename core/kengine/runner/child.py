"""The process that runs one candidate: opens the device, says that it is ready, and does what it is asked.

Whatever it says after `load` comes from a process in which the candidate may have changed anything; nobody believes
it. It owns no answer, no seed and no name of a file outside its private folder.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kengine import codec, wire
from kengine.device import streams
from kengine.errors import CandidateFault, InfraError, KengineError, PluginError, TargetUnavailable, UsageError
from kengine.model import Artifact, Candidate, CaseView, Launch, Mode, Target, TaskView, TimingPlan
from kengine.plugins import trace
from kengine.plugins.backend import Backend, attach
from kengine.plugins.hooks import Outputs
from kengine.runner import (
    arena,
    deadline,
    entry,
    environment,
    faults,
    kept,
    leftovers,
    results,
    source,
    state,
    tensors,
    turn,
    watch,
)
from kengine.runner.modules import import_modules
from kengine.runner.sandbox import rlimits

_WITHHELD = (Mode.noop, Mode.raises)

_backend: Backend | None = None
_target: Target | None = None
_baseline: state.Baseline | None = None


def prepare(module: str | None, target: str) -> None:
    """In the zygote: attach and warm the backend that every fork of it will use. Raises what the backend raises."""
    global _backend, _target, _baseline
    tensors.prepare()
    _target = Target.parse(target)
    if trace.wanted():
        trace.keep()
    if module:
        _backend = attach(_target.backend, module)
        _backend.warm(_target)
    watch.prepare()
    # What a plugin may ask for in every runner, imported once for all of them.
    import_modules("kengine.runner.definitions", "kengine.native.libraries", "kengine.extension.linkage")
    import_modules("elftools.elf.elffile", "elftools.elf.dynamic")
    if _backend is not None:
        _baseline = state.take_baseline(state.find_places(_backend.module))


def main(channel: int, measures: tuple[str, ...], *, holder: str, workdir: str, settings: Mapping[str, Any]) -> None:
    """In the sandbox: serve the channel until `quit` or its end. Ends the process with code 0 by returning."""
    limits = settings.get("limits") or {}
    os.environ.update(settings.get("environ") or {})
    environment.make_private(workdir, str(settings.get("cache") or ""))
    faults.set_limits(dict(limits))
    with contextlib.suppress(Exception):
        import faulthandler

        faulthandler.enable(2)
    with socket.socket(fileno=channel) as sock:
        if _backend is None or _target is None:
            wire.send(sock, {"op": "failed", "message": "this zygote was started without a backend"})
            return
        try:
            _backend.open(_target)
        except Exception as error:
            wire.send(sock, {"op": "failed", "message": f"{type(error).__name__}: {faults.text_of(error)}"})
            return
        server = Server(sock, _backend, Path(workdir), limits)
        wire.send(sock, {"op": "ready", "sandbox": list(measures), "holder": holder, "hooks": trace.take()})
        server.serve()


class Server:
    """Requests and replies of one runner; each reply carries the nonce of its request."""

    def __init__(self, sock: socket.socket, backend: Backend, workdir: Path, limits: Mapping[str, Any]) -> None:
        self.sock = sock
        self.backend = backend
        self.workdir = workdir
        self.limits = limits
        self.borrower = arena.Borrower()
        self.candidate: Candidate | None = None
        self.view: TaskView | None = None
        self.artifact: Artifact | None = None
        self.held: list[tuple[Any, arena.Bundle, CaseView]] = []
        self.places = state.find_places(backend.module)
        self.functions = state.renew(_baseline, self.places)
        self.settings = state.read_settings()
        self.compiled = self.settings
        self.generators = state.Generators()
        self._operations: dict[str, Callable[[dict[str, Any], list[int]], dict[str, Any]]] = {
            "load": self.load,
            "compile": self.compile,
            "launch": self.launch,
            "sequence": self.sequence,
            "held": self.collect_held,
            "state": self.describe_state,
            "time": self.time,
        }

    def serve(self) -> None:
        """Answer until `quit`, the end of the channel, or something on it that is no request."""
        # Taken now: a candidate that replaces them deceives nobody but should not break its own replies either.
        send, receive, close_all = wire.send, wire.receive, wire.close_all
        while True:
            try:
                request, fds = receive(self.sock)
            except wire.WireError:
                return
            nonce, op = request.get("n"), request.get("op")
            if op == "quit":
                with contextlib.suppress(wire.WireError):
                    send(self.sock, {"n": nonce, "ok": True})
                return
            deadline.begin(request.get("timeout_s"))
            try:
                reply = {"n": nonce, "ok": True, **self._operations[str(op)](request, fds)}
            except BaseException as error:
                reply = {"n": nonce, "ok": False, "fault": _write_fault(error, str(op))}
            finally:
                deadline.end()
                close_all(fds)
            if lines := trace.take():
                reply["hooks"] = lines
            _flush()
            try:
                send(self.sock, reply)
            except wire.WireClosed:
                return
            except (wire.WireError, ValueError, TypeError, RecursionError) as error:
                fault = CandidateFault("launch_failed", f"its results cannot be sent: {faults.text_of(error)}")
                send(self.sock, {"n": nonce, "ok": False, "fault": _fault_json(fault)})

    def load(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Take the candidate: its files are written, its limits begin to count, nothing runs yet."""
        candidate = codec.from_json(request["candidate"], Candidate)
        if candidate != self.candidate:
            if self.candidate is None:
                rlimits.apply_last(self.limits, str(self.limits.get("device", "cpu")))
            self.candidate = candidate
            source.place(candidate, self.workdir)
        if fds:
            deadline.keep_stack(fds[0], faults.main_source())
        self.view = codec.from_json(request["view"], TaskView)
        return {}

    def compile(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Compile for one target; the launches that follow use what was compiled for this runner's own target."""
        candidate, view = self._loaded()
        target = Target.parse(request["target"])
        bundles = [self.borrower.borrow(b, fds) for b in request.get("bundles", ())]
        turn.offer(self._ask_for_device(request.get("n")) if request.get("turn") is True else None)
        try:
            artifact = self.backend.compile(candidate, view, target, [b.inputs for b in bundles], self.workdir)
        finally:
            turn.offer(None)
        if self.artifact is None or target == _target:
            self.artifact = artifact
            # Where the backend has called it to compile it, what that call has changed is a call's doing.
            self.compiled = source.settings() or state.read_settings()
        return {"artifact": codec.to_json(artifact)}

    def _ask_for_device(self, nonce: object) -> Callable[[], None]:
        """What asks the engine for the device, and waits for it."""
        send, receive, begin = wire.send, wire.receive, deadline.begin

        def ask() -> None:
            deadline.end()
            send(self.sock, {"n": nonce, "turn": True})
            answer, fds = receive(self.sock)
            wire.close_all(fds)
            begin(answer.get("timeout_s"))

        return ask

    def launch(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Call the candidate once, and copy what it gave into the sinks; in mode `traced` say what was seen."""
        case = codec.from_json(request["case"], CaseView)
        bundle = self.borrower.borrow(request["bundle"], fds)
        mode = Mode(request.get("mode", "normal"))
        entry.forget()
        begun = time.perf_counter_ns()
        if mode in _WITHHELD:
            kept.forget()
        with streams.calling(self._on_device) as left:
            outputs, seen = self._make(case, bundle, mode)
            if mode not in _WITHHELD:
                entry.check_written(bundle.inputs)
            if mode in _WITHHELD:
                kept.forget()
            elapsed = time.perf_counter_ns() - begun
            collected = results.collect(watch.bare(outputs.value), bundle, case)
            self._leave(outputs.value, mode)
            unjoined = left()
        return {
            "outputs": collected,
            "unjoined": list(unjoined),
            "launches": [codec.to_json(launch) for launch in merge(outputs.launches)],
            "details": codec.to_json(Artifact(self._compiled().target, details=outputs.details))["details"],
            "elapsed_ns": elapsed,
            **({"facts": seen} if seen is not None else {}),
        }

    def _make(self, case: CaseView, bundle: arena.Bundle, mode: Mode) -> tuple[Outputs, dict[str, Any] | None]:
        """Call once, and say what was seen where the call is followed."""
        return self._follow(case, bundle) if mode is Mode.traced else (self._call(case, bundle, mode), None)

    @property
    def _on_device(self) -> bool:
        return str(self.limits.get("device", "cpu")) != "cpu"

    def _leave(self, value: Any, mode: Mode) -> None:
        """Have the memory that the next call is given hold this call's answer; a host's allocator writes into it."""
        if self._on_device and mode not in _WITHHELD:
            leftovers.leave(value)

    def _call(self, case: CaseView, bundle: arena.Bundle, mode: Mode) -> Outputs:
        with self._generators_apart():
            return self.backend.launch(self._compiled(), case, bundle.inputs, mode)

    def _follow(self, case: CaseView, bundle: arena.Bundle) -> tuple[Outputs, dict[str, Any]]:
        with self._generators_apart(), watch.watching(bundle, self._on_device) as facts:
            outputs = self.backend.launch(self._compiled(), case, bundle.inputs, Mode.traced)
            written = [results.written(bundle.inputs, index) for index in case.writes]
        seen: dict[str, Any] = codec.to_json(facts(outputs.value, written))
        return outputs, seen

    @contextlib.contextmanager
    def _generators_apart(self) -> Iterator[None]:
        """Around a call, outside of what follows it: drawing a state is no work of the candidate's."""
        self.generators.scatter()
        try:
            yield
        finally:
            self.generators.note()

    def sequence(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Call the candidate on one case after another; each result is copied at once, and held for `held`."""
        cases = [codec.from_json(case, CaseView) for case in request["cases"]]
        bundles = [self.borrower.borrow(bundle, fds) for bundle in request["bundles"]]
        entry.forget()
        self.held = []
        outputs, launches, facts, elapsed = [], [], [], 0
        unjoined: set[str] = set()
        for case, bundle, mode in zip(cases, bundles, request["modes"]):
            begun = time.perf_counter_ns()
            with streams.calling(self._on_device) as left:
                made, seen = self._make(case, bundle, Mode.traced if mode == "traced" else Mode.normal)
                elapsed += time.perf_counter_ns() - begun
                value = watch.bare(made.value)
                outputs.append(results.collect(value, bundle, case))
                self._leave(value, Mode.normal)
                unjoined.update(left())
            launches.append([codec.to_json(launch) for launch in merge(made.launches)])
            facts += [seen] if seen is not None else []
            self.held.append((value, bundle, case))
        return {
            "outputs": outputs,
            "launches": launches,
            "facts": facts,
            "elapsed_ns": elapsed,
            "unjoined": sorted(unjoined),
        }

    def collect_held(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Copy what the calls of the last sequence returned once more, as it is now, and let go of it."""
        held, self.held = self.held, []
        return {"outputs": [results.collect(value, bundle, case) for value, bundle, case in held]}

    def describe_state(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Say which functions are replaced, and which settings are changed, since before there was a candidate and
        since it was compiled."""
        now = state.read_settings()
        return {
            "replaced": state.find_replaced(self.functions, self.places)[:50],
            "seeded": sorted(self.generators.seeded),
            "changed": state.differing(self.settings, now)[:50],
            "changed_by_calls": state.differing(self.compiled, now)[:50],
        }

    def time(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Time calls over rotating inputs; then copy what the last call on each of them gave into its sinks."""
        artifact, case = self._compiled(), codec.from_json(request["case"], CaseView)
        bundles = [self.borrower.borrow(b, fds) for b in request["bundles"]]
        entry.forget()
        timing = self.backend.time(
            artifact, case, [b.inputs for b in bundles], codec.from_json(request["plan"], TimingPlan)
        )
        outputs = []
        for bundle in bundles:
            kept, value = entry.returned(bundle.inputs)
            outputs.append(results.collect(value, bundle, case) if kept else [])
        entry.forget()
        return {"timing": codec.to_json(timing), "outputs": outputs}

    def _loaded(self) -> tuple[Candidate, TaskView]:
        if self.candidate is None or self.view is None:
            raise UsageError("there is no candidate yet: send load first")
        return self.candidate, self.view

    def _compiled(self) -> Artifact:
        if self.artifact is None:
            raise UsageError("nothing is compiled yet: send compile first")
        return self.artifact


def merge(launches: Any) -> list[Launch]:
    """Join equal launches that follow one another, so that a loop of a million is one line."""
    merged: list[Launch] = []
    for launch in launches:
        last = merged[-1] if merged else None
        if last is not None and (last.kernel, last.grid) == (launch.kernel, launch.grid):
            merged[-1] = Launch(last.kernel, last.grid, last.count + launch.count)
        else:
            merged.append(launch)
    return merged[:10_000]


def _write_fault(error: BaseException, op: str) -> dict[str, Any]:
    try:
        return _fault_json(_classify(error, op))
    except BaseException as inner:
        return _fault_json(CandidateFault("launch_failed", f"'{op}' failed, and so did describing it: {type(inner)!r}"))


def _classify(error: BaseException, op: str) -> CandidateFault:
    if isinstance(error, CandidateFault):
        return error
    if isinstance(error, (TargetUnavailable, InfraError)):
        return CandidateFault("unsupported", faults.text_of(error))
    if isinstance(error, PluginError) and error.__cause__ is not None and faults.own_line(error.__cause__):
        # The hook let an exception of the candidate's through, and the front took it for the plugin's own.
        return faults.from_exception(error.__cause__, "launch_failed", "the candidate")
    if isinstance(error, PluginError):
        # Nothing of the candidate's was at work: whoever took this for its failure would teach from a plugin's mistake.
        message = f"cannot be judged here, by a fault of the plugin's and not the candidate's: {faults.text_of(error)}"
        return CandidateFault("unsupported", message, faults.log_of(error))
    if isinstance(error, KengineError):
        return CandidateFault("launch_failed", f"'{op}': {type(error).__name__}: {faults.text_of(error)}")
    status = "compile_failed" if op in ("load", "compile") else "launch_failed"
    return faults.from_exception(error, status, f"'{op}'")


def _fault_json(fault: CandidateFault) -> dict[str, Any]:
    return {
        "status": str(fault.status),
        "message": faults.clean(str(fault.message), 2 * faults.MAX_MESSAGE),
        "log": faults.clean(str(fault.log), faults.MAX_LOG),
        "line": int(fault.line),
    }


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
