"""The order of a curriculum, its phases, and weights that fade."""

from __future__ import annotations

from collections import Counter

import pytest
from kengine.curate.curriculum import Curriculum, curriculum, hardness_of
from kengine.curate.record import Loss, Sample
from kengine.curate.reorder import pick
from kengine.errors import UsageError
from kengine.model import SourceFile, Task, TaskSpec


def sample(n: int, **labels) -> Sample:
    return Sample(f"s:{n}", "s", str(n), labels=labels, files=(SourceFile("c.py", f"x = {n}\n"),))


RATED = [sample(n, pass_rate=rate) for n, rate in enumerate((0.5, 1.0, 0.0, 0.25, 0.75, 0.5))]
LEVELS = [sample(n, level=n % 3 + 1) for n in range(600)]


def test_from_easy_to_hard(tmp_path) -> None:
    out = list(curriculum(RATED, Curriculum(), 0, tmp_path))
    assert [o.labels["pass_rate"] for o in out] == [1.0, 0.75, 0.5, 0.5, 0.25, 0.0]  # type: ignore[union-attr]
    assert [o.labels["order"] for o in out] == [1, 2, 3, 4, 5, 6]  # type: ignore[union-attr]
    assert [o.labels["phase"] for o in out] == [1, 1, 2, 2, 3, 3]  # type: ignore[union-attr]
    assert {o.weight for o in out} == {1.0} and next(o.code for o in out) == "x = 1\n"  # type: ignore[union-attr]


def test_a_run_draws_the_same_by_seed(tmp_path) -> None:
    def order(seed: int, **given) -> list[str]:
        return [o.uid for o in curriculum(LEVELS, Curriculum(**given), seed, tmp_path)]

    assert order(1) == order(1) != order(2)
    assert order(1, mixing=1.0) == order(1, mixing=1.0) != order(2, mixing=1.0)


def test_mixing_goes_from_an_order_to_a_shuffle(tmp_path) -> None:
    def first_third(mixing: float) -> Counter:
        out = list(curriculum(LEVELS, Curriculum(mixing=mixing), 4, tmp_path))[:200]
        return Counter(o.labels["level"] for o in out)  # type: ignore[union-attr]

    assert first_third(0.0) == {1: 200}
    half = first_third(0.5)
    assert 110 < half[1] < 190 and half[2] > half[3]
    assert all(40 < first_third(1.0)[level] < 95 for level in (1, 2, 3))


def test_a_schedule_of_levels(tmp_path) -> None:
    section = Curriculum(schedule=((1,), (1, 2, 3), ("2", "3")))
    out = list(curriculum([*LEVELS, sample(999), sample(1000, level=9)], section, 1, tmp_path))
    kept = [o for o in out if isinstance(o, Sample)]
    counts = Counter((o.labels["phase"], o.labels["level"]) for o in kept)
    assert set(counts) == {(1, 1), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3)}
    assert sum(counts.values()) == 600 and all(60 < n < 140 for n in counts.values())
    assert [o.labels["order"] for o in kept] == list(range(1, 601))
    phases = [o.labels["phase"] for o in kept]
    assert phases == sorted(phases)  # type: ignore[type-var]
    second = [o.labels["level"] for o in kept if o.labels["phase"] == 2]
    assert second == sorted(second)  # type: ignore[type-var]
    lost = [o for o in out if isinstance(o, Loss)]
    assert {(x.uid, x.reason) for x in lost} == {("s:999", "no_phase"), ("s:1000", "no_phase")}
    assert {x.detail for x in lost} == {"no phase takes level 'unknown'", "no phase takes level '9'"}


def test_easy_cases_fade(tmp_path) -> None:
    section = Curriculum(schedule=((1,), (1, 2, 3), (1, 2, 3)), fading=0.6)
    out = [o for o in curriculum(LEVELS, section, 1, tmp_path) if isinstance(o, Sample)]
    weights = {(o.labels["phase"], o.labels["level"]): o.weight for o in out}
    # progress 0, 1/2, 1 through the phases; hardness 1/6, 1/2, 5/6 by level
    assert weights == {
        (1, 1): 1.0, (2, 1): 0.75, (2, 2): 0.85, (2, 3): 0.95, (3, 1): 0.5, (3, 2): 0.7, (3, 3): 0.9
    }  # fmt: skip
    assert len({(o.labels["phase"], o.labels["level"], o.weight) for o in out}) == 7


@pytest.mark.parametrize(
    ("labels", "hardness"),
    [({"pass_rate": 0.2, "level": 1}, 0.8), ({"difficulty": "easy", "level": 3}, 1 / 6), ({"level": 2}, 0.5),
     ({"level": 4}, 5 / 6), ({}, 0.5), ({"level": "deep"}, 0.5), ({"pass_rate": True, "difficulty": "hard"}, 5 / 6)],
)  # fmt: skip
def test_how_hard_a_sample_is(labels, hardness) -> None:
    assert hardness_of(sample(0, **labels)) == pytest.approx(hardness)


def test_few_rows_and_none(tmp_path) -> None:
    assert list(curriculum([], Curriculum(), 0, tmp_path)) == []
    (only,) = curriculum([sample(0)], Curriculum(fading=0.5), 0, tmp_path)
    assert isinstance(only, Sample) and (only.weight, only.labels["phase"], only.labels["order"]) == (1.0, 1, 1)


def test_samples_in_another_order_keep_their_tasks(tmp_path) -> None:
    tasks = [Task(f"t{n}", "function", f"x = {n}", spec=TaskSpec(level=n)) for n in range(3)]
    samples = [Sample(f"s:{n}", "s", str(n), tasks[n % 3], completion="é\udcff" * n) for n in range(9)]
    samples.append(Sample("s:9", "s", "9"))
    order = [9, 3, 0, 8, 1, 2, 4, 7, 6, 5]
    assert list(pick(samples, order, tmp_path)) == [samples[n] for n in order]


@pytest.mark.parametrize(
    ("given", "said"),
    [({"phases": 0}, "phases: want 1"), ({"schedule": ((1,), ())}, "schedule: a phase takes no value"),
     ({"mixing": 1.5}, "mixing: want 0 to 1"), ({"fading": 1.0}, "fading: want at least 0 and below 1")],
)  # fmt: skip
def test_tables_that_make_no_sense(given, said) -> None:
    with pytest.raises(UsageError, match=said):
        Curriculum(**given)
