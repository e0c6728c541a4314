"""Runs that are stopped anywhere go on with no row lost and none doubled; what is wrong with a folder is told."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import curate_stages
import pytest
from kengine.curate import pipeline, settings
from kengine.curate.funnel import Unaccounted
from kengine.curate.store import Store
from kengine.errors import InfraError, UsageError

ROWS = 240
TOML = """
stages = ["load", "parse", "fork", "turn", "export"]
keep_stages = {keep}
[[source]]
path = "rows.jsonl"
[turn]
[export]
formats = ["samples", "hf"]
splits = {{ train = 1.0 }}
"""


@pytest.fixture(autouse=True)
def stages(monkeypatch):
    monkeypatch.setattr(settings, "STAGES", settings.STAGES)
    monkeypatch.setattr(pipeline, "STAGES", pipeline.STAGES)
    curate_stages.install()
    yield
    curate_stages.CRASH_AT["count"] = 0


@pytest.fixture
def folder(tmp_path):
    rows = [{"code": f"x={n}", "prompt": "q"} if n % 11 != 5 else {"code": ""} for n in range(ROWS)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "not json\n")
    (tmp_path / "curate.toml").write_text(TOML.format(keep="false"))
    return tmp_path


def run(folder: Path, **given) -> pipeline.Result:
    return pipeline.run(settings.read(folder / "curate.toml"), **given)


def expected() -> tuple[list[str], Counter[str]]:
    """What the stages make of the rows, worked out without them."""
    lost, alive = Counter(no_code=0, malformed_row=1), []
    for n in range(ROWS):
        if n % 11 == 5:
            lost["no_code"] += 1
            continue
        if n % 7 == 3:
            lost["seventh"] += 1
        elif n % 3 == 0:
            lost["third"] += 1
        alive += [(n, f"rows.jsonl:rows.jsonl:{n + 1}+{copy}") for copy in range(n % 3)]
    order = sorted({n for n, _ in alive}, reverse=True)
    keep = set(order[: len(order) // 2])
    lost["small"] = sum(n not in keep for n, _ in alive)
    return [uid for n, uid in alive if n in keep], lost


def exported(folder: Path) -> list[str]:
    lines = (folder / "curated/corpus/samples/train.jsonl").read_text().splitlines()
    return [json.loads(line)["uid"] for line in lines]


def losses(result: pipeline.Result) -> Counter[str]:
    return sum((step.lost for step in result.funnel.steps.values()), Counter())


def test_a_whole_run_counts_every_row(folder) -> None:
    result = run(folder)
    uids, lost = expected()
    assert exported(folder) == uids and result.rows == len(uids)
    assert losses(result) == lost
    assert [s for s in result.funnel.steps] == ["load", "parse", "fork", "turn"]
    assert result.funnel["load"].entered == ROWS + 1 and result.funnel["fork"].added > 0
    listed = [json.loads(line) for line in (folder / "curated/corpus/losses.jsonl").read_text().splitlines()]
    assert Counter(row["reason"] for row in listed) == lost
    assert json.loads((folder / "curated/corpus/funnel.json").read_text())["steps"] == result.funnel.to_json()


@pytest.mark.parametrize("at", [1, 2, 9, 10, 11, 57, 200, 216, 217, 230, 300, 330])
def test_a_run_that_dies_anywhere_goes_on(folder, monkeypatch, at) -> None:
    monkeypatch.setattr(pipeline, "COMMIT_ROWS", 8)
    curate_stages.CRASH_AT["count"] = at
    with pytest.raises(curate_stages.Crash):
        run(folder)
    result = run(folder)
    uids, lost = expected()
    assert exported(folder) == uids and losses(result) == lost


def test_a_run_that_dies_again_and_again_goes_on(folder, monkeypatch) -> None:
    monkeypatch.setattr(pipeline, "COMMIT_ROWS", 4)
    deaths = 0
    while True:
        curate_stages.CRASH_AT["count"] = 260 if deaths > 9 else 31
        try:
            result = run(folder)
            break
        except curate_stages.Crash:
            deaths += 1
            assert deaths < 40
    assert deaths > 5
    uids, lost = expected()
    assert exported(folder) == uids and losses(result) == lost


def test_kill_9_at_any_moment_loses_nothing(folder) -> None:
    code = (
        "import sys, pathlib, curate_stages; curate_stages.install()\n"
        "from kengine.curate import pipeline, settings\n"
        "pipeline.COMMIT_ROWS = 16\n"
        "pipeline.run(settings.read(pathlib.Path(sys.argv[1])))\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "CURATE_TEST_PAUSE": "0.004"}
    command = [sys.executable, "-c", code, str(folder / "curate.toml")]
    kills = 0
    for delay in (0.5, 0.7, 0.6, 0.9, 1.1, 0.8, 1.3, 60):
        process = subprocess.Popen(command, env=environ)
        deadline = time.monotonic() + delay
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
        else:
            assert process.returncode == 0
            break
    assert kills >= 1
    uids, lost = expected()
    assert exported(folder) == uids
    result = run(folder)
    assert losses(result) == lost and exported(folder) == uids


def test_a_finished_run_does_nothing_again_but_exports(folder) -> None:
    first = run(folder)
    curate_stages.CRASH_AT["count"] = 1  # no stage may be called
    (folder / "curate.toml").write_text(TOML.format(keep="false").replace('"hf"', '"messages"').replace("prompt", ""))
    second = run(folder)
    assert second.funnel == first.funnel and second.rows == first.rows
    assert (folder / "curated/corpus/messages/train.jsonl").exists()
    assert not (folder / "curated/corpus/hf").exists()


def test_other_settings_on_one_folder_are_refused(folder) -> None:
    run(folder)
    text = TOML.format(keep="false").replace("[turn]", "[parse]\nbare = false\n[turn]")
    (folder / "curate.toml").write_text(text)
    with pytest.raises(
        UsageError, match=r"curated: holds a run with other settings \(they differ in: parse\); give `out`"
    ):
        run(folder)
    assert run(folder, fresh=True).rows == len(expected()[0])


def test_a_run_that_failed_before_its_first_row_binds_nobody(folder) -> None:
    text = (folder / "curate.toml").read_text()
    (folder / "curate.toml").write_text(text.replace('path = "rows.jsonl"', 'path = "row.jsonl"'))
    with pytest.raises(UsageError, match="did you mean"):
        run(folder)
    (folder / "curate.toml").write_text(text)
    assert run(folder).rows == len(expected()[0])


def test_a_source_that_changed_half_way_is_refused(folder, monkeypatch) -> None:
    monkeypatch.setattr(pipeline, "COMMIT_ROWS", 8)
    curate_stages.CRASH_AT["count"] = 50
    with pytest.raises(curate_stages.Crash):
        run(folder)
    with (folder / "rows.jsonl").open("a") as file:
        file.write('{"code": "x=1"}\n')
    with pytest.raises(UsageError, match=r"source rows\.jsonl: .* has changed since the run in .* began"):
        run(folder)
    assert run(folder, fresh=True).funnel["load"].entered == ROWS + 2


def test_two_runs_on_one_folder_are_refused(folder) -> None:
    store = Store(folder / "curated")
    try:
        with pytest.raises(UsageError, match=rf"another run is at work in this folder \(process {os.getpid()}\)"):
            run(folder)
        with pytest.raises(UsageError, match="another run is at work"):
            run(folder, fresh=True)
    finally:
        store.close()
    run(folder)


def test_a_full_disk_leaves_nothing_half_written(folder, monkeypatch) -> None:
    original = sqlite3.connect

    def connect(*args, **given):
        db = original(*args, **given)
        db.execute("PRAGMA page_size = 16384")
        db.execute("PRAGMA max_page_count = 12")
        return db

    monkeypatch.setattr("kengine.curate.store.sqlite3.connect", connect)
    monkeypatch.setattr(pipeline, "COMMIT_ROWS", 8)
    with pytest.raises(InfraError, match=r"curate\.sqlite: cannot be written: .*full.*nothing is half-written"):
        run(folder)
    monkeypatch.undo()
    curate_stages.install()
    result = run(folder)
    uids, lost = expected()
    assert exported(folder) == uids and losses(result) == lost


def test_an_export_that_fails_leaves_the_old_one(folder, monkeypatch) -> None:
    from kengine.curate.export import files

    run(folder)
    before = exported(folder)

    def fail(self, row):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files.Lines, "add", fail)
        with pytest.raises(InfraError, match="No space left on device; nothing is half-written"):
            run(folder)
    assert exported(folder) == before
    assert sorted(p.name for p in (folder / "curated").iterdir() if p.is_dir()) == ["corpus"]


def test_a_stage_that_lets_samples_vanish_is_found_out(folder) -> None:
    (folder / "curate.toml").write_text(TOML.format(keep="false").replace("[turn]", "[turn]\nvanish = true"))
    with pytest.raises(Unaccounted, match="stage turn: 1 samples vanished without a reason"):
        run(folder)


def test_segments_are_dropped_unless_they_are_kept(folder) -> None:
    run(folder)
    db = sqlite3.connect(folder / "curated/curate.sqlite")
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE name GLOB 'segment_[0-9]*'")}
    db.close()
    assert tables == {"segment_1"}
    (folder / "curate.toml").write_text(TOML.format(keep="true"))
    run(folder, fresh=True)
    db = sqlite3.connect(folder / "curated/curate.sqlite")
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE name GLOB 'segment_[0-9]*'")}
    db.close()
    assert tables == {"segment_0", "segment_1"}


def test_progress_is_told(folder, monkeypatch) -> None:
    monkeypatch.setattr(pipeline, "COMMIT_ROWS", 50)
    seen: list[tuple[str, int, int]] = []
    run(folder, watch=lambda *call: seen.append(call))
    names = list(dict.fromkeys(name for name, _, _ in seen))
    assert names == ["load parse fork", "turn", "export"]
    assert [done for name, done, _ in seen if name == names[0]][-1] == ROWS + 1
    assert [done for name, done, _ in seen if name == names[0]] == sorted(d for n, d, _ in seen if n == names[0])


def test_a_commit_that_fails_half_way_leaves_nothing(tmp_path) -> None:
    from kengine.curate.funnel import Funnel
    from kengine.curate.record import Loss, Sample
    from kengine.model import Task

    class Broken(Funnel):
        def to_json(self):
            raise ZeroDivisionError

    task = Task("t", "function", "x = 1\n")
    samples = [Sample(f"u{n}", "s", "o", task if n else None) for n in range(3)]
    store = Store(tmp_path)
    try:
        segment = store.segment(0)
        segment.commit(samples[:1], [], 1, Funnel(), done=False)
        with pytest.raises(ZeroDivisionError):
            segment.commit(samples[1:], [Loss("x", "r", "d", "s", "", {})], 3, Broken(), done=True)
        assert [s.uid for s in segment] == ["u0"] and list(store.losses()) == []
        assert (len(segment), segment.position, segment.done) == (1, 1, False)
        segment.commit(samples[1:], [], 3, Funnel(), done=True)
    finally:
        store.close()
    store = Store(tmp_path)
    try:
        assert [(s.uid, s.task) for s in store.segment(0)] == [(s.uid, s.task) for s in samples]
    finally:
        store.close()


def test_a_stage_over_all_samples_that_died_while_it_was_written_begins_anew(folder, monkeypatch) -> None:
    from kengine.curate.store import Segment

    commit = Segment.commit

    def die(self, *args, **given):
        commit(self, *args, **given)
        if self.n == 1 and self.rows:
            raise curate_stages.Crash

    monkeypatch.setattr(pipeline, "COMMIT_ROWS", 8)
    with monkeypatch.context() as patch:
        patch.setattr(Segment, "commit", die)
        with pytest.raises(curate_stages.Crash):
            run(folder)
    db = sqlite3.connect(folder / "curated/curate.sqlite")
    ((rows, done),) = db.execute("SELECT rows, done FROM segments WHERE n = 1")
    db.close()
    assert rows > 0 and not done
    result = run(folder)
    uids, lost = expected()
    assert exported(folder) == uids and losses(result) == lost
    listed = [json.loads(line) for line in (folder / "curated/corpus/losses.jsonl").read_text().splitlines()]
    assert Counter(row["reason"] for row in listed) == lost


def test_a_run_at_work_loses_nothing_to_another_that_would_begin_afresh(folder) -> None:
    run(folder)
    store = Store(folder / "curated")
    try:
        with pytest.raises(UsageError, match="another run is at work"):
            run(folder, fresh=True)
        assert store.path.exists() and store.funnel()["load"].entered == ROWS + 1
    finally:
        store.close()


@pytest.mark.parametrize("dies", [False, True])
def test_every_stage_is_closed_and_the_collector_left_as_it_was(folder, monkeypatch, dies) -> None:
    import gc
    from dataclasses import replace

    closed, inner, before = [], pipeline.build, gc.get_threshold()
    gc.set_threshold(613, 7, 5)

    def build(*given):
        return [replace(s, close=lambda s=s: (closed.append(s.name), s.close())) for s in inner(*given)]

    monkeypatch.setattr(pipeline, "build", build)
    try:
        if dies:
            curate_stages.CRASH_AT["count"] = 20
            with pytest.raises(curate_stages.Crash):
                run(folder)
        else:
            run(folder)
        assert closed == ["load", "parse", "fork", "turn", "export"] and gc.get_threshold() == (613, 7, 5)
    finally:
        gc.set_threshold(*before)
