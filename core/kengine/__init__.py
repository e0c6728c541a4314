"""kengine: a verdict on a generated accelerator kernel. Does it compile, is it right, does the kernel do the work,
how fast is it?

    import kengine
    verdict = kengine.verify(item.candidate, item.task, target="triton:interpret")

Names only: each is imported when it is first used, so that `import kengine` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.codec import CodecError
    from kengine.config import Config, Limits, Plan
    from kengine.engine import Engine, Item, verify
    from kengine.errors import (
        BackendConflict,
        BackendNotFound,
        CandidateFault,
        ContractViolation,
        DeviceLost,
        InfraError,
        InternalError,
        KengineError,
        PluginError,
        PluginLoadError,
        SpecMismatch,
        TargetSyntaxError,
        TargetUnavailable,
        TaskError,
        UsageError,
        WorkerLost,
    )
    from kengine.model import Candidate, Capability, Case, Finding, SourceFile, Status, Task, Tolerance, Verdict
    from kengine.target import Target

    __version__: str

_HOMES = {
    "kengine.codec": ("CodecError",),
    "kengine.config": ("Config", "Limits", "Plan"),
    "kengine.engine": ("Engine", "Item", "verify"),
    "kengine.errors": (
        "BackendConflict", "BackendNotFound", "CandidateFault", "ContractViolation", "DeviceLost", "InfraError",
        "InternalError", "KengineError", "PluginError", "PluginLoadError", "SpecMismatch", "TargetSyntaxError",
        "TargetUnavailable", "TaskError", "UsageError", "WorkerLost",
    ),
    "kengine.model": (
        "Candidate", "Capability", "Case", "Finding", "SourceFile", "Status", "Task", "Tolerance", "Verdict",
    ),
    "kengine.target": ("Target",),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "BackendConflict",
    "BackendNotFound",
    "Candidate",
    "CandidateFault",
    "Capability",
    "Case",
    "CodecError",
    "Config",
    "ContractViolation",
    "DeviceLost",
    "Engine",
    "Finding",
    "InfraError",
    "InternalError",
    "Item",
    "KengineError",
    "Limits",
    "Plan",
    "PluginError",
    "PluginLoadError",
    "SourceFile",
    "SpecMismatch",
    "Status",
    "Target",
    "TargetSyntaxError",
    "TargetUnavailable",
    "Task",
    "TaskError",
    "Tolerance",
    "UsageError",
    "Verdict",
    "WorkerLost",
    "__version__",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name in _HOME:
        from importlib import import_module

        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'kengine' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("kernel-engine")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"
