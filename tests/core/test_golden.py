"""Every golden file ever released loads, says the same when written again, and satisfies the committed schema."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import kengine.model as model
import pytest
from kengine import codec, schema
from kengine.annotation import fields_of

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))
ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "core" / "kengine" / "schemas"
KINDS = {schema.file_name(kind).partition("-")[0]: kind for kind in schema.PUBLISHED}


def _kind(path: Path) -> type:
    return KINDS[path.name.partition("-")[0]]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.name)
def test_loads_and_is_written_the_same(path):
    record = codec.loads(path.read_bytes(), _kind(path))
    assert json.loads(codec.dumps(record)) == json.loads(path.read_text())


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.name)
def test_satisfies_the_schema(path):
    jsonschema = pytest.importorskip("jsonschema")
    number = re.search(r"-(\d+)", path.name).group(1)
    described = json.loads((SCHEMAS / f"{path.name.partition('-')[0]}-{number}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(described)
    validator = jsonschema.Draft202012Validator(described)
    value = json.loads(path.read_text())
    validator.validate(value)
    for spoilt in (
        {**value, "more": 1},
        {**value, "schema": "kengine.other/1"},
        {k: v for k, v in value.items() if k != "schema"},
    ):
        assert not validator.is_valid(spoilt)


def test_schemas_are_those_of_the_records():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "write_schemas.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "up to date"), done.stdout
    assert {p.name for p in SCHEMAS.glob("*.json")} >= {schema.file_name(k) for k in schema.PUBLISHED}


def test_every_field_stands_in_a_golden_file_with_a_value_of_its_own():
    seen = set()
    for path in GOLDEN:
        seen |= set(_used(codec.loads(path.read_bytes(), _kind(path))))
    reachable = {cls for kind in schema.PUBLISHED for cls in _records(kind) if cls.__module__.startswith("kengine.")}
    assert reachable >= {model.Verdict, model.CaseTiming, model.Element, model.TargetInfo, model.Tolerance}
    missing = {f"{cls.__name__}.{f.name}" for cls in reachable for f in dataclasses.fields(cls)} - seen
    assert missing == set()


def _used(record: object) -> Iterator[str]:
    """Fields whose value differs from the default, in a record and all below it."""
    for f in dataclasses.fields(record):
        value = getattr(record, f.name)
        default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
        if value != default:
            yield f"{type(record).__name__}.{f.name}"
        yield from _used_below(value)


def _used_below(value: object) -> Iterator[str]:
    if isinstance(value, tuple):
        for item in value:
            yield from _used_below(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, model.Target):
        yield from _used(value)


def _records(hint: object) -> Iterator[type]:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint) and hint is not model.Target:
        yield hint
        for inner, _ in fields_of(hint).values():
            yield from _records(inner)
    for inner in getattr(hint, "__args__", ()):
        yield from _records(inner)
