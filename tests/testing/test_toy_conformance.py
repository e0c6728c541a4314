"""The toy backend's modes catch what does no work, and say how."""

from __future__ import annotations

import kengine
import pytest
from kengine import tasks
from kengine.config import Plan
from kengine.model import Status
from kengine.testing.toy.conformance import KERNELS


@pytest.fixture(scope="module")
def engine():
    with kengine.Engine(
        target="toy:cpu", plan=Plan(ignore=("KE",)), workers=1
    ) as made:  # no lint: the modes must do it
        yield made


@pytest.mark.parametrize(
    ("old", "new", "evidence"),
    [
        ("return out", "return x + y", "the answer is right although no kernel ran"),
        ("    add[-(-len(x) // 64)](x, y, out)\n    return out", "    return x + y", "no kernel was launched"),
    ],
    ids=["scratch", "plain"],
)
def test_an_answer_that_no_kernel_gave_is_a_sham(engine, old, new, evidence):
    golden = KERNELS["add_ok"]
    assert old in golden.candidate
    verdict = engine.verify(tasks.parse(golden.candidate.replace(old, new), "candidate.py", str(golden.task)))
    assert verdict.status is Status.sham
    assert evidence in verdict.message


def test_a_launch_that_raises_and_is_swallowed_is_a_sham(engine):
    golden = KERNELS["add_ok"]
    call = "    add[-(-len(x) // 64)](x, y, out)\n"
    swallowed = f"    try:\n    {call}    except Exception:\n        out = x + y\n"
    item = tasks.parse(golden.candidate.replace(call, swallowed), "candidate.py", str(golden.task))
    verdict = engine.verify(item)
    assert verdict.status is Status.sham
    assert "launches raise" in verdict.message
