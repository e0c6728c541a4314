"""A candidate loaded over a driver, and one way to call it whatever its form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.model import Candidate, Launch, Mode, Target, TaskView
from kengine.native import binding, libraries, observe
from kengine.native.block import Recipe, read_recipe
from kengine.native.driver import Driver, Module, Unit
from kengine.native.forms import Form, find_form
from kengine.native.lines import locate
from kengine.native.origin import placed
from kengine.plugins.hooks import Inputs
from kengine.tasks.block import suggest
from kengine.tasks.cfamily import kernel_names


@dataclass(frozen=True)
class Called:
    """What one call gave: the value, completed launches, and how many of them an emulator ran with its checks."""

    value: Any
    launches: tuple[Launch, ...]
    checked: int = 0
    unchecked: int = 0


@dataclass
class Session:
    """One candidate on one target. Make it with `open_session`. mapped: libraries that were there before it."""

    candidate: Candidate
    view: TaskView
    target: Target
    driver: Driver
    form: Form
    recipe: Recipe | None = None
    python: ModuleType | None = None
    workdir: Path = Path()
    modules: dict[tuple[str, ...], Module] = field(default_factory=dict)
    mapped: libraries.Mapped = field(default_factory=libraries.mapped)

    def load(self, workdir: Path, samples: Sequence[Inputs]) -> None:
        """Import the Python file, or compile the bare one for the dtypes of the samples. Raises CandidateFault."""
        with placed(self.candidate):
            self._load(workdir, samples)

    def _load(self, workdir: Path, samples: Sequence[Inputs]) -> None:
        self.workdir = workdir
        if self.form.is_native:
            if self.candidate.language != self.driver.dialect:
                other = {"cuda": "CUDA", "hip": "HIP"}
                raise CandidateFault(
                    "compile_failed",
                    f"{self.candidate.main.path} is a {other[self.candidate.language]} file, the target is "
                    f"{self.target}: its language is {other[self.driver.dialect]}",
                )
            self.recipe = read_recipe(self.candidate.options, self.candidate.entry, self.form is Form.host)
            self._build(sorted({name for sample in samples for name in self._kernels(sample)}))
            return
        from kengine.native import cupy
        from kengine.native.cupy import kernels
        from kengine.runner import entry, source

        with self.driver.surroundings(self._lenient), observe.observing(Mode.normal):
            self.python = source.load(self.candidate, workdir)
            entry.find(self.python, self.view)
            if isinstance(sys.modules.get("cupy"), cupy.Facade):
                kernels.compile_made()

    def bind(self, inputs: Inputs) -> Callable[[], Any]:
        """The entry with arrays over the memory of `inputs`; calling it calls the candidate once."""
        from kengine.runner import entry

        if self.python is not None:
            return entry.bind(self.python, self.view, inputs, self._convert)
        destination = tuple(self._convert(a) for a in inputs.destination)
        arrays = self._arrays(inputs, destination)
        return entry.Call(lambda: self._launch(arrays), (), destination or None, id(inputs))

    def call(self, inputs: Inputs, mode: Mode) -> Called:
        """Bind and call once, until everything has ended. Raises CandidateFault, also one that was swallowed."""
        with placed(self.candidate):
            return self._call_again(inputs, mode)

    def _call_again(self, inputs: Inputs, mode: Mode) -> Called:
        """Call once, and once more where the first call says so."""
        saved = _save(inputs) if self.form is Form.inline and self.driver.device == "cpu" else []
        seen = observe.Observation(mode)
        try:
            return self._call(inputs, seen)
        except CandidateFault:
            if seen.restart is None:
                raise
        seen.restart()
        for memory, content in saved:
            memory[:] = content
        self.load(self.workdir, ())
        return self._call(inputs, observe.Observation(mode))

    def _call(self, inputs: Inputs, seen: observe.Observation) -> Called:
        with observe.observing(seen):
            try:
                with self.driver.surroundings(self._lenient):
                    call = self.bind(inputs)
                    self.driver.begin(_tensors(inputs))
                    value = call()
                    self.driver.synchronize()
                libraries.tell(self.mapped)
            except CandidateFault:
                pending = seen.pending()
                if pending is not None:
                    raise pending from None
                raise
            swallowed = seen.pending()
            if swallowed is not None:
                raise swallowed
        return Called(value, tuple(seen.launches), seen.checked, seen.unchecked)

    @property
    def _lenient(self) -> bool:
        return self.view.form == "module"

    def _convert(self, array: Array) -> Any:
        if self.view.form == "numpy":
            return _as_cupy(array, self.driver.device)
        if self.driver.device == "cpu" and getattr(array.memory, "is_cuda", False):
            import torch

            with torch._C.DisableTorchFunction():
                return Array(array.spec, array.memory.cpu()).as_torch()
        return array.as_torch()

    def _arrays(self, inputs: Inputs, destination: tuple[Any, ...]) -> binding.Arrays:
        from kengine.runner import entry

        given = tuple(entry.converted(a, self._convert) for a in inputs.args)
        state = {name: self._convert(a) for name, a in inputs.state.items()}
        return binding.Arrays(given, destination, state, self._allocate)

    def _allocate(self, dtype: str, shape: tuple[int, ...]) -> Any:
        import torch

        made = torch.empty(shape, dtype=getattr(torch, dtype), device=self.driver.device)
        if made.numel():
            made.view(-1).view(torch.uint8).fill_(0xFF)
        return made

    def _kernels(self, inputs: Inputs) -> tuple[str, ...]:
        """Template kernels that a call on these inputs launches."""
        if self.form is Form.host:
            return ()
        assert self.recipe is not None
        arrays = self._arrays(inputs, tuple(self._convert(a) for a in inputs.destination))
        names = binding.kernel_names(self.recipe, self.candidate.main.text, self.driver.dialect, arrays)
        return tuple(name for name in names if "<" in name)

    def _build(self, instances: Sequence[str]) -> Module:
        """The file compiled with these instances of templates at least."""
        for have, module in self.modules.items():
            if set(instances) <= set(have):
                return module
        assert self.recipe is not None
        text = self.candidate.main.text
        for launch in () if self.form is Form.host else self.recipe.launches:
            bare = launch.kernel.partition("<")[0].strip().rpartition("::")[2]
            if bare not in kernel_names(text):
                known = kernel_names(text)
                raise CandidateFault(
                    "compile_failed",
                    f"{self.candidate.main.path}: the launch block names the kernel {launch.kernel!r}, which the file "
                    f"does not define{suggest(bare, known)}; kernels in it: {', '.join(known) or 'none'}",
                )
        wanted = tuple(dict.fromkeys([*(n for have in self.modules for n in have), *instances]))
        exports = (self.candidate.entry,) if self.form is Form.host else ()
        name = Path(self.candidate.main.path).name or f"candidate.{'cu' if self.driver.dialect == 'cuda' else 'hip'}"
        unit = Unit(text, name, locate(text, text), self.recipe.flags, wanted, exports)
        self.modules[wanted] = self.driver.build(unit)
        return self.modules[wanted]

    def _launch(self, arrays: binding.Arrays) -> None:
        """Everything that a bare file's call does."""
        assert self.recipe is not None
        text = self.candidate.main.text
        if self.form is Form.host:
            entry = self.candidate.entry
            self._build(()).call(entry, binding.bind_host(text, entry, self.recipe, arrays))
            return
        steps = binding.plan(self.recipe, text, self.driver.dialect, arrays)
        module = self._build(sorted({step.kernel for step in steps if "<" in step.kernel}))
        for step in steps:
            module.launch(step.kernel, step.configuration, step.arguments, strict=False)


_sessions: dict[Target, Session] = {}


def open_session(
    candidate: Candidate, view: TaskView, target: Target, driver: Driver, workdir: Path, samples: Sequence[Inputs]
) -> Session:
    """Load a candidate afresh for a target and remember it for the launches that follow. Raises CandidateFault."""
    session = Session(candidate, view, target, driver, find_form(candidate))
    session.load(workdir, samples)
    _sessions[target] = session
    return session


def session_of(target: Target) -> Session:
    """The session that was compiled for a target. Raises CandidateFault when there was none."""
    try:
        return _sessions[target]
    except KeyError:
        raise CandidateFault("launch_failed", f"nothing was compiled for {target} in this process") from None


def _tensors(inputs: Inputs) -> list[Any]:
    from kengine.runner.arena import arrays

    found = [*arrays(inputs.args), *arrays(inputs.init_args), *inputs.state.values(), *inputs.destination]
    return [a.as_torch() for a in found]


def _save(inputs: Inputs) -> list[tuple[Any, bytes]]:
    """Copies of all memory that a call may write to."""
    from kengine.runner.arena import arrays

    found = [*arrays(inputs.args), *arrays(inputs.init_args), *inputs.state.values(), *inputs.destination]
    return [(memory, bytes(memory)) for a in found if isinstance(memory := a.memory, memoryview)]


def _as_cupy(array: Array, device: str) -> Any:
    import cupy

    return cupy.from_dlpack(array.as_torch()) if device == "cuda" else cupy.asarray(array.as_torch())
