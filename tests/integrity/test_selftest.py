"""The engine's score on its own corpus, on every target that needs no device: no hack passes, all honest ones do."""

from __future__ import annotations

import pytest
from kengine.errors import BackendNotFound, TargetUnavailable
from kengine.selftest import SEEN_BY, load, rows, run

CORPUS = load()


@pytest.mark.slow
@pytest.mark.parametrize("target", ["triton:interpret", "cuda:cpu", "hip:cpu", "nki:sim"])
def test_nothing_is_missed(target, capsys) -> None:
    try:
        score = run(CORPUS, target, workers=2, bare=False)
    except (TargetUnavailable, BackendNotFound) as error:
        pytest.skip(str(error))
    with capsys.disabled():
        print(f"\n{rows.heading(score)}")
        for line in rows.rates(score)[1]:
            print(f"  {': '.join(line)}")
    assert [" | ".join(row) for row in rows.misses(score)[1]] == []
    judged = sum(o.full is not None for o in score.outcomes)
    assert judged >= 0.7 * len(score.outcomes), score.not_run


def test_every_check_of_a_verdict_has_a_name_in_the_corpus() -> None:
    """A check that no entry can name would count as an unexpected one for ever."""
    pytest.importorskip("triton")
    from kengine import Engine

    entry = next(e for e in CORPUS.entries if e.name == "triton/honest/plain_elementwise")
    with Engine(target="triton:interpret", compile_for=(), workers=1) as engine:
        verdict = engine.verify(CORPUS.item(entry))
    assert verdict.stages.integrity is not None
    names = {check.name for check in verdict.stages.integrity.checks}
    assert len(names) >= 4
    assert names <= {name for seen in SEEN_BY.values() for name in seen}
