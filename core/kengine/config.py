"""What a run does and how far it may go: Plan and Limits, and the settings of a project's configuration file."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from kengine import codec
from kengine.errors import UsageError
from kengine.model.status import JsonValue
from kengine.target import Target

_SALT = re.compile(r"(?:[0-9a-f]{2}){8,64}\Z")
_BACKEND = re.compile(r"[a-z][a-z0-9_]*\Z")
_ENDPOINT = re.compile(r"https?://[^\s/@?#]+(?:/[^\s?#@]*)?\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class ConfigError(UsageError):
    """A configuration file that cannot be used; names the file, the key, what it holds and what is allowed."""


@dataclass(frozen=True)
class Limits:
    """How much one runner may take; what breaks a limit ends that candidate and nothing else.

    memory_bytes: host memory of the runner and its children. cpu_s: processor seconds of one process.
    wall_s: seconds from receiving the candidate to the end of its last stage, whatever it does.
    file_bytes: size of one file. disk_bytes: everything in its private folder. processes: processes and threads.
    open_files: descriptors of one process. output_bytes: how much of its printed output is kept; the rest is dropped.
    """

    memory_bytes: int = 8 << 30
    cpu_s: int = 300
    wall_s: float = 600.0
    file_bytes: int = 256 << 20
    disk_bytes: int = 1 << 30
    processes: int = 256
    open_files: int = 1024
    output_bytes: int = 1 << 20

    def __post_init__(self) -> None:
        for f in fields(self):
            _require_positive(f.name, getattr(self, f.name))


@dataclass(frozen=True)
class OpinionSettings:
    """Who is asked whether a candidate's text genuinely implements the operator. Raises UsageError.

    url, model: an endpoint of OpenAI's protocol, as in `http://127.0.0.1:8000/v1`, and the model there; "" asks only
    the judges of further plugins. key_env: the variable that holds its key, read when it is asked and never written
    down; when it is not set no key is sent. severity: a doubt is only recorded (`warn`) or makes the candidate a
    `sham` (`reject`). timeout_s: for one candidate, retries included; after that there is no opinion. retries: after
    a rate limit or an outage. options: further fields of the request (temperature, max_tokens, ...).
    """

    url: str = ""
    model: str = ""
    key_env: str = "OPENAI_API_KEY"
    severity: Literal["reject", "warn"] = "warn"
    timeout_s: float = 60.0
    retries: int = 2
    options: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.url) != bool(self.model):
            raise UsageError("an opinion needs both a url and a model of that endpoint; one of them is missing")
        if self.url and not _ENDPOINT.match(self.url):
            raise UsageError(
                f"opinion url is {_without_password(self.url)!r}, want http(s)://HOST[:PORT][/PATH] without a user, "
                "a query or a fragment: a key belongs into the variable that key_env names"
            )
        if not _VARIABLE.match(self.key_env):
            raise UsageError("opinion key_env: want the name of a variable, never the key itself")
        if self.severity not in ("warn", "reject"):
            raise UsageError(f"opinion severity is {self.severity!r}, allowed: 'warn', 'reject'")
        _require_positive("opinion timeout_s", self.timeout_s)
        if isinstance(self.retries, bool) or not isinstance(self.retries, int) or self.retries < 0:
            raise UsageError(f"opinion retries: want a whole number from 0, got {self.retries!r}")
        if taken := sorted({"model", "messages", "response_format", "stream", "n"} & set(self.options)):
            raise UsageError(f"opinion options: {', '.join(taken)} cannot be set there")


@dataclass(frozen=True)
class Plan:
    """What a run does with each candidate. Raises UsageError for a value that makes no sense, naming it.

    cases: at most so many cases of the task; None takes all. check: False stops after compiling.
    screen: try zeros, constants and input copies against each task first, and refuse it when it accepts them.
    time: measure candidates that are right. min_speedup: a slower candidate is `too_slow`; implies `time`.
    timed_cases: how many of the cases are timed. time_budget_s: seconds of measuring for one case.
    baseline: what a candidate is timed against: the reference as it stands, or under `torch.compile`.
    device_only: refuse emulators. keep_going: go on after a failure, for a record of every stage.
    compile_timeout_s, launch_timeout_s: for one target and one call; a task's own timeout replaces the second.
    task_timeout_s: for the reference and the inputs of a task; its own timeout replaces this one too.
    task_memory_bytes: host memory of the process that runs them, where a task did not come with its candidate; None
    takes three quarters of the machine's. time_timeout_s: for timing one candidate.
    salt: hexadecimal secret that every seed follows from; "" draws a new one for the run.
    select, ignore: lint rules by code or prefix; an empty `select` takes all.
    sanitize: where an emulator can, check every access of a kernel for bounds, races and uninitialised shared memory.
    integrity: find out whether the kernel causes the answer. False leaves that out, so that its cost can be measured; a
    verdict without it says nothing against a candidate that cheats.
    opinion: ask a judge of the text about each candidate that passed everything else; None asks nobody.
    """

    cases: int | None = None
    check: bool = True
    screen: bool = True
    time: bool = False
    min_speedup: float | None = None
    timed_cases: int = 1
    time_budget_s: float = 2.0
    baseline: Literal["eager", "compile"] = "eager"
    device_only: bool = False
    keep_going: bool = False
    compile_timeout_s: float = 120.0
    launch_timeout_s: float = 30.0
    task_timeout_s: float = 120.0
    task_memory_bytes: int | None = None
    time_timeout_s: float = 120.0
    salt: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    sanitize: bool = True
    integrity: bool = True
    opinion: OpinionSettings | None = None

    def __post_init__(self) -> None:
        for name in ("cases", "timed_cases", "min_speedup", "time_budget_s", "task_memory_bytes"):
            _require_positive(name, getattr(self, name))
        for name in ("compile_timeout_s", "launch_timeout_s", "task_timeout_s", "time_timeout_s"):
            _require_positive(name, getattr(self, name))
        if self.baseline not in ("eager", "compile"):
            raise UsageError(f"baseline is {self.baseline!r}, allowed: 'eager', 'compile'")
        if self.salt and not _SALT.match(self.salt):
            raise UsageError(
                "salt is not 16 to 128 lower-case hexadecimal digits (an even number); leave it out to draw one"
            )
        if self.min_speedup is not None:
            object.__setattr__(self, "time", True)
        if self.time and not self.check:
            raise UsageError(
                "a time is measured only of a candidate that was checked: drop check = false or the timing"
            )

    @property
    def timed(self) -> bool:
        """Whether candidates that are right are timed."""
        return self.time

    def to_json(self) -> dict[str, JsonValue]:
        """Everything but the salt, for a verdict, which publishes the salt on its own."""
        return {k: v for k, v in codec.to_json(self).items() if k != "salt"}

    def timing_json(self) -> dict[str, JsonValue]:
        """The part that the judge needs for timing."""
        return {"budget_s": self.time_budget_s, "baseline": self.baseline}


@dataclass(frozen=True)
class Config:
    """Settings of a project: its defaults for the command and for engines. `path` is "" when no file was found."""

    backend: str | None = None
    target: Target | None = None
    compile_for: tuple[Target, ...] = ()
    workers: int | None = None
    plan: Plan = field(default_factory=Plan)
    path: str = ""


def find(start: Path | None = None) -> Path | None:
    """Look for a configuration file from `start` (the working directory) upwards; the nearest one counts.

    In one folder `kengine.toml` goes before a `pyproject.toml` that has a table [tool.kengine].
    """
    folder = (start or Path.cwd()).resolve()
    for place in (folder, *folder.parents):
        own = place / "kengine.toml"
        if own.is_file():
            return own
        project = place / "pyproject.toml"
        if project.is_file() and "tool" in (text := _parse(project)) and "kengine" in _table(project, text, "tool"):
            return project
    return None


def read(path: Path | None = None) -> Config:
    """Read a configuration file, or the one that `find` finds. Raises ConfigError; no file gives the defaults.

    Keys are those of Config and of Plan side by side (`min-speedup` and `min_speedup` are the same), a table `limits`
    with those of Limits, and a table `opinion` with those of OpinionSettings.
    """
    path = path or find()
    if path is None:
        return Config()
    table = _parse(path)
    if path.name == "pyproject.toml":
        table = _table(path, _table(path, table, "tool"), "kengine")
    return _config(path, table)


def _config(path: Path, table: dict[str, Any]) -> Config:
    plan_keys = {f.name for f in fields(Plan)} - {"limits", "opinion"}
    top_keys = {"backend", "target", "compile_for", "workers"}
    given = _normalize(path, "", table, plan_keys | top_keys | {"limits", "opinion"})
    plan_given = {k: v for k, v in given.items() if k in plan_keys}
    limits = _table(path, given, "limits")
    plan_given["limits"] = _normalize(path, "limits.", limits, {f.name for f in fields(Limits)})
    if "opinion" in given:
        opinion = _table(path, given, "opinion")
        plan_given["opinion"] = _normalize(path, "opinion.", opinion, {f.name for f in fields(OpinionSettings)})
    try:
        plan = codec.from_json(plan_given, Plan)
        target = given.get("target")
        top = codec.from_json({k: v for k, v in given.items() if k in top_keys}, Config)
    except codec.CodecError as error:
        raise ConfigError(f"{path}: {re.sub(r'^(?:Plan|Config)[.:] ?', '', str(error))}") from None
    if top.backend is not None and not _BACKEND.match(top.backend):
        raise ConfigError(f'{path}: backend: want a name such as "triton", got {top.backend!r}')
    if top.workers is not None and top.workers < 1:
        raise ConfigError(f"{path}: workers: want at least 1, got {top.workers}")
    if top.backend is not None and target is not None and top.target is not None and top.target.backend != top.backend:
        raise ConfigError(
            f"{path}: target: {top.target} is not a target of backend {top.backend!r}; drop one of the two"
        )
    return Config(top.backend, top.target, top.compile_for, top.workers, plan, str(path))


def _parse(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def _table(path: Path, parent: dict[str, Any], key: str) -> dict[str, Any]:
    value = parent.get(key, {})
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: {key}: want a table, got {type(value).__name__}")
    return value


def _normalize(path: Path, prefix: str, table: dict[str, Any], known: set[str]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise ConfigError(f"{path}: unknown key {prefix + key!r}; {hint}allowed: {', '.join(sorted(known))}")
        if name in result:
            raise ConfigError(f"{path}: {prefix + name!r} is given twice, with '-' and with '_'")
        result[name] = value
    return result


def _without_password(url: str) -> str:
    """A url for a message: what stands between the scheme and an @ may be a password."""
    return re.sub(r"(?<=//)[^/]*@", "...@", url)


def _require_positive(name: str, value: float | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"{name}: want a number, got {value!r}")
    if not isfinite(value) or value <= 0:
        raise UsageError(f"{name}: want a number above 0, got {value!r}")
