"""Import one plugin and check that it is one, before any of its hooks can be called.

pluggy lets pass what would fail later or silently do nothing: misspelt hooks, defaults, keyword-only parameters,
generators. Each is refused here with the plugin, its distribution and what to do.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pluggy

from kengine.errors import BackendConflict, ContractViolation, PluginError, PluginLoadError, SpecMismatch
from kengine.plugins.hooks import EXCLUSIVE, REQUIRED, SPEC_VERSION, Hooks
from kengine.plugins.registry import Installed, PluginWarning

IMPORT_BAR_S = 0.5
"""A plugin whose module takes longer than this to import is warned of, in seconds."""

SPECS: Mapping[str, tuple[str, ...]] = {
    name: tuple(p for p in inspect.signature(function).parameters if p != "self")
    for name, function in vars(Hooks).items()
    if name.startswith("kengine_")
}
"""Every hook and its parameters."""


@dataclass(frozen=True)
class Hook:
    """One implementation found in a plugin: the hook's name, the function, and whether it only wraps others."""

    name: str
    function: Callable[..., Any]
    wrapper: bool


def import_plugin(plugin: Installed) -> ModuleType:
    """Import a plugin's module, warning when it is slow. Raises PluginLoadError naming it, whatever it raised."""
    if not all(part.isidentifier() for part in plugin.module.split(".")):
        raise _refuse(PluginLoadError, plugin, f"its entry point must name a module, got {plugin.module!r}")
    begun = time.perf_counter()
    try:
        module = importlib.import_module(plugin.module)
    except (Exception, SystemExit) as error:
        raise _refuse(
            PluginLoadError,
            plugin,
            f"importing {plugin.module} raised {type(error).__name__}: {error}; "
            "reinstall or uninstall it, or tell its author (toolchains are imported inside hooks, not on top)",
        ) from error
    took = time.perf_counter() - begun
    if took > IMPORT_BAR_S:
        warnings.warn(
            f"{title(plugin)} took {took:.1f} s to import (bar {IMPORT_BAR_S} s): "
            "its author should import the toolchain inside hooks",
            PluginWarning,
            stacklevel=2,
        )
    return module


def check_plugin(plugin: Installed, module: ModuleType, manager: pluggy.PluginManager, backend: bool) -> list[Hook]:
    """Check the declared specification and every hook of a module, and list its hooks.

    Raises SpecMismatch, ContractViolation, or PluginLoadError for a module without hooks.
    """
    _check_version(plugin, module)
    hooks: list[Hook] = []
    for name, function in sorted(vars(module).items()):
        options = manager.parse_hookimpl_opts(module, name)
        if options is None:
            if name in SPECS:
                raise _refuse(ContractViolation, plugin, f"{name} is defined but not marked with @hookimpl")
            continue
        hook = options.get("specname") or name
        if hook not in SPECS:
            if options.get("optionalhook"):
                continue
            close = difflib.get_close_matches(hook, SPECS, 1)
            hint = f"did you mean {close[0]}?" if close else f"hooks: {', '.join(SPECS)}"
            raise _refuse(ContractViolation, plugin, f"{hook} is not a hook; {hint}")
        wrapper = bool(options.get("wrapper") or options.get("hookwrapper"))
        _check_signature(plugin, hook, function, wrapper)
        if not wrapper and any(h.name == hook and not h.wrapper for h in hooks):
            raise _refuse(ContractViolation, plugin, f"{hook} is implemented twice")
        hooks.append(Hook(hook, function, wrapper))
    if not hooks:
        raise _refuse(PluginLoadError, plugin, f"module {plugin.module} implements no hook, so it is no plugin")
    if backend:
        missing = sorted(REQUIRED - {h.name for h in hooks if not h.wrapper})
        if missing:
            raise _refuse(ContractViolation, plugin, f"a backend must implement {', '.join(missing)}")
    return hooks


def check_owner(pack: Installed, hooks: list[Hook], backend: Installed) -> None:
    """Raise for a pack that owns a hook which only a backend may own, naming both."""
    owned = sorted(EXCLUSIVE & {h.name for h in hooks if not h.wrapper})
    if owned:
        raise _refuse(
            BackendConflict,
            pack,
            f"it owns {', '.join(owned)}, which belongs to the backend alone, here {title(backend)}; "
            "a pack may only wrap it",
        )


def title(plugin: Installed) -> str:
    """Name a plugin for a person: `plugin 'toy' of kernel-engine 0.1.0`."""
    return f"plugin {plugin.name!r} of {plugin.origin}"


def _refuse(kind: type[PluginError], plugin: Installed, problem: str) -> PluginError:
    return kind(f"{title(plugin)}: {problem}", plugin.name, plugin.distribution)


def _check_version(plugin: Installed, module: ModuleType) -> None:
    spec = getattr(module, "KENGINE_SPEC", None)
    ours = f"{SPEC_VERSION[0]}.{SPEC_VERSION[1]}"
    if not (isinstance(spec, tuple) and len(spec) == 2 and all(type(n) is int for n in spec)):
        said = "declares no KENGINE_SPEC" if spec is None else f"declares KENGINE_SPEC = {spec!r}"
        raise _refuse(SpecMismatch, plugin, f"{plugin.module} {said}; it must be a pair of ints such as {SPEC_VERSION}")
    theirs = f"{spec[0]}.{spec[1]}"
    if spec[0] < SPEC_VERSION[0]:
        raise _refuse(
            SpecMismatch, plugin, f"written for hooks {theirs}, this kengine speaks {ours}: update the plugin"
        )
    if spec > SPEC_VERSION:
        raise _refuse(
            SpecMismatch, plugin, f"written for hooks {theirs}, this kengine speaks {ours}: update kernel-engine"
        )


def _check_signature(plugin: Installed, hook: str, function: Any, wrapper: bool) -> None:
    if not inspect.isfunction(function):
        raise _refuse(ContractViolation, plugin, f"{hook} is not a plain function")
    known = SPECS[hook]
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise _refuse(ContractViolation, plugin, f"{hook}: parameter {parameter} must be a plain one")
        if parameter.default is not parameter.empty:
            raise _refuse(ContractViolation, plugin, f"{hook}: parameter {parameter.name} must not have a default")
        if parameter.name not in known:
            raise _refuse(
                ContractViolation,
                plugin,
                f"{hook} has no parameter {parameter.name!r}; its parameters are {', '.join(known) or 'none'}",
            )
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise _refuse(ContractViolation, plugin, f"{hook} must not be async")
    if inspect.isgeneratorfunction(function) and not wrapper:
        raise _refuse(ContractViolation, plugin, f"{hook} must return its result, not yield")
