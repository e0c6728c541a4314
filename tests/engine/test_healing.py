"""Killing kengine's own processes: work is retried, nothing is lost or doubled, the machine's fault is no record."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from kengine import Engine, InfraError, Plan
from kengine.engine.store import Store
from toy_items import GOOD, TASK, candidate, descendants, item, settled

SLOW = candidate("import time; time.sleep(0.3)")


@pytest.fixture
def engine():
    with Engine(target="toy:cpu", plan=Plan(cases=2), workers=2) as engine:
        yield engine


def victims(engine, word):
    return [pid for name, pid in engine.processes().items() if word in name and pid]


@pytest.mark.parametrize("word", ["judge", "zygote runner", "zygote judge"])
def test_a_killed_process_is_replaced_and_no_verdict_is_lost(engine, word):
    assert engine.verify(item(GOOD)).status == "passed"
    items = [item(SLOW + f"\n# {n}\n") for n in range(6)]
    killed = []

    def kill():
        time.sleep(0.5)
        for pid in victims(engine, word):
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    verdicts = list(engine.verify_many(items))
    killer.join()
    assert killed
    assert [v.status.value for v in verdicts] == ["passed"] * 6
    assert [v.candidate.digest for v in verdicts] == [i.candidate.digest for i in items]


def test_a_machine_that_never_works_is_an_infra_error_not_a_record(engine):
    stop = threading.Event()

    def keep_killing():
        while not stop.is_set():
            for pid in victims(engine, "judge"):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.002)

    killer = threading.Thread(target=keep_killing)
    killer.start()
    try:
        with pytest.raises(InfraError):
            engine.verify(item(SLOW))
    finally:
        stop.set()
        killer.join()
    assert engine.verify(item(GOOD)).status == "passed"


def test_closing_leaves_nothing(tmp_path):
    before, shared = len(descendants()), set(os.listdir("/dev/shm"))
    descriptors = len(os.listdir("/proc/self/fd"))
    engine = Engine(target="toy:cpu", plan=Plan(cases=2), workers=2)
    folder = engine._crew._root
    assert engine.verify(item(GOOD)).status == "passed"
    assert folder.exists()
    engine.close()
    engine.close()
    assert settled(before)
    assert not folder.exists()
    assert set(os.listdir("/dev/shm")) == shared
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_an_engine_that_is_forgotten_ends_its_processes():
    before = len(descendants())
    engine = Engine(target="toy:cpu", plan=Plan(cases=2), workers=1)
    engine.verify(item(GOOD))
    del engine
    assert settled(before)


COMMAND = """
import sys, time
sys.path[:0] = {path!r}
from kengine import Engine, Plan, tasks
items = [tasks.parse({slow!r} + f"# {{n}}\\n", "c.py", task_text={task!r}) for n in range(12)]
with Engine(target="toy:cpu", plan=Plan(cases=2), workers=2, run={run!r}) as engine:
    for n, verdict in enumerate(engine.verify_many(items)):
        print(n, verdict.status, verdict.salt, flush=True)
"""


def test_kill_9_loses_no_finished_verdict_and_the_rest_is_done_later(tmp_path):
    text = COMMAND.format(path=sys.path, slow=SLOW, task=TASK, run=str(tmp_path / "run"))
    before = len(descendants())
    process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = [process.stdout.readline() for _ in range(4)]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert all(" passed " in line for line in first), first
    store = Store(tmp_path / "run")
    kept = [v.salt for v in store]
    store.close()
    assert 4 <= len(kept) < 12
    assert settled(before, 10), "processes outlived the killed command"
    again = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    lines = again.stdout.splitlines()
    assert len(lines) == 12
    assert all(" passed " in line for line in lines)
    assert sum(line.split()[2] in kept for line in lines) == len(kept)
    store = Store(tmp_path / "run")
    assert len(store) == 12
    store.close()
