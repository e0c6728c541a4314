"""Building the facade modules: strict attribute access and generation checks."""

from __future__ import annotations

import difflib
import types
from collections.abc import Callable
from typing import Any

from ..errors import NkiError, UnknownName, Unsupported
from ..program import state

# Names of releases after the signatures that the interpreter knows, or functions of which only the name is public.
NEWER = {
    "nki.isa": {"scalar_load": "NKI 0.7", "scalar_store": "NKI 0.7"},
    "nki.language": {"NkiScalar": "NKI 0.7"},
    "nki.compiler": {"CompileConfig": "NKI 0.7", "SpecializationConfig": "NKI 0.7"},
}
# Modules of which no complete list of names is public.
UNLISTED = {"nki.compiler", "neuronxcc.nki.compiler", "neuronxcc"}
KNOWN_UP_TO = {"nki": "NKI 0.6", "neuronxcc.nki": "Neuron SDK 2.26"}


class UnsupportedName(Unsupported, AttributeError):  # type: ignore[misc]
    """Unsupported, and an AttributeError so that `hasattr` answers False."""


class FacadeModule(types.ModuleType):
    """A module that answers an unknown name with the official message, near names and what the interpreter knows."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = self.__name__
        newer = NEWER.get(module, {}).get(name)
        if newer is not None:
            return refuse(f"{module}.{name}", f"it belongs to {newer}")
        names = [n for n in vars(self) if not n.startswith("_")]
        near = difflib.get_close_matches(name, names, 3)
        if module in UNLISTED:
            raise UnsupportedName(f"{module}.{name}", "only the names that public kernels use are known")
        root = "neuronxcc.nki" if module.startswith("neuronxcc") else "nki"
        hint = f" (did you mean {', '.join(near)}?)" if near else ""
        raise UnknownName(
            f"module '{module}' has no attribute '{name}'{hint}; the interpreter knows the API up to "
            f"{KNOWN_UP_TO[root]}"
        )


def make_module(name: str, doc: str, **names: Any) -> FacadeModule:
    """A facade module holding `names`; a package, so that its submodules can be imported."""
    module = FacadeModule(name, doc)
    module.__path__ = []
    for key, value in names.items():
        setattr(module, key, value)
    return module


def refuse(name: str, why: str = "") -> Callable[..., Any]:
    """A function that cannot be judged: calling it raises Unsupported with its name."""

    def unsupported(*args: Any, **kwargs: Any) -> Any:
        raise Unsupported(name, why)

    unsupported.__name__ = unsupported.__qualname__ = name.rpartition(".")[2]
    unsupported.unsupported = why or True  # type: ignore[attr-defined]
    return unsupported


def guard(generation: str) -> None:
    """NkiError when a function of one generation is called in a kernel of the other."""
    program = state.program
    if program is not None and program.generation != generation:
        theirs = "neuronxcc.nki" if generation == "old" else "nki"
        mine = "nki" if generation == "old" else "neuronxcc.nki"
        raise NkiError(f"a kernel of `{mine}` cannot call functions of `{theirs}`: use one NKI generation in a file")
