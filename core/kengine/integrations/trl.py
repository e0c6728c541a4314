"""TRL: reward functions for `GRPOTrainer(reward_funcs=...)`, and a multi-turn environment for `environment_factory`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kengine.integrations.columns import find_column
from kengine.integrations.grading import Graded, grader
from kengine.tasks.completion import Completion

_CAUSE = "TRL passes every column of the data set unless remove_unused_columns is true"


class KernelReward:
    """A reward function for a batch: one reward for each completion, None (which TRL leaves out) for masked samples.

    task_column: column with the task. The other keywords are those of `Grader.read`. Statuses go to the table of
    completions, shares of passed and masked samples to the metrics. The instance is picklable.
    """

    def __init__(self, *, task_column: str = "task", **given: Any) -> None:
        self.task_column = task_column
        self.given = given
        self.__name__ = "kengine"  # under which the trainer logs it
        grader(given)  # what is wrong with the keywords shows here, not in the middle of a step

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        """What TRL calls."""
        given = find_column(columns, self.task_column, "TRL", _CAUSE)
        return _report(grader(self.given).grade(completions, given), columns)


class AsyncKernelReward(KernelReward):
    """The same as a coroutine, so that other rewards of the step are computed meanwhile."""

    async def __call__(  # type: ignore[override]
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> list[float | None]:
        """What TRL awaits."""
        given = find_column(columns, self.task_column, "TRL", _CAUSE)
        return _report(await grader(self.given).grade_async(completions, given), columns)


class KernelEnvironment:
    """An environment in which the model hands in kernels with the tool `verify`; the last one counts.

    Use `functools.partial(KernelEnvironment, target=...)` as the factory. Rows carry the task in `task_column`.
    """

    def __init__(self, *, task_column: str = "task", max_chars: int = 2000, **given: Any) -> None:
        self._task_column, self._max_chars, self._grader = task_column, max_chars, grader(given)
        self._task: Any = None
        self._last: Graded | None = None

    def reset(self, **row: Any) -> str | None:
        """Begin with the next row of the data set."""
        self._task, self._last = find_column(row, self._task_column, "TRL", _CAUSE), None
        return None

    async def verify(self, code: str) -> str:
        """Compiles, runs and checks a kernel, and says what is wrong with it.

        Args:
            code: The whole source file with the kernel and the function that launches it.

        Returns:
            The status and what to mend.
        """
        (self._last,) = await self._grader.grade_async([code], [self._task])
        return self._last.feedback(self._max_chars)

    async def get_reward(self) -> float | None:
        """The reward of the last kernel; none handed in counts as an empty file."""
        if self._last is None:
            await self.verify("")
        assert self._last is not None
        return self._last.reward


def _report(graded: list[Graded], columns: dict[str, Any]) -> list[float | None]:
    if callable(log_extra := columns.get("log_extra")):
        log_extra("kengine_status", [each.status for each in graded])
    if graded and callable(log_metric := columns.get("log_metric")):
        log_metric("kengine/passed", sum(each.passed for each in graded) / len(graded))
        log_metric("kengine/masked", sum(each.masked for each in graded) / len(graded))
    return [each.reward for each in graded]
