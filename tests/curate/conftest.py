"""Helpers of the curation tests: sources in a temporary folder, and what their loaders make of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kengine.curate.load import load
from kengine.curate.settings import Source


@pytest.fixture
def write(tmp_path):
    """Write files below the temporary folder: text as it is, lists as JSON lines, other values as JSON."""

    def write(files: dict[str, object]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            elif isinstance(content, str):
                path.write_text(content)
            elif name.endswith(".jsonl"):
                path.write_text("".join(json.dumps(row) + "\n" for row in content))
            else:
                path.write_text(json.dumps(content))
        return tmp_path

    return write


@pytest.fixture
def outcomes(tmp_path):
    """Everything that a source gives."""

    def outcomes(path: str = ".", **given) -> list:
        return list(load([Source(path, given.pop("name", "s"), **given)], tmp_path))

    return outcomes
