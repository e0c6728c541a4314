"""OpenRLHF: `reward_func` for `--reward.remote_url .../kengine/integrations/openrlhf.py`, and an `AgentExecutor` for
`--train.agent_func_path` that leaves masked samples out of the loss.

Keywords come from the environment (KENGINE_TARGET, KENGINE_REWARD, ...); the task is the label: its text, the path of
its file, or JSON with a key "task".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from kengine.errors import UsageError
from kengine.integrations.columns import to_task
from kengine.integrations.grading import Graded, grader

_SPECIAL = re.compile(r"<\|[^|<>\n]{1,40}\|>|<\uff5c[^\uff5c\n]{1,40}\uff5c>|</?s>|<(?:eos|bos|pad|end_of_turn)>")
_TAIL = 200


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any) -> dict[str, Any]:
    """Rewards of a batch, as tensors. Raises InfraError when a sample has none: use the executor to leave it out."""
    import torch

    responses = [read_response(query, prompt) for query, prompt in zip(queries, prompts)]
    graded = grader({}).grade(responses, [to_task(label, "label") for label in labels])
    return {
        "rewards": torch.tensor([each.require() for each in graded]),
        "scores": torch.tensor([float(each.passed) for each in graded]),
        "extra_logs": {"kengine_passed": torch.tensor([float(each.passed) for each in graded])},
    }


def read_response(query: str, prompt: str) -> str:
    """What the model wrote in `query`, which begins with the prompt, without special tokens.

    Raises UsageError when the prompt is not there: an example in it might be taken for the answer.
    """
    if not query.startswith(prompt):
        tail = prompt[-_TAIL:]  # a prompt that was too long has lost its beginning
        _, found, after = query.partition(tail)
        if not (tail.strip() and found):
            raise UsageError(f"the query does not hold its prompt: it begins with {query[:60]!r}, not {prompt[:60]!r}")
        return _SPECIAL.sub("", after)
    return _SPECIAL.sub("", query[len(prompt) :])


def __getattr__(name: str) -> Any:
    if name != "AgentExecutor":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = _executor()
    return found


def _executor() -> Any:
    from openrlhf.utils.agent import SingleTurnAgentExecutor

    class AgentExecutor(SingleTurnAgentExecutor):  # type: ignore[misc]
        """One turn, graded by kengine; a masked sample keeps no action token, so that nothing is learnt from it."""

        async def execute(self, prompt: str, label: Any, *args: Any, **more: Any) -> dict[str, Any]:
            output: dict[str, Any] = await super().execute(prompt, label, *args, **more)
            tokenizer = more["hf_tokenizer"] if "hf_tokenizer" in more else args[2]
            (start, end), *_ = output["action_ranges"]
            response = _SPECIAL.sub("", tokenizer.decode(output["observation_tokens"][start:end]))
            (graded,) = await grader({}).grade_async([response], [to_task(label, "label")])
            return {**output, **_outcome(graded, start, end)}

    return AgentExecutor


def _outcome(graded: Graded, start: int, end: int) -> dict[str, Any]:
    return {
        "reward": graded.reward or 0.0,
        "scores": float(graded.passed),
        "action_ranges": [(start, start if graded.masked else end)],
        "extra_logs": {"kengine_passed": float(graded.passed), "kengine_masked": float(graded.masked)},
    }
