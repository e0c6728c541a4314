"""The runtime library by ctypes: one per process, shared by all programs."""

from __future__ import annotations

import ctypes as c
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kengine.simt.fault import Fault, FaultKind, LaunchRefused, Unsupported
from kengine.simt.limits import DeviceLimits

LaunchMode = Literal["normal", "noop", "raise"]
Observer = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p, c.c_size_t)
Mover = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_size_t, c.c_int)
_KINDS = [None, *FaultKind]
_UNSUPPORTED = 100


class RawFault(c.Structure):
    """simt::Fault."""

    _fields_ = [
        ("kind", c.c_int),
        ("block", c.c_uint * 3),
        ("thread", c.c_uint * 3),
        ("has_thread", c.c_int),
        ("line", c.c_int),
        ("byte_offset", c.c_int64),
        ("has_offset", c.c_int),
        ("pc", c.c_uint64),
        ("library", c.c_char * 512),
        ("file", c.c_char * 256),
        ("kernel", c.c_char * 256),
        ("argument", c.c_char * 128),
        ("message", c.c_char * 768),
    ]


@dataclass(frozen=True)
class LaunchRecord:
    """One launch that happened, or was knocked out. Dimensions are (x, y, z)."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    completed: bool


@dataclass(frozen=True)
class MemoryRecord:
    """A buffer that kernels may touch: name, base address, size in bytes."""

    name: str
    base: int
    size: int


def bare_name(kernel: str) -> str:
    """The name of a kernel without the parentheses that the launch macro puts around it."""
    while kernel.startswith("(") and kernel.endswith(")"):
        kernel = kernel[1:-1].strip()
    return kernel


class Runtime:
    """Typed calls into the runtime library."""

    def __init__(self, library: Path) -> None:
        lib = c.CDLL(str(library), mode=c.RTLD_LOCAL)
        self.lib = lib
        pointer, size = c.c_void_p, c.c_size_t
        for name, result, arguments in (
            ("simt_fault", c.POINTER(RawFault), []),
            ("simt_clear_fault", None, []),
            ("simt_allocate_aligned", pointer, [size, size, size, c.c_uint, c.c_char_p]),
            ("simt_free", c.c_int, [pointer]),
            ("simt_register_memory", None, [c.c_char_p, pointer, size, size]),
            ("simt_forget_memory", None, [pointer]),
            ("simt_holds_memory", c.c_int, [pointer, size]),
            ("simt_memory_count", size, []),
            ("simt_memory_at", c.c_int, [size, c.POINTER(c.c_char_p), c.POINTER(pointer), c.POINTER(size)]),
            ("simt_launch_entry", c.c_int, [pointer, pointer, c.POINTER(c.c_uint), size, c.POINTER(pointer), c.c_int]),
            ("simt_set_dynamic_limit", None, [pointer, pointer, c.c_uint64]),
            ("simt_static_bytes", c.c_uint64, [pointer, c.c_char_p]),
            ("simt_set_mode", None, [c.c_int]),
            ("simt_set_limits", None, [c.POINTER(c.c_uint), c.c_uint64, c.c_uint64, c.c_double]),
            ("simt_completed", c.c_uint64, []),
            ("simt_record_count", size, []),
            ("simt_record_at", c.c_int, [size, c.POINTER(c.c_char_p), c.POINTER(c.c_uint), c.POINTER(c.c_uint64)]),
            ("simt_record_address", pointer, [size]),
            ("simt_forget_records", None, []),
            ("simt_observe", None, [pointer]),
            ("simt_observe_copies", None, [pointer]),
            ("simt_switches", c.c_uint64, []),
            ("simt_output", c.c_char_p, []),
            ("simt_forget_output", None, []),
        ):
            function = getattr(lib, name)
            function.restype, function.argtypes = result, arguments
        self.mode: LaunchMode = "normal"

    # ---- launches ----
    def set_mode(self, mode: LaunchMode) -> None:
        """Let launches run, do nothing, or fail: for the whole process."""
        self.lib.simt_set_mode({"normal": 0, "noop": 1, "raise": 2}[mode])
        self.mode = mode

    def set_limits(self, limits: DeviceLimits, seconds: float) -> None:
        """Launch limits, and the processor time that one launch may take (0: no limit)."""
        values = [
            limits.threads_per_block,
            *limits.block,
            *limits.grid,
            limits.multiprocessors,
            *limits.compute_capability,
        ]
        self.lib.simt_set_limits(
            (c.c_uint * 10)(*values), limits.shared_per_block, limits.shared_per_block_optin, seconds
        )

    def launches(self) -> list[LaunchRecord]:
        """Launches since the start of the process or the last forget_launches, at most 65536 of them."""
        out = []
        name, dims, shared = c.c_char_p(), (c.c_uint * 6)(), c.c_uint64()
        for i in range(self.lib.simt_record_count()):
            completed = self.lib.simt_record_at(i, c.byref(name), dims, c.byref(shared))
            d = list(dims)
            kernel = bare_name((name.value or b"").decode())
            out.append(LaunchRecord(kernel, (d[0], d[1], d[2]), (d[3], d[4], d[5]), shared.value, completed == 1))
        return out

    def launched_functions(self) -> list[int]:
        """Address of the kernel of each of `launches`; 0 for a template whose arguments are deduced."""
        return [self.lib.simt_record_address(i) or 0 for i in range(self.lib.simt_record_count())]

    def completed_launches(self) -> int:
        """How many launches have run to their end."""
        return int(self.lib.simt_completed())

    def forget_launches(self) -> None:
        """Start the record of launches anew."""
        self.lib.simt_forget_records()

    @contextmanager
    def moving(
        self, copy: Callable[[int, int, int, int], None], fill: Callable[[int, int, int], None]
    ) -> Iterator[None]:
        """Inside the block, have copies that host code of this thread asks for made by `copy(to, from, bytes, kind)`,
        and what it sets to a value by `fill(to, value, bytes)`. kind: as CUDA numbers them."""

        def made(to: int, source: int | None, size: int, kind: int) -> None:
            if source is None:
                fill(to, kind, size)
            else:
                copy(to, source, size, kind)

        kept = Mover(made)
        self.lib.simt_observe_copies(c.cast(kept, c.c_void_p))
        try:
            yield
        finally:
            self.lib.simt_observe_copies(None)

    def take_output(self) -> str:
        """What kernels have printed since the last call."""
        text: str = (self.lib.simt_output() or b"").decode(errors="replace")
        self.lib.simt_forget_output()
        return text

    @contextmanager
    def observed(self, launch: Callable[[str, tuple[int, ...]], AbstractContextManager[None]]) -> Iterator[None]:
        """Inside the block, let each launch of this thread that really runs happen inside of `launch(kernel, words)`.

        words: the kernel's arguments as they lie side by side, eight bytes each; pointers are among them.
        """
        open_now: list[AbstractContextManager[None]] = []

        def told(begins: int, kernel: bytes, arguments: int, size: int) -> None:
            if not begins:
                if open_now:
                    open_now.pop().__exit__(None, None, None)
                return
            block = c.string_at(arguments, size & ~7) if arguments else b""
            words = struct.unpack(f"<{len(block) // 8}Q", block)
            made = launch(bare_name(kernel.decode(errors="replace")), words)
            made.__enter__()
            open_now.append(made)

        kept = Observer(told)
        self.lib.simt_observe(c.cast(kept, c.c_void_p))
        try:
            yield
        finally:
            self.lib.simt_observe(None)

    # ---- memory ----
    def allocate(self, size: int, itemsize: int, align: int, skew: int, name: str) -> int:
        """A guarded buffer; its address. MemoryError when the machine has no more."""
        address = self.lib.simt_allocate_aligned(max(size, 1), itemsize, align, skew, name.encode())
        if not address:
            raise MemoryError(f"no memory for a guarded buffer of {size} bytes")
        return int(address)

    def free(self, address: int) -> None:
        """Give a guarded buffer back."""
        self.lib.simt_free(address)

    def register(self, name: str, base: int, size: int, itemsize: int = 4) -> None:
        """Let kernels touch foreign memory; accesses are checked against its bounds in check mode."""
        self.lib.simt_register_memory(name.encode(), base, size, itemsize)

    def forget(self, base: int) -> None:
        """Withdraw foreign memory."""
        self.lib.simt_forget_memory(base)

    def memory(self) -> list[MemoryRecord]:
        """Every buffer that kernels may touch."""
        out = []
        name, base, size = c.c_char_p(), c.c_void_p(), c.c_size_t()
        for i in range(self.lib.simt_memory_count()):
            if not self.lib.simt_memory_at(i, c.byref(name), c.byref(base), c.byref(size)):
                out.append(MemoryRecord((name.value or b"").decode(), base.value or 0, size.value))
        return out

    def owns(self, memory: MemoryRecord) -> bool:
        """Whether a buffer was allocated here, and not by somebody else who has it registered."""
        return bool(self.lib.simt_holds_memory(memory.base, memory.size))

    # ---- faults ----
    def raw_fault(self) -> RawFault | None:
        """The fault that no one has taken yet."""
        pointer = self.lib.simt_fault()
        if not pointer:
            return None
        copy = RawFault()
        c.memmove(c.byref(copy), pointer, c.sizeof(copy))
        return copy

    def clear_fault(self) -> None:
        """Forget the fault; launches run again."""
        self.lib.simt_clear_fault()


_loaded: dict[str, Runtime] = {}


def load_runtime(library: Path) -> Runtime:
    """The runtime library of this process. One copy serves every folder that holds it: programs are bound to the
    first that was loaded under its name, which tells its content."""
    if library.name not in _loaded:
        _loaded[library.name] = Runtime(library)
    return _loaded[library.name]


def to_fault(raw: RawFault, file: str | None, line: int | None) -> Fault:
    """The typed record of a fault. Raises Unsupported for what is no fault but a limit of the emulator."""
    message = raw.message.decode(errors="replace")
    kernel = bare_name(raw.kernel.decode(errors="replace"))
    if raw.kind == _UNSUPPORTED:
        raise Unsupported(message, line)
    kind = _KINDS[raw.kind]
    assert kind is not None
    whole = kind is FaultKind.LAUNCH_LIMIT or (not raw.has_thread and kind is FaultKind.OUT_OF_BOUNDS_WRITE)
    return Fault(
        kind=kind,
        kernel=kernel,
        block=None if whole else (raw.block[0], raw.block[1], raw.block[2]),
        thread=(raw.thread[0], raw.thread[1], raw.thread[2]) if raw.has_thread else None,
        argument=raw.argument.decode(errors="replace") or None,
        byte_offset=raw.byte_offset if raw.has_offset == 1 else None,
        file=file if line is not None else None,
        line=line,
        message=message,
    )


def refuse() -> LaunchRefused:
    """The exception of a launch while launches are set to raise."""
    return LaunchRefused("kernel launches are set to raise")
