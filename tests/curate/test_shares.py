"""A pass by several processes leaves what one by a single process leaves, whatever stops it on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kengine.curate import pipeline, settings, shares
from kengine.curate.export import batches
from kengine.errors import InfraError, UsageError

TASK = "def reference(x):\n    return x\n\ndef make_inputs(seed, device):\n    return ()\n"
ROWS = 4000
TOML = """
[[source]]
path = "a.jsonl"
tasks = "tasks"
[[source]]
path = "b.jsonl"
tasks = "tasks"
limit = 1300
[export]
formats = ["messages", "samples", "slime", "prompt-completion"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(shares, "WORTHWHILE", 0)
    monkeypatch.setattr(batches, "WORTHWHILE", 0)
    monkeypatch.setattr(shares, "SHARE", 37)
    monkeypatch.setattr(batches, "BATCH", 53)
    (tmp_path / "tasks").mkdir()
    for n in range(9):
        (tmp_path / f"tasks/t{n}.py").write_text(TASK.replace("return x\n", f"return x + {n}\n", 1))
    for name in ("a", "b"):
        with (tmp_path / f"{name}.jsonl").open("w") as file:
            for n in range(ROWS // 2):
                if n % 97 == 13:
                    file.write("\n  \n{broken\n")
                text = "no code" if n % 11 == 5 else f"```python\ndef candidate(x):\n    return x + {n}\n```"
                file.write(json.dumps({"completion": text, "task": f"t{n % 10}", "backend": "triton"}) + "\n")
    (tmp_path / "curate.toml").write_text(TOML)
    return tmp_path


def run(folder: Path, jobs: int, out: str = "", **given) -> pipeline.Result:
    read = settings.read(folder / "curate.toml")
    from dataclasses import replace

    return pipeline.run(replace(read, out=folder / (out or f"out{jobs}")), jobs=jobs, **given)


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted((folder / "corpus").rglob("*")) if p.is_file()}


def test_the_same_as_by_one_process(folder) -> None:
    one, two, five = (run(folder, jobs) for jobs in (1, 2, 5))
    assert one.rows > 2000 and one.funnel == two.funnel == five.funnel
    assert one.funnel["load"].entered == 2000 + 21 + 1300 and one.funnel["load"].lost["malformed_row"] == 21 + 14
    assert one.funnel["load"].lost["no_task"] > 200
    assert files(folder / "out1") == files(folder / "out2") == files(folder / "out5")
    assert {"corpus/slime/train.jsonl", "corpus/README.md", "corpus/losses.jsonl"} <= set(files(folder / "out1"))


@pytest.mark.parametrize("after", [1, 2, 5])
def test_a_run_that_dies_goes_on(folder, monkeypatch, after) -> None:
    from kengine.curate.store import Segment

    run(folder, 1)
    monkeypatch.setattr(pipeline, "COMMIT_ROWS", 100)
    original, calls = Segment.commit_texts, []

    def commit(self, *args, **given):
        if len(calls) == after:
            raise InfraError("the machine dies here")
        calls.append(args)
        return original(self, *args, **given)

    with monkeypatch.context() as patch:
        patch.setattr(Segment, "commit_texts", commit)
        with pytest.raises(InfraError, match="dies here"):
            run(folder, 2)
    result = run(folder, 3, "out2")  # with another number of processes, too
    assert result.rows == run(folder, 1).rows and files(folder / "out2") == files(folder / "out1")


def test_kill_9_at_any_moment_loses_nothing(folder, monkeypatch) -> None:
    run(folder, 1)
    code = (
        "import sys, pathlib\n"
        "from kengine.curate import pipeline, settings, shares, crew, completion\n"
        "from kengine.curate import parse as stage\n"
        "import time\n"
        "shares.WORTHWHILE, shares.SHARE, pipeline.COMMIT_ROWS = 0, 37, 100\n"
        "original = stage.parse\n"
        "stage.parse = lambda *a: (time.sleep(0.001), original(*a))[1]\n"
        "pipeline.run(settings.read(pathlib.Path(sys.argv[1])), jobs=2)\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    (folder / "curate.toml").write_text(f'out = "killed"\n{TOML}')
    kills = 0
    for delay in (0.8, 1.0, 1.2, 1.5, 2.0, 120):
        process = subprocess.Popen([sys.executable, "-c", code, str(folder / "curate.toml")], env=environ)
        deadline = time.monotonic() + delay
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if process.poll() is not None:
            assert process.returncode == 0
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    assert kills >= 1 and files(folder / "killed") == files(folder / "out1")


def test_a_source_that_breaks_half_way_is_told(folder, monkeypatch) -> None:
    from kengine.curate import table

    def fail(file, wanted=None):
        yield 1, {"completion": "```python\nx = 1\n```", "task": "t1"}
        raise OSError(5, "Input/output error")

    jobs = settings.read(folder / "curate.toml")
    from kengine.curate.stage import Context

    stage = pipeline.build_stage("load", jobs, Context(jobs, folder / "x"))
    monkeypatch.setattr(table, "_lines", fail)
    with pytest.raises(UsageError, match=r"a\.jsonl: cannot be read: .*Input/output error"):
        list(shares.share([stage], 0, 2))


def test_small_sources_and_streams_stay_in_one_process(folder, monkeypatch) -> None:
    from kengine.curate.stage import Context, Stage

    read = settings.read(folder / "curate.toml")
    load, parse, *_ = pipeline.build(read, Context(read, folder / "x"))
    stream = Stage("s", "stream", lambda samples: iter(()))
    assert shares.can_share([load, parse], 2)
    assert not shares.can_share([load, parse], 1) and not shares.can_share([load, stream], 2)
    monkeypatch.setattr(shares, "WORTHWHILE", 1 << 40)
    assert not shares.can_share([load, parse], 2)
