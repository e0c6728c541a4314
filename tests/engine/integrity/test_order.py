"""In which order the cases of a task are checked, and where in memory."""

from __future__ import annotations

import pytest
from kengine.engine.integrity.order import FORMS, draw_others, elsewhere, find_last, order
from kengine.judge.cases import DEFAULTS
from kengine.model import Case, CaseView, TensorSpec


def case(name, values="drawn", **params):
    return Case(name, params, values=values)


@pytest.mark.parametrize(
    ("cases", "last", "apart"),
    [
        ([case("a", n=4)], 0, set()),
        ([case("a", n=4), case("b", n=5)], 0, set()),
        ([case("a", n=4), case("b", "outlier", n=4), case("c", n=5)], 1, {2}),
        ([case("a", n=4), case("b", n=5), case("c", "large", n=4), case("d", "tiny", n=5)], 2, {1}),
        ([case("a", n=4), case("b", "zeros", n=4), case("c", "tiny", n=4), case("d", "binary", n=4)], 0, set()),
        ([case("a", "zeros", n=4), case("b", n=4)], 0, set()),
        (
            [Case("a", {"n": 4}, "float32"), Case("b", {"n": 4}, "float16"), Case("c", {"n": 4}, "float32", draw=1)],
            2,
            {1},
        ),
        ([Case("a", {"n": 4}), Case("b", {"n": 4}, layout="strided")], 0, set()),
    ],
)
def test_the_last_case_has_the_form_of_the_first_and_contents_that_tell(cases, last, apart):
    assert find_last(cases) == last
    assert elsewhere(cases) == apart
    found = order(cases)
    assert sorted(found) == list(range(len(cases))) and found[0] == 0
    assert found[-1] == (last or len(cases) - 1)
    assert [n for n in found if n != last] == sorted(n for n in range(len(cases)) if n != last)


def test_of_the_default_cases_the_last_draw_comes_last():
    assert DEFAULTS[find_last(DEFAULTS)].name == "draw2" and order(DEFAULTS) == list(range(len(DEFAULTS)))
    assert {DEFAULTS[n].name for n in elsewhere(DEFAULTS)} == {"outlier", "draw1", "large"}


def views(cases, empty=()):
    return [CaseView(n, (TensorSpec("float32", (0 if n in empty else 4,)),)) for n, _ in enumerate(cases)]


def test_of_each_other_form_one_case_is_drawn():
    cases = [
        case("a", n=4), case("b", "outlier", n=4), case("c", n=5), case("d", "large", n=5), case("e", "zeros", n=6),
        case("f", n=7), Case("g", {"n": 4}, layout="strided"), case("h", "binary", n=5),
    ]  # fmt: skip
    drawn = {draw_others(cases, views(cases, empty=(5,))) for _ in range(60)}
    assert drawn == {frozenset({2, 6}), frozenset({3, 6})}
    assert draw_others(cases[:2], views(cases[:2])) == frozenset()


def test_of_many_forms_a_few_are_drawn():
    cases = [case(f"n{n}", n=n) for n in range(9)]
    drawn = [draw_others(cases, views(cases)) for _ in range(200)]
    assert {len(each) for each in drawn} == {FORMS} and frozenset().union(*drawn) == set(range(1, 9))
