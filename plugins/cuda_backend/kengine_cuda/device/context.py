"""NVIDIA's driver by ctypes: loading a binary and launching its kernels on torch's stream."""

from __future__ import annotations

import ctypes as c
import functools
from collections.abc import Sequence

from kengine.device import graphs
from kengine.native import observe
from kengine.native.driver import Configuration

_MAX_DYNAMIC_SHARED = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES."""


class DriverError(RuntimeError):
    """The driver refused; the text is its own."""


@functools.lru_cache(maxsize=1)
def library() -> c.CDLL:
    """The driver's library. Raises OSError where there is none."""
    return c.CDLL("libcuda.so.1")


def check(code: int, doing: str) -> None:
    """Raise DriverError for a code that is not success."""
    if code:
        name, text = c.c_char_p(), c.c_char_p()
        library().cuGetErrorName(code, c.byref(name))
        library().cuGetErrorString(code, c.byref(text))
        told = b": ".join(part for part in (name.value, text.value) if part).decode()
        raise DriverError(f"{doing}: {told or code}")


def open_context() -> None:
    """Open torch's context and launch one small kernel."""
    import torch

    graphs.install(observe.current)
    x = torch.zeros(32, device="cuda")
    x += 1
    torch.cuda.synchronize()
    from kengine_cuda.device import cupy as watched

    if watched.install():
        import cupy

        cupy.zeros(1).sum()


class LoadedBinary:
    """A binary in the current context."""

    def __init__(self, image: bytes) -> None:
        import torch

        torch.cuda.synchronize()  # torch's context is made and current after this
        self._image = c.create_string_buffer(image, len(image))
        self._module = c.c_void_p()
        check(library().cuModuleLoadData(c.byref(self._module), self._image), "loading the binary")
        self._functions: dict[str, c.c_void_p] = {}

    def function(self, symbol: str) -> c.c_void_p:
        """A kernel by its mangled name. Raises DriverError."""
        if symbol not in self._functions:
            found = c.c_void_p()
            check(library().cuModuleGetFunction(c.byref(found), self._module, symbol.encode()), f"finding {symbol}")
            self._functions[symbol] = found
        return self._functions[symbol]

    def parameter_sizes(self, symbol: str) -> list[int] | None:
        """Bytes of each parameter, None where the driver is too old to say (before CUDA 12.4)."""
        ask = getattr(library(), "cuFuncGetParamInfo", None)
        if ask is None:
            return None
        sizes: list[int] = []
        offset, size = c.c_size_t(), c.c_size_t()
        function = self.function(symbol)
        while len(sizes) < 4096 and ask(function, c.c_size_t(len(sizes)), c.byref(offset), c.byref(size)) == 0:
            sizes.append(size.value)
        return sizes

    def launch(self, symbol: str, how: Configuration, values: Sequence[c._SimpleCData[object]]) -> None:
        """Launch on torch's current stream. Raises DriverError."""
        import torch

        function = self.function(symbol)
        if how.shared > 48 << 10 or how.max_shared:
            code = library().cuFuncSetAttribute(function, _MAX_DYNAMIC_SHARED, max(how.shared, how.max_shared or 0))
            check(code, f"{symbol}: {how.shared} bytes of dynamic shared memory")
        pointers = (c.c_void_p * max(1, len(values)))(*(c.addressof(value) for value in values))
        stream = c.c_void_p(int(torch.cuda.current_stream().cuda_stream))
        if how.cooperative:
            code = library().cuLaunchCooperativeKernel(
                function, *map(c.c_uint, (*how.grid, *how.block, how.shared)), stream, pointers
            )
        else:
            code = library().cuLaunchKernel(
                function, *map(c.c_uint, (*how.grid, *how.block, how.shared)), stream, pointers, None
            )
        check(code, f"launching {symbol}")

    def symbol(self, name: str) -> tuple[int, int]:
        """Address and size of a device variable. Raises KeyError."""
        address, size = c.c_uint64(), c.c_size_t()
        if library().cuModuleGetGlobal_v2(c.byref(address), c.byref(size), self._module, name.encode()):
            raise KeyError(name)
        return address.value, size.value
