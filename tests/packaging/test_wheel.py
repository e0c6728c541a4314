"""The wheel: what is in it, and that it works in an environment that has never seen the source tree."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"kengine", "kengine_triton", "kengine_cuda", "kengine_nki", "kengine_hip"}
LIGHT = ("pluggy", "click", "rich", "numpy", "pygments", "markdown_it", "mdurl", "tomli")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of the sources, without network."""
    pytest.importorskip("build", reason="needs the package build (pip install '.[test]')")
    pytest.importorskip("hatchling", reason="needs hatchling to build without network (pip install hatchling)")
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    junk = shutil.ignore_patterns("__pycache__", "*.pyc", "*.so")
    for name in ("core", "plugins"):
        shutil.copytree(ROOT / name, source / name, ignore=junk)
    shutil.copytree(ROOT / "tests" / "integrity" / "corpus", source / "tests" / "integrity" / "corpus", ignore=junk)
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(source)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and nothing but the light dependencies; returns its bin folder."""
    home = tmp_path_factory.mktemp("fresh")
    home.chmod(0o755)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    _copy_light(site)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(home / "bin/python"), "install", "-q", "--no-deps", wheel],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return home / "bin"


def _copy_light(site: Path) -> None:
    """Bring the light dependencies over from this environment, so that no index is asked."""
    from importlib.metadata import PackageNotFoundError, files

    for name in LIGHT:
        try:
            recorded = files(name.replace("_", "-")) or files(f"{name}_py".replace("_", "-")) or []
        except PackageNotFoundError:
            try:
                recorded = files(f"{name}-py".replace("_", "-")) or []
            except PackageNotFoundError:
                continue
        for file in recorded:
            if ".." in file.parts or "__pycache__" in file.parts:
                continue
            target = site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target)


def run(bin_: Path, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": f"{bin_}:/usr/bin:/bin", "HOME": str(cwd), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [str(bin_ / args[0]), *args[1:]], cwd=cwd, env=environ, capture_output=True, text=True, timeout=300
    )


def test_it_holds_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    info = {top for top in tops if top.endswith(".dist-info")}
    assert len(info) == 1
    assert tops - info <= PACKAGES and "kengine" in tops
    assert not [n for n in names if "/tests/" in n or n.endswith((".pyc", ".so")) or "__pycache__" in n]


def test_what_code_reads_at_run_time_is_in_it(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for source in (ROOT / "core" / "kengine").rglob("*"):
        if source.is_file() and "__pycache__" not in source.parts:
            assert source.relative_to(ROOT / "core").as_posix() in names
    assert "kengine/report/page.html" in names and "kengine/py.typed" in names


def test_its_metadata(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
    text = archive.read(name).decode()
    for line in (
        "Name: kernel-engine",
        "License-Expression: Apache-2.0",
        "Requires-Python: >=3.10",
        "Provides-Extra: triton",
    ):
        assert line in text
    assert any(n.endswith("licenses/LICENSE") for n in archive.namelist())


def test_the_corpus_is_in_it_and_is_found(installed: Path, tmp_path: Path) -> None:
    code = "from kengine import selftest; c = selftest.load(); print(c.folder.parent.name, len(c.entries))"
    found = run(installed, "python", "-I", "-c", code, cwd=tmp_path)
    corpus = ROOT / "tests" / "integrity" / "corpus"
    count = sum(1 for kind in ("hacks", "honest") for _ in corpus.glob(f"*/{kind}/*.*"))
    assert found.stdout.split() == ["selftest", str(count)], found.stderr


def test_entry_points(installed: Path, tmp_path: Path) -> None:
    code = (
        "import importlib.metadata as m, json; d = m.distribution('kernel-engine'); "
        "print(json.dumps(sorted([e.group, e.name, e.value] for e in d.entry_points)))"
    )
    found = json.loads(run(installed, "python", "-I", "-c", code, cwd=tmp_path).stdout)
    assert found == [
        ["console_scripts", "kengine", "kengine.cli:main"],
        ["kengine.backends", "cuda", "kengine_cuda.plugin"],
        ["kengine.backends", "hip", "kengine_hip.plugin"],
        ["kengine.backends", "nki", "kengine_nki.plugin"],
        ["kengine.backends", "toy", "kengine.testing.toy.plugin"],
        ["kengine.backends", "triton", "kengine_triton.plugin"],
        ["kengine.plugins", "opinion", "kengine.opinion.plugin"],
    ]


def test_the_command_works_without_any_toolchain(installed: Path, tmp_path: Path) -> None:
    done = run(installed, "kengine", "backends", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = {line["backend"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert set(lines) == {"cuda", "hip", "nki", "toy", "triton"}
    for name, line in lines.items():
        assert line["error"] is None, f"{name}: {line['error']}"
        assert line["targets"], name
        for target in line["targets"]:
            missing = {"compile", "launch", "time"} - set(target["capabilities"])
            assert missing == set(target["reasons"]), f"{target['target']}: a reason for each thing it cannot do"


def test_it_judges_a_toy_kernel(installed: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "toy" / "vector_add.py", tmp_path)
    done = run(installed, "kengine", "verify", "--backend", "toy", "vector_add.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed  vector_add.py  on toy:cpu (emulator)" in done.stdout


def test_a_missing_toolchain_names_the_extra(installed: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "triton" / "rmsnorm" / "one_row.py", tmp_path)
    done = run(installed, "kengine", "verify", "--target", "triton:interpret", "one_row.py", cwd=tmp_path)
    assert done.returncode == 4 and done.stdout == ""
    assert "kernel-engine[triton]" in done.stderr and "Traceback" not in done.stderr
