"""A mistake of a plugin's is nobody's failure: not the candidate's, and no reward comes of it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kengine import Engine, Plan, rewards
from toy_items import GOOD, item

PLUGIN = """
from pathlib import Path

from kengine.model import Artifact, Candidate, Capability, Mode, Target, TargetInfo, TaskView
from kengine.plugins import Inputs, Outputs, hookimpl
from kengine.testing.toy import compile, launch

KENGINE_SPEC = (1, 0)


@hookimpl
def kengine_targets():
    can = (Capability.compile, Capability.launch)
    return [TargetInfo(Target("acme", "cpu"), emulated=True, capabilities=can, reasons={"time": "no clock"})]


@hookimpl
def kengine_compile(candidate: Candidate, task: TaskView, target: Target, workdir: Path) -> Artifact:
    IN_COMPILE
    return compile.compile_candidate(candidate, task, target, workdir)


@hookimpl
def kengine_launch(artifact: Artifact, inputs: Inputs, mode: Mode) -> Outputs:
    IN_LAUNCH
    return launch.launch_candidate(artifact, inputs, mode)
"""


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine over a distribution whose plugin makes the mistake that the test asks for."""
    in_compile, in_launch = request.param
    package, info = tmp_path / "kengine_acme", tmp_path / "kengine_acme-2.1.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("")
    (package / "plugin.py").write_text(PLUGIN.replace("IN_COMPILE", in_compile).replace("IN_LAUNCH", in_launch))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kengine-acme\nVersion: 2.1\n")
    (info / "entry_points.txt").write_text("[kengine.backends]\nacme = kengine_acme.plugin\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    with Engine(target="acme:cpu", plan=Plan(cases=1), workers=1) as engine:
        yield engine
    for name in [n for n in sys.modules if n.startswith("kengine_acme")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "acme, stage", [(("1 / 0", "pass"), "compile"), (("pass", "1 / 0"), "launch")], indirect=["acme"]
)
def test_a_hook_that_raises_is_the_plugins_fault(acme: Engine, stage: str) -> None:
    verdict = acme.verify(item(GOOD))
    assert verdict.status == "unsupported"
    assert verdict.message == (
        "cannot be judged here, by a fault of the plugin's and not the candidate's: plugin 'acme' of kengine-acme 2.1: "
        f"kengine_{stage} raised ZeroDivisionError: division by zero"
    )
    assert rewards.correctness(verdict, allow_self_referenced=True) is None


@pytest.mark.parametrize(
    "acme", [("return {}", "pass"), ("pass", "return None")], indirect=True, ids=["compile", "launch"]
)
def test_so_is_one_that_returns_what_it_may_not(acme: Engine) -> None:
    verdict = acme.verify(item(GOOD))
    assert (verdict.status, "plugin 'acme' of kengine-acme 2.1" in verdict.message) == ("unsupported", True)


@pytest.mark.parametrize("acme", [("pass", "pass")], indirect=True)
def test_what_a_candidate_raises_stays_its_own(acme: Engine) -> None:
    assert acme.verify(item(GOOD)).passed
    verdict = acme.verify(item(GOOD + "\ninner = candidate\ndef candidate(x, y):\n    return inner(x, y) / [0][1]\n"))
    assert verdict.status == "launch_failed"
    assert "IndexError" in verdict.message and "plugin" not in verdict.message


@pytest.mark.parametrize("acme", [("pass", "launch.BUILDS[artifact.build][0].bad()")], indirect=True)
def test_an_exception_that_passes_through_a_hook_stays_the_candidates(acme: Engine) -> None:
    verdict = acme.verify(item(GOOD + "\ndef bad():\n    raise KeyError('mine')\n"))
    assert verdict.status == "launch_failed"
    assert "KeyError" in verdict.message and verdict.stages.launch is None
