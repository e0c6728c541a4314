"""Targets of the CUDA backend, here and on machines that lack something."""

from __future__ import annotations

import importlib.util

import pytest
from kengine.model import Capability
from kengine.plugins import probe
from kengine.simt.fault import CompilerMissing
from kengine_cuda import targets
from kengine_cuda.toolchain.places import Places

HAS_TORCH = importlib.util.find_spec("torch") is not None


def by_name() -> dict:
    return {info.target.arch: info for info in targets.list_targets()}


@pytest.mark.skipif(not HAS_TORCH, reason="needs torch")
def test_no_compiler_for_chips(monkeypatch) -> None:
    monkeypatch.setattr(targets, "find_places", lambda: Places("", "", ()))
    infos = by_name()
    assert infos["cpu"].companions == () and "not compiled for chips: neither NVRTC nor nvcc" in infos["cpu"].note
    assert infos["sm_90"].capabilities == () and "pip install" in infos["sm_90"].reasons["compile"]


def test_no_compiler_for_the_emulator(monkeypatch) -> None:
    import kengine.simt.toolchain as toolchain

    def missing():
        raise CompilerMissing("no C++ compiler found; install g++")

    monkeypatch.setattr(toolchain, "find_compiler", missing)
    info = by_name()["cpu"]
    assert info.capabilities == () and info.emulated
    assert HAS_TORCH is False or info.reasons["launch"] == "no C++ compiler found; install g++"


@pytest.mark.parametrize(("capability", "archs"), [([9, 0], {"sm_90", "sm_90a"}), ([8, 9], {"sm_89"})])
@pytest.mark.skipif(not HAS_TORCH, reason="needs torch")
def test_a_local_device(monkeypatch, capability, archs) -> None:
    found = probe.Answer({"capability": capability, "name": "NVIDIA Something", "count": 1})
    monkeypatch.setattr(targets, "probe", lambda code: found)
    monkeypatch.setattr(targets, "_torch_problem", lambda: "")
    monkeypatch.setattr(targets, "find_places", lambda: Places("/lib/libnvrtc.so", "", ()))
    infos = by_name()
    for arch, info in infos.items():
        here = arch in archs
        assert (Capability.launch in info.capabilities) is (here or arch == "cpu")
        assert (Capability.time in info.capabilities) is here
        assert info.device == ("cuda" if here else "cpu")
    assert "the device here is NVIDIA Something" in infos["sm_120"].reasons["launch"]


@pytest.mark.skipif(not HAS_TORCH, reason="needs torch")
def test_here() -> None:
    infos = by_name()
    assert list(infos)[:6] == ["cpu", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"]
    assert infos["cpu"].emulated and not any(info.emulated for arch, info in infos.items() if arch != "cpu")
    assert infos["cpu"].environ["KENGINE_CACHE"].startswith("/")
