"""The closed vocabularies: how a verdict ends, what a target can do, how launches behave."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Union

JsonValue = Union[None, bool, int, float, str, tuple["JsonValue", ...], Mapping[str, "JsonValue"]]


class Status(str, Enum):
    """What a verdict says of a candidate. Machine and task faults are exceptions, never a status."""

    passed = "passed"
    lint_rejected = "lint_rejected"
    compile_failed = "compile_failed"
    launch_failed = "launch_failed"
    crashed = "crashed"
    timed_out = "timed_out"
    wrong_result = "wrong_result"
    nondeterministic = "nondeterministic"
    sham = "sham"
    too_slow = "too_slow"
    tampered = "tampered"
    unsupported = "unsupported"

    def __str__(self) -> str:
        return self.value


class Capability(str, Enum):
    """What a target can do on this machine."""

    compile = "compile"
    launch = "launch"
    time = "time"

    def __str__(self) -> str:
        return self.value


class Mode(str, Enum):
    """How launches behave in a run: for real, not at all, raising, or recorded one by one."""

    normal = "normal"
    noop = "noop"
    raises = "raise"
    traced = "traced"
