"""The targets: their names, what each can do, and what is missing where it cannot."""

from __future__ import annotations

import importlib.util

import pytest
from kengine.model import Capability
from kengine_hip import targets, toolchain


def by_name() -> dict[str, object]:
    return {str(info.target): info for info in targets.list_targets()}


def test_names_and_widths() -> None:
    found = by_name()
    assert list(found) == ["hip:cpu", "hip:cpu-gfx1100", "hip:gfx90a", "hip:gfx942", "hip:gfx950", "hip:gfx1100"]
    assert "64 lanes" in found["hip:cpu"].note and "32 lanes" in found["hip:cpu-gfx1100"].note
    assert all(found[name].emulated == name.startswith("hip:cpu") for name in found)


def test_a_missing_toolchain_is_a_reason(monkeypatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ziglang" else real(name))
    monkeypatch.setattr(toolchain, "find_rocm", lambda: None)
    info = by_name()["hip:gfx942"]
    assert Capability.compile not in info.capabilities
    assert "no module ziglang" in info.reasons["compile"] and "kernel-engine[hip]" in info.reasons["compile"]
    assert by_name()["hip:cpu"].companions == ()


def test_a_missing_device_library_is_a_reason(monkeypatch) -> None:
    if toolchain.pip_problem():
        pytest.skip(toolchain.pip_problem())
    monkeypatch.setattr(toolchain, "find_libraries", lambda: None)
    assert "ocml.bc" in toolchain.pip_problem() and "iree-base-compiler" in toolchain.pip_problem()


def test_a_forced_toolchain(monkeypatch) -> None:
    monkeypatch.setenv(toolchain.VARIABLE, "nvcc")
    toolchain.find_toolchain.cache_clear()
    with pytest.raises(toolchain.ToolchainMissing, match="may be pip or rocm"):
        toolchain.find_toolchain()
    monkeypatch.setenv(toolchain.VARIABLE, "rocm")
    monkeypatch.setattr(toolchain, "find_rocm", lambda: None)
    with pytest.raises(toolchain.ToolchainMissing, match="no hipcc"):
        toolchain.find_toolchain()
    toolchain.find_toolchain.cache_clear()
