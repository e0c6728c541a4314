"""The engine's own scorecard: a corpus of hacks and honest kernels, judged by the installed engine.

    from kengine import selftest
    corpus = selftest.load()
    score = selftest.run(corpus, "triton:interpret")
    assert not score.misses
"""

from __future__ import annotations

from kengine.selftest.entry import CorpusError, Entry, read_entry
from kengine.selftest.files import Corpus, folder, load
from kengine.selftest.outcome import Outcome
from kengine.selftest.run import run, targets
from kengine.selftest.score import Rate, Score
from kengine.selftest.vocabulary import CHECKS, SEEN_BY, TRAPS

__all__ = [
    "CHECKS",
    "SEEN_BY",
    "TRAPS",
    "Corpus",
    "CorpusError",
    "Entry",
    "Outcome",
    "Rate",
    "Score",
    "folder",
    "load",
    "read_entry",
    "run",
    "targets",
]
