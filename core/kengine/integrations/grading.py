"""What every trainer's module does: completions and tasks in, rewards and feedback out."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kengine import rewards, tasks
from kengine.client.client import Client, KengineWarning, shared
from kengine.client.settings import Settings
from kengine.errors import InfraError, TaskError, UsageError
from kengine.integrations.columns import to_task
from kengine.model import Status, Verdict
from kengine.plugins import dialect
from kengine.rewards.outcome import Judged
from kengine.rewards.presets import RewardFunction
from kengine.tasks.completion import Completion, extract
from kengine.tasks.item import Item
from kengine.tasks.language import read_suffix


@dataclass(frozen=True)
class Graded:
    """One completion: its reward, None for a sample that is to be masked, and what was judged."""

    reward: float | None
    judged: Judged

    @property
    def masked(self) -> bool:
        """Whether this sample says nothing and must not be trained on."""
        return self.reward is None

    @property
    def status(self) -> str:
        """Status of the verdict; "masked" without one."""
        return str(self.judged.status) if isinstance(self.judged, Verdict) else "masked"

    @property
    def passed(self) -> bool:
        """Whether the candidate passed."""
        return isinstance(self.judged, Verdict) and self.judged.status is Status.passed

    @property
    def speedup(self) -> float | None:
        """Speed-up over the baseline, where it was timed."""
        return self.judged.speedup if isinstance(self.judged, Verdict) else None

    def feedback(self, max_chars: int = 2000) -> str:
        """Text for the next turn; holds no expected value."""
        return rewards.write_feedback(self.judged, max_chars=max_chars)

    def require(self) -> float:
        """The reward, for trainers that cannot leave a sample out. Raises InfraError for one that is masked."""
        if self.reward is None:
            why = self.judged if isinstance(self.judged, InfraError) else f"the status is {self.status}"
            raise InfraError(f"this sample has no reward and must not be given one: {why}")
        return self.reward


@dataclass(frozen=True)
class Grader:
    """A reward and the place where candidates are judged; picklable, its client is built where it is used.

    reward: name of a preset of `kengine.rewards`, or `package.module:name`. parameters: its keywords.
    name: what a candidate's file is called, whose suffix tells the language; "" lets each answer tell it, where the
    backend's candidates may be in several.
    """

    settings: Settings
    reward: str = "staged"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Grader:
        """From the keywords of a trainer's configuration: `reward`, `parameters`, `name`, and the settings of a client.

        What is missing comes from the environment; see `Settings.read`, and KENGINE_REWARD. Raises UsageError.
        """
        own = {k: given[k] for k in ("reward", "parameters", "name") if given.get(k) is not None}
        own.setdefault("reward", os.environ.get("KENGINE_REWARD") or "staged")
        settings = Settings.read({k: v for k, v in given.items() if k not in ("reward", "parameters", "name")})
        settings.check()
        grader = cls(settings, **{**own, "parameters": dict(own.get("parameters", {}))})
        grader._function()  # an unknown reward shows here, not with the first sample
        return grader

    @property
    def client(self) -> Client:
        """The client of this process."""
        return shared(self.settings)

    def grade(self, completions: Sequence[Completion], given: Sequence[Any]) -> list[Graded]:
        """Grade completions, each with what its task column holds."""
        items = self._items(completions, given)
        return self._reward(items, self.client.judge([item for item in items if item is not None]))

    async def grade_async(self, completions: Sequence[Completion], given: Sequence[Any]) -> list[Graded]:
        """The same, awaited."""
        items = self._items(completions, given)
        return self._reward(items, await self.client.judge_async([item for item in items if item is not None]))

    def _items(self, completions: Sequence[Completion], given: Sequence[Any]) -> list[Item | None]:
        if len(completions) != len(given):
            raise UsageError(f"{len(completions)} completions and {len(given)} tasks")
        return [self._item(completion, value) for completion, value in zip(completions, given)]

    def _item(self, completion: Completion, value: Any) -> Item | None:
        """None for a task that cannot even be read, where broken ones are masked."""
        try:
            return tasks.pair(extract(completion, self._language), to_task(value), self.name)
        except TaskError as error:
            if self.settings.broken_task != "mask":
                raise
            warnings.warn(f"a sample is masked, its task is broken: {error}", KengineWarning, stacklevel=2)
            return None

    def _reward(self, items: Sequence[Item | None], judged: Sequence[Judged]) -> list[Graded]:
        function, verdicts = self._function(), iter(judged)
        every = [None if item is None else next(verdicts) for item in items]
        return [Graded(function(each), each) for each in every]

    @property
    def _language(self) -> str:
        """The language to look for: of the name, or Python where the backend's candidates are in no other."""
        if self.name:
            return read_suffix(self.name)
        backend = self.settings.backend or (self.settings.target or "").partition(":")[0]
        spoken = dialect.declared().get(backend)
        return "python" if spoken is not None and not spoken.native else ""

    def _function(self) -> RewardFunction:
        return rewards.find(self.reward, self.parameters)


_graders: dict[str, Grader] = {}


def grader(given: Mapping[str, Any]) -> Grader:
    """The grader of these keywords, kept: trainers call a reward function once for every sample."""
    plain = _plain(given)
    environment = {k: v for k, v in os.environ.items() if k.startswith("KENGINE_")}
    key = json.dumps([plain, environment], sort_keys=True, default=repr)
    found = _graders.get(key)
    if found is None:
        found = _graders[key] = Grader.read(plain)
    return found


def _plain(value: Any) -> Any:
    """Mappings and lists of a configuration library as those of Python."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items() if v is not None}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_plain(v) for v in value]
    return value
