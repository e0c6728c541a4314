"""What each target says that it can do here, and why not; nothing of this needs Triton or torch."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from kengine.model import Capability, Target, TargetInfo
from kengine.plugins import probe
from kengine_triton import targets
from kengine_triton.chips import CHIPS, find


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A machine with the given device, modules and torch build."""

    def make(device: dict[str, Any], missing: str = "", torch: str = "") -> dict[str, TargetInfo]:
        monkeypatch.setattr(targets, "_amd_device", lambda: device if device.get("arch", "").startswith("gfx") else {})
        monkeypatch.setattr(targets, "probe", lambda code: probe.Answer(device))
        monkeypatch.setattr(targets, "_missing", lambda: missing)
        monkeypatch.setattr(targets, "_torch_problem", lambda chip: torch)
        return {str(info.target): info for info in targets.list_targets()}

    return make


EVERYTHING = (Capability.compile, Capability.launch, Capability.time)


def test_without_a_device(machine: Any) -> None:
    found = machine({})
    assert list(found) == ["triton:interpret", *(f"triton:{arch}" for arch in CHIPS)]
    interpret = found["triton:interpret"]
    assert interpret.emulated
    assert interpret.capabilities == (Capability.compile, Capability.launch)
    assert interpret.environ["TRITON_INTERPRET"] == "1"
    assert interpret.device == "cpu"
    assert interpret.companions == (Target("triton", "sm_90"),)
    hopper = found["triton:sm_90"]
    assert hopper.capabilities == (Capability.compile,)
    assert hopper.reasons["launch"] == "no CUDA device; needs an NVIDIA GPU of compute capability 9.0"
    assert hopper.device == "cpu"
    assert "TRITON_INTERPRET" not in hopper.environ
    assert found["triton:gfx942"].reasons["launch"] == "no ROCm device; needs an AMD GPU of architecture gfx942"


def test_with_a_device(machine: Any) -> None:
    found = machine({"arch": "sm_90", "name": "NVIDIA H200", "count": 1})
    assert found["triton:sm_90"].capabilities == EVERYTHING
    assert found["triton:sm_90"].device == "cuda"
    assert found["triton:sm_90"].note == "NVIDIA H200"
    other = found["triton:sm_80"]
    assert other.capabilities == (Capability.compile,)
    assert other.reasons["time"] == (
        "the device here is NVIDIA H200 (sm_90); needs an NVIDIA GPU of compute capability 8.0"
    )


def test_with_a_device_that_has_no_entry(machine: Any) -> None:
    found = machine({"arch": "sm_89", "name": "NVIDIA L4", "count": 1})
    assert found["triton:sm_89"].capabilities == EVERYTHING


def test_with_a_torch_that_cannot_drive_it(machine: Any) -> None:
    problem = "torch 2.13.0+cpu is built without CUDA; install a torch for CUDA"
    found = machine({"arch": "sm_90", "name": "NVIDIA H200", "count": 1}, torch=problem)
    assert found["triton:sm_90"].capabilities == (Capability.compile,)
    assert found["triton:sm_90"].reasons["launch"] == problem


def test_with_an_amd_device(machine: Any) -> None:
    found = machine({"arch": "gfx942", "name": "AMD gfx942", "count": 8})
    assert found["triton:gfx942"].capabilities == EVERYTHING
    assert found["triton:sm_90"].capabilities == (Capability.compile,)


def test_without_triton(machine: Any) -> None:
    found = machine({}, missing="no module triton: pip install 'kernel-engine[triton]'")
    for info in found.values():
        assert info.capabilities == ()
        assert info.reasons["compile"] == "no module triton: pip install 'kernel-engine[triton]'"


def test_missing_modules_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets.importlib.util, "find_spec", lambda name: None if name == "triton" else object())
    assert targets._missing() == "no module triton: pip install 'kernel-engine[triton]'"


def test_chips_without_an_entry() -> None:
    chip = find("sm_89")
    assert chip is not None
    assert chip.shared_block == 99 * 1024
    assert chip.warps == 48
    assert find("sm_x") is None
    assert find("gfx000") is None


def test_plugin_imports_neither_triton_nor_torch() -> None:
    code = (
        "import sys; import kengine_triton.plugin as p; p.kengine_targets();"
        "print([m for m in ('torch', 'triton', 'numpy') if m in sys.modules])"
    )
    path = [p for p in sys.path if p]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {code}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "[]", done.stderr
