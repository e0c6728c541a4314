"""A zygote that is still starting is not waited for."""

from __future__ import annotations

import threading
import time

import pytest
from kengine.engine.zygote import Recipe, Zygote
from kengine.errors import WorkerLost


def test_closing_one_that_still_starts_takes_no_time(tmp_path, monkeypatch) -> None:
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(30)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    zygote = Zygote(Recipe("judge", preload=("slow_to_import",), packages=("slow_to_import",)))
    problems = []

    def start() -> None:
        try:
            zygote.start()
        except WorkerLost as error:
            problems.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    while zygote.pid is None:
        time.sleep(0.01)
    time.sleep(0.5)
    begun = time.monotonic()
    zygote.close()
    thread.join(10)
    assert time.monotonic() - begun < 2 and zygote.pid is None and len(problems) == 1
    with pytest.raises(WorkerLost, match="was closed"):
        zygote.start()
