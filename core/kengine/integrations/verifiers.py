"""verifiers and prime-rl, both generations: `load_environment` with a rubric, and a reward for v1 tasksets.

First generation: `kengine.integrations.verifiers` is an environment's module; its data set has the columns `prompt` (or
`question`) and `info` (or `answer`) with the task. Second: `rewards = {kengine = {fn =
"kengine.integrations.verifiers:kernel_reward"}}` in a taskset's configuration, with the task's text in the field
`kengine_task` of its data. A sample that the machine failed on raises, which both record as an error of the rollout.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kengine.errors import UsageError
from kengine.integrations.grading import grader
from kengine.tasks.completion import Completion


class GroupReward:
    """A reward function of a rubric for a whole group, which is what its plural names ask for."""

    def __init__(self, **given: Any) -> None:
        self.given = given
        self.__name__ = "kengine"
        grader(given)

    async def __call__(
        self, completions: Sequence[Completion], answers: Sequence[Any], infos: Sequence[Any], states: Sequence[Any]
    ) -> list[float]:
        """Rewards of a group; a masked one is 0.0 with its state's `error` set, so that it is not trained on."""
        tasks = [_task(info, answer) for info, answer in zip(infos, answers)]
        graded = await grader(self.given).grade_async(completions, tasks)
        for each, state in zip(graded, states):
            state["kengine_status"] = each.status
            if each.masked:
                state["error"] = each.judged if isinstance(each.judged, Exception) else UsageError(each.status)
        return [each.reward or 0.0 for each in graded]


def load_environment(dataset: Any, **given: Any) -> Any:
    """A single-turn environment of the first generation over a data set, with kengine as its rubric."""
    import verifiers as vf

    return vf.SingleTurnEnv(dataset=dataset, rubric=vf.Rubric(funcs=[GroupReward(**given)], weights=[1.0]))


async def kernel_reward(task: Any, trace: Any) -> float:
    """A reward of the second generation; keywords come from the environment (KENGINE_TARGET, KENGINE_REWARD, ...).

    Raises InfraError for a sample that has no reward; verifiers then marks the rollout as failed.
    """
    value = getattr(task, "kengine_task", None) or (task.model_extra or {}).get("kengine_task")
    if value is None:
        raise UsageError(f"{type(task).__name__} has no field 'kengine_task': put the task's text there")
    (graded,) = await grader({}).grade_async([trace.last_reply], [value])
    trace.info["kengine_status"] = graded.status
    return graded.require()


def _task(info: Any, answer: Any) -> Any:
    if isinstance(info, str) and info.lstrip().startswith("{"):
        info = json.loads(info)
    return info["task"] if isinstance(info, dict) and info.get("task") else answer
