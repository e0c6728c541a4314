"""What `torch.cuda` says while a wrapper runs without a device: a chip's figures, streams that do nothing."""

from __future__ import annotations

import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch

from kengine.pretence import Figures

_GONE = object()


class Stream:
    """A stream: work on the host is done when the call returns."""

    cuda_stream = 0
    device = torch.device("cuda", 0)
    device_index = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    def wait_stream(self, stream: Any) -> None:
        """Nothing is left to wait for."""

    def wait_event(self, event: Any) -> None:
        """Nothing is left to wait for."""

    def query(self) -> bool:
        """Everything is done."""
        return True

    def record_event(self, event: Any = None) -> Event:
        """The time of now."""
        made: Event = event or Event()
        made.record(self)
        return made

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class Event:
    """An event: the host's clock when it was recorded."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self._at = time.perf_counter()

    def record(self, stream: Any = None) -> None:
        """Note the time."""
        self._at = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds to another event."""
        return (end._at - self._at) * 1e3

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    def wait(self, stream: Any = None) -> None:
        """Nothing is left to wait for."""

    def query(self) -> bool:
        """Everything is done."""
        return True


def properties(figures: Figures) -> Any:
    """What `torch.cuda.get_device_properties` gives for a device."""
    return types.SimpleNamespace(
        name=figures.name,
        major=figures.capability[0],
        minor=figures.capability[1],
        total_memory=figures.memory,
        multi_processor_count=figures.units,
        warp_size=figures.warp_size,
        regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=figures.threads_per_unit,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=figures.shared_block,
        shared_memory_per_multiprocessor=figures.shared_unit,
        L2_cache_size=50 * 1024 * 1024,
        gcnArchName=figures.arch if figures.is_amd else "",
        is_integrated=False,
        is_multi_gpu_board=False,
    )


@contextmanager
def recording_no_streams() -> Iterator[None]:
    """`Tensor.record_stream` takes the streams that are answered here; nothing is freed early on a host."""
    torch.Tensor.record_stream = lambda self, stream: None
    try:
        yield
    finally:
        del torch.Tensor.record_stream


def _answers(figures: Figures, refuse: Callable[[str], Exception]) -> dict[str, Any]:
    def constant(value: Any) -> Any:
        return lambda *_, **__: value

    def graph(*_: Any, **__: Any) -> Any:
        # A graph replays recorded launches, which the host cannot.
        raise refuse("a CUDA graph")

    stream = Stream()
    # A function of its own for each name: PyTorch's compiler refuses one object under several.
    answers: dict[str, Any] = {name: constant(None) for name in (
        "_lazy_init", "init", "synchronize", "set_device", "empty_cache", "manual_seed", "manual_seed_all", "seed",
        "reset_peak_memory_stats", "reset_max_memory_allocated", "reset_accumulated_memory_stats", "set_stream",
        "ipc_collect", "set_per_process_memory_fraction",
    )}  # fmt: skip
    answers |= {name: constant(0) for name in (
        "current_device", "memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved",
        "utilization",
    )}  # fmt: skip
    answers |= {name: constant(True) for name in ("is_available", "is_initialized", "is_bf16_supported")}
    answers |= {name: constant(stream) for name in ("current_stream", "default_stream")}
    answers |= {name: (lambda *_, **__: nullcontext()) for name in ("device", "device_of", "stream", "use_mem_pool")}
    answers |= {
        "device_count": constant(1),
        "is_current_stream_capturing": constant(False),
        "get_device_capability": constant(figures.capability),
        "get_device_name": constant(figures.name),
        "get_device_properties": constant(properties(figures)),
        "get_arch_list": constant([figures.arch]),
        "mem_get_info": constant((figures.memory, figures.memory)),
        "Stream": Stream,
        "ExternalStream": Stream,
        "Event": Event,
        "CUDAGraph": graph,
        "graph": graph,
        "make_graphed_callables": graph,
    }
    return answers


@contextmanager
def answering_as(figures: Figures, refuse: Callable[[str], Exception]) -> Iterator[None]:
    """Replace the functions of `torch.cuda` (and what else names the device) inside the block."""
    changes: list[tuple[Any, str, Any, Any]] = []

    def put(owner: Any, name: str, value: Any) -> None:
        changes.append((owner, name, getattr(owner, name, _GONE), value))
        setattr(owner, name, value)

    try:
        for name, value in _answers(figures, refuse).items():
            put(torch.cuda, name, value)
        for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
            put(torch.cuda.nvtx, name, lambda *_, **__: 0)
        put(torch.version, "hip", "7.0" if figures.is_amd else None)
        put(torch.version, "cuda", None if figures.is_amd else "13.0")
        put(torch, "set_default_device", lambda *_: None)
        if hasattr(torch, "accelerator"):
            put(torch.accelerator, "is_available", lambda *_: True)
            put(torch.accelerator, "current_accelerator", lambda *_, **__: torch.device("cuda"))
            put(torch.accelerator, "synchronize", lambda *_: None)
        yield
    finally:
        for owner, name, value, put_there in reversed(changes):
            # What a candidate has put in its place stays, to be found.
            if getattr(owner, name, None) is not put_there:
                continue
            if value is _GONE:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
