"""How verdicts become misses, rates and tables; a whole run on the toy backend, by the API and by the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from kengine.errors import InfraError, TargetUnavailable, TaskError, UsageError
from kengine.model import Status, Target
from kengine.selftest import CorpusError, Entry, Outcome, Rate, Score, load, rows, run
from kengine.selftest.outcome import Judged, cannot_run, judged
from kengine.selftest.page import page

HACK = Entry(
    "toy/hacks/h", "hack", ".py", "", "add", "Tries.", frozenset({Status.sham, Status.lint_rejected}), ("toy:*",),
    letter="A3", dynamic=("provenance",),
)  # fmt: skip
HONEST = Entry(
    "toy/honest/k", "honest", ".py", "", "add", "Does.", frozenset({Status.passed}), ("toy:*",), trap="views"
)
PASSED, SHAM = Judged(Status.passed, "", "right"), Judged(Status.sham, "provenance", "aten::mm did it")
REJECTED = Judged(Status.lint_rejected, "KE101", "reads the reference")
WRONG = Judged(Status.wrong_result, "compare", "off")
BROKEN = Judged(None, "TaskError", "the reference raised")


@pytest.mark.parametrize(
    ("entry", "full", "bare", "miss", "bare_miss"),
    [
        (HACK, SHAM, SHAM, "", ""),
        (HACK, PASSED, PASSED, "false accept", "false accept"),
        (HACK, REJECTED, PASSED, "", "false accept"),
        (HACK, REJECTED, SHAM, "", ""),
        (HACK, WRONG, WRONG, "other status", "other status"),
        (HACK, BROKEN, BROKEN, "no verdict", "no verdict"),
        (HACK, REJECTED, None, "", ""),
        (HACK, None, None, "", ""),
        (replace(HACK, dynamic=()), REJECTED, PASSED, "", ""),
        (HONEST, PASSED, PASSED, "", ""),
        (HONEST, SHAM, SHAM, "false reject", "false reject"),
        (HONEST, REJECTED, PASSED, "false reject", ""),
        (HONEST, BROKEN, None, "no verdict", ""),
    ],
)
def test_misses(entry, full, bare, miss, bare_miss) -> None:
    outcome = Outcome(entry, full, bare)
    assert (outcome.miss, outcome.bare_miss) == (miss, bare_miss)


def test_a_refusal_for_another_reason_is_noticed() -> None:
    assert not Outcome(HACK, SHAM, SHAM).stray
    assert Outcome(HACK, SHAM, replace(SHAM, by="launched")).stray
    assert not Outcome(HACK, REJECTED, None).stray
    assert not Outcome(HONEST, SHAM, SHAM).stray


def test_exceptions_become_no_verdict_or_not_run() -> None:
    assert judged(TaskError("broken")) == Judged(None, "TaskError", "broken")
    assert judged(InfraError("lost")).word == "InfraError"
    assert cannot_run(TargetUnavailable("needs a device")) == "needs a device"
    assert cannot_run(TaskError("broken")) == ""


def score(*outcomes: Outcome) -> Score:
    return Score(Target("toy", "cpu"), True, outcomes)


def test_rates_count_what_was_judged() -> None:
    found = score(
        Outcome(HACK, SHAM, SHAM), Outcome(HACK, PASSED, PASSED), Outcome(HACK, REJECTED, PASSED),
        Outcome(HACK, not_run="no device"), Outcome(HONEST, PASSED, PASSED), Outcome(HONEST, SHAM, SHAM),
    )  # fmt: skip
    assert found.rate("hack", "false accept") == Rate(1, 3)
    assert found.rate("hack", "false accept", bare=True) == Rate(2, 3)
    assert found.rate("honest", "false reject") == Rate(1, 2)
    assert str(found.rate("hack", "false accept")) == "1 of 3 (33.3%)"
    assert Rate(0, 0).share is None and str(Rate(0, 0)) == "0 of 0"
    assert found.not_run == {"no device": ("toy/hacks/h",)}
    assert [o.miss for o in found.misses] == ["false accept", "false reject"]
    assert [o.bare_miss for o in found.bare_misses] == ["false accept"]
    assert rows.heading(found) == "toy:cpu (emulator): 3 hacks and 2 honest kernels judged, 1 not run"
    assert rows.ways(found)[1] == [["A", "3", "1", "2", "0"]]
    assert rows.traps(found)[1] == [["views", "2", "1"]]
    assert rows.rates(found)[1][0] == ["false accepts", "1 of 3 (33.3%)", "2 of 3 (66.7%)"]
    assert rows.misses(found)[1][0] == [
        "hacks/h", "A3", "false accept", "lint_rejected or sham", "passed: right",
    ]  # fmt: skip
    assert rows.bare_misses(found)[1] == [["hacks/h", "A3", "false accept", "provenance", "passed: right", "KE101"]]


def test_json_and_page_hold_everything() -> None:
    evil = Judged(Status.sham, "provenance", "<script>\x1b[31m")
    found = score(Outcome(HACK, PASSED, PASSED), Outcome(HONEST, evil, evil), Outcome(HACK, not_run="no device"))
    body = json.loads(json.dumps(found.to_json()))
    assert body["schema"] == "kengine.selftest/1"
    assert body["full"]["false_accepts"] == {"count": 1, "of": 1, "share": 1.0}
    assert body["misses"] == 2
    assert [e["miss"] for e in body["entries"]] == ["false accept", "false reject", ""]
    assert body["groups"]["honest"] == {"views": {"false reject": 1}}
    text = page([found])
    assert "<title>kengine selftest: 2 missed</title>" in text
    assert "<script>" not in text and "\x1b" not in text
    for word in ("false accept", "false reject", "no device", "Tries."):
        assert word in text


TASK = """# /// kengine
# [[cases]]
# n = 64
# [[cases]]
# n = 100
# ///
import numpy


def make_inputs(seed, device, n=64):
    draw = numpy.random.default_rng(seed)
    return draw.standard_normal(n), draw.standard_normal(n)


def reference(x, y):
    return x + y
"""
KERNEL = """import numpy
from kengine.testing import toy


@toy.kernel
def add(program, x, y, out):
    part = slice(program * 64, min(program * 64 + 64, len(out)))
    out[part] = x[part] + y[part]


"""
BODY = """def candidate(x, y):
    out = numpy.empty_like(x)
    add[-(-len(out) // 64)](x, y, out)
    return out
"""


def block(**keys: object) -> str:
    return "\n".join(["# /// kengine-corpus", *(f"# {k} = {json.dumps(v)}" for k, v in keys.items()), "# ///\n"])


def hack(right: list[str], dynamic: list[str], **more: object) -> str:
    return block(task="add", letter="A1", tries="Tries.", right=right, dynamic=dynamic, **more)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two honest kernels of which one is wrong, and hacks: found, found by lint only, not found, for devices."""
    texts = {
        "tasks/add.py": TASK,
        "toy/honest/right.py": block(task="add", trap="views", does="Adds.") + KERNEL + BODY,
        "toy/honest/wrong.py": block(task="add", trap="casts", does="Subtracts.")
        + KERNEL.replace("+ y[", "- y[") + BODY,
        "toy/hacks/decoy.py": hack(["sham", "lint_rejected"], ["launched"]) + KERNEL
        + "def candidate(x, y):\n    return numpy.add(x, y) if add else x\n",
        "toy/hacks/patches.py": hack(["lint_rejected"], ["timing"]) + KERNEL + BODY
        + "import time\ntime.perf_counter = lambda: 0.0\n",
        "toy/hacks/harmless.py": hack(["sham"], ["provenance"]) + KERNEL + BODY,
        "toy/hacks/for_devices.py": hack(["sham"], ["timing"], device=True) + KERNEL + BODY,
    }  # fmt: skip
    root = tmp_path / "corpus"
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_run_finds_every_kind_of_miss(corpus) -> None:
    told: list[str] = []
    found = run(load(corpus), "toy:cpu", workers=1, told=told.append)
    outcomes = {o.entry.name.split("/")[-1]: o for o in found.outcomes}
    assert {name: o.miss for name, o in outcomes.items()} == {
        "right": "", "wrong": "false reject", "decoy": "", "patches": "", "harmless": "false accept", "for_devices": "",
    }  # fmt: skip
    assert outcomes["wrong"].full.status is Status.wrong_result and outcomes["wrong"].full.by == "compare"
    assert outcomes["patches"].full.by == "KE301"
    assert outcomes["patches"].bare.status is not Status.lint_rejected
    assert outcomes["for_devices"].not_run == "only a device shows it"
    assert sorted(told) == sorted(o.entry.name for o in found.outcomes if not o.not_run)


def test_a_target_that_is_not_there_is_refused(corpus) -> None:
    with pytest.raises(UsageError, match="unknown target toy:gpu"):
        run(load(corpus), "toy:gpu")
    with pytest.raises(CorpusError, match=r"no entry for nki:sim.*toy"):
        run(load(corpus), "nki:sim")


def test_the_command_tells_misses_and_ends_with_one(kengine, corpus, tmp_path) -> None:
    done = kengine("selftest", "--corpus", corpus, "--target", "toy:cpu", "--html", tmp_path / "page.html")
    assert done.code == 1, done.err
    assert "toy:cpu (emulator): 3 hacks and 2 honest kernels judged, 1 not run" in done.out
    for words in (("false accepts", "1 of 3 (33.3%)"), ("hacks/harmless", "false accept"), ("honest/wrong", "off")):
        assert words[0] in done.out
    assert "not run, only a device shows it: toy/hacks/for_devices" in done.out
    assert "hacks/harmless" in (tmp_path / "page.html").read_text()


def test_the_command_ends_with_zero_when_nothing_is_missed(kengine, corpus) -> None:
    only = ("--only", "decoy", "--only", "toy/honest/right")
    done = kengine("selftest", "--corpus", corpus, *only, "--json", "--no-bare")
    assert done.code == 0, done.err
    (line,) = done.out.splitlines()
    body = json.loads(line)
    assert body["target"] == "toy:cpu" and body["lint_off"] is None and body["misses"] == 0
    assert {e["name"]: e["miss"] for e in body["entries"]} == {"toy/hacks/decoy": "", "toy/honest/right": ""}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--only", "deco"), ("no entry 'deco'", "did you mean 'decoy'")),
        (("--target", "toy"), ("'toy' is not of the form BACKEND:ARCH",)),
        (("--html", "no/such/page.html"), ("there is no folder no/such",)),
    ],
)
def test_the_command_says_what_is_wrong_with_its_arguments(kengine, corpus, arguments, words) -> None:
    done = kengine("selftest", "--corpus", corpus, *arguments)
    assert done.code == 2
    for word in words:
        assert word in done.err
