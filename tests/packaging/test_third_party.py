"""The third-party backend of the examples: its wheel beside kengine's own, in an environment without the sources."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "third_party_backend"
TASK = EXAMPLE / "candidates" / "task.py"
JUNK = shutil.ignore_patterns("__pycache__", "*.pyc", "*.so", ".*_cache", "dist", "build")


def _run(*command: object, timeout: float = 600, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=timeout, **options)  # type: ignore[call-overload]


def _build(source: Path, out: Path) -> Path:
    done = _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = out.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """kengine's wheel and the backend's, from copies of the sources."""
    pytest.importorskip("build", reason="needs the package build (pip install '.[test]')")
    pytest.importorskip("hatchling", reason="needs hatchling to build without network (pip install hatchling)")
    core = tmp_path_factory.mktemp("core")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, core)
    for name in ("core", "plugins"):
        shutil.copytree(ROOT / name, core / name, ignore=JUNK)
    shutil.copytree(ROOT / "tests" / "integrity" / "corpus", core / "tests" / "integrity" / "corpus", ignore=JUNK)
    backend = tmp_path_factory.mktemp("backend") / "source"
    shutil.copytree(EXAMPLE, backend, ignore=JUNK)
    return [_build(core, tmp_path_factory.mktemp("out")), _build(backend, tmp_path_factory.mktemp("out"))]


@pytest.fixture(scope="module")
def python(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment's interpreter, with both wheels; what they depend on is this one's, JAX from PyPI if need be."""
    home = tmp_path_factory.mktemp("third")
    home.chmod(0o755)
    assert _run(sys.executable, "-m", "venv", "--without-pip", home).returncode == 0
    (folder,) = home.glob("lib/python*/site-packages")
    # A path in a .pth file brings packages, and not the .pth files there: no editable install comes with it.
    (folder / "dependencies.pth").write_text("".join(f"{path}\n" for path in site.getsitepackages()))
    python = home / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
    done = _run(*pip, "--no-deps", "--no-index", *wheels)
    assert done.returncode == 0, done.stdout + done.stderr
    if not find_spec("jax"):
        done = _run(*pip, "jax", "jaxlib")
        if done.returncode:
            pytest.skip(f"JAX cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    done = _run(python, "-c", "import jax.experimental.pallas", env={**_environ(home), "JAX_PLATFORMS": "cpu"})
    if done.returncode:
        pytest.skip(f"JAX cannot be imported: {done.stderr.strip().splitlines()[-1]}")
    return python


def _environ(home: Path) -> dict[str, str]:
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "RAY_ADDRESS": "local"}
    return {"PATH": f"{home}/bin:/usr/bin:/bin", "HOME": str(home), "OMP_NUM_THREADS": "1", **quiet}


@pytest.fixture
def kengine(python: Path, tmp_path: Path):
    """Run the command of that environment."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return _run(python.parent / "kengine", *arguments, cwd=tmp_path, env=_environ(tmp_path))

    return run


def test_it_comes_from_its_wheel(python: Path, tmp_path: Path) -> None:
    code = "import kengine, kengine_pallas; print(kengine.__file__); print(kengine_pallas.__file__)"
    done = _run(python, "-c", code, cwd=tmp_path, env=_environ(tmp_path))
    assert done.returncode == 0, done.stderr
    assert all(Path(line).is_relative_to(python.parents[1]) for line in done.stdout.split())


def test_it_is_listed(kengine) -> None:
    done = kengine("backends", "--json")
    assert done.returncode == 0, done.stderr
    lines = {line["backend"]: line for line in map(json.loads, done.stdout.splitlines())}
    ours = lines["pallas"]
    assert (ours["distribution"], ours["version"], ours["error"]) == ("kengine-pallas", "0.1.0", None)
    targets = {t["target"]: t for t in ours["targets"]}
    assert set(targets) == {"pallas:interpret", "pallas:tpu", "pallas:cuda"}
    assert targets["pallas:interpret"]["capabilities"] == ["compile", "launch"]
    assert targets["pallas:interpret"]["emulated"] and not targets["pallas:tpu"]["emulated"]


def test_a_kernel_is_judged_and_lowered_for_a_chip(kengine) -> None:
    options = ("--target", "pallas:interpret", "--compile-for", "tpu", "--json")
    done = kengine("verify", *options, "--task", TASK, TASK.with_name("rmsnorm.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = json.loads(done.stdout)
    assert verdict["status"] == "passed" and verdict["emulated"]
    compiled = {a["target"]: a for a in verdict["stages"]["compile"]["artifacts"]}
    assert [k["name"] for k in compiled["pallas:tpu"]["kernels"]] == ["normalize"]
    assert compiled["pallas:tpu"]["details"]["lowered_bytes"] > 1000
    assert verdict["stages"]["launch"]["launches"][0] == [{"kernel": "normalize", "grid": [6], "count": 1}]
    checks = {c["name"]: c["evidence"] for c in verdict["stages"]["integrity"]["checks"]}
    assert "launch_failed" in checks["launches raise"] and "wrong" in checks["launches do nothing"]


def test_a_fault_in_a_kernel_has_its_line(kengine, tmp_path: Path) -> None:
    text = TASK.with_name("rmsnorm.py").read_text()
    line = "    out[...] = values * scale * weight[...]\n"
    assert line in text
    path = tmp_path / "outside.py"
    path.write_text(text.replace(line, line + "    out[0, :] = x[ROWS + pl.program_id(0), :]\n"))
    done = kengine("verify", "--target", "pallas:interpret", "--json", "--task", TASK, path)
    verdict = json.loads(done.stdout)
    assert verdict["status"] == "launch_failed"
    assert "Out-of-bounds read" in verdict["message"] and "CpuCallback" not in verdict["message"]
    assert path.read_text().splitlines()[verdict["line"] - 1].strip() == "out[0, :] = x[ROWS + pl.program_id(0), :]"


@pytest.mark.parametrize(
    ("stop", "needs", "said"),
    [
        ("verify", (), "passed: right on"),
        ("rewards", (), "1.0 when it is right, 0.0 when it is wrong_result"),
        ("server", ("fastapi", "uvicorn", "httpx"), "passed on pallas:interpret, over HTTP"),
        ("ray", ("ray",), "passed, passed on pallas:interpret, on a Ray cluster"),
    ],
)
def test_it_is_used_everywhere(python: Path, tmp_path: Path, stop: str, needs: tuple[str, ...], said: str) -> None:
    for name in needs:
        if not find_spec(name):
            pytest.skip(f"needs {name}")
    done = _run(python, EXAMPLE / "tour.py", stop, cwd=tmp_path, env=_environ(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{stop}: {said}" in done.stdout


@pytest.mark.slow
def test_it_conforms(python: Path, tmp_path: Path) -> None:
    report = tmp_path / "conformance.json"
    environ = {**_environ(tmp_path), "KENGINE_CONFORMANCE": str(report)}
    tests = shutil.copytree(EXAMPLE / "tests", tmp_path / "tests")
    done = _run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests, cwd=tmp_path, env=environ, timeout=1200)
    assert done.returncode == 0, done.stdout
    results = json.loads(report.read_text())["results"]
    wrong = {name: result for name, result in results.items() if not result.startswith(("passed", "skipped"))}
    assert not wrong
    for name in ("add_ok", "out_of_bounds", "hang", "mutates_input", "plain", "decoy", "fallback"):
        assert results[f"pallas:interpret/{name}"] == "passed"
    assert results["pallas:tpu/compile/compile_error"] == "passed"


def test_the_core_does_not_know_it() -> None:
    for path in (ROOT / "core" / "kengine").rglob("*.py"):
        assert "kengine_pallas" not in path.read_text(), path


def test_its_conformance_test_is_three_lines() -> None:
    lines = [line for line in (EXAMPLE / "tests" / "test_conformance.py").read_text().splitlines() if line.strip()]
    assert len(lines) == 3
    assert os.path.exists(EXAMPLE / "README.md")
