"""The curation example: exact counts of every stage, and that only the completion counts in the loss."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from kengine.curate import pipeline, settings

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "curate_rmsnorm"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(
            importlib.util.find_spec(name) is None
            for name in ("torch", "triton", "ml_dtypes", "tree_sitter_python", "tree_sitter_cuda", "rensa")
        ),
        reason="needs torch, triton, ml_dtypes and more: pip install 'kernel-engine[triton,nki,curate]'",
    ),
    pytest.mark.skipif(
        not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="CUDA on the processor needs a C++ compiler"
    ),
]

EXPECTED = [
    {"stage": "load", "entered": 1, "added": 0, "left": 1, "lost": {}},
    {"stage": "sample", "entered": 1, "added": 22, "left": 23, "lost": {}},
    {"stage": "parse", "entered": 23, "added": 0, "left": 20, "lost": {"truncated": 2, "no_code": 1}},
    {
        "stage": "reject",
        "entered": 20,
        "added": 0,
        "left": 10,
        "lost": {
            "compile_failed": 3,
            "wrong_result": 3,
            "launch_failed": 1,
            "lint_rejected": 1,
            "sham": 1,
            "shape_specialised": 1,
        },
    },
    {"stage": "dedup", "entered": 10, "added": 0, "left": 5, "lost": {"exact_duplicate": 3, "near_duplicate": 2}},
    {"stage": "augment", "entered": 5, "added": 5, "left": 10, "lost": {}},
]
KEPT = {
    "triton1": "blocked",
    "triton2": "several rows a program",
    "triton3": "one row a program, with the shortest names",
    "nki0": "one row a partition",
    "cuda0": "one row a block",
}
CLUSTERS = {
    "triton3": {
        "triton0": "other names",
        "triton4": "other names, once more",
        "triton5": "other names, larger tile",
    },
    "triton1": {
        "triton14": "tiny tiles, one warp: slow, which no emulator can tell",
        "triton15": "larger tile, between other blocks",
    },
}
LOST = {
    "triton6": "wrong_result",
    "triton7": "wrong_result",
    "triton8": "sham",
    "triton9": "lint_rejected",
    "triton10": "compile_failed",
    "triton11": "truncated",
    "triton12": "truncated",
    "triton13": "no_code",
    "triton16": "compile_failed",
    "triton17": "shape_specialised",
    "nki1": "wrong_result",
    "nki2": "compile_failed",
    "cuda1": "launch_failed",
    "triton0": "exact_duplicate",
    "triton4": "exact_duplicate",
    "triton5": "near_duplicate",
    "triton14": "near_duplicate",
    "triton15": "exact_duplicate",
}
STAGES = tuple(step["stage"] for step in EXPECTED)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The example, run in a folder of its own by the stages of this test alone."""
    folder = tmp_path_factory.mktemp("curate") / "rmsnorm"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("curated"))
    return folder


@pytest.fixture(scope="module")
def result(folder):
    return pipeline.run(settings.read(folder / "curate.toml"))


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_funnel_has_exactly_these_counts(result) -> None:
    assert [step for step in result.funnel.to_json() if step["stage"] in STAGES] == EXPECTED


def test_each_sample_ends_as_it_must(folder, result) -> None:
    losses = {row["uid"].partition("~")[2]: row["reason"] for row in lines(folder / "curated/corpus/losses.jsonl")}
    assert losses == LOST
    rows = lines(folder / "curated/corpus/samples/train.jsonl")
    assert {row["uid"].partition("~")[2] for row in rows if "#" not in row["uid"]} == set(KEPT)
    assert Counter(row["backend"] for row in rows) == {"triton": 6, "nki": 2, "cuda": 2}


def test_three_structures_stay_and_what_only_looks_different_does_not(folder, result) -> None:
    clusters = {row["representative"].partition("~")[2]: row for row in lines(folder / "curated/clusters.jsonl")}
    found = {kept: {m["uid"].partition("~")[2] for m in row["members"]} for kept, row in clusters.items()}
    assert found == {kept: set(members) for kept, members in CLUSTERS.items()}
    assert all(row["size"] == 1 + len(row["members"]) for row in clusters.values())
    sizes = {
        row["uid"].partition("~")[2]: row["labels"]["cluster_size"]
        for row in lines(folder / "curated/corpus/samples/train.jsonl")
        if "#" not in row["uid"]
    }
    assert sizes == {uid: 1 + len(CLUSTERS.get(uid, ())) for uid in KEPT}


def test_rows_are_whole(folder, result) -> None:
    rows = lines(folder / "curated/corpus/messages/train.jsonl")
    assert len(rows) == 10
    for row in rows:
        assert row["license"] == "Apache-2.0" and row["verdict"] == "passed" and row["emulated"] is True
        assert row["seeds"] and json.loads(row["toolchain"]) and row["task_digest"] and row["candidate_digest"]
        assert [m["train"] for m in row["messages"]] == [False, True]
        assert row["messages"][0]["content"].startswith(
            f"[backend: {row['backend']}] [category: normalization] [level: 1]"
        )
    first = next(row for row in rows if row["uid"].endswith("triton1"))
    assert first["messages"][1]["content"].startswith("<think>\nRows may be longer than a tile")
    variants = [row for row in rows if row["variant"]]
    assert len(variants) == 5 and {row["parent"] for row in variants} == {r["uid"] for r in rows if not r["variant"]}


def test_only_the_completion_counts_in_the_loss(folder, result) -> None:
    done = subprocess.run(
        [sys.executable, str(folder / "loss_mask.py"), str(folder / "curated/corpus/messages/train.jsonl")],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "OMP_NUM_THREADS": "1"},
    )
    assert done.stdout.count("True") == 2 and "False" not in done.stdout
