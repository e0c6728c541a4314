"""Compiling small HIP texts for chips that are not here."""

from __future__ import annotations

from pathlib import Path

import pytest
from alone import run_alone
from kengine.errors import CandidateFault, TargetUnavailable
from kengine.model import Candidate, SourceFile
from kengine.native.driver import Unit
from kengine.native.lines import locate
from kengine_hip.chips import CHIPS
from kengine_hip.offline import Offline, OfflineModule
from kengine_hip.toolchain import Toolchain, find_toolchain


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    try:
        return find_toolchain()
    except TargetUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def build(toolchain: Toolchain, tmp_path: Path):
    """Compile a text for a chip: `build(text, "gfx942", name="k.hip", options=(), instances=())`."""

    def make(
        text: str,
        arch: str = "gfx942",
        name: str = "k.hip",
        options: tuple[str, ...] = (),
        instances: tuple[str, ...] = (),
    ) -> OfflineModule:
        candidate = Candidate((SourceFile(name, text),), "k", "hip")
        driver = Offline(CHIPS[arch], toolchain, candidate, tmp_path)
        return driver.build(Unit(text, name, locate(text, text), options, instances))

    return make


@pytest.fixture
def fault_of(build):
    """The fault that compiling a text ends in."""

    def make(text: str, *args, **kwargs) -> CandidateFault:
        with pytest.raises(CandidateFault) as caught:
            build(text, *args, **kwargs)
        return caught.value

    return make


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """An artifact lists every extension that its process has loaded, as a runner has one candidate's only."""
    return run_alone(pyfuncitem) if pyfuncitem.path.name == "test_watch_hip.py" else None
