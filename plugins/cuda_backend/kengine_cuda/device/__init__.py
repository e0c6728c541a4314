"""The local device: kernels of bare files by the driver, of Python files by CuPy, of extensions by nvcc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine_cuda.device.context import open_context
    from kengine_cuda.device.driver import Device

__all__ = ["Device", "open_context"]


def __getattr__(name: str) -> Any:
    if name == "Device":
        from kengine_cuda.device.driver import Device

        return Device
    if name == "open_context":
        from kengine_cuda.device.context import open_context

        return open_context
    raise AttributeError(name)
