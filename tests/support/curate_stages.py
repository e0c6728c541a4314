"""Stages for tests of the pipeline: one that adds and drops by the number of a sample, one that needs all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kengine.curate.record import Outcome, Sample, drop, evolve
from kengine.curate.stage import Context, Corpus, Stage


@dataclass(frozen=True)
class Fork:
    """Nothing to set."""


@dataclass(frozen=True)
class Turn:
    """`vanish`: leave one sample out without a reason."""

    vanish: bool = False


class Crash(Exception):
    """The machine dies here."""


CRASH_AT = {"count": 0}
"""Outcomes of `fork` until Crash is raised; 0 for never."""


def number(sample: Sample) -> int:
    return int(sample.code.split("=")[1])


def build(section: object, context: Context) -> Stage:
    return _fork() if isinstance(section, Fork) else _turn(section)  # type: ignore[arg-type]


def _fork() -> Stage:
    def outcomes(sample: Sample) -> Iterator[Outcome]:
        n = number(sample)
        if n % 7 == 3:
            yield drop(sample, "seventh", f"{n}")
        for copy in range(n % 3):
            yield evolve(sample, uid=f"{sample.uid}+{copy}")
        if n % 7 != 3 and n % 3 == 0:
            yield drop(sample, "third")

    def run(samples: Iterator[Sample]) -> Iterator[Iterable[Outcome]]:
        window: list[list[Outcome]] = []
        for sample in samples:
            window.append(list(outcomes(sample)))
            _wait()
            if len(window) > 9:
                yield window.pop(0)
        yield from window

    return Stage("fork", "stream", run, adds=True)


def _turn(section: Turn) -> Stage:
    def run(corpus: Corpus) -> Iterator[Outcome]:
        seen = {number(s) for s in corpus}
        order = sorted(seen, reverse=True)
        keep = set(order[: len(order) // 2])
        for n, sample in enumerate(corpus):
            _wait()
            if n == 5 and section.vanish:
                continue
            yield sample if number(sample) in keep else drop(sample, "small")

    return Stage("turn", "whole", run)


def _wait() -> None:
    pause = float(os.environ.get("CURATE_TEST_PAUSE", "0"))
    if pause:
        time.sleep(pause)
    if CRASH_AT["count"]:
        CRASH_AT["count"] -= 1
        if not CRASH_AT["count"]:
            raise Crash


ENTRIES = {"fork": ("curate_stages", "Fork"), "turn": ("curate_stages", "Turn")}


def install() -> None:
    """Make both stages known to curate.toml, after `parse`."""
    from kengine.curate import pipeline, settings

    entries = {name: settings.Entry(*place) for name, place in ENTRIES.items()}
    before = dict(settings.STAGES)
    order = [n for n in before if n != "export"]
    made = {**{n: before[n] for n in order}, **entries, "export": before["export"]}
    settings.STAGES = made  # type: ignore[misc]
    pipeline.STAGES = made  # type: ignore[misc]
