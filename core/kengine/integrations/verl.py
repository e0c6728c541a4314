"""verl: `compute_score` for `reward.custom_reward_function`, its batch form of older versions, and a reward manager.

    reward:
      custom_reward_function:
        path: pkg://kengine.integrations.verl
        name: compute_score
        reward_kwargs: {target: "triton:interpret", parameters: {speed: 0}}

The task is the row's `reward_model.ground_truth`, or `extra_info.task`. verl cannot leave a sample out: one that the
machine failed on raises, after all retries, unless `masked_score` names a number to give in its place.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from kengine.integrations.columns import find_column
from kengine.integrations.grading import Graded, grader
from kengine.tasks.completion import Completion

_VERLS_OWN = ("reward_router_address", "reward_model_tokenizer")


async def compute_score(
    data_source: str, solution_str: Completion, ground_truth: Any, extra_info: Mapping[str, Any] | None = None, *,
    masked_score: float | None = None, **given: Any,
) -> dict[str, Any]:  # fmt: skip
    """The score of one sample, awaited: `score`, and beside it `acc`, `kengine_status` and `kengine_masked`."""
    task = _task(ground_truth, extra_info)
    (graded,) = await grader(_own(given)).grade_async([solution_str], [task])
    return _result(graded, masked_score)


_score = compute_score


def compute_scores(
    data_sources: Sequence[str], solution_strs: Sequence[Completion], ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None], *, masked_score: float | None = None, **given: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """The scores of a batch, for the manager `batch` of verl up to 0.6."""
    tasks = [_task(truth, extra) for truth, extra in zip(ground_truths, extra_infos)]
    return [_result(graded, masked_score) for graded in grader(_own(given)).grade(solution_strs, tasks)]


def __getattr__(name: str) -> Any:
    if name != "KernelRewardManager":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = _manager()
    found.__qualname__ = name  # so that pickle finds it in this module
    return found


def _manager() -> Any:
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager

    class KernelRewardManager(NaiveRewardManager):  # type: ignore[misc]
        """Scores with kengine; `reward.custom_reward_function.reward_kwargs` are its keywords, no path is needed."""

        def __init__(self, config: Any, tokenizer: Any, compute_score: Any = None, **more: Any) -> None:
            chosen = config.reward.get("custom_reward_function") or {}
            score = functools.partial(_score, **dict(chosen.get("reward_kwargs") or {}))
            super().__init__(config, tokenizer, score, **more)

    return KernelRewardManager


def _task(ground_truth: Any, extra_info: Mapping[str, Any] | None) -> Any:
    if ground_truth:
        return ground_truth
    cause = "verl passes reward_model.ground_truth and extra_info of the row"
    return find_column({"ground_truth": None, **(extra_info or {})}, "task", "verl", cause)


def _own(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key not in _VERLS_OWN}


def _result(graded: Graded, masked_score: float | None) -> dict[str, Any]:
    masked = graded.masked and masked_score is not None
    score = masked_score if masked else graded.require()
    return {
        "score": score, "acc": float(graded.passed), "kengine_status": graded.status, "kengine_masked": float(masked)
    }  # fmt: skip
