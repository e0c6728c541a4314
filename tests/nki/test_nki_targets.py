"""Which targets there are, with no Neuron package, with the public index's placeholders, and with real ones."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neuron_double
import pytest
from kengine.model import Capability
from kengine_nki import targets, toolchain


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in front of the path, forgotten again afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(toolchain, "DEVICE", tmp_path / "no_device")
    importlib.invalidate_caches()
    yield tmp_path
    importlib.invalidate_caches()


def listed() -> dict[str, Any]:
    return {info.target.arch: info for info in targets.list_targets()}


def test_the_interpreter_is_always_there(site: Path) -> None:
    found = listed()
    assert list(found) == ["sim", "neuron-sim", "trn1", "trn2", "trn3"]
    sim = found["sim"]
    assert sim.emulated and set(sim.capabilities) == {Capability.compile, Capability.launch}
    assert sim.chip_error == targets.CHIP_ERROR == 1.46e-5 and sim.companions == ()
    assert all(not found[arch].emulated and not found[arch].capabilities for arch in ("trn1", "trn2", "trn3"))


def test_without_packages_it_says_what_to_install(site: Path) -> None:
    for arch in ("neuron-sim", "trn2"):
        reasons = listed()[arch].reasons
        assert "no package nki" in reasons["compile"] and toolchain.INSTALL in reasons["launch"]
        assert "pip.repos.neuron.amazonaws.com" in reasons["compile"]


def test_the_placeholders_of_the_public_index_count_for_nothing(site: Path) -> None:
    neuron_double.install_placeholders(site)
    new, old = toolchain.find_new(), toolchain.find_old()
    assert (new.installed, old.installed) == (False, False)
    assert new.problem.startswith("the installed nki 0.0.1 is the placeholder of pypi.org, which holds nothing; pip ")
    assert old.problem.startswith("the installed neuronx-cc 1.0.post1 is the placeholder")
    assert not listed()["trn2"].capabilities
    assert "placeholder" in listed()["neuron-sim"].reasons["launch"]


def test_real_packages_compile_and_simulate(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    neuron_double.install(site)
    for name in [m for m in sys.modules if m.partition(".")[0] in ("nki", "neuronxcc")]:
        monkeypatch.delitem(sys.modules, name)
    found = listed()
    assert set(found["neuron-sim"].capabilities) == {Capability.compile, Capability.launch}
    assert found["neuron-sim"].environ["NEURON_PLATFORM_TARGET_OVERRIDE"] == "trn2"
    assert found["neuron-sim"].versions == {"nki": "0.6.0", "neuronx-cc": "2.22.0"}
    assert found["trn2"].capabilities == (Capability.compile,)
    assert "no Neuron device" in found["trn2"].reasons["launch"]
    assert [str(t) for t in found["sim"].companions] == ["nki:trn2"]
    assert not {"nki", "neuronxcc"} & set(sys.modules), "looking must import nothing"


def test_the_first_standalone_release_has_no_simulator(site: Path) -> None:
    neuron_double.install(site, version="0.2.0")
    assert not toolchain.can_simulate(toolchain.find_new())
    assert toolchain.can_simulate(toolchain.Package(True, "")), "a build without a version is taken for a new one"


@pytest.mark.parametrize(("printed", "chip"), [("trn2.48xlarge", "trn2"), ("Inf2", "trn1"), ("trn1", "trn1"), ("", "")])
def test_the_chip_of_this_machine(
    site: Path, monkeypatch: pytest.MonkeyPatch, printed: str, chip: str
) -> None:
    neuron_double.install(site)
    (site / "neuron0").write_text("")
    tool = site / "neuron-ls"
    tool.write_text(f'#!/bin/sh\necho \'[{{"instance_type": "{printed}"}}]\'\n')
    tool.chmod(0o755)
    monkeypatch.setattr(toolchain, "DEVICE", site / "neuron0")
    monkeypatch.setenv("PATH", str(site), prepend=":")
    from kengine.plugins.probe import forget

    forget()
    assert toolchain.find_device() == chip
    found = listed()
    able = [arch for arch in ("trn1", "trn2", "trn3") if Capability.launch in found[arch].capabilities]
    assert able == ([chip] if chip else [])
    for arch in able:
        assert "neuron-profile" in found[arch].reasons["time"]
    forget()


def test_asking_for_targets_imports_nothing_heavy() -> None:
    code = (
        "import sys, kengine_nki.plugin as p; p.kengine_targets();"
        "print([m for m in ('numpy', 'torch', 'ml_dtypes', 'nki', 'neuronxcc') if m in sys.modules])"
    )
    path = ":".join(p for p in sys.path if p)
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path}, check=False
    )
    assert child.stdout.strip() == "[]", child.stdout + child.stderr


def test_the_command_says_what_to_install() -> None:
    from kengine import TargetUnavailable
    from kengine.engine import selection

    with pytest.raises(TargetUnavailable) as caught:
        selection.choose(None, "nki:trn2", False)
    text = str(caught.value)
    assert toolchain.INSTALL in text and text.endswith("to judge without the device: --target nki:sim")
