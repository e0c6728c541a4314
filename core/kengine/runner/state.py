"""What a candidate may leave changed in its own process: functions of others, settings of frameworks.

Nothing of it reaches the judge, whose process is another. A replaced function is an attempt all the same, and a
setting that a call changes is one that its caller did not ask for.
"""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

_MODULES = (
    "builtins", "time", "os", "gc", "inspect", "threading", "random", "math", "ctypes", "socket", "statistics",
    "torch", "torch.Tensor", "torch._C._TensorBase", "torch.nn.functional", "torch.nn.Module", "torch.cuda",
    "torch.cuda.Event", "torch.cuda.Stream", "torch.testing", "torch.autograd", "torch.autograd.profiler",
    "torch.utils._python_dispatch", "torch.linalg", "torch.overrides", "torch.random", "torch._C._nn",
    "numpy", "numpy.linalg", "numpy.testing", "numpy.random",
    "kengine.runner.child.Server", "kengine.array.Array", "kengine.pretence.cuda.Event", "kengine.pretence.cuda.Stream",
)  # fmt: skip
"""Where functions are looked at; a module that is not imported is left out, and so is what a plugin does not load."""

Functions = dict[tuple[str, str], tuple[Any, Any]]


_registered: dict[str, Any] = {}
_included: list[str] = []


def include(*names: str) -> None:
    """Have modules and classes of a plugin's own libraries looked at where they are imported; for `kengine_warm`."""
    _included.extend(name for name in names if name not in _included)


def register(name: str, place: Any) -> None:
    """Have a module or class that a plugin puts in a candidate's way looked at as well; for `kengine_warm`."""
    _registered[name] = place


def find_places(*modules: str | None) -> dict[str, Any]:
    """Every module that is imported of kengine and of the packages that these modules are part of, and what plugins
    have registered."""
    roots = {"kengine"} | {(module or "").partition(".")[0] for module in modules} - {""}
    found = {name: m for name, m in list(sys.modules.items()) if m is not None and name.partition(".")[0] in roots}
    return {**found, **_registered}


def read_functions(extra: Mapping[str, Any]) -> Functions:
    """Every callable that these modules and classes have now, inherited ones too, and those of `extra` (by name).

    With each goes the code that it runs, which can be replaced inside it.
    """
    found: Functions = {}
    for name, place in [*_places(), *extra.items()]:
        for key, value in list(_attributes(place).items()):
            if callable(value) or isinstance(value, (property, staticmethod, classmethod)):
                found[name, key] = (value, _code(value))
    return found


@dataclass(frozen=True)
class Baseline:
    """What there was before there was a candidate. names: the modules and classes that were looked at."""

    names: frozenset[str]
    functions: Functions


def take_baseline(extra: Mapping[str, Any]) -> Baseline:
    """Read every function now, for `renew`."""
    return Baseline(_names(extra), read_functions(extra))


def renew(baseline: Baseline | None, extra: Mapping[str, Any]) -> Functions:
    """Every function as it is now: the baseline's where nothing has changed since, which takes a tenth of the time."""
    if baseline is None or _names(extra) != baseline.names or find_replaced(baseline.functions, extra):
        return read_functions(extra)
    return baseline.functions


def _names(extra: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name for name, _ in _places()) | frozenset(extra)


def find_replaced(before: Functions, extra: Mapping[str, Any]) -> list[str]:
    """Names of functions that are another object now than before, or gone; new names are nobody's business, but for one
    that hides an inherited method."""
    now = {name: _attributes(place) for name, place in [*_places(), *extra.items()]}
    changed = []
    for (name, key), (value, code) in before.items():
        if name not in now:
            continue
        other = now[name].get(key)
        if (other is not value or _code(other) is not code) and not _loads_itself(value, other):
            changed.append(f"{name}.{key}")
    return changed


def _attributes(place: Any) -> Mapping[str, Any]:
    if not isinstance(place, type):
        own: Mapping[str, Any] = vars(place)
        return own
    resolved: dict[str, Any] = {}
    for base in reversed(type.mro(place)):
        if base is not object:
            resolved.update(vars(base))
    return resolved


def _code(value: Any) -> Any:
    return getattr(value, "__code__", None) if type(value) is FunctionType else None


def _loads_itself(before: Any, now: Any) -> bool:
    """Whether a lazily imported thing took its own place, or PyTorch wrapped a function of its own later on."""
    kind = type(before).__name__.lower()
    torch = sys.modules.get("torch")
    if torch is not None and type(now) is FunctionType:
        home = os.path.dirname(str(torch.__file__)) + os.sep
        if now.__code__.co_filename.startswith(home) and str(getattr(before, "__module__", "")).startswith("torch"):
            return True
    return "lazy" in kind or (before is not None and now is not None and type(now) is type(sys))


def _places() -> Iterator[tuple[str, Any]]:
    for name in (*_MODULES, *_included):
        module = sys.modules.get(name)
        if module is not None:
            yield name, module
            continue
        parent, _, last = name.rpartition(".")
        owner = sys.modules.get(parent)
        if owner is None and parent.rpartition(".")[0]:
            owner = getattr(sys.modules.get(parent.rpartition(".")[0]), parent.rpartition(".")[2], None)
        place = vars(owner).get(last) if owner is not None else None
        if isinstance(place, type):
            yield name, place


class Generators:
    """Random generators around calls: each call begins in a state of its own; two that end in the same have seeded."""

    def __init__(self) -> None:
        self._ends: dict[str, set[bytes]] = {}
        self.seeded: set[str] = set()

    def scatter(self) -> None:
        """Before a call: put every generator into a state that nobody knows."""
        seed = int.from_bytes(os.urandom(4), "big")
        random.seed(seed)
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if numpy is not None and "random" in vars(numpy):
            numpy.random.seed(seed)
        if torch is not None:
            torch.default_generator.manual_seed(seed)
            for generator in _device_generators(torch):
                generator.manual_seed(seed)

    def note(self) -> None:
        """After a call: remember where the generators are now."""
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        ends = {"random": repr(random.getstate()).encode()}
        if numpy is not None and "random" in vars(numpy):
            ends["numpy.random"] = numpy.random.get_state()[1].tobytes()
        if torch is not None:
            ends["torch"] = bytes(torch.default_generator.get_state().numpy())
            for number, generator in enumerate(_device_generators(torch)):
                ends[f"torch.cuda:{number}"] = bytes(generator.get_state().numpy())
        for name, end in ends.items():
            seen = self._ends.setdefault(name, set())
            if end in seen:
                self.seeded.add(name)
            seen.add(end)


def _device_generators(torch: Any) -> list[Any]:
    """Those of devices that are open; none is opened for this, and none touched while a graph is captured."""
    if not torch.cuda.is_initialized() or torch.cuda.is_current_stream_capturing():
        return []
    return list(torch.cuda.default_generators)


def read_settings() -> dict[str, str]:
    """Global settings that a call has no business to change, as text by name."""
    settings: dict[str, str] = {"working directory": os.getcwd()}
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None:
        readers: dict[str, Callable[[], Any]] = {
            "torch default dtype": torch.get_default_dtype,
            "torch default device": lambda: torch.get_default_device(),
            "torch threads": torch.get_num_threads,
            "torch float32 matmul precision": torch.get_float32_matmul_precision,
            "torch deterministic algorithms": torch.are_deterministic_algorithms_enabled,
            "torch.backends.cuda.matmul.allow_tf32": lambda: torch.backends.cuda.matmul.allow_tf32,
            "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction": lambda: (
                torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
            ),
            "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction": lambda: (
                torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction
            ),
            "torch.backends.cudnn.allow_tf32": lambda: torch.backends.cudnn.allow_tf32,
            "torch.backends.cudnn.enabled": lambda: torch.backends.cudnn.enabled,
            "torch.backends.mkldnn.enabled": lambda: torch.backends.mkldnn.enabled,
            "torch.backends.cudnn.benchmark": lambda: torch.backends.cudnn.benchmark,
            "torch grad mode": torch.is_grad_enabled,
            "torch anomaly detection": torch.is_anomaly_enabled,
            "torch flush denormal": lambda: float(torch.tensor(1e-41) * 1.0) == 0.0,
        }
        for name, read in readers.items():
            try:
                settings[name] = str(read())
            except Exception as error:
                settings[name] = type(error).__name__
    if numpy is not None:
        settings["numpy error handling"] = str(numpy.geterr())
    settings |= {f"variable {name}": value for name, value in os.environ.items()}
    settings["trace function"] = str(sys.gettrace())
    settings["profile function"] = str(sys.getprofile())
    settings["recursion limit"] = str(sys.getrecursionlimit())
    settings["garbage collection"] = str(gc.isenabled())
    settings["switch interval"] = str(sys.getswitchinterval())
    settings["priority"] = str(os.getpriority(os.PRIO_PROCESS, 0))
    return settings


def differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Settings that are not what they were, as `name: before -> now`; "(none)" for a variable that is not there."""
    names = [n for n in {**before, **now} if before.get(n) != now.get(n)]
    return [f"{name}: {before.get(name, '(none)')} -> {now.get(name, '(none)')}"[:200] for name in names]
