"""Codes of lint rules on the command line: one that names no rule must not switch lint off unsaid."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from kengine.cli.failure import say
from kengine.errors import PluginError

if TYPE_CHECKING:
    from kengine.config import Plan
    from kengine.lint.codes import Codes


def heed(plan: Plan, backends: Iterable[str], select: Collection[str] = (), ignore: Collection[str] = ()) -> None:
    """Check the codes of a plan, and say on stderr when they leave no rule to a backend.

    select, ignore: those of the command line; the others are of a configuration file, which may serve several backends.
    Raises UsageError for a code of no rule, PluginError for a backend that is not installed or broken.
    """
    if not plan.select and not plan.ignore:
        return
    from kengine.lint.codes import check_codes, find_codes
    from kengine.plugins import backend as plugins
    from kengine.plugins import registry

    found = {name: find_codes(plugins.load(name)) for name in dict.fromkeys(backends)}
    every = _join(found.values())
    if not all(map(every.names, (*plan.select, *plan.ignore))):
        others = {plugin.name for plugin in registry.installed()} - found.keys()
        every = _join([*found.values(), *(_find(name) for name in sorted(others))])
    given = [(_origin("select", select), plan.select), (_origin("ignore", ignore), plan.ignore)]
    for warning in check_codes(every, given):
        say("warning", warning)
    for name, codes in found.items():
        if not codes.left(plan.select, plan.ignore):
            asked = " and ".join(f"{option} {', '.join(values)}" for option, values in given if values)
            say("warning", f"{asked}: none of the {len(codes.known)} lint rules for {name} is left")


def _join(parts: Iterable[Codes]) -> Codes:
    from kengine.lint.codes import Codes

    listed = list(parts)
    known = frozenset[str]().union(*(codes.known for codes in listed))
    return Codes(known, tuple(dict.fromkeys(title for codes in listed for title in codes.silent)))


def _find(name: str) -> Codes:
    from kengine.lint.codes import Codes, find_codes
    from kengine.plugins import backend as plugins

    try:
        return find_codes(plugins.load(name))
    except PluginError:
        return Codes(frozenset())


def _origin(option: str, given: Collection[str]) -> str:
    return f"--{option}" if given else f"{option} of the configuration"
