"""Options that several subcommands share, and the plan that they add up to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kengine.errors import UsageError

if TYPE_CHECKING:
    from kengine.config import Config, OpinionSettings, Plan

F = TypeVar("F", bound=Callable[..., Any])


def _stack(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


targets = _stack(
    click.option("--backend", metavar="NAME", envvar="KENGINE_BACKEND", help="Its device, else its emulator."),
    click.option(
        "--target", "target", metavar="BACKEND:ARCH", multiple=True, help="Exactly this one; may be repeated."
    ),
)
candidates = _stack(
    click.argument("files", nargs=-1, required=True, metavar="FILES..."),
    click.option("--task", type=click.Path(path_type=Path), metavar="FILE", help="Judge every candidate by this task."),
)
running = _stack(
    click.option("--cases", type=int, metavar="N", help="At most N cases of the task."),
    click.option("--compile-for", metavar="ARCH", multiple=True, help="Compile for this chip too; may be repeated."),
    click.option("--device-only", is_flag=True, default=None, help="Refuse emulators."),
    click.option(
        "--run", type=click.Path(path_type=Path), metavar="DIR", help="Keep verdicts there, go on where it was."
    ),
    click.option("--jobs", type=click.IntRange(1), metavar="N", help="Candidates side by side; default: processors."),
    click.option("--timeout", type=float, metavar="S", help="Seconds for one call of a candidate."),
    click.option("--salt", metavar="HEX", help="Draw the inputs from this secret instead of a new one."),
    click.option("--keep-going", is_flag=True, default=None, help="After a failure go on with the later stages."),
    click.option("--no-screen", is_flag=True, default=None, help="Do not try zeros and constants against the task."),
    click.option("--no-check", is_flag=True, default=None, help="Emulate without checks of bounds and races."),
)
linting = _stack(
    click.option("--select", metavar="CODE", multiple=True, help="Only these lint rules, by code or prefix."),
    click.option("--ignore", metavar="CODE", multiple=True, help="Not these lint rules, by code or prefix."),
)
opinion = _stack(
    click.option("--opinion", metavar="URL", help="Ask this endpoint whether the code does the work it claims."),
    click.option("--opinion-model", metavar="NAME", help="The model to ask there."),
    click.option("--opinion-key-env", metavar="VARIABLE", help="Holds the endpoint's key; default: OPENAI_API_KEY."),
    click.option(
        "--opinion-severity", type=click.Choice(["warn", "reject"]), help="Only record a doubt (default), or fail."
    ),
)
output = _stack(
    click.option("--json", "as_json", is_flag=True, help="One JSON object a line on stdout, and nothing else."),
    click.option("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="OUT", help="Write a report."),
    click.option("--quiet", "-q", is_flag=True, help="No first line and no progress."),
)
timing = _stack(
    click.option("--min-speedup", type=float, metavar="X", help="Slower than X times the reference is too_slow."),
    click.option("--baseline", type=click.Choice(["eager", "compile"]), help="Reference as it is, or torch.compile."),
)


@dataclass(frozen=True)
class Choice:
    """Where to judge: pairs of (backend, target) for one engine each, further compiles, and candidates side by side."""

    pairs: tuple[tuple[str | None, str | None], ...]
    compile_for: tuple[str, ...]
    workers: int | None

    @property
    def backends(self) -> tuple[str, ...]:
        """The backend of each pair. Raises TargetSyntaxError."""
        from kengine.target import Target

        return tuple(backend or Target.parse(target or "").backend for backend, target in self.pairs)


def choose(config: Config, backend: str | None, target: tuple[str, ...], **given: Any) -> Choice:
    """Merge the command line with the project's configuration; the command line wins. Raises UsageError."""
    if backend is not None and ":" in backend:
        raise UsageError(
            f"--backend takes a name such as {backend.split(':')[0]!r}; for a target say --target {backend}"
        )
    if backend is not None and target:
        raise UsageError("give --backend or --target, not both: a target names its backend already")
    pairs: tuple[tuple[str | None, str | None], ...]
    if target:
        pairs = tuple((None, t) for t in dict.fromkeys(target))
    elif backend is not None:
        pairs = ((backend, None),)
    elif config.target is not None:
        pairs = ((None, str(config.target)),)
    elif config.backend is not None:
        pairs = ((config.backend, None),)
    else:
        from kengine.plugins import registry

        names = ", ".join(sorted({plugin.name for plugin in registry.installed()})) or "none"
        raise UsageError(f"say where to judge: --backend NAME (installed: {names}) or --target BACKEND:ARCH")
    compile_for = tuple(given.get("compile_for") or ()) or tuple(map(str, config.compile_for))
    return Choice(pairs, compile_for, given.get("jobs") or config.workers)


def merge_plan(plan: Plan, **given: Any) -> Plan:
    """Put the options that were given over a plan; None and () mean not given. Raises UsageError for a bad value."""
    names = {"timeout": "launch_timeout_s"}
    values = {names.get(key, key): value for key, value in given.items() if value not in (None, ())}
    if values.pop("no_screen", False):
        values["screen"] = False
    if values.pop("no_check", False):
        values["sanitize"] = False
    if opinion := _opinion(plan, values):
        values["opinion"] = opinion
    return replace(plan, **values)


def _opinion(plan: Plan, values: dict[str, Any]) -> OpinionSettings | None:
    """Take the options about opinions out of `values` and put them over those of the plan; None when none was given."""
    keys = {
        "opinion": "url", "opinion_model": "model", "opinion_key_env": "key_env", "opinion_severity": "severity",
    }  # fmt: skip
    given = {name: values.pop(key) for key, name in keys.items() if key in values}
    if not given:
        return None
    from kengine.config import OpinionSettings

    if plan.opinion is None and "url" not in given:
        raise UsageError("--opinion-... says how to ask for an opinion, and nobody is asked: give --opinion URL too")
    return replace(plan.opinion, **given) if plan.opinion else OpinionSettings(**given)
