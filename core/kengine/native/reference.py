"""The reference of a task that is a CUDA or HIP file: inputs by its block, its kernels on the SIMT emulator.

Runs in the judge. The file is the task's, hence trusted; nothing of a candidate comes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kengine.errors import CandidateFault
from kengine.native import binding, cache
from kengine.native.block import read_recipe
from kengine.native.driver import Dialect
from kengine.native.expression import Extent, evaluate
from kengine.tasks.cfamily import kernel_names

if TYPE_CHECKING:
    from kengine.simt import Program

_LANES: Mapping[str, Literal[32, 64]] = {"cuda": 32, "hip": 64}
_TASK_ONLY = ("params", "arrays")


class KernelTask:
    """One such task: its text, the name of its file, its language, and its block without the keys of every task."""

    def __init__(self, text: str, file: str, language: Dialect, options: Mapping[str, Any]) -> None:
        self.text, self.file, self.language = text, file, language
        self.arrays: Mapping[str, Mapping[str, Any]] = options["arrays"]
        self.inputs, self.outputs = tuple(options["inputs"]), tuple(options["outputs"])
        kernels = kernel_names(text)
        entry = str(options.get("entry") or (kernels[0] if kernels else ""))
        self.recipe = read_recipe({k: v for k, v in options.items() if k not in _TASK_ONLY}, entry)
        self._programs: dict[tuple[str, ...], Program] = {}

    def make_inputs(self, seed: int, device: str, **params: Any) -> tuple[Any, ...]:
        """Draw every input: normal values for floats, else whole numbers from `low` (0) up to `high` (10)."""
        import torch

        draw = torch.Generator("cpu").manual_seed(seed)
        made = []
        for name in self.inputs:
            dtype, shape = self._describe(name, params)
            if dtype.is_floating_point:
                value = torch.randn(shape, generator=draw).to(dtype)
            else:
                low, high = int(self.arrays[name].get("low", 0)), int(self.arrays[name].get("high", 10))
                value = torch.randint(low, high, shape, generator=draw).to(dtype)
            made.append(value.to(device))
        return tuple(made)

    def reference(self, *inputs: Any) -> Any:
        """What the task's kernels compute. Raises TypeError for inputs of another dtype than the block's."""
        import torch

        for name, value in zip(self.inputs, inputs):
            wanted = getattr(torch, str(self.arrays[name].get("dtype", "float32")))
            if value.dtype != wanted:
                raise TypeError(f"{self.file}: its kernels take {name} as {wanted}, not {value.dtype}")
        host = tuple(value.detach().cpu().contiguous() for value in inputs)
        names: dict[str, Any] = {n: binding.extent_of(v) for n, v in zip(self.inputs, host)}
        for name, text in (self.recipe.sizes or {}).items():
            names[name] = evaluate(text, names)
        outputs = tuple(torch.empty(s, dtype=d) for d, s in (self._describe(n, names) for n in self.outputs))
        self._run(binding.Arrays(host, outputs, {}, lambda d, s: torch.zeros(s, dtype=getattr(torch, d))))
        made = tuple(value.to(inputs[0].device) for value in outputs)
        return made[0] if len(made) == 1 else made

    def _describe(self, name: str, names: Mapping[str, Extent | int | float]) -> tuple[Any, tuple[int, ...]]:
        import torch

        table = self.arrays[name]
        shape = tuple(int(evaluate(str(size), names)) for size in table["shape"])
        return getattr(torch, str(table.get("dtype", "float32"))), shape

    def _run(self, arrays: binding.Arrays) -> None:
        try:
            steps = binding.plan(self.recipe, self.text, self.language, arrays)
        except CandidateFault as fault:
            raise ValueError(f"{self.file}: {fault.message}") from None
        program = self._program(tuple(sorted({step.kernel for step in steps if "<" in step.kernel})))
        for step in steps:
            how = step.configuration
            program.launch(
                step.kernel, how.grid, how.block, [_as_numpy(value) for value in step.arguments], how.shared,
                cooperative=how.cooperative, max_dynamic_shared=how.max_shared,
            )  # fmt: skip

    def _program(self, instances: tuple[str, ...]) -> Program:
        if instances not in self._programs:
            from kengine.simt import DeviceLimits, build

            lanes = _LANES[self.language]
            self._programs[instances] = build(
                self.text, filename=Path(self.file).name, lanes=lanes, dialect=self.language, check=False,
                limits=DeviceLimits.of("gfx942" if lanes == 64 else "sm_90"), cache=cache.parts_folder(),
                instances=instances,
            )  # fmt: skip
        return self._programs[instances]


def _as_numpy(value: Any) -> Any:
    """A tensor as numpy over the same memory; dtypes that numpy lacks as integers of their size."""
    if not hasattr(value, "element_size"):
        return value
    import torch

    try:
        return value.numpy()
    except TypeError:
        return value.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[value.element_size()]).numpy()
