"""Completions and tasks in, rewards out."""

from __future__ import annotations

import pickle

import pytest
from kengine import InfraError, TaskError, UsageError
from kengine.client import Settings
from kengine.client.client import KengineWarning
from kengine.integrations.grading import Grader, grader


def test_rewards_and_feedback(toy):
    graded = grader(toy.given).grade([toy.right, toy.wrong, toy.broken], [toy.task] * 3)
    assert [g.reward for g in graded] == list(toy.rewards.values())
    assert [g.status for g in graded] == ["passed", "wrong_result", "compile_failed"]
    assert [g.passed for g in graded] == [True, False, False] and not any(g.masked for g in graded)
    told = graded[1].feedback(300)
    assert told.startswith("Status: wrong_result") and len(told) <= 300


def test_a_lost_sample_has_no_reward(toy, lost):
    (graded,) = grader(toy.given).grade([toy.right], [toy.task])
    assert graded.masked and graded.reward is None and graded.status == "masked" and not graded.passed
    assert "machine failed" in graded.feedback()
    with pytest.raises(InfraError, match="must not be given one: the judge died"):
        graded.require()


@pytest.mark.parametrize(
    "broken", ["def reference(x):\n    return x\n", "def reference(:\n"], ids=["no inputs", "no Python"]
)
def test_a_task_that_cannot_be_read(toy, broken):
    with pytest.raises(TaskError):
        grader(toy.given).grade([toy.right], [broken])
    mask = grader({**toy.given, "broken_task": "mask"})
    with pytest.warns(KengineWarning, match="its task is broken: task.py"):
        graded = mask.grade([toy.wrong, toy.right, toy.right], [toy.task, broken, toy.task])
    assert [g.status for g in graded] == ["wrong_result", "masked", "passed"] and graded[1].reward is None


CUDA = "```cuda\n__global__ void k(float* x) {}\n```\n"
PYTHON = "```python\ndef candidate(x, y):\n    return x\n```\n"


@pytest.mark.parametrize(
    ("where", "name", "answer", "path"),
    [
        ({"target": "cuda:cpu"}, "", CUDA, "candidate.cu"),
        ({"target": "cuda:cpu"}, "", CUDA + PYTHON, "candidate.py"),
        ({"target": "cuda:cpu"}, "candidate.cu", CUDA + PYTHON, "candidate.cu"),
        ({"backend": "triton"}, "", PYTHON + CUDA, "candidate.py"),
        ({"url": "http://127.0.0.1:1"}, "", CUDA, "candidate.cu"),
    ],
)
def test_the_answer_tells_its_language_where_no_name_does(toy, where, name, answer, path):
    made = Grader(Settings(**where), name=name)
    item = made._item(answer, toy.task)
    assert item is not None and item.candidate.main.path == path
    assert "```" not in item.candidate.main.text


def test_it_travels(toy):
    made = grader(toy.given)
    again = pickle.loads(pickle.dumps(made))
    assert again == made and again.client is made.client


def test_it_is_kept_until_keywords_or_environment_change(toy, monkeypatch):
    made = grader(toy.given)
    assert grader(dict(toy.given)) is made
    assert grader({**toy.given, "workers": 2}) is not made
    plain = {**toy.given, "parameters": {}}
    assert grader(plain).reward == "staged"
    monkeypatch.setenv("KENGINE_REWARD", "correctness")
    assert grader(plain).reward == "correctness"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"reward": "stagd"}, "did you mean 'staged'"),
        ({"parameters": {"sped": 0}}, "takes no 'sped'"),
        ({"tagret": "toy:cpu"}, "unknown setting 'tagret'"),
        ({"target": None}, "say where to judge"),
        ({"plan": {"case": 1}}, "case"),
    ],
)
def test_what_is_wrong_shows_at_once(toy, given, said):
    with pytest.raises(UsageError, match=said):
        grader({**toy.given, **given})


def test_a_reward_that_asks_for_speed_on_an_emulator(toy):
    with pytest.raises(UsageError, match="speed term, and toy:cpu is an emulator"):
        grader({**toy.given, "parameters": {}}).grade([toy.right], [toy.task])


def test_lengths_must_match(toy):
    with pytest.raises(UsageError, match="2 completions and 1 tasks"):
        Grader.read(toy.given).grade([toy.right] * 2, [toy.task])
