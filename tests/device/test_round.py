"""The one command for a machine with a GPU: what it reads out of logs, when it stops, and what it says was not run."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

LOGS = {
    "test-device": "....s\n71 passed, 3 skipped in 91.20s\n",
    "verdicts": (
        "correctness: triton:sm_90, 16 workers, warm after 9.1 s\n"
        "correctness: 128 verdicts in 11.90 s = 10.8/s, 128 passed\n  medians in ms: {'lint': 7.0}\n"
        "a process for each, 16 side by side: 1.70/s (48 of 48 right)\ncorrectness: 6.3 x the best of them\n"
        "with timing: 128 verdicts in 40.00 s = 3.2/s, 128 passed\nwith timing: 1.9 x the best of them\n"
    ),
    "timing": (
        "add  4 Ki: kengine     1.301 us (activity), profiler     1.312 us, ratio 0.9916, spread over 15 runs 0.80%, "
        "speedup 1.1 (faster), 80 samples\n"
        "add 64 Mi: kengine   140.000 us (activity), profiler   127.500 us, ratio 1.0980, spread over 6 runs 0.10%, "
        "speedup 1.1 (faster), 32 samples\n"
    ),
    "extension": (
        "load_inline: 64 verdicts in 20.00 s = 192/min, 64 passed\n"
        "torch's own, 16 side by side: 9.5/min (16 of 16 right)\n"
        "load_inline: 20.2 x torch's own in a process each\n"
    ),
    "integrity": "triton:sm_90 rmsnorm: 800.0 ms without, 1100.0 ms with, ratio 1.38 (quartiles 1.3 to 1.5; bar 1.5)\n",
    "costs": (
        "contexts by torch, 16 at once: 9.1/s, ready after 900 ms, gone 100 ms after the kill\n"
        "contexts by torch, CUDA_DEVICE_MAX_CONNECTIONS=1, 16 at once: 99.0/s, ready after 9 ms, gone after 1 ms"
    ),
}  # fmt: skip


@pytest.fixture
def script() -> Any:
    spec = importlib.util.spec_from_file_location("device_round", ROOT / "scripts" / "device_round.py")
    made = importlib.util.module_from_spec(spec)
    sys.modules["device_round"] = made  # dataclasses look their module up
    spec.loader.exec_module(made)
    yield made
    del sys.modules["device_round"]


def read(script: Any, name: str, code: int | None = 0, text: str | None = None) -> dict[str, tuple[str, bool]]:
    step = next(s for s in script.steps("triton:sm_90") if s.name == name)
    found = script.read(step, code, step.limit_s, LOGS[name] if text is None else text)
    return {r.bar: (r.figure, r.met) for r in found}


def test_figures_are_read_and_held_against_their_bars(script: Any) -> None:
    assert read(script, "test-device") == {"tests passed": ("71", True), "ends well": ("exit code 0", True)}
    assert read(script, "verdicts") == {
        "verdicts a second": ("10.8", True), "times a process for each": ("6.3", True),
        "verdicts a second with timing": ("3.2", False), "honest kernels passed": ("128", True),
        "ends well": ("exit code 0", True),
    }  # fmt: skip
    timing = read(script, "timing")
    assert timing["ratio to the profiler"] == ("0.9916, 1.098", False)
    assert timing["spread over verdicts, %"] == ("0.8, 0.1", True)
    assert read(script, "extension") == {
        "times torch's own load_inline": ("20.2", True), "honest extensions passed": ("64", True),
        "ends well": ("exit code 0", True),
    }  # fmt: skip
    assert read(script, "integrity")["checks, times a verdict"] == ("1.38", True)
    assert read(script, "costs")["contexts a second"] == ("9.1", False)


def test_a_step_that_was_stopped_keeps_what_it_had_printed(script: Any) -> None:
    text = LOGS["verdicts"].partition("a process")[0]
    assert read(script, "verdicts", None, text) == {
        "verdicts a second": ("10.8", True), "times a process for each": ("none", False),
        "verdicts a second with timing": ("none", False), "honest kernels passed": ("128", True),
        "ends well": ("stopped after 130 s", False),
    }  # fmt: skip


def test_patterns_are_those_of_the_scripts_that_print(script: Any) -> None:
    """Each constant part of a pattern stands in the text of its script."""
    for step in script.steps("triton:sm_90"):
        if not step.arguments[0].startswith("benchmarks/"):
            continue
        text = (ROOT / step.arguments[0]).read_text()
        if "import device_verdicts" in text:
            text += (ROOT / "benchmarks" / "device_verdicts.py").read_text()
        for bar in step.bars:
            parts = re.split(r"\([^)]*\)|\\d\+|\.\*|\^|\[[^]]*\]", bar.pattern)
            labels = ("correctness: ", "with timing: ", "by torch")
            for part in (p for p in parts if p.strip() and not p.startswith(labels)):
                assert part.strip() in text, (step.name, part)


def test_every_file_of_the_round_is_there(script: Any) -> None:
    chosen = script.steps("triton:sm_90")
    paths = [a for step in chosen for a in step.arguments if a.startswith(("benchmarks/", "tests/"))]
    assert all((ROOT / p).is_file() for p in paths)
    assert {"tests/device/test_engine.py", "tests/runner/test_device.py", "tests/triton/test_device.py"} <= set(paths)
    assert "tests/integrity/test_device.py" not in paths  # the selftest is a step of its own
    assert sum(step.limit_s for step in chosen[:4]) <= 560


def test_a_step_is_stopped_with_all_that_it_started(script: Any, tmp_path: Path) -> None:
    text = (
        "import subprocess, sys, time\nprint('ratio 1.25', flush=True)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True)\ntime.sleep(60)\n"
    )
    begun = time.monotonic()
    step, log = script.Step("slow", ("-c", text), 99.0), tmp_path / "slow.log"
    assert script.run(step, 3.0, log, {}) is None
    assert time.monotonic() - begun < 20
    first, pid = log.read_text().split("\n")[:2]
    assert first == "ratio 1.25"
    deadline = time.monotonic() + 5
    while _lives(int(pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(int(pid))


def _lives(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_a_round_runs_its_steps_until_its_time_is_over(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bar = script.Bar("ratio", r"ratio ([\d.]+)", "1.5 or less", lambda n: n <= 1.5)
    chosen = (
        script.Step("good", ("-c", "print('ratio 1.25')"), 60, (bar,)),
        script.Step("bad", ("-c", "print('ratio 2.5'); raise SystemExit(3)"), 60, (bar,)),
        script.Step("never", ("-c", "pass"), 60, (bar,)),
    )
    monkeypatch.setattr(script, "find_target", lambda environ: "triton:sm_90")
    monkeypatch.setattr(script, "steps", lambda target: chosen)
    clock = iter([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 535.0, 535.0])
    monkeypatch.setattr(script.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(script, "run", lambda step, limit, log, environ: _write(log, step))
    assert script.main(["--out", str(tmp_path)]) == 1
    assert (tmp_path / "summary.txt").read_text().split("\n")[:-1] == [
        "met      good   ratio      1.25         1.5 or less",
        "met      good   ends well  exit code 0  exit code 0",
        "MISSED   bad    ratio      2.5          1.5 or less",
        "MISSED   bad    ends well  exit code 3  exit code 0",
        "not run  never  ratio                   1.5 or less",
        "not run  never  ends well               exit code 0",
    ]
    saved = json.loads((tmp_path / "summary.json").read_text())
    assert [r["met"] for r in saved] == [True, True, False, False, None, None]
    assert "good: exit code 0 after 1 s" in capsys.readouterr().out


def _write(log: Path, step: Any) -> int:
    log.write_text("ratio 1.25\n" if step.name == "good" else "ratio 2.5\n")
    return 0 if step.name == "good" else 3


def test_wrong_uses_say_what_to_do(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="holds no wheel; `make device-wheels` makes them"):
        script.unpack(tmp_path, tmp_path / "site")
    (tmp_path / "broken-1.0-py3-none-any.whl").write_bytes(b"no zip")
    with pytest.raises(SystemExit, match=r"pip could not install broken-1\.0-py3-none-any\.whl"):
        script.unpack(tmp_path, tmp_path / "site")
    monkeypatch.setattr(script, "find_target", lambda environ: "triton:sm_90")
    with pytest.raises(SystemExit, match="no step speed; there are test-device, verdicts"):
        script.main(["--out", str(tmp_path), "--only", "speed"])
