"""The driver that runs kernels on the SIMT emulator, with its check mode as long as the time for that lasts."""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kengine.errors import CandidateFault, InfraError
from kengine.model import Candidate
from kengine.native import arguments, cache, definitions, faults, observe
from kengine.native.driver import Configuration, Dialect, Unit
from kengine.native.memory import Exposed, Staging, find_arguments, read_table
from kengine.native.options import host_options
from kengine.pretence import Figures
from kengine.runner import hostmemory, watch

if TYPE_CHECKING:
    from kengine.extension import Extension
    from kengine.simt import DeviceLimits, Program
    from kengine.simt.runtime import MemoryRecord, Runtime

_CHECKED_SHARE, _FAST_SHARE = 0.3, 0.6
"""How much of the time for one call the check mode may take, and one launch without it."""
_LEFT_SHARE, _LEAST_SHARE = 0.7, 0.1
"""How much of the time that is left, and of all at least, a launch of an extension built anew without checks has."""
_VARIABLE = re.compile(r"__(?:device|constant|managed)__[^;(){}]*?\b(\w+)\s*(?:\[[^;]*\])?\s*[;=]")


class Emulator:
    """Kernels compiled for the CPU by the machine's C++ compiler. See `kengine.native.driver.Driver`.

    check: bounds of every access, races, uninitialised shared memory. timeout_s: processor seconds that one call of
    the candidate may take; when the check mode would take too much of it, what is left runs without. explain: what to
    add to the message of a fault in a text, such as that it is written in another language.
    """

    computes = True
    device = "cpu"

    def __init__(
        self, dialect: Dialect, limits: DeviceLimits, figures: Figures, candidate: Candidate, workdir: Path,
        check: bool = True, timeout_s: float = 30.0, explain: Callable[[CandidateFault, str], str] | None = None,
    ) -> None:  # fmt: skip
        self._explain = explain
        self._begun = time.monotonic()
        self.dialect: Dialect = dialect
        self.limits = limits
        self.figures = figures
        self.candidate = candidate
        self.check = check
        self.timeout_s = timeout_s
        self.exposed = Exposed()
        self.modules: list[EmulatedModule] = []
        self.extensions: list[Extension] = []
        self.workdir = workdir
        self.folder = cache.make_private(workdir)
        self._spent = 0.0
        self._left = timeout_s
        self._following = ExitStack()

    def begin(self, inputs: Iterable[Any] = ()) -> None:
        """A new call of the candidate begins on these arrays: the check mode has its share of the time again."""
        self._spent = 0.0
        self._begun = time.monotonic()
        self.exposed.forget_under(inputs)
        mode = observe.current().mode.value
        for extension in self.extensions[:1]:  # mode and record belong to the process, whichever says so
            extension.set_mode("noop" if mode == "noop" else "raise" if mode == "raise" else "normal")
            extension.forget_launches()
        self.follow()

    def follow(self) -> None:
        """Have launches that extensions make themselves be followed until the call ends, if it is."""
        self._following.close()
        programs = [extension.program for extension in self.extensions if extension.program]
        if watch.active() and programs:
            runtime = programs[0].runtime
            self._following.enter_context(_told(runtime))

    def _end(self) -> None:
        """A call has ended, well or not: launches that extensions made themselves are counted."""
        self._following.close()
        if not self.extensions:
            return
        observation = observe.current()
        self._take_faults(observation)
        programs = [extension.program for extension in self.extensions if extension.program]
        records = self.extensions[0].launches()
        functions = programs[0].runtime.launched_functions() if programs else []
        self.extensions[0].set_mode("normal")
        observation.launches.clear()
        for record, function in zip(records, functions):
            if record.completed:
                observation.completed(definitions.name_launch(record.kernel, function, programs), record.grid)
                observation.checked += self.check
                observation.unchecked += not self.check

    def _take_faults(self, observation: observe.Observation) -> None:
        """Faults of launches of which no function of an extension told: those of a thread, or of an object's end."""
        from kengine.native.inline import translate
        from kengine.simt import KernelFault

        for extension in self.extensions:
            fault = extension.take_fault()
            if fault is not None:
                observation.failed(translate(KernelFault(fault), extension, self))

    @property
    def check_seconds(self) -> float:
        """Processor seconds that the check mode may still take in this call."""
        return max(0.0, self.timeout_s * _CHECKED_SHARE - self._spent) if self.check else 0.0

    @property
    def fast_seconds(self) -> float:
        """Processor seconds of one launch without checks before it is an endless loop."""
        return self.timeout_s * _FAST_SHARE

    @property
    def launch_seconds(self) -> float:
        """Processor seconds of one launch of an extension, which has its checks built in or has none."""
        return self.timeout_s * _CHECKED_SHARE if self.check else min(self.timeout_s * _FAST_SHARE, self._left)

    def give_up_checks(self) -> None:
        """Build what is loaded from now on without checks; for a candidate that takes too long with them.

        What is left of the time of the call must do for building and calling it, so that a loop without end is found
        as such, with its line, before the time is up.
        """
        left = self.timeout_s - (time.monotonic() - self._begun)
        self._left = max(_LEAST_SHARE * self.timeout_s, _LEFT_SHARE * left)
        self.check = False
        self.extensions.clear()
        self.modules.clear()

    def explained(self, fault: CandidateFault) -> CandidateFault:
        """The same fault, with what the backend has to add to it."""
        more = self._explain(fault, self.candidate.main.text) if self._explain else ""
        return CandidateFault(fault.status, fault.message + more, fault.log, fault.line) if more else fault

    def spend(self, seconds: float) -> None:
        """Take note of processor seconds in check mode."""
        self._spent += seconds

    def build(self, unit: Unit) -> EmulatedModule:
        """Compile a source. Raises CandidateFault (compile_failed, unsupported)."""
        module = EmulatedModule(self, unit)
        self.modules.append(module)
        return module

    @contextmanager
    def surroundings(self, lenient: bool) -> Iterator[None]:
        """A pretended device for torch, and the facade of CuPy."""
        from kengine.native.cupy import install
        from kengine.native.inline import replace
        from kengine.pretence import pretend

        with ExitStack() as stack:
            stack.enter_context(replace(self))
            stack.enter_context(install(self, self.candidate.main.text))
            stack.enter_context(
                pretend(self.figures, poison=True, lenient=lenient, expose=self.exposed.add, refuse=_refuse)
            )
            stack.callback(self._end)
            yield

    def synchronize(self) -> None:
        """Everything has ended when its call returns."""


def _refuse(what: str) -> CandidateFault:
    return observe.current().failed(CandidateFault("unsupported", f"the emulator does not run {what}"))


@contextmanager
def _followed(program: Program, staging: Staging) -> Iterator[None]:
    """Follow the launches of a host function, which work on copies of its arguments."""
    if not watch.active():
        yield
        return
    copies = staging.copies()
    for made, base, size in copies:
        watch.operation("copy", [(base, size)], [(made, size)])
    with _told(program.runtime):
        yield
    for made, base, size in copies:
        if ctypes.string_at(made, size) != ctypes.string_at(base, size):
            watch.operation("copy", [(made, size)], [(base, size)])


def _pointed_at(words: Sequence[int], known: Sequence[MemoryRecord]) -> list[tuple[int, int]]:
    """Start and size of the memory that each word points into, of what is followed and of what kernels may touch."""
    buffers = watch.blocks(words)
    for memory in known:
        inside = any(memory.base <= word < memory.base + memory.size for word in words)
        if inside and not any(start <= memory.base < start + size for start, size in buffers):
            buffers.append((memory.base, memory.size))
    return buffers


@contextmanager
def _launch(runtime: Runtime, older: Set[tuple[int, int]], kernel: str, words: tuple[int, ...]) -> Iterator[None]:
    """Around a launch that host code in C++ makes, on memory that its arguments point into, or a table of pointers
    that they point at. older: memory that was there before the call."""
    known = runtime.memory()
    buffers = _pointed_at(words, known)
    tables = [word for base, size in buffers for word in read_table(base, size)]
    buffers += [buffer for buffer in _pointed_at(tables, known) if buffer not in buffers]
    # What is allocated in C++ is filled with 0xff: as long as it is, nobody has written to it.
    watch.allocated([b for b in buffers if ctypes.string_at(*b).count(b"\xff") == b[1]])
    fresh = [
        (m.base, m.size) for m in known
        if m.name.startswith(_FRESH) and m.name not in _PINNED and (m.base, m.size) not in older and runtime.owns(m)
    ]  # fmt: skip
    with observe.kernel(kernel, buffers, _pinned(known), fresh):
        yield


_FRESH = ("cudaMalloc", "tensor of shape")
_PINNED = ("cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc")


def _pinned(known: Sequence[MemoryRecord]) -> list[tuple[int, int]]:
    """Start and size of what host code may use by its address."""
    return [(memory.base, memory.size) for memory in known if memory.name in _PINNED]


@contextmanager
def _told(runtime: Runtime) -> Iterator[None]:
    """Follow launches and copies that host code in C++ makes."""

    def copy(to: int, source: int, size: int, kind: int) -> None:
        known = runtime.memory()
        hostmemory.copy(to, source, size, kind, [(m.base, m.size) for m in known], _pinned(known))

    older = {(memory.base, memory.size) for memory in runtime.memory()}
    with runtime.observed(partial(_launch, runtime, older)), runtime.moving(copy, hostmemory.fill):
        yield


class EmulatedModule:
    """One source, compiled with checks, without, or both when the time for checks has run out."""

    def __init__(self, driver: Emulator, unit: Unit) -> None:
        self.driver = driver
        self.unit = unit
        self._programs: dict[bool, Program] = {}
        self._program(driver.check)

    def kernels(self) -> tuple[str, ...]:
        """Names of kernels that can be launched; of templates, the instances that were asked for."""
        return tuple(self._program(self.driver.check).kernels)

    def static_shared(self, name: str) -> int:
        """Bytes of the shared variables that a kernel declares itself."""
        return self._program(self.driver.check).kernels[name].static_shared

    def launch(self, name: str, configuration: Configuration, values: Sequence[Any], strict: bool) -> None:
        """Run a kernel to its end; see `kengine.native.driver.Module`."""
        observation = observe.current()
        if not observation.starts(name):
            return
        given = find_arguments(values, self.driver.exposed) if watch.active() else ()
        with observe.kernel(name, given):
            checked = self._run_in_time(name, configuration, values, strict)
        observation.checked += checked
        observation.unchecked += not checked
        observation.completed(name, configuration.grid)

    def _run_in_time(self, name: str, configuration: Configuration, values: Sequence[Any], strict: bool) -> bool:
        """Launch with checks if there is time for them, else without. Whether with."""
        seconds = self.driver.check_seconds
        if seconds > 0:
            begun = time.process_time()
            ended = self._run(True, name, configuration, values, strict, seconds)
            self.driver.spend(time.process_time() - begun)
            if ended:
                return True
            self._carry_variables()
        self._run(False, name, configuration, values, strict, self.driver.fast_seconds)
        return False

    def call(self, name: str, values: Sequence[Any]) -> Any:
        """Call a host function of the source; its launches are checked when there is time left for it."""
        check = self.driver.check_seconds > 0
        program = self._program(check)
        observation = observe.current()
        entry = program._entries.get(name)
        if entry is None:
            problem = f"{self.unit.filename} defines no host function {name!r}"
            raise observation.failed(CandidateFault("compile_failed", problem))
        staging = Staging(program.runtime, self.driver.exposed, check)
        program.seconds = self.driver.fast_seconds
        program.set_mode(observation.mode.value if observation.mode.value in ("noop", "raise") else "normal")  # type: ignore[arg-type]
        program.forget_launches()
        kept = False
        try:
            with self._translated():
                made = arguments.match(name, entry[1], values, staging, False)
                with _followed(program, staging):
                    result = program.call(name, *made)
            kept = True
        finally:
            staging.finish(kept)
            for record, function in zip(program.launches(), program.runtime.launched_functions()):
                if record.completed:
                    observation.completed(definitions.name_launch(record.kernel, function, [program]), record.grid)
            program.set_mode("normal")
        if check:
            observation.checked += 1
        else:
            observation.unchecked += 1
        return result

    def symbol(self, name: str) -> tuple[int, int]:
        """Address and size of a device variable. Raises KeyError."""
        return self._program(self.driver.check_seconds > 0).symbol(name)

    def _program(self, check: bool) -> Program:
        if check not in self._programs:
            from kengine.simt import build

            unit, driver = self.unit, self.driver
            with self._translated():
                self._programs[check] = build(
                    unit.text, filename=unit.filename, lanes=64 if driver.limits.lanes == 64 else 32,
                    dialect=driver.dialect, check=check, limits=driver.limits, cache=driver.folder,
                    options=host_options(unit.options, driver.workdir), instances=unit.instances,
                    exports=unit.exports,
                )  # fmt: skip
        return self._programs[check]

    def _run(
        self, check: bool, name: str, configuration: Configuration, values: Sequence[Any], strict: bool, seconds: float
    ) -> bool:
        """Launch once. False when the check mode took too long, with all memory as before."""
        from kengine import simt

        program = self._program(check)
        if name not in program.kernels:
            known = ", ".join(program.kernels) or "none"
            raise observe.current().failed(
                CandidateFault("launch_failed", f"{self.unit.filename} has no kernel {name!r}; it has {known}")
            )
        staging = Staging(program.runtime, self.driver.exposed, check)
        program.seconds = seconds
        keep = False
        try:
            with self._translated():
                made = arguments.match(name, program.kernels[name].parameters, values, staging, strict)
                try:
                    program.launch(
                        name, configuration.grid, configuration.block, made, configuration.shared,
                        cooperative=configuration.cooperative, max_dynamic_shared=configuration.max_shared,
                    )  # fmt: skip
                except simt.KernelFault as error:
                    if check and error.fault.kind is simt.FaultKind.ENDLESS_LOOP:
                        return False
                    raise
            keep = True
        finally:
            staging.finish(keep)
        return True

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what the emulator raises into faults of the candidate, and keep them."""
        from kengine.simt import SimtError

        try:
            yield
        except arguments.ArgumentError as error:
            raise observe.current().failed(CandidateFault("launch_failed", str(error))) from None
        except SimtError as error:
            fault = faults.from_simt(error, self.unit.filename, self.unit.lines, self.driver.candidate.main.path)
            raise observe.current().failed(self.driver.explained(fault)) from None
        except InfraError as error:  # the compiler was starved: nothing is wrong with the candidate
            raise observe.current().failed(CandidateFault("unsupported", str(error))) from None

    def _carry_variables(self) -> None:
        """Give the program without checks the device variables of the one with them."""
        checked, fast = self._program(True), self._program(False)
        for name in set(_VARIABLE.findall(self.unit.text)):
            try:
                fast.variable(name)[:] = checked.variable(name)
            except (KeyError, ValueError):
                continue
