"""Verdicts that are kept: the first of a key stays, and nothing that decides about a verdict is left out of its key."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from kengine import Engine, Plan, codec
from kengine.engine import engine as module
from kengine.engine import pipeline
from kengine.engine.store import Store
from kengine.errors import DeadlineExceeded, InfraError, TaskError, UsageError, WorkerLost
from kengine.model import Verdict
from toy_items import GOOD, TASK, item

GOLDEN = Path(__file__).resolve().parents[1] / "core" / "golden" / "verdict-1.json"


@pytest.fixture(scope="module")
def verdict():
    return codec.loads(GOLDEN.read_bytes(), Verdict)


@pytest.fixture
def judged(monkeypatch, verdict):
    """Every job that reaches the pipeline; `judged.raises` are raised in its first runs, one each."""

    class Judged(list):
        raises: tuple[Exception, ...] = ()

    jobs = Judged()

    def run(job, crew, device):
        jobs.append(job)
        if len(jobs) <= len(jobs.raises):
            raise jobs.raises[len(jobs) - 1]
        return replace(verdict, message=f"run {len(jobs)}")

    monkeypatch.setattr(pipeline, "run", run)
    return jobs


def verify(folder, one=None, **engine):
    with Engine(target="toy:cpu", run=folder, workers=1, **engine) as made:
        return made.verify(one or item(GOOD)).message


def test_a_verdict_is_kept_for_the_next_engine(judged, tmp_path):
    assert [verify(tmp_path / "run") for _ in range(3)] == ["run 1"] * 3
    assert len(judged) == 1
    assert [verify(None), verify(None)] == ["run 2", "run 3"]


@pytest.mark.parametrize(
    "other",
    [
        {"one": item(GOOD + "\n# another text\n")},
        {"one": item(GOOD, TASK.replace("rows=300", "rows=301"))},
        {"one": replace(item(GOOD), key="another attempt")},
        {"plan": Plan(cases=1)},
        {"plan": Plan(integrity=False)},
        {"plan": Plan(sanitize=False)},
        {"compile_for": ["toy:cpu"]},
    ],
    ids=["candidate", "task", "key", "cases", "integrity", "sanitize", "compile_for"],
)
def test_what_decides_about_a_verdict_is_part_of_its_key(judged, tmp_path, other):
    assert verify(tmp_path, compile_for=other.get("compile_for") and []) == "run 1"
    assert verify(tmp_path, **other) == "run 2"
    assert verify(tmp_path, **other) == "run 2"


def test_another_version_judges_anew(judged, tmp_path, monkeypatch):
    assert verify(tmp_path) == "run 1"
    monkeypatch.setattr(module, "__version__", "99.0")
    assert verify(tmp_path) == "run 2"


def test_another_target_judges_anew(judged, tmp_path):
    from kengine.model import Target

    with Engine(target="toy:cpu", run=tmp_path, workers=1) as engine:
        keys = {engine._key(item(GOOD))}
        engine.info = replace(engine.info, target=Target("toy", "other"))
        assert engine._key(item(GOOD)) not in keys


@pytest.mark.parametrize("failures", [1, 2])
def test_the_machines_fault_is_tried_again(judged, failures):
    judged.raises = (InfraError("once"), WorkerLost("twice"))[:failures]
    assert verify(None) == f"run {failures + 1}"


def test_three_faults_of_the_machine_are_its_fault(judged, tmp_path):
    judged.raises = tuple(InfraError(f"fault {n}") for n in range(5))
    with pytest.raises(InfraError, match="fault 2"):
        verify(tmp_path)
    assert len(judged) == 3
    with Engine(target="toy:cpu", run=tmp_path, workers=1) as engine:
        assert len(engine._store) == 0


@pytest.mark.parametrize("error", [DeadlineExceeded("late"), TaskError("broken")])
def test_what_trying_again_cannot_mend_is_raised_at_once(judged, error):
    judged.raises = (error, error, error)
    with pytest.raises(type(error), match=str(error)):
        verify(None)
    assert len(judged) == 1


def test_the_first_verdict_of_a_key_stays(tmp_path, verdict):
    store = Store(tmp_path)
    assert store.get("a") is None and len(store) == 0
    for key, text in (("b", "one"), ("a", "two"), ("b", "three")):
        store.put(key, replace(verdict, message=text))
    store.close()
    store = Store(tmp_path)
    assert store.get("b") == replace(verdict, message="one")
    assert [v.message for v in store] == ["one", "two"] and len(store) == 2
    store.close()


def test_a_folder_that_cannot_keep_verdicts_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"run directory .*file: cannot keep verdicts there"):
        Store(tmp_path / "file")
    (tmp_path / "verdicts.sqlite").write_text("no database, but a text that is long enough to be taken for one" * 99)
    with pytest.raises(UsageError, match="cannot keep verdicts there"):
        Store(tmp_path)


def test_a_verdict_waits_for_another_command_that_writes(tmp_path, verdict):
    store = Store(tmp_path)
    other = sqlite3.connect(store.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, other.execute, ("COMMIT",))
    timer.start()
    store.put("a", verdict)
    assert store.get("a") == verdict
    timer.join()
    other.close()
    store.close()


@pytest.mark.parametrize("ends", ["with a verdict", "with an error"])
def test_what_becomes_of_a_candidate_while_the_engine_is_closed_says_nothing(tmp_path, verdict, monkeypatch, ends):
    from kengine.model import Status

    def run(job, crew, device):
        crew.close()  # kills the runner, which then looks as if it had crashed by itself
        if ends == "with an error":
            raise OSError("Bad file descriptor")
        return replace(verdict, status=Status.crashed)

    monkeypatch.setattr(pipeline, "run", run)
    engine = Engine(target="toy:cpu", run=tmp_path, workers=1)
    try:
        with pytest.raises(WorkerLost, match="the engine was closed while this candidate was judged"):
            engine.verify(item(GOOD))
        assert len(engine._store) == 0
    finally:
        engine.close()
