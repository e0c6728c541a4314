"""What the author of a plugin reads and imports.

A backend is one module, named by an entry point whose name is the backend's name:

    [project.entry-points."kengine.backends"]
    acme = "kengine_acme.plugin"

    # kengine_acme/plugin.py: imports no toolchain on top, so that it can be asked for its targets anywhere
    from kengine.plugins import hookimpl
    from kengine.model import Capability, Target, TargetInfo

    KENGINE_SPEC = (1, 0)

    @hookimpl
    def kengine_targets():
        can = (Capability.compile,)
        missing = "no ACME card in this machine"
        return [TargetInfo(Target("acme", "a1"), False, can, {"launch": missing, "time": missing})]

    @hookimpl
    def kengine_compile(candidate, task, target, samples, workdir): ...

    @hookimpl
    def kengine_launch(artifact, case, inputs, mode): ...

A module may also say how candidates are written, `KENGINE_DIALECT = kengine.plugins.Dialect("ACME C", ...)`: for the
prompts of `kengine curate`, so that it tells code for this backend from code for others, and so that rules know the
libraries that its kernels are written with.

Every hook, where it runs and what it may raise, is described in `kengine.plugins.hooks`. An implementation may leave
out parameters that it does not need; it has no defaults and no keyword-only parameters. `kengine.testing.toy` is a
whole backend to copy, and `kengine.testing.BackendConformance` is the test suite that it must pass.

Rule packs (`kengine_lint`) and observers (`kengine_stage_finished`) are modules of the same kind in the group
`kengine.plugins`; they join every backend, unless KENGINE_NO_PLUGINS=1. KENGINE_TRACE=1 prints each call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.plugins.dialect import Dialect
    from kengine.plugins.hooks import SPEC_VERSION, Inputs, Outputs, hookimpl
    from kengine.plugins.registry import PluginWarning

__all__ = ["SPEC_VERSION", "Dialect", "Inputs", "Outputs", "PluginWarning", "hookimpl"]

_HOME = {
    "SPEC_VERSION": "kengine.plugins.hooks",
    "Dialect": "kengine.plugins.dialect",
    "Inputs": "kengine.plugins.hooks",
    "Outputs": "kengine.plugins.hooks",
    "hookimpl": "kengine.plugins.hooks",
    "PluginWarning": "kengine.plugins.registry",
}


def __getattr__(name: str) -> Any:  # reading metadata (registry) or probing (probe) must not import pluggy
    if name not in _HOME:
        raise AttributeError(f"module 'kengine.plugins' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
