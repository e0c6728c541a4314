"""A Triton driver with no device behind it: it names a chip, loads nothing, and hands launches to a recorder."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch

from kengine_triton.interpret.warmup import REGISTERS

if TYPE_CHECKING:
    from triton.backends.compiler import GPUTarget

    from kengine_triton.chips import Chip


class Utilities:
    """The part of a driver that loads binaries: shared memory is limited as on the chip, nothing else is checked."""

    def __init__(self, chip: Chip) -> None:
        self.chip = chip

    def get_device_properties(self, device: int) -> dict[str, int]:
        """The figures that Triton and tuned wrappers ask for."""
        chip = self.chip
        return {
            "max_shared_mem": chip.shared_block,
            "multiprocessor_count": chip.units,
            "max_num_regs": 65536,
            "warpSize": chip.warp_size,
            "sm_clock_rate": 1_500_000,
            "mem_clock_rate": 2_000_000,
            "mem_bus_width": 5120,
        }

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[Any, ...]:
        """A handle that nobody uses, registers and spills of an ordinary kernel, and the most threads of a program.

        Wrappers size their grid by the registers, and divide by them.
        """
        return (None, 0, REGISTERS, 0, 1024)[: _handles()]

    def unload_module(self, module: Any) -> None:
        """Nothing was loaded."""


@lru_cache(maxsize=1)
def _handles() -> int:
    """How many values this Triton unpacks from loading a binary: since 3.4 also the most threads."""
    from triton.compiler.compiler import CompiledKernel

    return 5 if "n_max_threads" in inspect.getsource(CompiledKernel._init_handles) else 4


class Launcher:
    """What a compiled kernel is launched by: does nothing (the call is seen by `kengine_triton.observe`)."""

    def __init__(self, src: Any, metadata: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Launch nothing."""


class StubDriver:
    """The driver of a chip that is not there."""

    launcher_cls = Launcher

    def __init__(self, chip: Chip, benchmark: Any, device: str = "cuda") -> None:
        self.chip = chip
        self.utils = Utilities(chip)
        self._benchmark = benchmark
        self._device = device

    def get_current_target(self) -> GPUTarget:
        """The chip as Triton names it."""
        return self.chip.target()

    def get_current_device(self) -> int:
        """There is one device."""
        return 0

    def set_current_device(self, device: int) -> None:
        """There is one device."""

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        """Compute capability of the chip."""
        return self.chip.capability

    def get_current_stream(self, device: int | None = None) -> int:
        """The default stream."""
        return 0

    def get_active_torch_device(self) -> torch.device:
        """Where wrappers put their tensors."""
        return torch.device(self._device, 0)

    def get_device_interface(self) -> Any:
        """The module for streams and events, which answers for the chip."""
        return torch.cuda

    def get_benchmarker(self) -> Any:
        """The function that autotuning times with."""
        return self._benchmark

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        """A buffer that stands for the cache."""
        return torch.empty(1)

    def clear_cache(self, cache: torch.Tensor) -> None:
        """There is no cache."""

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The type itself; nothing is generated from it."""
        return ty


@contextmanager
def active(driver: StubDriver) -> Iterator[None]:
    """Make a driver Triton's inside the block, and forget what Triton remembers of the device it had before."""
    import triton.testing
    from triton.compiler import compiler
    from triton.runtime.driver import driver as config

    names = [name for name in ("_active", "active") if name in vars(config)]
    before = {name: getattr(config, name) for name in names}
    timing = {name: getattr(triton.testing, name) for name in ("do_bench", "do_bench_cudagraph")}
    forget = getattr(getattr(compiler, "max_shared_mem", None), "cache_clear", lambda: None)
    forget()
    config.set_active(driver)
    ours = driver.get_benchmarker()
    for name in timing:
        setattr(triton.testing, name, ours)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)
        for name, value in timing.items():
            if getattr(triton.testing, name) is ours:  # what a candidate has put in its place stays, to be found
                setattr(triton.testing, name, value)
        forget()
