"""SkyRL: an environment for `skyrl_gym`, single- or multi-turn.

    from kengine.integrations import skyrl
    skyrl.register("kengine")

Rows have `env_class: "kengine"` and the task in `reward_spec.ground_truth`; keywords stand in
`environment.skyrl_gym.kengine` or come from the environment. A turn that does not pass gets feedback until `max_turns`.
SkyRL cannot leave a sample out: one that the machine failed on raises, unless `masked_reward` names a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kengine.integrations.columns import find_column, to_task
from kengine.integrations.grading import Graded, grader

_ENTRY = "kengine.integrations.skyrl:KernelEnv"


def register(id: str = "kengine") -> None:
    """Make the environment known to `skyrl_gym.make` under this name."""
    import skyrl_gym

    skyrl_gym.register(id=id, entry_point=_ENTRY)


def __getattr__(name: str) -> Any:
    if name != "KernelEnv":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = _environment()
    found.__qualname__ = name  # so that pickle finds it in this module
    return found


def _environment() -> Any:
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

    class KernelEnv(BaseTextEnv):  # type: ignore[misc]
        """Grades each action with kengine and answers with feedback until it passes or the turns are over."""

        def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
            super().__init__()
            given, extras = dict(env_config or {}), extras or {}
            self.masked_reward = given.pop("masked_reward", None)
            self.max_chars = given.pop("max_chars", 2000)
            self.max_turns = extras.get("max_turns", 1)
            spec = find_column(extras, "reward_spec", "SkyRL")
            self.task = to_task(find_column(spec, "ground_truth", "SkyRL"), "reward_spec.ground_truth")
            self.grader = grader(given)
            self.last: Graded | None = None

        def step(self, action: str) -> Any:
            self.turns += 1
            (graded,) = self.grader.grade([action], [self.task])
            self.last = graded
            done = graded.passed or graded.masked or self.turns >= self.max_turns
            reward = self.masked_reward if graded.masked and self.masked_reward is not None else graded.require()
            told = [] if done else [{"role": "user", "content": graded.feedback(self.max_chars)}]
            metadata = {"kengine_status": graded.status, "kengine_masked": graded.masked}
            return BaseTextEnvStepOutput(observations=told, reward=reward, done=done, metadata=metadata)

        def get_metrics(self) -> dict[str, Any]:
            passed = self.last is not None and self.last.passed
            return {"kengine_passed": float(passed), "kengine_turns": self.turns}

    return KernelEnv
