"""Kernels that an emulator ran against those that were compiled for the chip that it stands for."""

from __future__ import annotations

import json

import pytest
from kengine.engine.integrity import choices
from kengine.model import Artifact, Target

CHIP, OTHER = Target("toy", "chip"), Target("toy", "other")


def compare(here, there, target=CHIP):
    text = [side if isinstance(side, str) else json.dumps(side) for side in (here, there)]
    return choices.compare({"choices": text[0]}, [Artifact(target, details={"choices": text[1]})], [CHIP])


@pytest.mark.parametrize(
    ("here", "there", "ok"),
    [
        ({"kernel": ["add"]}, {"kernel": ["add"]}, True),
        ({"kernel": ["add"]}, {"kernel": ["zeros"]}, False),
        ({"kernel": ["add", "short"]}, {"kernel": ["add"]}, True),
        ({"kernel": ["add"], "global C": ["True"]}, {"kernel": ["add"], "global C": ["False"]}, False),
        ({"kernel": ["add"], "global C": ["1"]}, {"kernel": ["add"], "global C": ["1"]}, True),
        ({"kernel": ["add"], "argument B": ["32"]}, {"kernel": ["add"], "argument B": ["64", "128"]}, True),
        ({"kernel": ["add"], "argument L": ["3", "5"]}, {"kernel": ["add"], "argument L": ["4", "6"]}, True),
        ({"kernel": ["add"], "global C": ["1"]}, {"kernel": ["add"]}, True),
        ({"kernel": ["add"]}, {}, None),
        ({"kernel": ["add"]}, {"kernel": []}, None),
        ({}, {"kernel": ["add"]}, None),
        ("[1]", {"kernel": ["add"]}, None),
        ("{", {"kernel": ["add"]}, None),
        pytest.param("[" * 200_000, {"kernel": ["add"]}, None, id="nested without end"),
        ({"kernel": 3}, {"kernel": ["add"]}, None),
    ],
)
def test_one_value_here_and_another_there_is_another_kernel(here, there, ok):
    found = compare(here, there)
    assert (found.ok if found else None) is ok
    if ok is False:
        assert "in the emulator" in found.evidence and "toy:chip" in found.evidence
        assert ("a clock" in found.evidence) is ("global" in found.evidence)


def counted(calls, **names):
    """A side that made so many calls; for each name its values, each with how often and in how many calls it came."""
    return {"calls": calls, "kernel": {"add": [calls, calls]}, **{f"argument {n}": v for n, v in names.items()}}


T, F = "True", "False"
ONE_IN_ALL = {T: [4, 4]}
BOTH_IN_ALL = {T: [4, 4], F: [4, 4]}


@pytest.mark.parametrize(
    ("here", "there", "ok"),
    [
        (BOTH_IN_ALL, {F: [4, 1]}, False),  # a dummy here
        (ONE_IN_ALL, {T: [4, 1], F: [4, 1]}, False),  # a dummy there
        (ONE_IN_ALL, {T: [1, 1], F: [7, 1]}, False),
        (BOTH_IN_ALL, {T: [4, 1], F: [4, 1]}, True),  # stages of a loop
        ({T: [4, 4], F: [9, 1]}, {T: [4, 1]}, True),  # a way that one case takes, and others may
        ({T: [4, 4]}, {T: [4, 1], F: [2, 1]}, True),
        ({T: [2, 2], F: [2, 2]}, {F: [4, 1]}, True),  # what a kernel found decides, which a compile does not know
        ({"'a'": [4, 4], "'b'": [4, 4]}, {"'b'": [4, 1]}, False),
        ({"'a'": [2, 2], "'b'": [2, 2]}, {"'c'": [4, 1]}, False),  # none is met there
        ({"None": [4, 4], "0": [4, 4]}, {"0": [4, 1]}, False),
        ({"0": [4, 4], "1": [4, 4]}, {"0": [4, 1]}, False),  # numbers that are flags
        ({"64": [4, 4], "32": [4, 4]}, {"32": [4, 1]}, True),  # sizes
        ({"0": [4, 4], "2": [4, 4]}, {"0": [4, 1], "1": [4, 1]}, True),
        ({"1.5": [4, 4], "-3": [4, 4]}, {"1e-05": [4, 1], "7": [4, 1]}, True),
        ({"64": [4, 4]}, {"32": [4, 1]}, False),
        ({T: [4], F: ["4", 4]}, {T: [4, 1]}, True),  # what is no count says nothing
    ],
)
def test_a_flag_that_comes_in_every_call_comes_on_the_other_side_too(here, there, ok):
    assert compare(counted(4, FLAG=here), counted(1, FLAG=there)).ok is ok
    found = compare(counted(4, FLAG=here, LANES={"8": [4, 4]}), counted(1, FLAG=there, LANES={"8": [4, 1]}))
    assert found.ok is ok and (ok or found.evidence.startswith("argument FLAG is "))


def test_a_compile_sees_sixteen_calls_at_most():
    here = counted(40, FLAG={T: [40, 40]})
    assert not compare(here, counted(1, FLAG={T: [16, 1], F: [16, 1]})).ok
    assert compare(here, counted(1, FLAG={T: [16, 1], F: [15, 1]})).ok
    assert compare({**here, "calls": 0}, counted(1, FLAG={T: [16, 1], F: [16, 1]})).ok
    assert compare({**here, "calls": "40"}, counted(1, FLAG={T: [16, 1], F: [16, 1]})).ok


@pytest.mark.parametrize("dummy", [["12ab"], ["34cd"]])
def test_a_second_kernel_of_one_name_hides_no_code(dummy):
    code = {"12ab": [4, 4], "34cd": [4, 4]}
    here = counted(4) | {"code of add": code}
    assert compare(here, counted(1) | {"code of add": {v: [n, 1] for v, (n, _) in code.items()}}).ok
    found = compare(here, counted(1) | {"code of add": {v: [4, 1] for v in dummy}})
    assert not found.ok and found.evidence.startswith("add has other code")


def test_other_code_under_one_name_is_another_kernel():
    same = {"kernel": ["add"], "code of add": ["12ab"]}
    assert compare(same, same).ok
    found = compare(same, {"kernel": ["add"], "code of add": ["34cd"]})
    assert not found.ok and found.evidence.startswith("add has other code in the emulator than on toy:chip")


def test_only_a_target_that_the_emulator_stands_for_counts():
    assert compare({"kernel": ["add"]}, {"kernel": ["zeros"]}, OTHER) is None
    assert choices.compare({}, [], [CHIP]) is None
    assert choices.compare({"choices": 3}, [Artifact(CHIP, details={"choices": None})], [CHIP]) is None
