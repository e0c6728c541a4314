import os
import subprocess
import sys

import pytest


def test_help_lists_every_command_with_one_line(kengine) -> None:
    from kengine.cli import COMMANDS

    for args in ((), ("--help",), ("-h",)):
        result = kengine(*args)
        assert result.code == 0 and result.err == ""
        for name in COMMANDS:
            assert f"\n  {name} " in result.out
    assert "Exit codes: 0 all passed, 1 a candidate failed" in result.out


@pytest.mark.parametrize("command", ["verify", "time", "compile", "lint", "backends", "show", "replay"])
def test_every_command_has_help_and_its_one_line_is_true(kengine, command) -> None:
    result = kengine(command, "--help")
    assert result.code == 0
    assert result.out.startswith(f"Usage: kengine {command}")


def test_version(kengine) -> None:
    import kengine as package

    assert kengine("--version").out == f"kengine {package.__version__}\n"


def test_help_starts_quickly() -> None:
    """0.15 s with torch installed, in processor time, because other work may share the machine; the best of several."""
    took = []
    for _ in range(7):
        before = os.times()
        subprocess.run([sys.executable, "-m", "kengine.cli", "--help"], capture_output=True, check=True)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        took.append(spent)
    assert min(took) < 0.15, f"kengine --help took {min(took):.3f} s"


@pytest.mark.parametrize("module", ["kengine", "kengine.cli", "kengine.cli.verify"])
def test_nothing_heavy_is_imported(module) -> None:
    heavy = ("torch", "triton", "numpy", "rich", "matplotlib", "ml_dtypes", "cupy", "asyncio")
    code = f"import sys, {module}; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
