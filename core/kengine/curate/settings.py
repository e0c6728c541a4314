"""`curate.toml`: which stages run, over which sources, with which settings. Errors name file, line, key and choices."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from kengine import codec
from kengine.config import ConfigError
from kengine.curate.places import Places
from kengine.errors import UsageError


@dataclass(frozen=True)
class Entry:
    """Where a stage lives: `module` offers `build(section, context)`; `section` names the record of its table."""

    module: str
    section: str

    def record(self) -> type[Any]:
        """The dataclass of the stage's table."""
        found: type[Any] = getattr(import_module(self.module), self.section)
        return found


_HERE = "kengine.curate"
STAGES: Mapping[str, Entry] = {
    "load": Entry(f"{_HERE}.load", "Load"),
    "sample": Entry(f"{_HERE}.sample", "Sampling"),
    "parse": Entry(f"{_HERE}.parse", "Parse"),
    "reject": Entry(f"{_HERE}.reject", "Reject"),
    "dedup": Entry(f"{_HERE}.dedup", "Dedup"),
    "decontaminate": Entry(f"{_HERE}.decontaminate", "Decontaminate"),
    "difficulty": Entry(f"{_HERE}.difficulty", "Difficulty"),
    "balance": Entry(f"{_HERE}.balance", "Balance"),
    "curriculum": Entry(f"{_HERE}.curriculum", "Curriculum"),
    "augment": Entry(f"{_HERE}.augment", "Augment"),
    "export": Entry(f"{_HERE}.export", "Export"),
    "report": Entry(f"{_HERE}.report", "Report"),
}
"""Every stage in the order in which they usually run; the name of a stage is also that of its table."""

ALWAYS = ("load", "parse")
"""Stages that run whether or not they have a table."""


@dataclass(frozen=True)
class Source:
    """One `[[source]]`: where samples come from.

    path: file or folder, relative to curate.toml. name: unique, default the path's last part. format: name of a loader;
    "" tells it by content. backend, license, model: for samples that do not say. limit: at most so many rows.
    tasks: a file or folder of tasks that rows name by `task`. role: "candidates" for rows with code, or "tasks": what
    code the source has is not wanted, only its tasks, to sample from.
    """

    path: str
    name: str = ""
    format: str = ""
    backend: str = ""
    license: str = ""
    model: str = ""
    limit: int | None = None
    tasks: str = ""
    role: str = "candidates"


@dataclass(frozen=True)
class Settings:
    """A read curate.toml. `tables`: the record of each stage's table. `base`: folder that paths are relative to.

    places: the text of the file by lines, for errors that show only when a value is put to use.
    """

    path: Path
    base: Path
    out: Path
    sources: tuple[Source, ...]
    stages: tuple[str, ...]
    tables: Mapping[str, Any] = field(default_factory=dict)
    jobs: int | None = None
    seed: int = 0
    keep_stages: bool = False
    places: Places | None = field(default=None, compare=False, repr=False)

    def fail(self, key: str, problem: str, value: str = "") -> ConfigError:
        """The error of a key such as `reject.targets` or `source[0].path`, with file and line where it has one.

        value: the item of a list that is at fault, which may stand on a line of its own.
        """
        place = self.places.find(key, value) if self.places is not None else ""
        return ConfigError(f"{place}{key}: {problem}")

    def section(self, stage: str) -> Any:
        """The record of a stage's table; its defaults when there is none."""
        found = self.tables.get(stage)
        return found if found is not None else STAGES[stage].record()()

    def fingerprint(self) -> dict[str, str]:
        """What decides about the rows of a run, by key; not where it runs or how many jobs it has."""
        parts: dict[str, Any] = {"stages": self.stages, "seed": self.seed}
        parts.update({f"source {s.name}": codec.to_json(s) for s in self.sources})
        parts.update({name: self._deciding(name) for name in self.stages if name not in SINKS})
        return {k: hashlib.sha256(json.dumps(v, sort_keys=True).encode()).hexdigest()[:16] for k, v in parts.items()}

    def _deciding(self, stage: str) -> dict[str, Any]:
        """A stage's table without what its record calls means only."""
        section = self.section(stage)
        means = getattr(section, "MEANS", ())
        return {key: value for key, value in codec.to_json(section).items() if key not in means}


SINKS = ("export", "report")
"""Stages that only write: their settings may change without a run beginning anew."""

_TOP = ("out", "jobs", "seed", "keep_stages", "stages", "source")


def read(path: Path) -> Settings:
    """Read a curate.toml. Raises ConfigError with file, line, key, what it holds and what is allowed."""
    if path.is_dir():
        path = path / "curate.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file, expected the settings of a curation") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    return parse(text, path)


def parse(text: str, path: Path) -> Settings:
    """Read the text of a curate.toml that lies at `path`. Raises ConfigError."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise ConfigError(f"{path}:{line[1] if line else text.count(chr(10)) + 1}: not TOML: {error}") from None
    return _Reader(Places(path, text)).settings(table)


def alone(name: str, config: Path | None, given: Sequence[str], sources: tuple[Source, ...], out: Path) -> Settings:
    """Settings of one stage that runs by itself: its table in `config`, with `key=value` over it. Raises UsageError."""
    read_ = read(config) if config is not None else None
    table = _parse_given(given)
    if name in SINKS and "folder" not in table:
        table["folder"] = out.name
    base = read_.base if read_ is not None else Path.cwd()
    section = read_.section(name) if read_ is not None else STAGES[name].record()()
    merged = {**codec.to_json(section), **table}
    places = Places(config or Path("curate.toml"), read_.places.text if read_ and read_.places else "",
                    [f"{name}.{key}" for key in table] if read_ is not None else [name])  # fmt: skip
    record = _Reader(places).record(name, merged, STAGES[name].record())
    tables = {**(read_.tables if read_ is not None else {}), name: record}
    jobs, seed = (read_.jobs, read_.seed) if read_ is not None else (None, 0)
    return Settings(config or Path("curate.toml"), base, out, sources, (name,), tables, jobs, seed, places=places)


def _parse_given(given: Sequence[str]) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    table: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key:
            raise UsageError(f"--set {text!r}: want KEY=VALUE, for instance --set 'formats=[\"verl\"]'")
        try:
            table[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            table[key] = value.strip()
    return table


class _Reader:
    """Checks one file; every failure names a line."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.path = places.path

    def fail(self, key: str, problem: str) -> ConfigError:
        return ConfigError(f"{self.places.find(key)}{key}: {problem}")

    def settings(self, table: Mapping[str, Any]) -> Settings:
        table = self._known("", table, (*_TOP, *STAGES))
        base = self.path.parent
        sources = self._sources(table.get("source", []))
        given = tuple(name for name in STAGES if name in table or name in ALWAYS or name == "export")
        stages = self._stages(table.get("stages", list(given)))
        for name in STAGES:
            if name in table and name not in stages:
                raise self.fail(name, f"has a table, but `stages` does not name it ({', '.join(stages)})")
        tables = {}
        for name in stages:
            if name in table:
                if not isinstance(table[name], dict):
                    raise self.fail(name, f"want a table [{name}], got {_show(table[name])}")
                tables[name] = self.record(name, table[name], STAGES[name].record())
        out = table.get("out", "curated")
        if not isinstance(out, str) or not out:
            raise self.fail("out", f"want the path of a folder, got {_show(out)}")
        jobs, seed, keep = table.get("jobs"), table.get("seed", 0), table.get("keep_stages", False)
        if jobs is not None and (type(jobs) is not int or jobs < 1):
            raise self.fail("jobs", f"want a whole number of at least 1, got {_show(jobs)}")
        if type(seed) is not int:
            raise self.fail("seed", f"want a whole number, got {_show(seed)}")
        if type(keep) is not bool:
            raise self.fail("keep_stages", f"want true or false, got {_show(keep)}")
        return Settings(self.path, base, base / out, sources, stages, tables, jobs, seed, keep, self.places)

    def record(self, key: str, table: Mapping[str, Any], kind: type[Any]) -> Any:
        """A table as a record of `kind`."""
        table = self._known(key, table, tuple(f.name for f in fields(kind)))
        try:
            return codec.from_json(table, kind)
        except UsageError as error:
            text = str(error).removeprefix(kind.__name__).lstrip(".: ")
            place, colon, problem = text.partition(": ")
            if colon and re.split(r"[.\[]", place, maxsplit=1)[0] in {f.name for f in fields(kind)}:
                raise self.fail(f"{key}.{place}", problem) from None
            raise self.fail(key, text) from None

    def _known(self, prefix: str, table: Mapping[str, Any], allowed: tuple[str, ...]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in table.items():
            name = key.replace("-", "_")
            if name not in allowed:
                near = get_close_matches(name, allowed, 1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                where = f"{prefix}.{key}" if prefix else key
                raise self.fail(where, f"unknown key; {hint}allowed: {', '.join(allowed)}")
            result[name] = value
        return result

    def _stages(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.fail("stages", f"want a list of names, got {_show(value)}; allowed: {', '.join(STAGES)}")
        for n, name in enumerate(value):
            if name not in STAGES:
                near = get_close_matches(name, STAGES, 1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                raise self.fail("stages", f"no stage {name!r}; {hint}allowed: {', '.join(STAGES)}")
            if name in value[:n]:
                raise self.fail("stages", f"names {name!r} twice")
        if not value or value[0] != "load":
            raise self.fail("stages", "the first stage is 'load'")
        return tuple(value)

    def _sources(self, value: Any) -> tuple[Source, ...]:
        if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
            raise self.fail("source", "want at least one [[source]] table with a path")
        sources: dict[str, Source] = {}
        for n, table in enumerate(value):
            source: Source = self.record(f"source[{n}]", table, Source)
            if not source.path:
                raise self.fail(f"source[{n}].path", "is empty, want a file or a folder")
            if source.role not in ("candidates", "tasks"):
                raise self.fail(f"source[{n}].role", f"{source.role!r} is not known; allowed: candidates, tasks")
            if source.limit is not None and source.limit < 1:
                raise self.fail(f"source[{n}].limit", f"want at least 1, got {source.limit}")
            name = source.name or Path(source.path).name
            if name in sources:
                raise self.fail(f"source[{n}].name", f"a second source is called {name!r}; give it a name of its own")
            sources[name] = Source(**{**vars(source), "name": name})
        return tuple(sources.values())


def _show(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text[:60]}"
