"""Cases of large and tiny values beside listed ones: which case they copy, and when there are none."""

from __future__ import annotations

import pytest
from kengine.errors import TaskError
from kengine.model import Case
from kengine.tasks.block import parse_block
from kengine.tasks.extra_values import add
from kengine.tasks.spec import read_spec


def cases(toml: str) -> list[Case]:
    return list(read_spec(parse_block(toml, "t.py", 1)).cases)


def added(toml: str) -> list[str]:
    return [case.name for case in cases(toml) if case.values != "drawn"]


def test_the_smallest_case_again_with_large_and_tiny_values_at_the_end() -> None:
    found = cases('dtypes = ["float32", "float16"]\n[[cases]]\nM = 64\nN = 512\n[[cases]]\nM = 3\nN = 127\n')
    assert [case.name for case in found[:4]] == [
        "M=64,N=512 float32", "M=64,N=512 float16", "M=3,N=127 float32", "M=3,N=127 float16",
    ]  # fmt: skip
    assert found[4:] == [
        Case("M=3,N=127 float32 large", {"M": 3, "N": 127}, "float32", "contiguous", "large"),
        Case("M=3,N=127 float32 tiny", {"M": 3, "N": 127}, "float32", "contiguous", "tiny"),
    ]


@pytest.mark.parametrize(
    ("tables", "base"),
    [
        ([{"n": 1000}, {"n": 0}, {"n": 1}, {"n": 300}], "n=300"),
        ([{"rows": 1, "n": 1}, {"rows": 1, "n": 64}], "rows=1,n=64"),
        ([{"shape": (64, 64)}, {"shape": (2, 3, 5)}], "shape=[2,3,5]"),
        ([{"n": 512, "causal": True}, {"n": 64, "causal": False}], "n=64,causal=false"),
        ([{"n": 512, "axis": -2}, {"n": 64, "axis": -1}], "n=64,axis=-1"),
        ([{"n": 64, "scale": 1e-9}, {"n": 32, "scale": 5.0}], "n=32,scale=5.0"),
        ([{"n": 1}, {"n": 0}], "n=0"),
        ([{"kind": "a"}, {"kind": "b"}], "kind=a"),
        ([{}], "default"),
    ],
)
def test_which_case_is_the_smallest(tables, base) -> None:
    def show(value):
        if isinstance(value, bool):
            return str(value).lower()
        return "[" + ",".join(map(str, value)) + "]" if isinstance(value, tuple) else str(value)

    listed = [Case(",".join(f"{k}={show(v)}" for k, v in t.items()) or "default", t) for t in tables]
    found = add(listed)
    assert list(found[: len(listed)]) == listed
    assert [(c.name, c.values) for c in found[len(listed) :]] == [(f"{base} large", "large"), (f"{base} tiny", "tiny")]


def test_layout_and_draw_are_those_of_the_case() -> None:
    assert added('draws = 3\nlayouts = ["strided"]') == ["default strided large", "default strided tiny"]
    assert [c.draw for c in cases("draws = 3")] == [0, 1, 2, 0, 0]


@pytest.mark.parametrize(
    "toml",
    [
        'values = ["drawn"]\n[[cases]]\nn = 3',
        'values = ["drawn"]',
        '[[cases]]\nn = 3\nvalues = "drawn"\n[[cases]]\nn = 4\nvalues = ["drawn", "normal"]',
        "extra_values = false\n[[cases]]\nn = 3",
        "extra_values = false\ndraws = 2",
    ],
)
def test_a_task_that_says_which_values_it_wants_gets_no_others(toml: str) -> None:
    assert {c.values for c in cases(toml)} <= {"drawn", "normal"}


def test_classes_that_a_case_has_are_not_added_again() -> None:
    assert added('[[cases]]\nn = 3\n[[cases]]\nn = 9\nvalues = "large"') == ["n=9 large", "n=3 tiny"]
    assert added('[[cases]]\nn = 3\n[[cases]]\nn = 9\nvalues = ["large", "tiny"]') == ["n=9 large", "n=9 tiny"]
    assert added('extra_values = true\nvalues = ["drawn", "tiny"]\n[[cases]]\nn = 3') == ["n=3 tiny", "n=3 large"]


def test_a_name_that_is_taken_is_not_used_twice() -> None:
    found = cases('[[cases]]\nn = 9\n[[cases]]\nname = "n=9 large"\nn = 10')
    assert [case.name for case in found] == ["n=9", "n=9 large", "n=9 large (added)", "n=9 tiny"]


def test_no_cases_stay_none() -> None:
    assert add(()) == ()
    assert cases('category = "norm"') == []


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("extra_values = 1\ndraws = 2", r"t.py:2: extra_values: 1 is not true or false"),
        ("extra_values = false", r't.py:2: extra_values: needs cases; values = \["drawn"\] keeps to what the task'),
        ("extra_values = true", r"t.py:2: extra_values: needs cases"),
    ],
)
def test_what_has_no_meaning(toml: str, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        cases(toml)
