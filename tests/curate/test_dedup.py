"""Stage dedup: which samples are joined, which of them stays, what is told, and that a killed run gives the same."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from kengine.curate import pipeline, settings
from kengine.curate.record import Judgement, Loss, Sample
from kengine.errors import InfraError, UsageError
from kengine.model import SourceFile, Task
from kernels_text import BLOCKED, CUDA, MULTI_ROW, ONE_ROW, swap

pytest.importorskip("tree_sitter_cuda", reason="needs tree_sitter: pip install 'kernel-engine[curate]'")
pytest.importorskip("tree_sitter_python", reason="needs tree_sitter: pip install 'kernel-engine[curate]'")
pytest.importorskip("rensa", reason="needs rensa: pip install 'kernel-engine[curate]'")

from kengine import cli
from kengine.curate.dedup import Dedup, dedup
from kengine.curate.dedup_input import score

REFERENCE = (
    "def make_inputs(seed, device, N=8):\n    return (N,)\n\n\ndef reference(x):\n    return x.square().mean()\n"
)
TASK = Task("rmsnorm", "function", REFERENCE)
RENAMED = ONE_ROW.replace("cols", "lanes").replace("rms", "scale").replace("kernel", "norm")
REORDERED = swap(ONE_ROW, "row =", "cols =")
LARGER = ONE_ROW.replace("BLOCK_N=1024", "BLOCK_N=4096, num_warps=8")


def sample(uid: str, code: str, task: Task | None = TASK, backend: str = "triton", **given) -> Sample:
    path = "candidate.cu" if "__global__" in code and "import" not in code else "candidate.py"
    return Sample(uid, "s", uid, task, given.pop("group", ""), (SourceFile(path, code),), backend=backend, **given)


def judged(uid: str, code: str, *judgements: Judgement, **given) -> Sample:
    return sample(uid, code, judgements=judgements, **given)


def kept(outcomes) -> dict[str, int]:
    return {o.uid: o.labels["cluster_size"] for o in outcomes if isinstance(o, Sample)}


def lost(outcomes) -> dict[str, tuple[str, str]]:
    return {o.uid: (o.reason, o.detail.split(":")[0]) for o in outcomes if isinstance(o, Loss)}


def test_clones_collapse_and_structures_stay() -> None:
    samples = [
        sample("a", ONE_ROW), sample("b", BLOCKED), sample("c", MULTI_ROW), sample("a renamed", RENAMED),
        sample("a reordered", REORDERED), sample("a larger", LARGER),
        sample("a comment", ONE_ROW.replace("1024)", "64)  # !")),
        sample("b smaller", BLOCKED.replace("1024", "16")), sample("cuda", CUDA, backend="cuda"),
    ]  # fmt: skip
    outcomes = list(dedup(samples))
    assert [o.uid for o in outcomes] == [s.uid for s in samples]
    assert kept(outcomes) == {"a": 5, "c": 1, "b smaller": 2, "cuda": 1}
    assert lost(outcomes) == {
        "b": ("exact_duplicate", "of b smaller"),
        "a renamed": ("exact_duplicate", "of a"),
        "a reordered": ("near_duplicate", "of a"),
        "a larger": ("near_duplicate", "of a"),
        "a comment": ("exact_duplicate", "of a"),
    }


def test_every_stays_its_own_cluster_without_near() -> None:
    outcomes = list(dedup([sample("a", ONE_ROW), sample("r", REORDERED), sample("n", RENAMED)], Dedup(near=False)))
    assert kept(outcomes) == {"a": 2, "r": 1} and lost(outcomes) == {"n": ("exact_duplicate", "of a")}


def verdict(status: str = "passed", **given) -> Judgement:
    return Judgement("triton:interpret", status, **given)


def test_the_best_of_a_cluster_stays() -> None:
    fast, slow = verdict(speedup=2.0), verdict(speedup=1.5)
    order = [
        judged("two targets", RENAMED, verdict(), verdict()),
        judged("fast", RENAMED, fast),
        judged("slow", ONE_ROW, slow),
        judged("timed", ONE_ROW, verdict(latency_ns=10)),
        judged("timed slower", ONE_ROW, verdict(latency_ns=20)),
        judged("short", ONE_ROW, verdict()),
        judged("long", ONE_ROW + "# " + "long " * 20, verdict()),
        sample("not judged", ONE_ROW),
        judged("half passed", ONE_ROW, verdict(), verdict("wrong_result")),
        judged("failed", ONE_ROW, verdict("wrong_result")),
    ]
    assert sorted(order, key=score) == order
    for seed in range(5):
        mixed = random.Random(seed).sample(order, len(order))
        assert kept(dedup(mixed)) == {"two targets": 10}
        while len(mixed) > 1:
            mixed.remove(min(mixed, key=score))
            assert kept(dedup(mixed)) == {min(mixed, key=score).uid: len(mixed)}
    assert kept(dedup([sample("first", ONE_ROW), sample("second", ONE_ROW)])) == {"first": 2}


def test_only_samples_of_one_task_are_compared() -> None:
    same = Task(
        "rms_norm", "function", "# the same\n" + REFERENCE.replace("reference(x)", "reference(t)").replace("x.", "t.")
    )
    wider = Task("rmsnorm_wide", "function", REFERENCE.replace("N=8", "N=4096"))
    samples = [
        sample("a", ONE_ROW), sample("b", ONE_ROW, same), sample("c", ONE_ROW, wider), sample("d", ONE_ROW, None),
        sample("e", ONE_ROW, backend="nki"), sample("f", ONE_ROW, labels={"variant": "N=16"}),
    ]  # fmt: skip
    assert kept(dedup(samples)) == {"a": 2, "c": 1, "d": 1, "e": 1, "f": 1}
    assert kept(dedup(samples, Dedup(across_tasks=True))) == {"a": 4, "e": 1, "f": 1}


def test_without_a_task_what_names_other_functions_is_something_else() -> None:
    larger = sample("larger", ONE_ROW.replace("tl.sum", "tl.max"), None)
    fewer = sample("bfloat", ONE_ROW.replace("tl.float16", "tl.bfloat16"), None)
    samples = [sample("a", ONE_ROW, None), larger, fewer, sample("n", RENAMED, None), sample("w", LARGER, None)]
    assert kept(dedup(samples)) == {"a": 3, "larger": 1, "bfloat": 1}
    assert kept(dedup([sample(s.uid, s.code) for s in samples])) == {"a": 5}


def test_no_chain_of_small_steps_joins_two_clusters() -> None:
    lines = ONE_ROW.split("\n")
    at = lines.index("    tl.store(y + row * N + cols, (v * rms * g).to(tl.float16), mask=mask)")
    steps = ["\n".join([*lines[:at], *[f"    v = tl.where(v > {n}, tl.exp(v + {n}), v - g * {n})"
                                       for n in range(2, 2 + count)], *lines[at:]]) for count in range(10)]  # fmt: skip
    steps = [text + f"\n{'# ' * n}" for n, text in enumerate(steps)]
    from kengine.curate.code.sketch import similarity, sketch

    found = sketch([[("a.py", text)] for text in steps])
    outcomes = list(dedup([sample(str(n), text) for n, text in enumerate(steps)]))
    for outcome in outcomes:
        if isinstance(outcome, Loss) and outcome.reason == "near_duplicate":
            to = int(outcome.detail.split(":")[0].removeprefix("of "))
            real = similarity(found.shingles_of(int(outcome.uid)), found.shingles_of(to))
            assert real >= 0.8 and outcome.detail.endswith(f"similarity {real:.2f}")


def test_what_is_no_code_is_kept_and_lost_nowhere() -> None:
    broken = ONE_ROW.replace("(x, w):", "(x, w)")
    samples = [
        sample("empty", ""), sample("empty too", " \n"), sample("binary", "\0\1"), sample("broken", broken),
        sample("broken too", broken.replace("cols", "lanes")), sample("large", "x = 1\n" * 9_000_000),
        sample("unicode", "é = 'ü'\n# 日本語\n"), Sample("none", "s", "none", TASK), Sample("none too", "s", "n", TASK),
        sample("surrogate", "x = '\ud800'"), Sample("text", "s", "t", TASK, completion="no code here"),
    ]  # fmt: skip
    outcomes = list(dedup(samples))
    assert len(outcomes) == len(samples)
    assert lost(outcomes) == {
        "empty too": ("exact_duplicate", "of empty"),
        "broken too": ("exact_duplicate", "of broken"),
    } or lost(outcomes) == {
        "empty": ("exact_duplicate", "of empty too"),
        "broken too": ("exact_duplicate", "of broken"),
    }


def test_completions_are_compared_by_their_code() -> None:
    samples = [
        Sample("a", "s", "a", TASK, backend="triton", completion=f"Here:\n```python\n{ONE_ROW}```\n"),
        Sample("b", "s", "b", TASK, backend="triton", completion=f"<think>\nhm\n</think>\n```python\n{RENAMED}```"),
        Sample("c", "s", "c", TASK, backend="triton", completion=f"```python\n{BLOCKED}```"),
    ]
    assert kept(dedup(samples)) == {"a": 2, "c": 1}
    assert kept(dedup([])) == {}


@pytest.mark.parametrize("given", [{"threshold": 0.3}, {"threshold": 1.2}, {"taskless_threshold": 0.0}])
def test_a_threshold_that_makes_no_sense_is_refused(given) -> None:
    (field,) = given
    with pytest.raises(UsageError, match=rf"^{field}: want 0\.5 to 1, got"):
        Dedup(**given)


ROWS = 1500
TOML = """
stages = ["load", "parse", "dedup", "export"]
jobs = 2
[[source]]
path = "rows.jsonl"
backend = "triton"
[dedup]
[export]
formats = ["samples"]
splits = { train = 1.0 }
"""


@pytest.fixture
def folder(tmp_path):
    kinds = (ONE_ROW, BLOCKED, MULTI_ROW)
    with (tmp_path / "rows.jsonl").open("w") as file:
        for n in range(ROWS):
            code = (
                kinds[n % 3]
                .replace("tl.exp", "tl.log")
                .replace("eps", f"eps + tl.f{n // 30}(eps)", 2)
                .replace("1024", str(n + 2))
            )
            file.write(json.dumps({"code": code.replace("row", f"r{n}"), "prompt": "q"}) + "\n")
    (tmp_path / "curate.toml").write_text(TOML)
    return tmp_path


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_run_lists_its_clusters_and_counts_them(folder) -> None:
    result = pipeline.run(settings.read(folder / "curate.toml"))
    clusters = read(folder / "curated/clusters.jsonl")
    rows = read(folder / "curated/corpus/samples/train.jsonl")
    assert result.funnel["dedup"].entered == ROWS and result.rows == len(rows)
    assert sum(row["labels"]["cluster_size"] for row in rows) == ROWS
    assert {row["uid"]: row["labels"]["cluster_size"] for row in rows} == {
        c["representative"]: c["size"] for c in clusters
    }
    assert all(len(c["members"]) == c["size"] - 1 for c in clusters)
    assert [c["size"] for c in clusters] == sorted((c["size"] for c in clusters), reverse=True)
    assert not (folder / "curated/scratch").exists()


def test_kill_9_gives_the_same(folder) -> None:
    code = (
        "import sys, pathlib\nfrom kengine.curate import pipeline, settings\npipeline.COMMIT_ROWS = 50\n"
        "pipeline.run(settings.read(pathlib.Path(sys.argv[1])))\n"
    )
    command = [sys.executable, "-c", code, str(folder / "curate.toml")]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    shingles, kills = folder / "curated/scratch/dedup/shingles", 0
    for pause in (0.0, 0.1, 0.4):
        shingles.unlink(missing_ok=True)
        process = subprocess.Popen(command, env=environ)
        deadline = time.monotonic() + 120
        while process.poll() is None and not shingles.exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(pause)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    result = pipeline.run(settings.read(folder / "curate.toml"))
    again = {
        name: read(folder / "curated" / name)
        for name in ("clusters.jsonl", "corpus/samples/train.jsonl", "corpus/losses.jsonl")
    }
    whole = pipeline.run(settings.read(folder / "curate.toml"), fresh=True, jobs=1)
    assert kills
    assert result.funnel == whole.funnel
    assert again == {name: read(folder / "curated" / name) for name in again}


def test_the_stage_alone(folder, capsys, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    command = ["curate", "dedup", "rows.jsonl", "-o", "out.jsonl", "--set", 'clusters="found.jsonl"', "-q"]
    assert cli.run(command) == 0
    assert sum(row["labels"]["cluster_size"] for row in read(folder / "out.jsonl")) == ROWS
    assert (
        sum(row["size"] for row in read(folder / "found.jsonl"))
        + sum(row["labels"]["cluster_size"] == 1 for row in read(folder / "out.jsonl"))
        == ROWS
    )
    capsys.readouterr()
    assert cli.run(["curate", "dedup", "rows.jsonl", "--set", "threshold=3", "-q"]) == 2
    assert "threshold: want 0.5 to 1, got 3" in capsys.readouterr().err


def test_a_disk_that_is_full_leaves_the_list_that_was_there(folder, monkeypatch) -> None:
    from kengine.curate import dedup_report

    pipeline.run(settings.read(folder / "curate.toml"))
    before = (folder / "curated/clusters.jsonl").read_bytes()

    def fail(*_: object) -> str:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(dedup_report, "json", SimpleNamespace(dumps=fail))
        with pytest.raises(InfraError, match="No space left on device"):
            pipeline.run(settings.read(folder / "curate.toml"), fresh=True)
    assert (folder / "curated/clusters.jsonl").read_bytes() == before
    assert not list((folder / "curated").glob(".clusters*"))


def test_without_a_task_in_common_code_must_be_more_similar() -> None:
    other = ONE_ROW.replace("rms = ", "rms = rms + ", 1) if "rms = " in ONE_ROW else ONE_ROW
    other = swap(other, "row =", "cols =")
    pair = [sample("a", ONE_ROW), sample("b", other)]
    alone = [sample("a", ONE_ROW, None), sample("b", other, None)]
    assert other != ONE_ROW and kept(dedup(pair, Dedup(near=False))) == {"a": 1, "b": 1}
    assert kept(dedup(pair, Dedup(threshold=0.5, taskless_threshold=1.0))) == {"a": 2}
    assert kept(dedup(alone, Dedup(threshold=0.5, taskless_threshold=1.0))) == {"a": 1, "b": 1}
    assert kept(dedup(alone, Dedup(threshold=1.0, taskless_threshold=0.5))) == {"a": 2}
    assert kept(dedup(pair, Dedup(threshold=1.0, taskless_threshold=0.5))) == {"a": 1, "b": 1}
