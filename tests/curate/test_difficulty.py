"""Pass rates from everything that was judged, and what is easy and hard by them."""

from __future__ import annotations

import pytest
from kengine.curate.attempts import Attempts, Count
from kengine.curate.difficulty import Difficulty, difficulty, grade
from kengine.curate.record import Judgement, Loss, Sample
from kengine.errors import UsageError
from kengine.model import Task, TaskSpec

PASSED = (Judgement("toy:cpu", "passed"),)
TASK = Task("t", "function", "def reference(x):\n    return torch.relu(x)\n")


def kept(n: int, group: str = "g", backend: str = "triton", **given) -> Sample:
    return Sample(f"s:{group}{backend}{n}", "s", str(n), TASK, group=group, backend=backend, judgements=PASSED, **given)


def lost(reason: str, group: str = "g", backend: str = "triton", judged: bool = True, stage: str = "compare") -> Loss:
    judgements = (Judgement("toy:cpu", reason, stage=stage),) if judged else ()
    return Loss("u", reason, "", "reject", group, {"backend": backend}, judgements)


def test_losses_count_as_attempts() -> None:
    samples = [kept(n) for n in range(3)] + [kept(0, backend="nki")]
    losses = [lost("wrong_result") for _ in range(5)] + [lost("compile_failed", stage="compile"), lost("sham")]
    losses += [lost("wrong_result", backend="nki") for _ in range(4)]
    attempts = Attempts.of(samples, losses)
    assert attempts.counts["g", "triton"] == Count(10, 8, 3, 3)
    assert attempts.counts["g", "nki"] == Count(5, 5, 1, 1)
    rated = list(difficulty(samples, Difficulty(), losses))
    assert [s.labels["pass_rate"] for s in rated] == [0.3, 0.3, 0.3, 0.2]
    assert [s.labels["attempts"] for s in rated] == [10, 10, 10, 5]
    assert [s.labels["difficulty"] for s in rated] == ["medium"] * 3 + ["hard"]
    assert rated[0].labels["category"] == "activation" and rated[0].labels["level"] == 1


def test_a_duplicate_that_passed_is_an_attempt_that_passed() -> None:
    duplicate = Loss("u", "near_duplicate", "", "dedup", "g", {"backend": "triton"}, PASSED)
    specialised = Loss("u", "shape_specialised", "", "reject", "g", {"backend": "triton"}, PASSED)
    slow = lost("too_slow", stage="time")
    attempts = Attempts.of([kept(0)], [duplicate, specialised, slow])
    assert attempts.counts["g", "triton"] == Count(4, 4, 3, 2)


def test_what_says_nothing_of_a_candidate_is_no_attempt() -> None:
    silent = [lost(r, judged=False) for r in ("no_target", "no_task", "broken_task", "license", "malformed_row")]
    attempts = Attempts.of([kept(0), kept(1, labels={"variant": "N=7"})], [*silent, lost("unsupported")])
    assert attempts.counts == {("g", "triton"): Count(1, 1, 1, 1)}


def test_an_answer_without_code_is_an_attempt_that_failed() -> None:
    losses = [lost("no_code", judged=False), lost("truncated", backend="", judged=False),
              lost("no_code", backend="hip", judged=False),
              lost("no_code", group="unjudged", judged=False)]  # fmt: skip
    assert Attempts.of([kept(0)], losses).counts == {("g", "triton"): Count(3, 1, 1, 1)}
    # two backends: nobody knows for which of them an answer without one was meant
    both = Attempts.of([kept(0), kept(0, backend="nki")], losses)
    assert both.counts == {("g", "triton"): Count(2, 1, 1, 1), ("g", "nki"): Count(1, 1, 1, 1)}


def test_few_attempts_give_no_rate_and_the_level_decides() -> None:
    samples = [kept(n) for n in range(3)]
    (first, *_) = difficulty(samples)
    assert "pass_rate" not in first.labels and first.labels["attempts"] == 3 and first.labels["difficulty"] == "easy"
    (first, *_) = difficulty(samples, Difficulty(min_attempts=3))
    assert first.labels["pass_rate"] == 1.0
    again = list(difficulty([first], Difficulty()))
    assert again[0].labels["attempts"] == 1 and "pass_rate" not in again[0].labels


def test_what_a_source_says() -> None:
    said = Sample("u", "s", "o", TASK, labels={"difficulty": 4, "level": 2})
    (kept_,) = difficulty([said])
    assert (kept_.labels["difficulty"], kept_.labels["rated"], kept_.labels["level"]) == ("hard", 4, 2)
    (ruled,) = difficulty([said], Difficulty(prefer="rule"))
    assert (ruled.labels["difficulty"], ruled.labels["level"]) == ("easy", 1)
    bare = Sample("u", "s", "o", Task("t", "function", "", spec=TaskSpec()))
    (unknown,) = difficulty([bare])
    assert dict(unknown.labels) == {}


@pytest.mark.parametrize(
    ("measured", "level", "said", "word"),
    [(1.0, 3, "hard", "easy"), (0.75, None, None, "easy"), (0.74, None, None, "medium"), (0.25, 1, None, "hard"),
     (0.0, 1, None, "hard"), (None, 1, None, "easy"), (None, 2, None, "medium"), (None, 3, None, "hard"),
     (None, 4, None, "hard"), (None, 0, None, "easy"), (None, 1, "hard", "hard"), (None, 3, 1, "easy"),
     (None, 3, 3, "medium"), (None, 1, 5, "hard"), (None, None, None, ""), (None, "x", "?", "")],
)  # fmt: skip
def test_grades(measured, level, said, word) -> None:
    assert grade(measured, level, said, Difficulty()) == word


def test_tables_that_make_no_sense() -> None:
    for given, said in (({"prefer": "both"}, "prefer: 'both' is not known; allowed: source, rule"),
                        ({"min_attempts": 0}, "min_attempts: want at least 1"),
                        ({"easy": 0.2}, "hard: want less than easy"),
                        ({"easy": 2.0}, "easy: want a pass rate")):  # fmt: skip
        with pytest.raises(UsageError, match=said):
            Difficulty(**given)
