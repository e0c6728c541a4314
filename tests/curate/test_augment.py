"""Augmentation: reasoning kept, asked or dropped; variants that were executed, at most so many."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from kengine.curate import settings
from kengine.curate.augment import Augment, ask_for_reasons, build
from kengine.curate.record import Sample
from kengine.curate.reject import Reject
from kengine.curate.sample import Sampling
from kengine.curate.stage import Context
from kengine.curate.taskbook import make
from kengine.errors import UsageError
from kengine.model import SourceFile
from toy_items import GOOD
from toy_items import TASK as TOY

TASK = make(TOY, "add")
PICKY = make(TOY.replace("    return x + y", "    assert len(x) % 2 == 0\n    return x + y"), "picky")


def sample(code: str = GOOD, **given) -> Sample:
    return Sample(
        "s:1", "s", "1", files=(SourceFile("candidate.py", code),), **{"task": TASK, "backend": "toy", **given}
    )


def run(section: Augment, samples: list[Sample], folder: Path, **tables) -> list[list[Sample]]:
    tables = {"reject": Reject(targets=("toy:cpu",)), **tables}
    made = settings.Settings(folder / "c.toml", folder, folder / "out", (), ("load", "augment"), tables)
    stage = build(section, Context(made, folder / "out", 2))
    try:
        return [list(each) for each in stage.run(iter(samples))]
    finally:
        stage.close()


def test_variants_are_executed_and_counted(tmp_path) -> None:
    ((first, *variants),) = run(Augment(variants=3), [sample(group="g")], tmp_path)
    assert first == sample(group="g") and len(variants) == 3
    assert [v.uid for v in variants] == ["s:1#1", "s:1#2", "s:1#3"] and {v.parent for v in variants} == {"s:1"}
    assert {v.group for v in variants} == {"g"} and all(v.passed for v in variants)
    assert len({v.labels["variant"] for v in variants}) == 3 and all(v.task.name == "add" for v in variants)
    assert len({v.task.digest for v in variants} | {TASK.digest}) == 4


def test_the_reference_and_the_candidate_must_take_a_variant(tmp_path) -> None:
    picky = sample(task=PICKY)
    narrow = sample(
        GOOD.replace("    out = np.empty_like(x)\n", "    assert len(x) <= 300\n    out = np.empty_like(x)\n")
    )
    first, second = run(Augment(variants=4, attempts=4), [picky, narrow], tmp_path)
    assert 1 <= len(first) - 1 <= 4 and all(
        int(s.labels["variant"].split("=")[1].split()[0]) % 2 == 0 for s in first[1:]
    )
    assert len(second) - 1 >= 1 and all(int(s.labels["variant"].split("=")[1].split()[0]) <= 300 for s in second[1:])


def test_nothing_is_made_of_what_has_no_task(tmp_path) -> None:
    assert run(Augment(variants=2), [sample(task=None)], tmp_path) == [[sample(task=None)]]


def test_reasoning_is_kept_dropped_or_asked_for(tmp_path) -> None:
    (tmp_path / "r.jsonl").write_text(
        '{"task": "add", "purpose": "reasoning", "completion": "<think>one program for 64 rows</think>"}\n'
    )
    thinking = sample(reasoning="mine")
    assert run(Augment(), [thinking, sample()], tmp_path) == [[thinking], [sample()]]
    assert run(Augment(reasoning="drop"), [thinking], tmp_path) == [[sample()]]
    asked = run(Augment(reasoning="ask"), [thinking, sample()], tmp_path, sample=Sampling(replay="r.jsonl"))
    assert asked[0] == [thinking]
    assert asked[1][0].reasoning == "one program for 64 rows" and asked[1][0].labels == {"reasoning": "asked"}
    (message,) = ask_for_reasons(sample())
    assert GOOD.strip() in message["content"] and "Do not repeat the code" in message["content"]


def test_what_a_table_must_say(tmp_path) -> None:
    with pytest.raises(UsageError, match=r'"ask" needs a table \[sample\]'):
        run(Augment(reasoning="ask"), [], tmp_path)
    with pytest.raises(UsageError, match="which names none"):
        run(Augment(variants=1), [], tmp_path, reject=Reject())
    for given, said in (
        ({"reasoning": "x"}, "reasoning: 'x'"),
        ({"variants": -1}, "variants: want 0 to 100"),
        ({"dtypes": ("float12",)}, "dtypes: 'float12' is not known"),
        ({"targets": ("x",)}, "targets: "),
    ):
        with pytest.raises(UsageError, match=said):
            replace(Augment(), **given)
