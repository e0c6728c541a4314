"""Verdicts made by hand, of every kind that a report has to show."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kengine.model import (
    Artifact,
    Candidate,
    CaseTiming,
    Check,
    CompareRecord,
    Comparison,
    CompileRecord,
    Element,
    Environment,
    Finding,
    IntegrityRecord,
    KernelResources,
    Launch,
    LaunchRecord,
    LintRecord,
    SourceFile,
    Stages,
    Status,
    Target,
    Task,
    TimeRecord,
    Verdict,
)

SOURCE = "import triton\n\n\n@triton.jit\ndef kernel(x):\n    pass\n\n\ndef candidate(x):\n    return x + x\n"
ENVIRONMENT = Environment("0.1.0", "3.11.7", "Linux x86_64", "", {"torch": "2.13.0", "triton": "3.9.0"}, ("landlock",))


@pytest.fixture
def passed() -> Verdict:
    """A kernel that passed two cases on an emulator and was compiled for two chips."""
    resources = KernelResources("kernel", 34, 0, 2048, 0.75, {"num_warps": 4})
    compiled = CompileRecord(
        (
            Artifact(Target("triton", "interpret"), note="nothing to compile"),
            Artifact(Target("triton", "sm_90"), (resources,)),
            Artifact(Target("triton", "gfx942"), (replace(resources, registers=20, occupancy=None),)),
        )
    )
    compare = CompareRecord(
        (
            Comparison("drawn 0", True, error_ratio=0.25, max_abs_err=1e-7, allowed=4e-7, total=8192),
            Comparison("outlier 0", True, error_ratio=0.5, max_abs_err=2e-7, allowed=4e-7, total=8192),
        ),
        {"large 0": "the reference overflows"},
    )
    checks = IntegrityRecord(
        (
            Check("noop", True, True, "with launches that do nothing the outputs stay poisoned"),
            Check("raise", False, True, "the plan left it out"),
        )
    )
    return Verdict(
        Status.passed,
        "2 cases right",
        Target("triton", "interpret"),
        True,
        True,
        Task("rmsnorm", "function", "def reference(x): ..."),
        Candidate((SourceFile("one_row.py", SOURCE),), "candidate"),
        Stages(
            LintRecord((Finding("KE201", "warn", "adds on the host", "one_row.py", 10, 12),), 9),
            compiled,
            LaunchRecord((((Launch("kernel", (8,), 1),)), (Launch("kernel", (8,), 2),)), output="hello\n"),
            compare,
            checks,
        ),
        ENVIRONMENT,
        durations_ns={"lint": 1_200_000, "compile": 340_000_000, "launch": 21_500_000},
    )


@pytest.fixture
def wrong(passed: Verdict) -> Verdict:
    """The same kernel, wrong in its second case."""
    bad = Comparison(
        "outlier 0",
        False,
        "output 0 is outside of what is allowed",
        812.0,
        3.25e-4,
        4e-7,
        640,
        8192,
        0,
        Element(0, (3, 127), "0.25", "0.250325"),
        "from row 3 on, columns 64 to 127",
        (),
        "kengine",
    )
    first = passed.stages.compare.comparisons[0]
    stages = replace(passed.stages, compare=CompareRecord((first, bad)), integrity=None)
    message = "wrong in case outlier 0: expected 0.25, got 0.250325 at [3, 127]"
    return replace(passed, status=Status.wrong_result, message=message, stages=stages, stage="compare")


@pytest.fixture
def uncompiled(passed: Verdict) -> Verdict:
    """A kernel that did not compile, with a line and a log."""
    return replace(
        passed,
        status=Status.compile_failed,
        message="arange's arguments must be of type tl.constexpr",
        stage="compile",
        line=5,
        log="5:4: error: arange\n    ^\n",
        stages=Stages(lint=passed.stages.lint),
    )


@pytest.fixture
def timed(passed: Verdict) -> Verdict:
    """A kernel that was timed on a device."""
    cases = (
        CaseTiming(
            "M=4096 N=1024", (9000, 9100, 9200), (31000, 31500, 30900), "activity", 3.41, 3.38, 3.44, "faster", 10**7
        ),
        CaseTiming(
            "M=4096 N=8192",
            (61000, 61100, 60900),
            (58000, 58100, 58200),
            "activity",
            0.951,
            0.94,
            0.96,
            "slower",
            10**8,
        ),
    )
    record = TimeRecord(cases, 1.8, "faster", "torch eager", {"name": "H200"})
    stages = replace(passed.stages, time=record)
    return replace(passed, target=Target("triton", "sm_90"), emulated=False, stages=stages, speedup=1.8)


@pytest.fixture
def hostile(passed: Verdict) -> Verdict:
    """A candidate that puts markup, escape sequences, controls and half characters wherever it has a say."""
    text = "<script>alert(1)</script>\x1b[31m\x00\u202e\ud800 & \"'[bold]$title${body}</pre></details>"
    resources = KernelResources(text, details={text: text})
    comparison = Comparison(text, False, text, None, None, None, 1, 2, 1, Element(0, (1,), text, text), text, (text,))
    stages = Stages(
        LintRecord((Finding("KE1", "reject", text, text, 1), Finding("KE1", "reject", text, "", 1)), 1, (text,)),
        CompileRecord((Artifact(Target("toy", "cpu"), (resources,), text, text, text, {text: text}),)),
        LaunchRecord((((Launch(text, (1,), 1),)),), {}, text),
        CompareRecord((comparison,), {text: text}),
        IntegrityRecord((Check(text, True, False, text),)),
        TimeRecord((CaseTiming(text, (1,), (1,), text, 1.0, 1.0, 1.0, "same", 1),), 1.0, text, text),
    )
    environment = replace(ENVIRONMENT, device=text, versions={text: text}, sandbox=(text,))
    return replace(
        passed,
        status=Status.tampered,
        message=f"{text}\n{text}",
        candidate=Candidate((SourceFile(text, text),), text),
        task=Task(text, "function", text),
        stages=stages,
        environment=environment,
        line=1,
        log=text,
    )
