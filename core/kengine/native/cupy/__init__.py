"""A facade of CuPy over numpy and the kernels of a driver: what Python candidates import where there is no CuPy.

It serves the host side of a candidate, in a runner only. Kernels (`RawKernel`, `RawModule`, `ElementwiseKernel`,
`ReductionKernel`) go to the driver; arrays are numpy's under the name `cupy.ndarray`; what the facade lacks is
`unsupported`, by name.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kengine.errors import CandidateFault
from kengine.native import observe

if TYPE_CHECKING:
    from kengine.native.driver import Driver

PACKAGES = ("cupy", "cupyx")


class Facade(ModuleType):
    """A module of the facade; a name that it lacks is unsupported."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        raise refuse(f"{self.__name__}.{name}")


def refuse(what: str) -> CandidateFault:
    """The fault for something of CuPy that the facade lacks; kept, in case the candidate swallows it."""
    fault = CandidateFault("unsupported", f"{what} is not part of the facade of CuPy that stands in for a device here")
    return observe.current().failed(fault)


class _Refusing(importlib.abc.MetaPathFinder):
    """Imports of submodules that the facade lacks."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] in PACKAGES:
            raise refuse(f"the module {fullname}")
        return None


@contextmanager
def install(driver: Driver, text: str) -> Iterator[None]:
    """Let `import cupy` give the facade over a driver, from here on. text: the candidate's main file, for lines.

    Modules stay in place when the block ends, since results are looked at later; a next block takes them over.
    """
    from kengine.native.cupy import arrays, elementwise, functions, kernels, reduction, runtime

    kernels.use(driver, text)
    if not isinstance(sys.modules.get("cupy"), Facade):
        for name in [n for n in sys.modules if n.partition(".")[0] in PACKAGES]:
            del sys.modules[name]
        top = _module("cupy", {**functions.names(), **arrays.names()})
        for part in (kernels, elementwise, reduction):
            vars(top).update(part.names())
        for name, members in runtime.modules(driver.figures).items():
            _module(name, members)
        vars(top)["is_available"] = lambda: True
        _module("cupyx", {})
        sys.meta_path.insert(0, _Refusing())
    yield


def _module(name: str, members: dict[str, Any]) -> Facade:
    module = Facade(name)
    module.__path__ = []
    vars(module).update(members)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    return module
