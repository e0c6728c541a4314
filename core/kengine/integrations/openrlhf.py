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
_LEADING = re.compile(rf"^(?:{_SPECIAL.pattern}|\ufffd|\s)+")
_LEAST = 32
"""Characters of a prompt's end that are enough to tell it."""


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

    Raises UsageError when it does not: an example in the prompt might be taken for the answer.
    """
    asked, query = _LEADING.sub("", prompt), _LEADING.sub("", query)
    # OpenRLHF cuts the beginning off a prompt that is too long, so what the query begins with may be its end alone.
    for cut in range(max(len(asked) - _LEAST, 0) + 1):
        if query.startswith(asked[cut:]):
            return _SPECIAL.sub("", query[len(asked) - cut :])
    raise UsageError(f"the query does not begin with its prompt: it is {query[:60]!r}, the prompt {prompt[:60]!r}")


def __getattr__(name: str) -> Any:
    if name != "AgentExecutor":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = _executor()
    found.__qualname__ = name  # so that pickle finds it in this module
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
