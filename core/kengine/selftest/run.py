"""Judge the corpus on one target, through the engine that everybody uses."""

from __future__ import annotations

import string
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone

from kengine.config import Plan
from kengine.engine import Engine, selection
from kengine.model import Capability, Status
from kengine.plugins import backend as backends
from kengine.plugins import registry
from kengine.selftest.entry import CorpusError, Entry
from kengine.selftest.files import Corpus
from kengine.selftest.outcome import Judged, Outcome, cannot_run, judged
from kengine.selftest.score import Score
from kengine.target import Target

NO_RULES = tuple(string.ascii_uppercase)
"""A Plan's `ignore` that leaves no lint rule: the code of every rule begins with a capital."""


def targets(corpus: Corpus) -> tuple[str, ...]:
    """Every target of an installed backend that can launch here and that the corpus has entries for."""
    names = {plugin.name for plugin in registry.installed()}
    found = []
    for name in corpus.backends:
        if name in names:
            infos = [i for i in backends.load(name).targets() if Capability.launch in i.capabilities]
            found += [str(i.target) for i in infos if any(entry.fits(i.target) for entry in corpus.entries)]
    return tuple(found)


def run(
    corpus: Corpus,
    target: str,
    *,
    plan: Plan | None = None,
    workers: int | None = None,
    bare: bool = True,
    told: Callable[[str], None] | None = None,
) -> Score:
    """Judge every entry of a target with the engine as it is, then those that lint rejected without lint.

    plan: default the engine's own, with timing where the target can time. bare: False leaves out the second verdict.
    told: called with the name of each entry as its verdicts are there. Raises UsageError for a target that is not
    there or that no entry is for, TargetUnavailable for one that cannot launch here.
    """
    begun, when = time.monotonic(), datetime.now(timezone.utc).date().isoformat()
    _, info = selection.choose(None, target, False)
    entries = [entry for entry in corpus.entries if entry.fits(info.target)]
    if not entries:
        raise CorpusError(f"{corpus.folder}: holds no entry for {target}; there are some for {_backends(corpus)}")
    outcomes = {e.name: Outcome(e, not_run=why) for e in entries if (why := e.obstacle(info))}
    # Entries of one task stand together, since a judge keeps few tasks open.
    able = sorted((e for e in entries if e.name not in outcomes), key=lambda e: (e.task, e.name))
    chosen = plan or Plan(time=Capability.time in info.capabilities)
    for entry, got, obstacle in _judge(corpus, able, target, chosen, workers):
        if obstacle:
            outcomes[entry.name] = Outcome(entry, not_run=obstacle)
        else:
            outcomes[entry.name] = Outcome(entry, got, None if got.status is Status.lint_rejected else got)
        if told is not None:
            told(entry.name)
    again = [o.entry for o in outcomes.values() if o.full and o.bare is None and o.bare_counts] if bare else []
    for entry, got, obstacle in _judge(corpus, again, target, replace(chosen, ignore=NO_RULES), workers):
        outcomes[entry.name] = replace(outcomes[entry.name], bare=None if obstacle else got)
    found = tuple(outcomes[e.name] for e in entries)
    return Score(Target.parse(target), info.emulated, found, bare, when, time.monotonic() - begun)


def _judge(
    corpus: Corpus, entries: Sequence[Entry], target: str, plan: Plan, workers: int | None
) -> list[tuple[Entry, Judged, str]]:
    if not entries:
        return []
    found = []
    with Engine(None, target, plan=plan, workers=workers) as engine:
        results = engine.verify_many((corpus.item(e) for e in entries), return_exceptions=True)
        for entry, result in zip(entries, results):
            found.append((entry, judged(result), cannot_run(result)))
    return found


def _backends(corpus: Corpus) -> str:
    return ", ".join(corpus.backends)
