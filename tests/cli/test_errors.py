"""Every mistake a user can make: one clear line, what exists or what to do, and the documented exit code."""

from __future__ import annotations

from pathlib import Path

import pytest


def check(result, code: int, *parts: str) -> None:
    assert "Traceback" not in result.err
    assert result.code == code, result.err
    assert result.out == ""
    assert result.err.startswith("kengine: error: ")
    for part in parts:
        assert part in result.err, f"{part!r} is not in {result.err!r}"


def test_unknown_command(kengine) -> None:
    check(kengine("verfy"), 2, "no command 'verfy'", "did you mean 'verify'?", "backends")


def test_unknown_option(kengine) -> None:
    check(kengine("verify", "--bakend", "toy", "x.py"), 2, "--bakend", "--backend", "`kengine verify --help`")


def test_no_file(kengine) -> None:
    check(kengine("verify", "--backend", "toy"), 2, "FILES")


def test_nowhere_to_judge(kengine, add) -> None:
    check(kengine("verify", add), 2, "say where to judge", "--backend NAME", "--target BACKEND:ARCH", "toy")


def test_backend_and_target(kengine, add) -> None:
    check(kengine("verify", "--backend", "toy", "--target", "toy:cpu", add), 2, "not both")


def test_a_target_given_as_backend(kengine, add) -> None:
    check(kengine("verify", "--backend", "toy:cpu", add), 2, "--target toy:cpu")


def test_unknown_backend_lists_what_is_installed(kengine, add) -> None:
    check(kengine("verify", "--backend", "toi", add), 2, "no backend 'toi'", "triton", "did you mean 'toy'?")


def test_a_typo_in_the_backend_of_a_target_is_one_in_a_name(kengine, add) -> None:
    for command in ("verify", "lint", "compile"):
        check(kengine(command, "--target", "tyo:cpu", add), 2, "no backend 'tyo'", "did you mean 'toy'?")
    check(kengine("verify", "--backend", "zzz", add), 2, "hint: `kengine backends` lists what is installed")


@pytest.mark.parametrize("text", ["toy", "toy:", ":cpu", "toy cpu", "toy:cpu:0", "TOY:cpu"])
def test_a_target_that_is_none(kengine, add, text) -> None:
    check(kengine("verify", "--target", text, add), 2, repr(text), "BACKEND:ARCH")


def test_unknown_target_lists_what_exists(kengine, add) -> None:
    check(
        kengine("verify", "--target", "toy:cpi", add), 2, "unknown target toy:cpi", "did you mean toy:cpu?", "toy:cpu"
    )


def test_unknown_architecture_to_compile_for(kengine, add) -> None:
    check(kengine("verify", "--backend", "toy", "--compile-for", "sm_90", add), 2, "toy:sm_90", "toy:cpu")


def test_a_time_of_an_emulator(kengine, add) -> None:
    for args in (("time",), ("verify", "--min-speedup", "1"), ("verify", "--time")):
        check(kengine(*args, "--backend", "toy", add), 2, "toy:cpu is an emulator", "how fast", "measures")


def test_only_a_device_will_do(kengine, add) -> None:
    check(kengine("verify", "--backend", "toy", "--device-only", add), 4, "toy")
    check(kengine("verify", "--target", "toy:cpu", "--device-only", add), 4, "toy:cpu is an emulator")


@pytest.mark.parametrize(
    ("option", "value", "part"),
    [
        ("--cases", "0", "cases"),
        ("--cases", "many", "many"),
        ("--timeout", "-1", "launch_timeout_s"),
        ("--salt", "xyz", "salt"),
        ("--jobs", "0", "jobs"),
        ("--min-speedup", "nan", "min_speedup"),
    ],
)
def test_a_value_that_makes_no_sense(kengine, add, option, value, part) -> None:
    check(kengine("verify", "--backend", "toy", option, value, add), 2, part)


def test_a_file_that_is_not_there(kengine, add) -> None:
    check(kengine("verify", "--backend", "toy", "ad.py"), 2, "ad.py: no such file", "did you mean add.py?")


def test_a_task_that_is_not_there(kengine, add) -> None:
    check(kengine("verify", "--backend", "toy", "--task", "tsk.py", add), 2, "tsk.py: no such file, expected a task")


def test_a_folder_as_task(kengine, add, tmp_path) -> None:
    check(kengine("verify", "--backend", "toy", "--task", tmp_path, add), 2, "is a folder, expected a task")


def test_no_candidate_in_the_file(kengine, texts, tmp_path) -> None:
    path = tmp_path / "only_task.py"
    path.write_text(texts.head + texts.task)
    check(kengine("verify", "--backend", "toy", path), 2, "only_task.py: no candidate found", "define `candidate`")


def test_no_task_in_the_file(kengine, kernel) -> None:
    check(kengine("verify", "--backend", "toy", kernel), 2, "kernel.py: holds no task", "--task FILE")


def test_a_task_that_is_nearly_one(kengine, texts, tmp_path) -> None:
    path = tmp_path / "near.py"
    path.write_text(texts.head + texts.task.replace("def make_inputs", "def make_input") + texts.kernel)
    check(
        kengine("verify", "--backend", "toy", path),
        2,
        "near.py: defines reference, but lacks make_inputs",
        "make_input",
    )


def test_an_entry_that_does_not_exist(kengine, add) -> None:
    add.write_text('# /// kengine\n# entry = "candidat"\n# ///\n' + add.read_text())
    check(kengine("verify", "--backend", "toy", add), 2, "add.py: the entry 'candidat'", "did you mean 'candidate'?")


def test_a_block_that_is_not_toml(kengine, add) -> None:
    add.write_text("# /// kengine\n# cases = [\n# ///\n" + add.read_text())
    check(kengine("verify", "--backend", "toy", add), 2, "add.py:", "the kengine block is not TOML")


def test_a_binary_file(kengine, tmp_path) -> None:
    path = tmp_path / "kernel.so"
    path.write_bytes(b"\x7fELF\x00\x01" * 100)
    check(
        kengine("verify", "--backend", "toy", path), 2, "kernel.so: holds NUL bytes", "a binary file, not source text"
    )


def test_a_huge_file(kengine, tmp_path) -> None:
    path = tmp_path / "huge.py"
    path.write_text("# " + "x" * 50_000_000)
    check(kengine("verify", "--backend", "toy", path), 2, "huge.py: is 50,000,002 bytes, a source file has at most")


def test_an_empty_file(kengine, tmp_path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("")
    check(kengine("verify", "--backend", "toy", path), 2, "empty.py")


def test_a_report_that_cannot_be_written(kengine, add, tmp_path) -> None:
    check(kengine("verify", "--backend", "toy", "--html", "no/such/r.html", add), 2, "there is no folder no/such")


def test_a_run_directory_that_cannot_be(kengine, add) -> None:
    check(kengine("verify", "--backend", "toy", "--run", add, add), 2, "run directory", "add.py")


def test_a_bad_configuration_file(kengine, add, tmp_path) -> None:
    (tmp_path / "kengine.toml").write_text("cases = 'three'\n")
    check(kengine("verify", "--backend", "toy", add), 2, "kengine.toml", "cases")
    (tmp_path / "kengine.toml").write_text("case = 3\n")
    check(kengine("verify", "--backend", "toy", add), 2, "unknown key 'case'", "did you mean 'cases'?")


def test_a_broken_task(kengine, add) -> None:
    add.write_text(add.read_text().replace("return x + y\n", "raise ValueError('no reference today')\n"))
    result = kengine("verify", "--backend", "toy", add)
    check_after_first_line(result, 2, "no reference today")


def test_a_task_that_accepts_anything(kengine, task, kernel) -> None:
    task.write_text(task.read_text().replace("return x + y", "return x * 0"))
    check_after_first_line(kengine("verify", "--backend", "toy", "--task", task, kernel), 2, "zero")


def check_after_first_line(result, code: int, *parts: str) -> None:
    """For what shows only when the engine works: the line with the target stands on stdout already."""
    assert result.out.startswith("target toy:cpu: an emulator") and result.out.count("\n") == 1
    assert "Traceback" not in result.err and result.code == code, result.err
    for part in parts:
        assert part in result.err, f"{part!r} is not in {result.err!r}"


@pytest.fixture
def broken_plugin(tmp_path: Path, clean_environment) -> dict[str, str]:
    """An installed distribution whose backend cannot be imported."""
    info = tmp_path / "site" / "acme_kernels-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-kernels\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[kengine.backends]\nacme = acme_backend\n")
    (tmp_path / "site" / "acme_backend.py").write_text("raise RuntimeError('no licence server')\n")
    return {"PYTHONPATH": f"{tmp_path / 'site'}:{clean_environment()['PYTHONPATH']}"}


def test_a_broken_plugin_is_named(kengine, add, broken_plugin) -> None:
    result = kengine("verify", "--backend", "acme", add, env=broken_plugin)
    check(result, 3, "acme", "acme-kernels 1.2", "RuntimeError: no licence server")
    listed = kengine("backends", env=broken_plugin)
    assert listed.code == 0 and "no licence server" in listed.out and "toy:cpu" in listed.out
    assert kengine("backends", "acme", env=broken_plugin).code == 3
    assert kengine("verify", "--backend", "toy", add, env=broken_plugin).code == 0, "another backend is not touched"


def test_debugging_shows_where(kengine, add) -> None:
    result = kengine("verify", "--target", "toy", add, env={"KENGINE_DEBUG": "1"})
    assert result.code == 2 and "Traceback" in result.err and "kengine: error: target 'toy'" in result.err
