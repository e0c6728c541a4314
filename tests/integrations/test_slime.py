"""slime: its call `await f(args, sample)` and, with --group-rm, `await f(args, samples)`; it is not on PyPI."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from dataclasses import dataclass, field
from typing import Any

import pytest
from kengine import UsageError
from kengine.integrations.slime import reward


@dataclass
class Sample:
    """The fields of slime 0.3.1's Sample that a reward sees."""

    prompt: str | list[dict[str, str]] = ""
    response: str = ""
    label: str | None = None
    reward: float | dict[str, Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    remove_sample: bool = False


def test_one_and_a_group(toy):
    args = Namespace(kengine=toy.given)
    sample = Sample(response=toy.right, label=toy.task)
    assert asyncio.run(reward(args, sample)) == 0.5 and sample.metadata == {"kengine_status": "passed"}
    group = [Sample(response=text, metadata={"task": toy.task}) for text in (toy.right, toy.wrong, toy.broken)]
    assert asyncio.run(reward(args, group)) == [0.5, 0.1, 0.0]
    assert not any(s.remove_sample for s in group)


def test_keywords_from_the_environment(toy, environment):
    assert asyncio.run(reward(Namespace(), Sample(response=toy.right, label=toy.task))) == 1.0


def test_a_lost_sample_is_removed(toy, lost):
    sample = Sample(response=toy.right, label=toy.task)
    assert asyncio.run(reward(Namespace(kengine=toy.given), sample)) == 0.0
    assert sample.remove_sample and sample.metadata["kengine_status"] == "masked"


def test_a_sample_without_a_task(toy):
    with pytest.raises(UsageError, match="slime passed no column 'task'; it passed: label"):
        asyncio.run(reward(Namespace(kengine=toy.given), Sample(response="x")))
