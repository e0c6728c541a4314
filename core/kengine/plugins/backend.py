"""The typed front of one backend: one method a hook, each answer checked, each breach named with its plugin.

`load` finds a backend by name and imports it and nothing else of its kind; rule packs and observers join it. A broken
pack is refused with a warning and leaves the backend usable; a broken backend raises. `attach` is for a runner, which
is told its module and needs no discovery.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from kengine import codec
from kengine.errors import (
    BackendNotFound,
    CandidateFault,
    ContractViolation,
    InfraError,
    PluginError,
    TargetUnavailable,
    UsageError,
)
from kengine.model import (
    Artifact,
    Candidate,
    Capability,
    CaseView,
    Comparison,
    Finding,
    Launch,
    Mode,
    Opinion,
    Target,
    TargetInfo,
    Task,
    TaskView,
    Timing,
    TimingPlan,
)
from kengine.plugins import inspection, registry, trace
from kengine.plugins.dialect import Dialect
from kengine.plugins.hooks import Hooks, Inputs, Outputs
from kengine.plugins.registry import Installed, PluginWarning

if TYPE_CHECKING:
    from kengine.config import OpinionSettings

T = TypeVar("T")

PLUGIN_FAILED = "KE990"
"""Code of the warning in a lint record that some plugin's rules could not run."""

_LOG = logging.getLogger("kengine.plugins")


def load(name: str) -> Backend:
    """Load a backend by name, and the packs beside it.

    Raises BackendNotFound, BackendConflict (two distributions offer it), PluginLoadError, SpecMismatch or
    ContractViolation, each with the plugin's name and distribution.
    """
    plugin = registry.find(name)
    backend = Backend(plugin, inspection.import_plugin(plugin))
    for pack in registry.packs():
        backend.join(pack)
    return backend


def attach(name: str, module: str) -> Backend:
    """Load a backend from its module without looking anything up: no discovery, no packs. Raises as `load` does.

    Who ships it is looked up when something is wrong with it, or every call is to be traced.
    """
    plugin = Installed(module.partition(".")[0], name, module, "")
    backend = Backend(plugin, inspection.import_plugin(plugin))
    if trace.wanted():
        backend._identify()
    return backend


class Backend:
    """One backend and its packs behind checked methods.

    name, distribution, version, module: of the backend. refused: why each pack that is missing was refused.
    dialect: how its candidates are written; None when it does not say, and may take any.
    Every method raises ContractViolation, naming plugin and distribution, when a hook raises what it may not raise or
    returns what it may not return.
    """

    def __init__(self, plugin: Installed, module: ModuleType) -> None:
        self.name = plugin.name
        self.distribution = plugin.distribution
        self.version = plugin.version
        self.module = plugin.module
        self.refused: list[PluginError] = []
        said = getattr(module, "KENGINE_DIALECT", None)
        self.dialect = said if type(said) is Dialect else None
        self._plugin = plugin
        self._members: dict[str, Installed] = {}
        self._targets: tuple[TargetInfo, ...] | None = None
        self._manager = pluggy.PluginManager("kengine")
        self._manager.add_hookspecs(Hooks)
        inspection.check_plugin(plugin, module, self._manager, backend=True)
        self._register(plugin, module)
        if trace.wanted():
            trace.install(self._manager, _Titles(self._members))

    def __repr__(self) -> str:
        return f"<Backend {self.name} of {self._plugin.origin}>"

    def join(self, pack: Installed) -> bool:
        """Add a rule pack or an observer; one that is broken is warned of, kept in `refused`, and left out."""
        try:
            module = inspection.import_plugin(pack)
            hooks = inspection.check_plugin(pack, module, self._manager, backend=False)
            inspection.check_owner(pack, hooks, self._plugin)
            self._register(pack, module)
        except PluginError as error:
            self.refused.append(error)
            warnings.warn(f"{error}; going on without it", PluginWarning, stacklevel=3)
            return False
        return True

    def targets(self) -> tuple[TargetInfo, ...]:
        """Every target of this backend and what it can do here; asked for once, then remembered."""
        if self._targets is None:
            self._targets = self._ask_targets()
        return self._targets

    def info(self, target: Target) -> TargetInfo:
        """What one target can do here. Raises UsageError, with the list, for a target that the backend has not."""
        for info in self.targets():
            if info.target == target:
                return info
        known = ", ".join(str(info.target) for info in self.targets()) or "none"
        raise UsageError(f"backend {self.name!r} has no target {target}; its targets: {known}")

    def lint(self, candidate: Candidate, task: Task, target: Target) -> tuple[Finding, ...]:
        """Findings of the backend and of every pack; a plugin that fails leaves one warning with its name instead."""
        findings = [Finding(PLUGIN_FAILED, "warn", f"{error}; its rules did not run") for error in self.refused]
        for title, call in self.linters():
            try:
                for result in call(candidate=candidate, task=task, target=target):
                    findings += self._check_findings(title, result)
            except Exception as error:
                problem = str(error) if isinstance(error, PluginError) else f"{title} {_raised(error)}"
                findings.append(Finding(PLUGIN_FAILED, "warn", f"{problem}; its rules did not run"))
                self._report(title, "kengine_lint", error)
        return tuple(findings)

    def linters(self) -> list[tuple[str, Callable[..., Any]]]:
        """Every plugin that implements kengine_lint, by its title, with what calls it alone."""
        return self._each("kengine_lint")

    def warm(self, target: Target) -> bool:
        """Import and warm up what runners of a target need; True when there was anything to do."""
        return self._flag("kengine_warm", target)

    def open(self, target: Target) -> bool:
        """Open the device in a standby runner; True when there was anything to do."""
        return self._flag("kengine_open", target)

    def compile(
        self, candidate: Candidate, task: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
    ) -> Artifact:
        """Compile a candidate. Raises CandidateFault, also for a language that the backend does not take, and
        TargetUnavailable."""
        if self.dialect is not None:
            problem = self.dialect.refuse(self.name, candidate.main.path, candidate.language)
            if problem:
                raise CandidateFault("compile_failed", problem)
        result = self._first(
            "kengine_compile", candidate=candidate, task=task, target=target, samples=samples, workdir=workdir
        )
        artifact = self._want("kengine_compile", Artifact, result)
        if artifact.target != target:
            raise self._breach(
                "kengine_compile", f"was asked for {target} and returned an artifact of {artifact.target}"
            )
        return artifact

    def launch(self, artifact: Artifact, case: CaseView, inputs: Inputs, mode: Mode) -> Outputs:
        """Call the candidate once. Raises CandidateFault."""
        result = self._first("kengine_launch", artifact=artifact, case=case, inputs=inputs, mode=mode)
        if type(result) is not Outputs:
            raise self._breach("kengine_launch", f"returned {_describe(result)}, want Outputs")
        if not isinstance(result.launches, (list, tuple)):
            raise self._breach("kengine_launch", f"Outputs.launches is {_describe(result.launches)}, want a sequence")
        for launch in result.launches:
            self._want("kengine_launch", Launch, launch)
        # The codec checks what a record's field holds; details stand in the record of the launch stage later.
        self._want("kengine_launch", Artifact, Artifact(artifact.target, details=result.details))
        return result

    def compare(self, task: Task, index: int, expected: Sequence[Any], actual: Sequence[Any]) -> Comparison | None:
        """Ask the plugins to compare, the last registered first; None when none of them knows better than the core."""
        for title, call in reversed(self._each("kengine_compare")):
            result = self._guard(
                title, "kengine_compare", call, task=task, index=index, expected=expected, actual=actual
            )
            if result is not None:
                comparison = self._want("kengine_compare", Comparison, result, title)
                if comparison.by == "kengine":
                    raise self._breach("kengine_compare", "must put its own name into Comparison.by", title)
                return comparison
        return None

    def comparers(self) -> tuple[tuple[str, str], ...]:
        """Name and module of every plugin that implements kengine_compare, for the judge, where that hook runs."""
        owners = [i.plugin for i in self._manager.hook.kengine_compare.get_hookimpls()]
        found = [self._members[str(self._manager.get_name(owner))] for owner in owners]
        return tuple((plugin.name, plugin.module) for plugin in found)

    def time(self, artifact: Artifact, case: CaseView, inputs: Sequence[Inputs], plan: TimingPlan) -> Timing:
        """Time calls of the candidate. Raises CandidateFault; UsageError for a backend that never measures."""
        if not self._manager.hook.kengine_time.get_hookimpls():
            raise UsageError(f"backend {self.name!r} cannot measure time on any target")
        result = self._first("kengine_time", artifact=artifact, case=case, inputs=inputs, plan=plan)
        return self._want("kengine_time", Timing, result)

    def judges(self) -> tuple[str, ...]:
        """Name of every plugin that implements kengine_judge."""
        owners = [i.plugin for i in self._manager.hook.kengine_judge.get_hookimpls()]
        return tuple(self._members[str(self._manager.get_name(owner))].name for owner in owners)

    def judge(
        self, candidate: Candidate, task: Task, findings: Sequence[Finding],
        launches: Sequence[Sequence[Launch]] = (), settings: OpinionSettings | None = None,
    ) -> tuple[Opinion, ...]:  # fmt: skip
        """Ask every judge of the text; one that raises or returns something else has no opinion, and why is said."""
        from kengine.config import OpinionSettings

        given = settings or OpinionSettings()
        opinions: list[Opinion] = []
        for title, call in self._each("kengine_judge"):
            arguments = {"candidate": candidate, "task": task, "findings": findings}
            try:
                for result in call(**arguments, launches=launches, settings=given):
                    opinions.append(self._want("kengine_judge", Opinion, result, title))
            except Exception as error:
                problem = str(error) if isinstance(error, PluginError) else f"{title} {_raised(error)}"
                opinions.append(Opinion(None, problem))
                self._report(title, "kengine_judge", error)
        return tuple(opinions)

    def stage_finished(self, stage: str, record: object) -> None:
        """Tell every observer; one that raises is reported and disturbs neither the run nor the others."""
        for title, call in self._each("kengine_stage_finished"):
            try:
                call(stage=stage, record=record)
            except Exception as error:
                self._report(title, "kengine_stage_finished", error)

    def _register(self, plugin: Installed, module: ModuleType) -> None:
        key = f"{plugin.distribution}:{plugin.name}"
        try:
            self._manager.register(module, key)
            self._members[key] = plugin
            self._manager.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            self._members.pop(key, None)
            if self._manager.has_plugin(key):
                self._manager.unregister(name=key)
            problem = f"{inspection.title(plugin)}: {error}"
            raise ContractViolation(problem, plugin.name, plugin.distribution) from error

    def _each(self, hook: str) -> list[tuple[str, Callable[..., Any]]]:
        """Each owner of a hook by title, in order of registration, with what calls it and every wrapper alone."""
        caller = getattr(self._manager.hook, hook)
        owners = [i.plugin for i in caller.get_hookimpls() if not (i.wrapper or i.hookwrapper)]
        rank = {id(self._manager.get_plugin(key)): n for n, key in enumerate(self._members)}
        owners.sort(key=lambda owner: rank[id(owner)])
        return [
            (self._title(owner), self._manager.subset_hook_caller(hook, [o for o in owners if o is not owner]))
            for owner in owners
        ]

    def _title(self, module: object) -> str:
        return inspection.title(self._members[str(self._manager.get_name(module))])

    def _first(self, hook: str, **arguments: Any) -> Any:
        return self._guard(inspection.title(self._plugin), hook, getattr(self._manager.hook, hook), **arguments)

    def _guard(self, title: str, hook: str, call: Callable[..., Any], **arguments: Any) -> Any:
        try:
            return call(**arguments)
        except (CandidateFault, PluginError, TargetUnavailable, InfraError, UsageError):
            raise
        except Exception as error:
            raise self._breach(hook, _raised(error), title) from error

    def _flag(self, hook: str, target: Target) -> bool:
        try:
            result = self._first(hook, target=target)
        except (TargetUnavailable, InfraError) as error:
            # A class of the plugin's own means nothing in the engine's process, to which only name and text go.
            raise (TargetUnavailable if isinstance(error, TargetUnavailable) else InfraError)(str(error)) from error
        if result is not None and result is not True:
            raise self._breach(hook, f"returned {_describe(result)}, want True or None")
        return result is True

    def _want(self, hook: str, kind: type[T], result: Any, title: str = "") -> T:
        if type(result) is not kind:
            raise self._breach(hook, f"returned {_describe(result)}, want {kind.__name__}", title)
        try:
            codec.to_json(result)
        except codec.CodecError as error:
            raise self._breach(hook, f"returned a record that cannot be written: {error}", title) from None
        return result

    def _breach(self, hook: str, problem: str, title: str = "") -> ContractViolation:
        own = inspection.title(self._plugin)
        if not self._plugin.version:
            self._identify()
        who = inspection.title(self._plugin) if title in ("", own) else title
        owner = next((p for p in self._members.values() if inspection.title(p) == who), self._plugin)
        return ContractViolation(f"{who}: {hook} {problem}", owner.name, owner.distribution)

    def _identify(self) -> None:
        """Find the distribution of an attached backend; where it cannot be found, its package stands for it."""
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = registry.find(self.name)
            if found.module == self.module:
                self._members.update({k: found for k, p in self._members.items() if p is self._plugin})
                self._plugin = found
                self.distribution, self.version = found.distribution, found.version

    def _report(self, title: str, hook: str, error: Exception) -> None:
        _LOG.debug("%s: %s failed", title, hook, exc_info=error)
        text = str(error) if isinstance(error, PluginError) else f"{title}: {hook} {_raised(error)}"
        warnings.warn(f"{text}; going on without it", PluginWarning, stacklevel=3)

    def _check_findings(self, title: str, result: Any) -> list[Finding]:
        if not isinstance(result, (list, tuple)):
            raise self._breach("kengine_lint", f"returned {_describe(result)}, want a sequence of Finding", title)
        return [self._want("kengine_lint", Finding, finding, title) for finding in result]

    def _ask_targets(self) -> tuple[TargetInfo, ...]:
        hook = "kengine_targets"
        result = self._first(hook)
        if not isinstance(result, (list, tuple)):
            raise self._breach(hook, f"returned {_describe(result)}, want a sequence of TargetInfo")
        seen: set[Target] = set()
        for item in result:
            info = self._want(hook, TargetInfo, item)
            if info.target.backend != self.name:
                raise self._breach(hook, f"lists {info.target}, which is not a target of {self.name!r}")
            if info.target in seen:
                raise self._breach(hook, f"lists {info.target} twice")
            seen.add(info.target)
            if info.emulated and Capability.time in info.capabilities:
                raise self._breach(hook, f"says that the emulator {info.target} can measure time")
            for capability in Capability:
                if capability not in info.capabilities and not info.reasons.get(capability.value):
                    raise self._breach(hook, f"gives no reason why {info.target} cannot {capability.value}")
        return tuple(result)


class _Titles(dict[str, str]):
    """Titles of the members as they are when a call is traced; packs join after the tracing began."""

    def __init__(self, members: dict[str, Installed]) -> None:
        super().__init__()
        self._members = members

    def get(self, key: str, default: Any = None) -> Any:
        member = self._members.get(key)
        return f"{member.name} ({member.origin})" if member else default


def _describe(value: object) -> str:
    kind = type(value)
    return "None" if value is None else f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def _raised(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:  # in a runner the exception may be of the candidate's making
        text = "(it has no text)"
    return f"raised {type(error).__name__}: {text}"


__all__ = ["PLUGIN_FAILED", "Backend", "BackendNotFound", "attach", "load"]
