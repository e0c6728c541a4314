"""Records made by hand, or from broken JSON, with half a surrogate pair: nothing between caller and store fails."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kengine import Engine, Item, Plan, TaskError, codec
from kengine.model import Case, SourceFile, Verdict
from kengine.report.text import verdict_text
from toy_items import GOOD, item

HALF = "a\ud800b"
C, T = item(GOOD).candidate, item(GOOD).task
MAIN = C.main


@pytest.fixture(scope="module")
def engine():
    with Engine(target="toy:cpu", plan=Plan(cases=1), workers=1) as engine:
        yield engine


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (
            replace(C, files=(SourceFile(MAIN.path, f"{MAIN.text}\n# {HALF}\n"),)),
            "candidate.py:15: the source is",
        ),
        (
            replace(C, files=(MAIN, SourceFile("more.py", f"\n# {HALF}\n"))),
            "more.py:2: the source is not valid",
        ),
        (replace(C, entry=HALF), "candidate.py: defines no "),
        (replace(C, files=(SourceFile(f"{HALF}.py", MAIN.text),)), ""),
        (replace(C, files=(MAIN, SourceFile(f"{HALF}.py", "x = 1\n"))), ""),
        (replace(C, options={HALF: (HALF, {HALF: HALF})}), ""),
    ],
)
def test_half_a_surrogate_pair_in_a_candidate_is_told_of_where_it_matters(tmp_path, candidate, said) -> None:
    with Engine(target="toy:cpu", plan=Plan(cases=1), workers=1, run=tmp_path) as engine:
        verdict = engine.verify(Item(candidate, T, key=HALF))
        assert engine.verify(Item(candidate, T, key=HALF)) == verdict, "it is kept, and read back the same"
    assert str(verdict.status) == ("compile_failed" if said else "passed") and verdict.message.startswith(said)
    assert codec.loads(codec.dumps(verdict), Verdict) == verdict
    assert verdict_text(verdict)
    assert candidate.digest != C.digest or candidate.options != C.options


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (replace(T, source=f"{T.source}\n# {HALF}\n"), "its source cannot be executed: UnicodeEncodeError"),
        (replace(T, spec=replace(T.spec, cases=(Case("a", {HALF: 1}),))), "make_inputs raised: TypeError"),
        (replace(T, spec=replace(T.spec, cases=(Case("a", {"rows": HALF}),))), "make_inputs raised: TypeError"),
        (replace(T, spec=replace(T.spec, writes=(HALF,))), "writes names"),
        (replace(T, name=HALF), ""),
        (replace(T, path=f"{HALF}.py"), ""),
        (replace(T, spec=replace(T.spec, cases=(Case(HALF),), allow=(HALF,), category=HALF, origin=HALF)), ""),
    ],
)
@pytest.mark.parametrize("self_referenced", [False, True])
def test_and_in_a_task(engine, task, said, self_referenced) -> None:
    one = Item(C, replace(task, self_referenced=self_referenced))
    if not said:
        assert engine.verify(one).passed
        return
    with pytest.raises(TaskError) as raised:
        engine.verify(one)
    assert said in str(raised.value)
