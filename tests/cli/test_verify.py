"""What a run prints, and where."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from kengine import codec
from kengine.model import Status, Verdict

COMMAND = (sys.executable, "-m", "kengine.cli")


def test_a_pass(kengine, add) -> None:
    result = kengine("verify", "--backend", "toy", add)
    assert (result.code, result.err) == (0, "")
    first, second = result.out.splitlines()[:2]
    assert first.startswith("target toy:cpu: an emulator")
    assert second.startswith("passed  add.py  on toy:cpu (emulator), self-referenced")
    for part in ("compare", "add[4]", "launches do nothing", "sandbox:"):
        assert part in result.out


def test_a_failure_says_what_is_wrong(kengine, subtract) -> None:
    result = kengine("verify", "--backend", "toy", subtract)
    assert (result.code, result.err) == (1, "")
    assert "wrong_result  subtract.py" in result.out
    assert "expected" in result.out and "elements are wrong" in result.out


@pytest.mark.parametrize(
    ("change", "status", "part"),
    [
        (
            ("def candidate(x, y):", "def candidate(x):"),
            "launch_failed",
            "candidate takes 1 argument, the task passes 2",
        ),
        (("out[part] = x[part] + y[part]", "out[part] = x[part] +"), "compile_failed", "syntax error"),
    ],
)
def test_what_the_text_alone_shows_is_a_verdict_with_its_line(kengine, task, kernel, change, status, part) -> None:
    kernel.write_text(kernel.read_text().replace(*change))
    result = kengine("verify", "--backend", "toy", "--task", task, kernel)
    assert result.code == 1
    line = next(n for n, text in enumerate(kernel.read_text().splitlines(), 1) if change[1] in text)
    assert f"{status}  kernel.py:{line}" in result.out
    assert part in result.out


def test_many_end_in_a_table_and_the_worst_exit_code(kengine, task, texts, tmp_path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    (folder / "a.py").write_text(texts.head + texts.kernel)
    (folder / "b.py").write_text(texts.head + texts.kernel.replace("+ y", "- y"))
    result = kengine("verify", "--backend", "toy", "--task", task, folder)
    assert (result.code, result.err) == (1, "")
    rows = result.out.splitlines()
    assert rows[1].split()[:2] == ["candidate", "status"]
    assert [row.split()[:2] for row in rows[3:5]] == [["a.py", "passed"], ["b.py", "wrong_result"]]
    assert "1 passed, 1 wrong_result on toy:cpu (emulator), in many/" in result.out


def test_a_file_without_a_verdict_stops_nothing(kengine, add, tmp_path) -> None:
    (tmp_path / "bad.py").write_bytes(b"\x00\x01")
    result = kengine("verify", "--backend", "toy", "bad.py", add)
    assert result.code == 2
    assert "kengine: error: bad.py: holds NUL bytes" in result.err
    assert "1 passed, 1 without a verdict" in result.out


def test_json_is_one_object_a_line_and_nothing_else(kengine, add, subtract, tmp_path) -> None:
    (tmp_path / "bad.py").write_bytes(b"\x00\x01")
    result = kengine("verify", "--backend", "toy", "--json", add, subtract, "bad.py")
    assert result.code == 2
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert {line["schema"] for line in lines} == {"kengine.verdict/1", "kengine.error/1"}
    verdicts = {line["candidate"]["files"][0]["path"]: line for line in lines if "status" in line}
    passed = verdicts["add.py"]
    for key in (
        "schema",
        "status",
        "message",
        "target",
        "emulated",
        "self_referenced",
        "task",
        "candidate",
        "stages",
        "speedup",
    ):
        assert key in passed
    assert (passed["status"], passed["target"], passed["emulated"], passed["self_referenced"]) == (
        "passed",
        "toy:cpu",
        True,
        True,
    )
    assert set(passed["stages"]) == {"lint", "compile", "launch", "compare", "integrity", "time"}
    assert passed["speedup"] is None and passed["stages"]["time"] is None
    assert verdicts["subtract.py"]["status"] == "wrong_result"
    error = next(line for line in lines if line["schema"] == "kengine.error/1")
    assert (error["candidate"], error["error"], error["exit_code"]) == ("bad.py", "UsageError", 2)
    for line in result.out.splitlines():
        if "kengine.verdict/1" in line:
            assert codec.loads(line, Verdict).status in (Status.passed, Status.wrong_result)


def test_what_a_candidate_prints_stays_in_its_record(kengine, add) -> None:
    add.write_text(add.read_text() + "\nprint('from the top level')\nimport os; os.write(1, b'from a descriptor\\n')\n")
    result = kengine("verify", "--backend", "toy", "--json", "--ignore", "KE108", add)
    assert result.code == 0, result.out
    assert len(result.out.splitlines()) == 1
    verdict = codec.loads(result.out, Verdict)
    assert "from a descriptor" in verdict.stages.launch.output


def test_no_colour_and_no_progress_in_a_pipe(kengine, add, subtract) -> None:
    result = kengine("verify", "--backend", "toy", add, subtract, env={"FORCE_COLOR": "1"})
    assert "\x1b" not in result.out + result.err


def test_quiet_leaves_the_first_line_out(kengine, add) -> None:
    assert kengine("verify", "--backend", "toy", "--quiet", add).out.startswith("passed  add.py")


def test_a_report_is_written_beside_the_text(kengine, add, subtract, tmp_path) -> None:
    result = kengine("verify", "--backend", "toy", "--html", "r.html", add, subtract)
    assert result.code == 1 and "report: r.html" in result.out
    text = (tmp_path / "r.html").read_text()
    assert "kengine: 1 of 2 candidates passed" in text and "x[part] - y[part]" in text


def test_the_configuration_file_gives_defaults(kengine, add, tmp_path) -> None:
    (tmp_path / "kengine.toml").write_text('target = "toy:cpu"\ncases = 2\n')
    result = kengine("verify", "--json", add)
    assert result.code == 0
    verdict = codec.loads(result.out, Verdict)
    assert len(verdict.stages.compare.comparisons) == 2
    assert (
        len(codec.loads(kengine("verify", "--json", "--cases", "1", add).out, Verdict).stages.compare.comparisons) == 1
    )


def test_a_run_goes_on_where_it_was(kengine, add, subtract, tmp_path) -> None:
    first = kengine("verify", "--backend", "toy", "--json", "--run", "runs", add)
    again = kengine("verify", "--backend", "toy", "--json", "--run", "runs", add, subtract)
    assert again.out.splitlines()[0] == first.out.splitlines()[0], "the finished verdict is the same, to the salt"
    assert len(again.out.splitlines()) == 2


def test_several_targets_give_a_verdict_each(kengine, add) -> None:
    result = kengine("verify", "--target", "toy:cpu", "--target", "toy:cpu", "--json", add)
    assert len(result.out.splitlines()) == 1, "the same target twice is one"


@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_an_interrupt_keeps_what_is_finished_and_leaves_no_process(
    add, texts, clean_environment, tmp_path, number, code, word
) -> None:
    (tmp_path / "slow.py").write_text(
        texts.head + texts.task + texts.kernel.replace("out = numpy", "import time; time.sleep(60)\n    out = numpy")
    )
    process = subprocess.Popen(
        [*COMMAND, "verify", "--backend", "toy", "--json", "--jobs", "2", "add.py", "slow.py"],
        cwd=tmp_path, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in the background of a shell
    )  # fmt: skip
    assert process.stdout is not None
    first = process.stdout.readline()
    assert json.loads(first)["status"] == "passed"
    children = _family(process.pid)
    assert children, "it works in child processes"
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == code, err
    assert out == "" and word in err and "Traceback" not in err
    deadline = time.monotonic() + 10
    while any(_alive(pid) for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in children if _alive(pid)] == []


def test_a_reader_that_goes_away_is_no_error(add, texts, clean_environment, tmp_path) -> None:
    for i in range(20):
        (tmp_path / f"k{i}.py").write_text(texts.head + texts.task + texts.kernel + "#" * 100_000)
    process = subprocess.Popen(
        [*COMMAND, "verify", "--backend", "toy", "--json", *(f"k{i}.py" for i in range(20))],
        cwd=tmp_path, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 141
    assert err == b""


def _family(pid: int) -> list[int]:
    found, pending = [], [pid]
    while pending:
        parent = pending.pop()
        for entry in os.listdir("/proc"):
            if entry.isdigit() and _parent(int(entry)) == parent:
                found.append(int(entry))
                pending.append(int(entry))
    return found


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return -1


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
