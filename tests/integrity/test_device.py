"""The same score on the devices of this machine; `make test-device` runs it."""

from __future__ import annotations

import pytest
from kengine.plugins import backend as backends
from kengine.selftest import load, rows, run, targets

CORPUS = load()


@pytest.mark.device
@pytest.mark.parametrize("backend", CORPUS.backends)
def test_nothing_is_missed_on_a_device(backend, capsys) -> None:
    if backend not in {t.split(":")[0] for t in targets(CORPUS)}:
        pytest.skip(f"no target of {backend} can launch here")
    infos = {str(info.target): info for info in backends.load(backend).targets()}
    found = [t for t in targets(CORPUS) if t in infos and not infos[t].emulated]
    if not found:
        pytest.skip(f"no device for {backend} here")
    score = run(CORPUS, found[0])
    with capsys.disabled():
        print(f"\n{rows.heading(score)}")
        for line in rows.rates(score)[1]:
            print(f"  {': '.join(line)}")
    assert [" | ".join(row) for row in rows.misses(score)[1]] == []
