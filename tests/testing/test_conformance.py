"""The kit itself: run by a pytest of its own on backends that are right and wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from kengine.model import Status, Task
from kengine.testing.golden import EXPECTED, SHAMS, Golden, check_kernels, find_kernels, make_sham

ROOT = Path(__file__).resolve().parents[2]
FAKES = ROOT / "tests" / "plugins" / "fake_dists"


def _run(
    tmp_path: Path, backend: str, *arguments: str, body: str = "", fakes: Path = FAKES
) -> tuple[str, dict[str, object]]:
    """Output of the kit on one backend, and its report."""
    file = tmp_path / "test_it.py"
    file.write_text(
        "from kengine.testing import BackendConformance\n\n"
        f"class TestIt(BackendConformance):\n    backend = {backend!r}\n{body}"
    )
    report = tmp_path / "conformance.json"
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(fakes / backend), str(ROOT / "core"), *filter(None, sys.path)]),
        "KENGINE_CONFORMANCE": str(report),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", str(file), *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    return done.stdout, json.loads(report.read_text())


FREE = ("-k", "not golden and not sham and not compiled and not repeated and not closing")


def test_a_good_backend_passes_without_a_device(tmp_path):
    out, report = _run(tmp_path, "good", *FREE)
    assert "4 passed, 1 skipped" in out
    assert "good:x1 has no capability time: good is a fixture" in out
    assert report["schema"] == "kengine.conformance/1"
    assert (report["backend"], report["distribution"], report["version"]) == ("good", "fake-good", "2.5")
    assert report["targets"] == {"good:x1": ["compile", "launch"]}
    assert report["results"] == {
        "specification": "passed",
        "import": "passed",
        "targets": "passed",
        "good:x1/time": "skipped: good:x1 has no capability time: good is a fixture",
    }


@pytest.mark.parametrize(
    ("backend", "result", "problem"),
    [
        ("heavy_import", "import", "fake_heavy_import.plugin imports ['numpy"),
        ("bad_targets", "targets", "gives no reason why bad_targets:x1 cannot time"),
        ("misspelt", "specification", "kengine_tme is not a hook"),
        ("old_spec", "specification", "update the plugin"),
        ("raises", "specification", "driver version 0 is not supported"),
    ],
)
def test_a_wrong_backend_fails_in_its_place(tmp_path, backend, result, problem):
    out, report = _run(tmp_path, backend, *FREE)
    assert "failed" in out.splitlines()[-1]
    assert report["results"][result].startswith("failed: ")
    assert problem in report["results"][result]


def test_golden_kernels_that_are_missing_fail(tmp_path):
    out, report = _run(tmp_path, "good", "-k", "golden")
    assert f"{len(EXPECTED)} failed" in out.splitlines()[-1]
    assert report["results"]["good:x1/hang"].startswith("failed: backend 'good' supplies no golden kernel 'hang'")


def test_expected_failures_that_are_stale_are_warned_of(tmp_path):
    expected = {"targets": "slow on Mondays", "good:x9/hang": "no such target", "good:x1/hang": "no kernel yet"}
    body = f"    expected_failures = {expected!r}\n"
    out, report = _run(tmp_path, "good", "-k", "not sham and not repeated and not closing", body=body)
    assert "targets was expected to fail (slow on Mondays) and passed: drop it" in out
    assert "expected failure 'good:x9/hang' names no test" in out
    assert "'good:x1/hang' names no test" not in out
    assert "1 xfailed" in out.splitlines()[-1]
    assert report["results"]["good:x1/hang"] == "expected failure: no kernel yet"


def test_a_verdict_that_is_wrong_for_its_kernel_fails(tmp_path):
    body = (
        "    from kengine.testing.toy.conformance import KERNELS\n"
        "    conformance = {**KERNELS, 'wrong_scale': KERNELS['softmax_ok'], 'add_ok': KERNELS['nan_output']}\n"
    )
    selected = "wrong_scale or add_ok or softmax_ok"
    out, report = _run(tmp_path, "toy", "-k", selected, body=body)
    assert "2 failed, 1 passed" in out.splitlines()[-1]
    assert report["results"]["toy:cpu/wrong_scale"].startswith("failed: passed: right on ")
    assert report["results"]["toy:cpu/add_ok"].startswith("failed: wrong_result: ")
    assert report["results"]["toy:cpu/softmax_ok"] == "passed"


def _derive(tmp_path: Path, name: str, changes: dict[str, str], kernels: str = "") -> None:
    """Install a backend that is the toy's plugin with pieces of its text replaced."""
    package = tmp_path / name / f"kengine_{name}"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "conformance.py").write_text(f"from kengine.testing.toy.conformance import KERNELS\n{kernels}")
    text = (ROOT / "core" / "kengine" / "testing" / "toy" / "plugin.py").read_text()
    for old, new in {"from pathlib": "import dataclasses\nfrom pathlib", **changes}.items():
        assert old in text
        text = text.replace(old, new)
    (package / "plugin.py").write_text(text)
    info = tmp_path / name / f"kengine_{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: kengine-{name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[kengine.backends]\n{name} = kengine_{name}.plugin\n")


def test_a_backend_that_ignores_the_modes_fails(tmp_path):
    targets = "[dataclasses.replace(t, target=Target('deaf', 'cpu')) for t in targets.find_targets()]"
    _derive(tmp_path, "deaf", {"inputs, mode)": "inputs, Mode.normal)", "targets.find_targets()": targets})
    _, report = _run(tmp_path, "deaf", "-k", "sham or add_ok", fakes=tmp_path)
    # An honest kernel looks like a sham then; no kernel at all is still noticed.
    assert report["results"]["deaf:cpu/add_ok"].startswith("failed: sham: ")
    assert report["results"]["deaf:cpu/plain"] == "passed"


def test_a_target_that_only_compiles(tmp_path):
    """The toy where it cannot launch, with golden kernels that are not what their names say."""
    targets = (
        "[dataclasses.replace(t, target=Target('only', 'chip'), emulated=False, capabilities=t.capabilities[:1], "
        "reasons={'launch': 'no chip', 'time': 'no chip'}) for t in targets.find_targets()]"
    )
    swapped = "{**KERNELS, 'compile_error': KERNELS['add_ok'], 'softmax_ok': KERNELS['compile_error']}"
    _derive(tmp_path, "only", {"targets.find_targets()": targets}, f"KERNELS = {swapped}\n")
    _, report = _run(tmp_path, "only", fakes=tmp_path)
    results = report["results"]
    assert results["only:chip/add_ok"] == "skipped: only:chip cannot launch here: no chip"
    assert results["only:chip/compile/add_ok"] == results["only:chip/compile/wrong_scale"] == "passed"
    assert results["only:chip/compile/compile_error"].startswith("failed: passed: compiled for only:chip")
    assert results["only:chip/compile/softmax_ok"].startswith("failed: compile_failed: ")


@pytest.mark.parametrize("name", list(SHAMS))
def test_shams_stand_in_front_of_the_honest_candidate(name):
    honest = find_kernels("kengine.testing.toy.plugin")["add_ok"]
    sham = make_sham(honest, name)
    assert sham.task == honest.task and sham.candidate.endswith(f"def candidate(x, y):\n{SHAMS[name]}")
    assert sham.candidate.count("def _honest(x, y):") == 1
    assert make_sham(honest._replace(file="candidate.cu"), name) is None
    assert make_sham(honest._replace(candidate="def add(x, y): ..."), name) is None


def test_golden_kernels_are_checked():
    assert check_kernels({"hang": ("a", "b")}) == {"hang": Golden("a", "b")}
    assert check_kernels({"hang": ("a", Task("t", "function", ""), "k.cu")})["hang"].file == "k.cu"
    with pytest.raises(TypeError, match="no golden kernel is called 'hnag'; the names are add_ok, "):
        check_kernels({"hnag": ("a", "b")})
    with pytest.raises(TypeError, match="golden kernel 'hang': want"):
        check_kernels({"hang": ("a", 3)})


def test_kernels_are_found_beside_the_plugin():
    assert set(find_kernels("kengine.testing.toy.plugin")) == set(EXPECTED)
    assert find_kernels("plugin") == {}
    assert find_kernels("kengine.plugins.hooks") == {}


def test_statuses_are_exact():
    assert EXPECTED["hang"] == {Status.timed_out}
    assert [name for name, statuses in EXPECTED.items() if len(statuses) > 1] == ["out_of_bounds"]
