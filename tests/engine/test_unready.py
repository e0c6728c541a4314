"""What a plugin says while it gets ready for candidates reaches the caller as what it is, and nothing stays behind."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kengine import Engine, InfraError, Plan, PluginError, TargetUnavailable
from kengine.cli.failure import exit_code
from kengine.errors import PluginLoadError
from toy_items import GOOD, descendants, item, settled

PLUGIN = """
from pathlib import Path

from kengine.errors import DeviceLost, TargetUnavailable
from kengine.model import Artifact, Candidate, Capability, Mode, Target, TargetInfo, TaskView
from kengine.plugins import Inputs, Outputs, hookimpl
from kengine.testing.toy import compile, launch

KENGINE_SPEC = (1, 0)


class NoCompiler(TargetUnavailable):
    pass


@hookimpl
def kengine_targets():
    can = (Capability.compile, Capability.launch)
    return [TargetInfo(Target("acme", "cpu"), emulated=True, capabilities=can, reasons={"time": "no clock"})]


@hookimpl
def kengine_warm(target: Target) -> bool:
    IN_WARM
    return True


@hookimpl
def kengine_open(target: Target) -> bool:
    IN_OPEN
    return True


@hookimpl
def kengine_compile(candidate: Candidate, task: TaskView, target: Target, workdir: Path) -> Artifact:
    return compile.compile_candidate(candidate, task, target, workdir)


@hookimpl
def kengine_launch(artifact: Artifact, inputs: Inputs, mode: Mode) -> Outputs:
    return launch.launch_candidate(artifact, inputs, mode)
"""
WARM, OPEN = ("IN_WARM", "IN_OPEN"), ("IN_OPEN", "IN_WARM")


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine over a distribution whose plugin does in one of its hooks what the test asks for."""
    (hook, other), statement = request.param
    package, info = tmp_path / "kengine_acme", tmp_path / "kengine_acme-2.1.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("")
    (package / "plugin.py").write_text(PLUGIN.replace(hook, statement).replace(other, "pass"))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kengine-acme\nVersion: 2.1\n")
    (info / "entry_points.txt").write_text("[kengine.backends]\nacme = kengine_acme.plugin\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    before = len(descendants())
    with Engine(target="acme:cpu", plan=Plan(cases=1), workers=1) as engine:
        yield engine
    assert settled(before)
    for name in [n for n in sys.modules if n.startswith("kengine_acme")]:
        del sys.modules[name]


MISSING = "acmecc 3 is missing; install acme-toolkit"


@pytest.mark.parametrize(
    "acme",
    [(hook, f"raise {kind}({MISSING!r})") for hook in (WARM, OPEN) for kind in ("TargetUnavailable", "NoCompiler")],
    indirect=True,
)
def test_a_target_that_is_not_there_is_told_with_its_reason(acme: Engine) -> None:
    for _ in range(2):
        with pytest.raises(TargetUnavailable) as raised:
            acme.verify(item(GOOD))
        assert str(raised.value) == f"acme:cpu: {MISSING}"
        assert type(raised.value) is TargetUnavailable and exit_code(raised.value) == 4
    (found,) = acme.verify_many([item(GOOD)], return_exceptions=True)
    assert type(found) is TargetUnavailable


@pytest.mark.parametrize(
    "acme", [(hook, "raise DeviceLost('the driver is gone')") for hook in (WARM, OPEN)], indirect=True
)
def test_a_machine_that_fails_is_no_fault_of_the_plugin(acme: Engine) -> None:
    with pytest.raises(InfraError, match=r"^acme:cpu: the driver is gone$"):
        acme.verify(item(GOOD))


@pytest.mark.parametrize("acme", [(WARM, "raise KeyError('TargetUnavailable: no')"), (WARM, "1 / 0")], indirect=True)
def test_a_mistake_of_its_own_stays_the_plugins(acme: Engine) -> None:
    with pytest.raises(
        PluginLoadError, match="acme:cpu could not be warmed up: ContractViolation: plugin 'acme'"
    ) as raised:
        acme.verify(item(GOOD))
    assert isinstance(raised.value, PluginError) and exit_code(raised.value) == 3


@pytest.mark.parametrize("acme", [(WARM, "pass")], indirect=True)
def test_one_that_gets_ready_judges(acme: Engine) -> None:
    acme.warm()
    assert acme.verify(item(GOOD)).passed
