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


def test_other_code_under_one_name_is_another_kernel():
    same = {"kernel": ["add"], "code of add": ["12ab"]}
    assert compare(same, same).ok
    found = compare(same, {"kernel": ["add"], "code of add": ["34cd"]})
    assert not found.ok and found.evidence.startswith("add has other code in the emulator than on toy:chip")


def test_only_a_target_that_the_emulator_stands_for_counts():
    assert compare({"kernel": ["add"]}, {"kernel": ["zeros"]}, OTHER) is None
    assert choices.compare({}, [], [CHIP]) is None
    assert choices.compare({"choices": 3}, [Artifact(CHIP, details={"choices": None})], [CHIP]) is None
