"""Tinker cookbook: a message environment, and the builder of its groups.

    KernelGroupBuilder(messages=[...], task=text, group_size=8, model_name="...", renderer_name="...", given={...})

A turn that does not pass is answered with feedback until `max_turns`. A sample that the machine failed on raises, which
the cookbook's error-tolerant strategies (`RetryOnFailure`) take for a failed rollout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kengine.integrations.grading import grader

_HIDDEN = ("KernelMessageEnv", "KernelGroupBuilder")


def __getattr__(name: str) -> Any:
    if name not in _HIDDEN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals().update(_classes())
    return globals()[name]


def _classes() -> dict[str, Any]:
    from tinker_cookbook.rl.message_env import EnvFromMessageEnv, MessageEnv, MessageStepResult
    from tinker_cookbook.rl.types import EnvGroupBuilder

    class KernelMessageEnv(MessageEnv):  # type: ignore[misc]
        """One conversation about one task."""

        def __init__(self, messages: Sequence[Any], task: Any, given: Mapping[str, Any], max_turns: int = 1) -> None:
            self.messages, self.task, self.given, self.left = list(messages), task, given, max_turns

        async def initial_observation(self) -> list[Any]:
            return self.messages

        async def step(self, message: Any) -> Any:
            (graded,) = await grader(self.given).grade_async([[{**message, "role": "assistant"}]], [self.task])
            self.left -= 1
            done = graded.passed or self.left <= 0
            told = [] if done else [{"role": "user", "content": graded.feedback()}]
            self.messages = [*self.messages, message, *told]
            return MessageStepResult(
                graded.require(), done, self.messages, {"kengine_passed": float(graded.passed)},
                {"kengine_status": graded.status},
            )  # fmt: skip

    @dataclass(frozen=True)
    class KernelGroupBuilder(EnvGroupBuilder):  # type: ignore[misc]
        """Environments of one group; picklable, tokenizer and renderer are built where they are used."""

        messages: Sequence[Any]
        task: Any
        group_size: int
        model_name: str
        renderer_name: str
        max_turns: int = 1
        given: Mapping[str, Any] = field(default_factory=dict)

        async def make_envs(self) -> Sequence[Any]:
            from tinker_cookbook.renderers import get_renderer
            from tinker_cookbook.tokenizer_utils import get_tokenizer

            renderer = get_renderer(self.renderer_name, get_tokenizer(self.model_name))
            return [
                EnvFromMessageEnv(renderer, KernelMessageEnv(self.messages, self.task, self.given, self.max_turns))
                for _ in range(self.group_size)
            ]

        def logging_tags(self) -> list[str]:
            return ["kengine"]

    for kind in (KernelMessageEnv, KernelGroupBuilder):
        kind.__qualname__ = kind.__name__  # so that pickle finds it in this module
    return {"KernelMessageEnv": KernelMessageEnv, "KernelGroupBuilder": KernelGroupBuilder}
