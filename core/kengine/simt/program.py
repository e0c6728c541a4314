"""A compiled source: its kernels, its host functions, its variables."""

from __future__ import annotations

import ctypes as c
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kengine.simt.debug_lines import find_line, read_symbols
from kengine.simt.fault import Fault, FaultKind, KernelFault, LaunchError
from kengine.simt.kernels import find_kernels
from kengine.simt.lexer import blank
from kengine.simt.limits import DeviceLimits
from kengine.simt.memory import Arguments, Parameter, guarded_empty
from kengine.simt.runtime import LaunchMode, LaunchRecord, MemoryRecord, RawFault, load_runtime, refuse, to_fault

if TYPE_CHECKING:
    import numpy as np

DEFAULT_SECONDS = 60.0
# Sizes of element types as compilers spell them in messages.
_ELEMENT_SIZES = {
    **dict.fromkeys(("char", "signed char", "unsigned char", "bool"), 1),
    **dict.fromkeys(
        ("short", "short int", "unsigned short", "short unsigned int", "half", "__half", "__nv_bfloat16"), 2
    ),
    **dict.fromkeys(("int", "unsigned int", "float", "half2", "__half2", "__nv_bfloat162"), 4),
    **dict.fromkeys(("long", "long int", "unsigned long", "long unsigned int", "double", "float2"), 8),
    **dict.fromkeys(("long long", "long long int", "long long unsigned int"), 8),
    **dict.fromkeys(("float4", "int4", "uint4", "double2"), 16),
}


class _ParameterInfo(c.Structure):
    _fields_ = [
        ("code", c.c_char_p),
        ("size", c.c_uint),
        ("is_pointer", c.c_uint),
        ("is_const", c.c_uint),
        ("align", c.c_uint),
    ]


class _Entry(c.Structure):
    pass


_Entry._fields_ = [
    ("name", c.c_char_p),
    ("address", c.c_void_p),
    ("body", c.c_void_p),
    ("parameter_count", c.c_uint),
    ("parameters", c.POINTER(_ParameterInfo)),
    ("arguments_size", c.c_size_t),
    ("pack", c.c_void_p),
    ("max_dynamic_shared", c.c_uint64),
    ("is_host", c.c_uint),
    ("call_host", c.CFUNCTYPE(None, c.POINTER(c.c_void_p), c.c_void_p)),
    ("result", _ParameterInfo),
    ("next", c.POINTER(_Entry)),
]


class _Module(c.Structure):
    _fields_ = [
        ("indices", c.c_void_p * 5),
        ("lanes", c.c_uint),
        ("check", c.c_uint),
        ("strict_exit", c.c_uint),
        ("reserved", c.c_uint),
        ("kernels", c.POINTER(_Entry)),
        ("shared", c.c_void_p),
    ]


@dataclass(frozen=True)
class Kernel:
    """A kernel that can be launched by name. `static_shared`: bytes of the shared variables that it declares itself."""

    name: str
    parameters: tuple[Parameter, ...]
    static_shared: int
    line: int | None


class Program:
    """A loaded program. Use `build` to make one.

    `kernels` maps names to kernels; templates appear only if instances were asked for. `library` is the shared object.
    `seconds` is the processor time that one launch may take before it is an endless loop.
    """

    def __init__(
        self, library: Path, runtime: Path, *, source: str, filename: str, check: bool, limits: DeviceLimits
    ) -> None:
        self.library, self.source, self.filename, self.check, self.limits = library, source, filename, check, limits
        self.seconds = DEFAULT_SECONDS
        self.runtime = load_runtime(runtime)
        self._loaded = c.CDLL(str(library))
        self._loaded.simt_program.restype = c.POINTER(_Module)
        self._module = self._loaded.simt_program()
        self._symbols: dict[str, tuple[int, int]] | None = None
        self._entries: dict[str, tuple[Any, tuple[Parameter, ...]]] = {}
        self.kernels: dict[str, Kernel] = {}
        lines = {k.name: k for k in find_kernels(blank(source))}
        entry = self._module.contents.kernels
        while entry:
            e = entry.contents
            name = (e.name or b"").decode()
            definition = lines.get(re.split("[<(]", name)[0].split("::")[-1].strip())
            names = definition.parameters if definition and len(definition.parameters) == e.parameter_count else ()
            parameters = tuple(
                _describe(e.parameters[i], names[i] if names and names[i] else f"arg{i}")
                for i in range(e.parameter_count)
            )
            self._entries[name] = (entry, parameters)
            if not e.is_host:
                static = int(self.runtime.lib.simt_static_bytes(self._module, name.encode()))
                self.kernels[name] = Kernel(name, parameters, static, definition.line if definition else None)
            entry = e.next
        self.kernels = dict(sorted(self.kernels.items(), key=lambda item: (item[1].line or 0, item[0])))

    # ---- running ----
    def launch(
        self, name: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], args: tuple[Any, ...] | list[Any],
        shared_bytes: int = 0, *, cooperative: bool = False, max_dynamic_shared: int | None = None,
    ) -> None:  # fmt: skip
        """Run a kernel to its end.

        `grid` and `block` count blocks and threads along x, y, z. Arrays are numpy arrays (any strides), copied into
        guarded memory and back unless they come from `empty`; addresses are integers, None is a null pointer; scalars
        are converted to the types of the C++ signature. `max_dynamic_shared` raises the kernel's limit in bytes.

        Raises KernelFault, LaunchError, LaunchRefused, Unsupported.
        """
        if name not in self.kernels:
            known = ", ".join(self.kernels) or "none"
            raise LaunchError(f"{self.filename} has no kernel '{name}' that can be launched by name (found: {known})")
        entry, parameters = self._entries[name]
        dims = [*_dimensions(grid, "grid"), *_dimensions(block, "block")]
        if max_dynamic_shared is not None:
            self.runtime.lib.simt_set_dynamic_limit(self._module, entry.contents.address, max_dynamic_shared)
        arguments = Arguments(self.runtime, parameters, tuple(args), name, self.check)
        succeeded = False
        try:
            self._prepare()
            code = self.runtime.lib.simt_launch_entry(
                self._module, entry, (c.c_uint * 6)(*dims), shared_bytes, arguments.pointers, int(cooperative)
            )
            self._settle(code)
            succeeded = True
        finally:
            arguments.finish(succeeded)

    def call(self, name: str, *args: Any) -> Any:
        """Call a host function named in `exports`; it may launch kernels. Its result, None for void.

        Arguments are converted like those of `launch`. A fault in any of its launches is raised when it returns.
        """
        if name not in self._entries or not self._entries[name][0].contents.is_host:
            raise LaunchError(f"{self.filename} has no exported host function '{name}'")
        entry, parameters = self._entries[name]
        e = entry.contents
        arguments = Arguments(self.runtime, parameters, args, name, self.check)
        result = (c.c_char * max(e.result.size, 1))()
        succeeded = False
        try:
            self._prepare()
            e.call_host(arguments.pointers, c.addressof(result))
            self._settle(0)
            succeeded = True
        finally:
            arguments.finish(succeeded)
        return _result(e.result, bytes(result))

    def _prepare(self) -> None:
        self.runtime.set_limits(self.limits, self.seconds)
        self.runtime.clear_fault()

    def _settle(self, code: int) -> None:
        text = self.runtime.take_output()
        if text:
            sys.stdout.write(text)
        fault = self.take_fault()
        if fault is not None:
            raise KernelFault(fault)
        if code == 999 or self.runtime.mode == "raise":
            raise refuse()

    def take_fault(self) -> Fault | None:
        """The fault of the launches since the last call of this, from whatever code they were made."""
        raw = self.runtime.raw_fault()
        if raw is None:
            return None
        self.runtime.clear_fault()
        return self._describe_fault(raw)

    def _describe_fault(self, raw: RawFault) -> Fault:
        line: int | None = (
            raw.line if raw.line > 0 and raw.file.decode(errors="replace") in ("", self.filename) else None
        )
        if line is None and raw.pc:
            line = find_line(Path(raw.library.decode(errors="replace")), raw.pc, self.filename)
        fault = to_fault(raw, self.filename, line)
        if raw.has_offset == 2:
            fault = self._describe_index(fault, int(raw.byte_offset))
        return fault

    def _describe_index(self, fault: Fault, index: int) -> Fault:
        """An index outside of a declared array: which one, shared or not, read or written, is read off the line."""
        lines = blank(self.source).split("\n")
        text = lines[fault.line - 1] if fault.line and fault.line <= len(lines) else ""
        column = re.search(r"column (\d+)", fault.message)
        bound = re.search(r"\[(\d+)\]", fault.message)
        name, writes = _subscripted(text, int(column.group(1)) - 1 if column else 0)
        shared = (
            name is not None and re.search(rf"__shared__[^;]*\b{re.escape(name)}\b", blank(self.source)) is not None
        )
        kind = (
            FaultKind.SHARED_OUT_OF_BOUNDS
            if shared
            else FaultKind.OUT_OF_BOUNDS_WRITE
            if writes
            else FaultKind.OUT_OF_BOUNDS_READ
        )
        size = self._element_size(fault.message)
        offset = index * size if size and bound else None
        message = re.sub(r" \(column \d+\)", "", fault.message)
        return replace(fault, kind=kind, argument=name, byte_offset=offset, message=message)

    @staticmethod
    def _element_size(message: str) -> int | None:
        match = re.search(r"type '([\w ]+?)\s*\[\d+\]'", message)
        return _ELEMENT_SIZES.get(match.group(1)) if match else None

    # ---- memory ----
    def empty(self, shape: int | tuple[int, ...], dtype: Any, name: str = "buffer") -> np.ndarray[Any, Any]:
        """An uninitialised numpy array in guarded memory, which launches use in place."""
        return guarded_empty(
            self.runtime, (shape,) if isinstance(shape, int) else tuple(shape), dtype, name, self.check
        )

    def register(self, name: str, base: int, size: int, itemsize: int = 4) -> None:
        """Tell the bounds of memory that comes from elsewhere, so that kernels may touch it in check mode."""
        self.runtime.register(name, base, size, itemsize)

    def forget(self, base: int) -> None:
        """Withdraw memory told by `register`."""
        self.runtime.forget(base)

    def memory(self) -> list[MemoryRecord]:
        """Every buffer of this process that kernels may touch."""
        return self.runtime.memory()

    def variable(self, name: str, dtype: Any = "uint8") -> np.ndarray[Any, Any]:
        """A `__device__` or `__constant__` variable as an array over its own memory. KeyError if there is none."""
        import numpy as np

        address, size = self.symbol(name)
        array: np.ndarray[Any, Any] = np.frombuffer((c.c_char * size).from_address(address), dtype=dtype)
        return array

    def symbol(self, name: str) -> tuple[int, int]:
        """Address and size in bytes of a variable or function (C++ functions by their mangled name)."""
        if self._symbols is None:
            self._symbols = read_symbols(self.library)
        if name not in self._symbols:
            raise KeyError(f"{self.filename} defines no '{name}'")
        base = c.cast(self._module, c.c_void_p).value or 0
        value, size = self._symbols[name]
        return base - self._symbols["simt_module"][0] + value, size

    def function_at(self, address: int) -> str:
        """The function at an address, C++ functions by their mangled name; "" for one of another library."""
        if self._symbols is None:
            self._symbols = read_symbols(self.library)
        base = (c.cast(self._module, c.c_void_p).value or 0) - self._symbols["simt_module"][0]
        return next((n for n, (value, size) in self._symbols.items() if base + value == address and size), "")

    # ---- integrity ----
    def set_mode(self, mode: LaunchMode) -> None:
        """Let the launches of this process run, do nothing, or raise."""
        self.runtime.set_mode(mode)

    def launches(self) -> list[LaunchRecord]:
        """The launches of this process since the last `forget_launches`."""
        return self.runtime.launches()

    def forget_launches(self) -> None:
        """Start the record of launches anew."""
        self.runtime.forget_launches()


def _subscripted(line: str, column: int) -> tuple[str | None, bool]:
    """The array whose subscript is at a column, and whether the element is assigned to. Compilers point at the closing
    bracket, the opening one, or the start of the expression."""
    end = column if line[column : column + 1] == "]" else line.find("]", column)
    depth, start = 0, end
    while start >= 0:
        depth += (line[start] == "]") - (line[start] == "[")
        if not depth:
            break
        start -= 1
    if end < 0 or start < 0:
        return None, False
    before = re.search(r"(\w+)\s*(?:\[[^\[\]]*\]\s*)*$", line[:start])
    after = re.match(r"\s*(?:\[[^\]]*\]\s*|\.\w+\s*)*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)", line[end + 1 :])
    return before.group(1) if before else None, after is not None


def _describe(info: _ParameterInfo, name: str) -> Parameter:
    return Parameter(
        name, (info.code or b"v").decode(), info.size, bool(info.is_pointer), bool(info.is_const), info.align
    )


def _dimensions(value: int | tuple[int, ...], what: str) -> list[int]:
    given = [value] if isinstance(value, int) else [int(v) for v in value]
    if not 1 <= len(given) <= 3 or any(not 0 <= v < 2**32 for v in given):
        raise LaunchError(f"{what} must be one to three sizes of 0 to 2^32-1, got {value!r}")
    return given + [1] * (3 - len(given))


def _result(info: _ParameterInfo, raw: bytes) -> Any:
    code = (info.code or b"v").decode()
    if not info.size:
        return None
    if info.is_pointer:
        return int.from_bytes(raw, "little")
    if code == "b1":
        return raw[0] != 0
    if code in ("f4", "f8"):
        return (c.c_float if code == "f4" else c.c_double).from_buffer_copy(raw).value
    if code[0] in "iu" and code[1:].isdigit():
        return int.from_bytes(raw, "little", signed=code[0] == "i")
    return raw
