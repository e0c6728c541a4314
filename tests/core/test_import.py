"""What importing costs: looked at in a fresh process, because this one has imported everything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import kengine
import pytest

CORE = Path(__file__).resolve().parents[2] / "core"
HEAVY = {"numpy", "torch", "triton", "pluggy", "rich", "click", "cupy", "matplotlib", "tomllib", "asyncio"}


def _fresh(code: str) -> dict[str, object]:
    code = f"import json, sys, time; sys.path.insert(0, {str(CORE)!r})\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("kengine", set()),
        ("kengine.codec", set()),
        ("kengine.config", set()),
        ("kengine.model", set()),
        ("kengine.plugins.registry", set()),
        ("kengine.plugins.probe", set()),
        ("kengine.plugins.hooks", {"pluggy"}),
        ("kengine.testing", set()),
        ("kengine.testing.toy", set()),
        ("kengine.testing.toy.plugin", {"pluggy"}),
    ],
)
def test_imports_nothing_heavy(module, allowed):
    seen = _fresh(f"import {module}; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))")
    assert set(seen) & HEAVY - allowed == set()


def test_import_takes_under_a_tenth_of_a_second():
    times = [
        _fresh("t = time.perf_counter(); import kengine; print(json.dumps(time.perf_counter() - t))") for _ in range(5)
    ]
    assert min(times) < 0.1


def test_kengine_itself_imports_no_module_of_its_own():
    seen = _fresh("import kengine; print(json.dumps(sorted(m for m in sys.modules if m.startswith('kengine'))))")
    assert seen == ["kengine"]


def test_all_names_exist_and_are_all_there_is():
    for name in kengine.__all__:
        assert getattr(kengine, name) is not None, name
    assert set(kengine.__all__) == set(kengine._HOME) | {"__version__"}
    assert set(kengine.__all__) <= set(dir(kengine))
    with pytest.raises(AttributeError, match="module 'kengine' has no attribute 'verfy'"):
        _ = kengine.verfy


def test_version_is_that_of_the_package():
    from importlib.metadata import PackageNotFoundError, version

    try:
        expected = version("kernel-engine")
    except PackageNotFoundError:
        expected = "0+unknown"
    assert kengine.__version__ == expected
    assert (CORE / "kengine" / "py.typed").is_file()
