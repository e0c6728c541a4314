"""Files that are no candidates of the chosen backends: named by a person, or found in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from kengine.cli.fitting import fit, holds_task_alone, language_of
from kengine.errors import BackendNotFound, UsageError
from kengine.plugins import dialect, registry

TASK = "def reference(x):\n    return x\n\n\ndef make_inputs(seed, device):\n    return (1,)\n"
NATIVE_TASK = """// /// kengine
// inputs = ["x"]
// outputs = ["y"]
// grid = 1
// block = 1
// [arrays.x]
// shape = [4]
// [arrays.y]
// shape = [4]
// [[cases]]
// ///
__global__ void k(const float* x, float* y) {}
"""

pytestmark = pytest.mark.skipif(
    not {"triton", "cuda", "hip"} <= {plugin.name for plugin in registry.installed()},
    reason="needs the backends triton, cuda and hip",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    dialect.declared.cache_clear()
    (tmp_path / "all").mkdir()
    for name in ("a.py", "b.cu", "c.hip", "d.cpp"):
        (tmp_path / "all" / name).write_text("x = 1\n")
    (tmp_path / "all" / "task.py").write_text(TASK)
    return tmp_path


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


@pytest.mark.parametrize(
    ("backend", "file", "problem"),
    [
        ("triton", "all/b.cu", "all/b.cu is CUDA, and the backend 'triton' judges Python; use --backend cuda"),
        ("triton", "all/c.hip", "all/c.hip is HIP, and the backend 'triton' judges Python; use --backend hip"),
        ("nki", "all/b.cu", "all/b.cu is CUDA, and the backend 'nki' judges Python; use --backend cuda"),
        ("cuda", "all/c.hip", "all/c.hip is HIP, and the backend 'cuda' judges Python and CUDA; use --backend hip"),
        ("cuda", "all/d.cpp", "all/d.cpp is C++, and candidates are Python, CUDA (.cu) or HIP (.hip); a kernel's file "
                              "ends in .cu or .hip"),
    ],
)  # fmt: skip
def test_a_file_that_was_named_for_a_backend_that_does_not_take_it(folder, backend, file, problem) -> None:
    found = fit([file, "all/a.py"], None, [backend])
    assert names(found.paths) == ["a.py"] and found.notes == []
    ((path, error),) = found.errors
    assert path == Path(file) and str(error) == problem and error.exit_code == 2


def test_what_each_backend_takes_of_a_folder(folder) -> None:
    assert names(fit(["all"], None, ["triton"]).paths) == ["a.py"]
    assert names(fit(["all/*"], None, ["cuda"]).paths) == ["a.py", "b.cu"]
    found = fit(["all"], None, ["hip"])
    assert names(found.paths) == ["a.py", "b.cu", "c.hip"] and found.errors == []
    assert found.notes == [
        "left out 1 file that is C++; a kernel's file ends in .cu or .hip (all/d.cpp)",
        "left out 1 file that holds a task and no candidate (all/task.py)",
    ]


def test_with_several_backends_each_judges_its_own(folder) -> None:
    found = fit(["all/a.py", "all/b.cu"], None, ["triton", "cuda"])
    assert names(found.paths) == ["a.py", "b.cu"] and found.errors == []
    takes = {(b, p.name): found.takes(b, p) for b in ("triton", "cuda") for p in found.paths}
    assert [key for key, taken in takes.items() if not taken] == [("triton", "b.cu")] and len(takes) == 4
    assert found.notes == ["left out on triton: 1 file that is CUDA (all/b.cu)"]


def test_many_are_counted_and_three_of_them_named(folder) -> None:
    for n in range(5):
        (folder / "all" / f"e{n}.cu").write_text("")
    (note, *_) = [note for note in fit(["all"], None, ["triton"]).notes if "CUDA" in note]
    assert note == "left out 6 files that are CUDA; use --backend cuda (all/b.cu, all/e0.cu, all/e1.cu, ...)"


def test_nothing_that_is_left_is_an_error(folder) -> None:
    (folder / "only").mkdir()
    (folder / "only" / "k.cu").write_text("")
    with pytest.raises(UsageError, match="no candidate for triton among only: 1 file that is CUDA; use --backend"):
        fit(["only"], None, ["triton"])
    with pytest.raises(BackendNotFound, match="did you mean 'triton'"):
        fit(["all"], None, ["trition"])


@pytest.mark.parametrize(
    ("name", "text", "alone"),
    [
        ("t.py", TASK, True),
        ("t.py", TASK + "\n\ndef candidate(x):\n    return x\n", False),
        ("t.py", TASK + "\n\ndef add(x):\n    return x\n", False),
        ("t.py", '# /// kengine\n# entry = "_own"\n# ///\n' + TASK + "\n\ndef _own(x):\n    return x\n", False),
        ("t.py", "def candidate(x):\n    return x\n", False),
        ("t.py", "def reference(x:\n", False),
        ("t.py", "", False),
        ("t.cu", NATIVE_TASK, True),
        ("t.cu", "__global__ void k(const float* x, float* y) {}\n", False),
    ],
)
def test_a_task_and_nothing_else(tmp_path, name, text, alone) -> None:
    (tmp_path / name).write_text(text)
    assert holds_task_alone(tmp_path / name) is alone


def test_a_task_that_was_named_is_judged_as_the_candidate_it_is_said_to_be(folder) -> None:
    assert names(fit(["all/task.py"], None, ["triton"]).paths) == ["task.py"]


def test_languages_by_suffix() -> None:
    found = {name: language_of(Path(name)) for name in ("a.py", "a.CU", "a.cuh", "a.hip", "a.cc", "a.c", "a.txt")}
    assert found == {
        "a.py": "python", "a.CU": "cuda", "a.cuh": "cuda", "a.hip": "hip", "a.cc": "", "a.c": "", "a.txt": "python",
    }  # fmt: skip


def test_the_command_says_it_and_counts_nothing_against_the_candidate(kengine, add, tmp_path) -> None:
    (tmp_path / "k.cu").write_text("__global__ void candidate() {}\n")
    for command in ("verify", "compile", "lint"):
        done = kengine(command, "--backend", "triton", "--task", add, "k.cu")
        assert (done.code, done.out) == (2, "")
        assert done.err == "kengine: error: k.cu is CUDA, and the backend 'triton' judges Python; use --backend cuda\n"
