"""Fake distributions on the import path, one test at a time."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

FAKES = Path(__file__).parent / "fake_dists"


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Put fake distributions on sys.path by folder, in front; afterwards their modules are forgotten."""

    def put(*folders: str) -> None:
        for folder in folders:
            assert (FAKES / folder).is_dir(), folder
            monkeypatch.syspath_prepend(str(FAKES / folder))
        importlib.invalidate_caches()

    monkeypatch.delenv("KENGINE_NO_PLUGINS", raising=False)
    monkeypatch.delenv("KENGINE_TRACE", raising=False)
    yield put
    for name in [m for m in sys.modules if m.startswith("fake_")]:
        del sys.modules[name]
