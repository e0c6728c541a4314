"""Candidates loaded over the emulator in this process, with what they replace put back afterwards."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alone import run_alone
from kengine.model import Candidate, Mode, SourceFile, Target, TaskView
from native_inputs import make_inputs

NEEDS = importlib.util.find_spec("torch") is None or not any(map(shutil.which, ("g++", "clang++", "c++")))


@pytest.fixture
def session(tmp_path: Path) -> Any:
    """A function that loads a candidate's text over the emulator."""
    if NEEDS:
        pytest.skip("needs torch and a C++ compiler")
    import torch
    from kengine.native import cache
    from kengine.native.emulator import Emulator
    from kengine.native.session import open_session
    from kengine.pretence import Figures
    from kengine.simt import DeviceLimits

    cache.prepare(32, "cuda")
    figures = Figures("sm_90", "NVIDIA H100", False, (9, 0), 32, 132, 2048, 232448, 233472, 80 << 30)
    before, finders = set(sys.modules), list(sys.meta_path)

    def load(
        text: str, name: str = "k.py", entry: str = "candidate", options: Any = None, samples: Any = (),
        check: bool = True, timeout_s: float = 30.0,
    ) -> Any:  # fmt: skip
        language = "cuda" if name.endswith(".cu") else "python"
        candidate = Candidate((SourceFile(name, text),), entry, language, options or {})  # type: ignore[arg-type]
        limits = DeviceLimits.of("sm_90")
        driver = Emulator("cuda", limits, figures, candidate, tmp_path, check, timeout_s)
        view = TaskView("function", entry)
        return open_session(candidate, view, Target("cuda", "cpu"), driver, tmp_path, samples)

    yield load
    sys.meta_path[:] = finders
    for module in set(sys.modules) - before:
        if module.partition(".")[0] in ("cupy", "cupyx", "k", "candidate_module"):
            del sys.modules[module]
    del torch


@pytest.fixture
def call(session: Callable[..., Any]) -> Callable[..., Any]:
    """A function that loads a Python candidate and calls it on tensors; gives what it returned and the launches."""

    def run(text: str, *args: Any, mode: Mode = Mode.normal, **given: Any) -> Any:
        return session(text, **given).call(make_inputs(*args), mode)

    return run


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """An artifact lists every extension that its process has loaded, as a runner has one candidate's only."""
    return run_alone(pyfuncitem) if pyfuncitem.path.name == "test_watch_extension.py" else None
