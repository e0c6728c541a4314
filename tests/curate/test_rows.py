"""Samples and losses read back equal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kengine.curate import rows
from kengine.curate.record import Judgement, Loss, Sample, drop, evolve, label
from kengine.errors import UsageError
from kengine.model import KernelResources, SourceFile, Task, TaskSpec

TASK = Task(
    "t",
    "function",
    "def reference(x): return x\ndef make_inputs(seed, device): return (1,)\n",
    spec=TaskSpec(category="norm", level=2),
)
FULL = Sample(
    "s:1~2",
    "s",
    "1",
    TASK,
    "group",
    (SourceFile("a.py", "x = 1\n"), SourceFile("b.h", "// é")),
    "candidate",
    "triton",
    ({"role": "user", "content": "q"},),
    "said",
    "because",
    "MIT",
    "m",
    {"temperature": 0.7},
    {"level": 1, "operator": "add"},
    {"correct": True},
    (
        Judgement(
            "triton:interpret",
            "passed",
            True,
            kernels=(KernelResources("k", 32, 0, 1024, 0.5),),
            cases=3,
            compiled_for=("triton:sm_90",),
            versions={"triton": "3"},
            salt="00",
            latency_ns=5,
            speedup=1.5,
        ),
        Judgement("triton:sm_90", "wrong_result", False, "compare", "bad"),
    ),
    2.5,
    "s:1",
)


def test_a_sample_reads_back_equal_with_its_task_apart() -> None:
    text = rows.encode(FULL, TASK.digest)
    assert b"reference" not in text
    assert rows.decode(text, lambda digest: {TASK.digest: TASK}[digest]) == FULL


def test_defaults_take_no_room() -> None:
    assert json.loads(rows.encode(Sample("u", "s", "o"), "")) == {"uid": "u", "source": "s", "origin": "o"}


@given(st.text(), st.text(), st.dictionaries(st.text(), st.integers(-5, 5) | st.text() | st.booleans()))
def test_any_text_reads_back_equal(code: str, said: str, labels: dict[str, int | str | bool]) -> None:
    sample = Sample("u", "s", "o", files=(SourceFile("a.py", code),), completion=said, labels=labels)
    assert rows.decode(rows.encode(sample, ""), lambda _: TASK) == sample


def test_a_line_stands_alone() -> None:
    line = json.loads(rows.to_line(FULL))
    assert line.pop("schema") == "kengine.sample/1"
    assert rows.from_line(line, "f:1") == FULL


@pytest.mark.parametrize("change", [{"uid": None}, {"task": {"name": "x"}}, {"files": [1]}, {"judgements": [{"x": 1}]}])
def test_a_line_that_is_no_sample_is_told_with_its_place(change: dict[str, object]) -> None:
    line = {k: v for k, v in {**json.loads(rows.to_line(FULL)), **change}.items() if v is not None}
    with pytest.raises(UsageError, match=r"f\.jsonl:3: "):
        rows.from_line(line, "f.jsonl:3")


def test_a_loss_keeps_what_is_counted() -> None:
    loss = drop(FULL, "wrong_result", "it is wrong")
    assert loss == Loss("s:1~2", "wrong_result", "it is wrong", "", "group", FULL.facets(), FULL.judgements)
    assert loss.facets == {
        "task": "t",
        "backend": "triton",
        "source": "s",
        "operator": "add",
        "level": 1,
        "category": "norm",
    }
    body = rows.encode_loss(loss)
    assert rows.decode_loss(loss.uid, "reject", loss.reason, loss.detail, loss.group, body) == Loss(
        **{**vars(loss), "stage": "reject"}
    )


def test_evolve_changes_only_what_it_is_told() -> None:
    first = FULL.digest
    changed = evolve(FULL, files=(SourceFile("a.py", "x = 2\n"),))
    assert changed.digest != first and changed.uid == FULL.uid and FULL.digest == first
    assert label(FULL, shapes="one").labels == {"level": 1, "operator": "add", "shapes": "one"}
    with pytest.raises(TypeError, match="no field nope"):
        evolve(FULL, nope=1)
