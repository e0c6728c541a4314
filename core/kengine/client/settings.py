"""Where and how a client has candidates judged: plain data that travels to other processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from kengine import codec
from kengine.config import Plan
from kengine.errors import UsageError

_VARIABLES: Mapping[str, tuple[str, type]] = {
    "url": ("KENGINE_URL", str),
    "backend": ("KENGINE_BACKEND", str),
    "target": ("KENGINE_TARGET", str),
    "workers": ("KENGINE_WORKERS", int),
    "deadline_s": ("KENGINE_DEADLINE_S", float),
}


@dataclass(frozen=True)
class Settings:
    """Hashable and picklable; a worker in another process builds its own client from it.

    url: of a `kengine serve`; "" judges in this process. token: "" takes KENGINE_TOKEN where the client lives.
    backend, target, workers, plan: as of `Engine`, for judging in this process; a server has its own, and `target`
    chooses among those it serves. plan None takes the project's configuration file.
    deadline_s: seconds for one item, from the call to its verdict, queues included; choose it below the trainer's own.
    retries: how often an item is sent again after a fault of the machine, while there is time.
    broken_task: "raise" stops at a task that cannot be judged, "mask" leaves its samples out and warns.
    patience_s: after so many seconds without a single verdict, faults are raised, so that no run goes on blind.
    """

    url: str = ""
    token: str = field(default="", repr=False)
    backend: str | None = None
    target: str | None = None
    workers: int | None = None
    plan: Plan | None = None
    deadline_s: float = 300.0
    retries: int = 2
    broken_task: Literal["raise", "mask"] = "raise"
    patience_s: float = 900.0

    def __post_init__(self) -> None:
        for name in ("deadline_s", "patience_s"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
                raise UsageError(f"{name}: want seconds above 0, got {value!r}")
        if self.broken_task not in ("raise", "mask"):
            raise UsageError(f"broken_task is {self.broken_task!r}, allowed: 'raise', 'mask'")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise UsageError(f"url is {self.url!r}, want the address of a kengine server such as http://127.0.0.1:8471")

    @classmethod
    def read(cls, given: Mapping[str, Any] | None = None) -> Settings:
        """What was given, and for the rest KENGINE_URL, _BACKEND, _TARGET, _WORKERS and _DEADLINE_S.

        Raises UsageError for a setting that does not exist and for a variable that is no number.
        """
        values = {key: value for key, value in (given or {}).items() if value is not None}
        known = {f.name for f in fields(cls)}
        for key in values:
            if key not in known:
                raise UsageError(f"unknown setting {key!r}; there are {', '.join(sorted(known))}")
        placed = {"url", "backend", "target"} & set(values)
        for key, (variable, kind) in _VARIABLES.items():
            text = os.environ.get(variable, "")
            # A place that was given is not mixed with one from the environment.
            if text and key not in values and not (placed and key in ("url", "backend", "target")):
                values[key] = _convert(variable, text, kind)
        if isinstance(values.get("plan"), Mapping):
            values["plan"] = codec.from_json(dict(values["plan"]), Plan)
        return cls(**values)

    def check(self) -> None:
        """Raise UsageError when it does not say where to judge."""
        if not (self.url or self.backend or self.target):
            raise UsageError(
                "say where to judge: target='triton:interpret', backend='triton' or url='http://...' "
                "(or KENGINE_TARGET, KENGINE_BACKEND, KENGINE_URL in the environment)"
            )


def _convert(variable: str, text: str, kind: type) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise UsageError(f"{variable} is {text!r}, want a number") from None
