"""The kit itself: run by a pytest of its own on backends that are right and wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from kengine.model import Status, Task
from kengine.testing.golden import EXPECTED, Golden, check_kernels, find_kernels

ROOT = Path(__file__).resolve().parents[2]
FAKES = ROOT / "tests" / "plugins" / "fake_dists"


def _run(tmp_path: Path, backend: str, *arguments: str, body: str = "") -> tuple[str, dict[str, object]]:
    """Output of the kit on one backend, and its report."""
    file = tmp_path / "test_it.py"
    file.write_text(
        "from kengine.testing import BackendConformance\n\n"
        f"class TestIt(BackendConformance):\n    backend = {backend!r}\n{body}"
    )
    report = tmp_path / "conformance.json"
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(FAKES / backend), str(ROOT / "core"), *filter(None, sys.path)]),
        "KENGINE_CONFORMANCE": str(report),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", str(file), *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    return done.stdout, json.loads(report.read_text())


FREE = ("-k", "not golden and not repeated and not closing")


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
    out, report = _run(
        tmp_path, "good", "-k", "not repeated and not closing", body=f"    expected_failures = {expected!r}\n"
    )
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
