"""C++ extensions of torch in about a second: `load_inline` and `load` over light headers.

    configure(Settings(cache=folder))                 # or mode="nvcc", arch="sm_90" on a device
    module = load_inline("scale", cpp_sources=..., cuda_sources=..., functions=["scale"])
    module.scale(x, 2.0); module.path                 # "light" or "full"

- `include/`, `device/` and `light/` hold a `<torch/extension.h>` of our own: tensors over torch's stable C interface,
  operators through `torch.ops.aten` by name, pybind11's common forms over Python's stable interface. Nothing of
  ATen or pybind11 is parsed. What the light headers lack is built with torch's own headers; `Extension.path` and
  `Extension.reason` say so.
- `emulated` mode compiles device code for the SIMT emulator: tensors lie on the CPU and say that they are on a device,
  memory that the extension allocates has inaccessible pages on both sides and holds NaN at first, and a fault in a
  kernel is raised as `kengine.simt.KernelFault` when the function returns.
- `nvcc` mode compiles the same sources for a device with the flags that torch passes.
- Extensions are kept by content in the private cache: no two share a build directory by name.
- `install` puts both functions in the place of torch's; it returns a function that undoes it.

Importing this package imports neither torch nor a compiler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.extension.builder import configure, current_settings, load, load_inline
    from kengine.extension.failure import candidate_line
    from kengine.extension.module import Extension
    from kengine.extension.replacement import install
    from kengine.extension.settings import Settings
    from kengine.extension.toolkit import warm

_HOMES = {
    "Settings": "settings",
    "Extension": "module",
    "configure": "builder",
    "current_settings": "builder",
    "load": "builder",
    "load_inline": "builder",
    "install": "replacement",
    "warm": "toolkit",
    "candidate_line": "failure",
}

__all__ = [
    "Extension",
    "Settings",
    "candidate_line",
    "configure",
    "current_settings",
    "install",
    "load",
    "load_inline",
    "warm",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
