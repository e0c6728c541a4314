"""verifiers: rubric of the first generation, reward of the second; each where that generation is installed."""

from __future__ import annotations

import asyncio
import json
from importlib import metadata
from types import SimpleNamespace

import pytest
from kengine import InfraError, UsageError
from kengine.integrations.verifiers import GroupReward, kernel_reward, load_environment


def test_a_group(toy):
    states = [{}, {}, {}]
    reward = GroupReward(**toy.given)
    infos = [{"task": toy.task}, '{"task": ' + json.dumps(toy.task) + "}", {}]
    rewards = asyncio.run(
        reward(completions=[toy.right, toy.wrong, toy.broken], answers=["", "", toy.task], infos=infos, states=states)
    )
    assert rewards == [0.5, 0.1, 0.0]
    assert [s["kengine_status"] for s in states] == ["passed", "wrong_result", "compile_failed"]


def test_a_lost_sample_of_a_group_is_an_error_of_its_state(toy, lost):
    state = {}
    assert asyncio.run(GroupReward(**toy.given)([toy.right], [""], [{"task": toy.task}], [state])) == [0.0]
    assert isinstance(state["error"], InfraError)


def test_a_rubric_of_the_first_generation(toy):
    vf = pytest.importorskip("verifiers", reason="needs verifiers (pip install verifiers==0.1.14)")
    if not hasattr(vf, "Rubric"):
        pytest.skip(f"verifiers {metadata.version('verifiers')} is of the second generation")
    from datasets import Dataset

    rows = [{"question": "add", "answer": "", "info": {"task": toy.task}}] * 2
    environment = load_environment(Dataset.from_list(rows), **toy.given)
    assert isinstance(environment, vf.SingleTurnEnv)
    message = lambda text: [{"role": "assistant", "content": text}]  # noqa: E731
    states = [
        {
            "prompt": [],
            "completion": message(text),
            "answer": "",
            "info": {"task": toy.task},
            "task": "",
            "trajectory": [],
            "timing": {"scoring_ms": 0.0, "total_ms": 0.0},
        }
        for text in (toy.right, toy.wrong)
    ]
    asyncio.run(environment.rubric.score_group(states))
    assert [s["reward"] for s in states] == [0.5, 0.1]


def second_generation():
    pytest.importorskip("verifiers.v1", reason="needs verifiers 0.4 (pip install verifiers)")
    import verifiers.v1 as vf

    if not hasattr(vf, "TaskData"):
        pytest.skip(f"verifiers {metadata.version('verifiers')} has an early draft of the second generation")
    return vf


def scored(vf, toy, text, **fields):
    """Score a trace with verifiers' own Task.score, the reward plugged in by its import path."""
    class KernelData(vf.TaskData):
        kengine_task: str | None = None

    KernelData.model_rebuild(_types_namespace={})
    data = KernelData(prompt="add", **fields)
    config = vf.TaskConfig(rewards={"kengine": {"fn": "kengine.integrations.verifiers:kernel_reward"}})
    task = vf.Task(data, config)
    trace = SimpleNamespace(last_reply=text, info={}, metrics={}, rewards={})
    trace.record_reward = lambda name, value, weight=1.0: trace.rewards.__setitem__(name, value * weight)
    asyncio.run(task.score(trace))
    return trace


def test_a_task_of_the_second_generation(toy, environment):
    vf = second_generation()
    trace = scored(vf, toy, toy.right, kengine_task=toy.task)
    (value,) = trace.rewards.values()
    assert value == 1.0 and trace.info == {"kengine_status": "passed"}
    assert list(scored(vf, toy, toy.wrong, kengine_task=toy.task).rewards.values()) == [0.0]


def test_a_lost_sample_fails_the_rollout(toy, environment, lost):
    vf = second_generation()
    with pytest.raises(vf.TaskError, match="must not be given one"):
        scored(vf, toy, toy.right, kengine_task=toy.task)


def test_a_task_without_the_field(toy, environment):
    task = SimpleNamespace(model_extra=None)
    with pytest.raises(UsageError, match="has no field 'kengine_task'"):
        asyncio.run(kernel_reward(task, SimpleNamespace(last_reply="")))
