"""The text for the next turn: its ends, its length, what it says of each status, and what it never says."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kengine.errors import InfraError, UsageError
from kengine.model import (
    Artifact,
    Check,
    CompareRecord,
    Comparison,
    CompileRecord,
    Element,
    Finding,
    IntegrityRecord,
    KernelResources,
    LintRecord,
    Status,
    Target,
)
from kengine.rewards import write_feedback

SECRET = "3.1415926"
"""Stands wherever a verdict may hold an expected value."""


def with_comparison(change, verdict, *comparisons, **fields):
    record = CompareRecord(comparisons)
    return change(verdict, stages=change(verdict.stages, compare=record), **fields)


@pytest.fixture
def wrong(verdict, change):
    """A wrong result as the judge writes it."""

    def build(got="1.5", expected=SECRET, problem=None, **fields):
        text = (
            f"3 of 64 elements are wrong; worst at [7]: expected {expected}, got {got}, allowed error 1e-05; {SECRET}"
        )
        fields = {"error_ratio": 68.0, "max_abs_err": 3.1415926, "allowed": 1e-5, "wrong": 3, "total": 64,
                  "worst": Element(0, (7,), expected, got), "where": "elements 7 to 9", **fields}  # fmt: skip
        comparison = Comparison("n=64", False, text if problem is None else problem, **fields)
        return with_comparison(change, verdict("wrong_result"), comparison, message=f"n=64: {text}")

    return build


@pytest.mark.parametrize("status", [str(s) for s in Status])
@pytest.mark.parametrize("size", [40, 60, 100, 256, 2000])
def test_the_status_stands_first_and_last_and_the_length_is_kept(status, size, verdict, change) -> None:
    long = change(verdict(status, 1.0), message="m" * 5000, log="l" * 5000)
    text = write_feedback(long, max_chars=size)
    lines = text.splitlines()
    assert len(text) <= size and lines[-1] == f"Status: {status}"
    assert lines[0].startswith(f"Status: {status}")
    if size >= 100:
        assert lines[0].endswith("on triton:sm_90") and len(lines) >= 2


@given(st.integers(40, 700), st.text(max_size=900))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_length_and_any_message(verdict, change, size, message) -> None:
    text = write_feedback(change(verdict("crashed"), message=message, log=message[::-1]), max_chars=size)
    assert len(text) <= size and text.endswith("Status: crashed")


@pytest.mark.parametrize("size", [39, 0, -1, 100.0, True, None])
def test_lengths_that_make_no_sense(size, verdict) -> None:
    with pytest.raises(UsageError, match="max_chars: want a whole number of at least 40"):
        write_feedback(verdict(), max_chars=size)


def test_without_a_verdict_nothing_is_said_of_the_candidate() -> None:
    for judged in (None, InfraError("a judge died")):
        assert write_feedback(judged) == "Not judged: the machine failed. Nothing is said about the candidate."
        assert len(write_feedback(judged, max_chars=40)) == 40


def test_a_wrong_result_says_where_and_how_far(wrong) -> None:
    text = write_feedback(wrong())
    assert (
        "Case n=64: 3 of 64 elements are wrong; the worst is output 0 at [7], an error of about 70 times what" in text
    )
    assert "Wrong are: elements 7 to 9." in text


@pytest.mark.parametrize(
    ("got", "expected", "part"),
    [
        ("nan", SECRET, "NaN where the answer is finite"),
        ("-inf", SECRET, "infinite where the answer is finite"),
        ("1.0", "inf", "finite where the answer is not"),
        ("nan", "inf", "not finite, and of another kind"),
        ("0.0", SECRET, "at [7], zero, an error of about 70 times"),
        ("(nan+0j)", "(3.1415926+1j)", "NaN where the answer is finite"),
        ("byte 3", "True", "the worst is output 0 at [7]."),
    ],
)
def test_the_kind_of_the_worst_element(wrong, got, expected, part) -> None:
    text = write_feedback(wrong(got, expected))
    assert part in text and SECRET not in text and "True" not in text


def test_an_exact_answer_and_a_far_one(wrong) -> None:
    assert "where it must be exact" in write_feedback(wrong("4", "3", error_ratio=None))
    assert "over a million times" in write_feedback(wrong(error_ratio=5e9))


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("every element", "every element"),
        ("only element 3", "only element 3"),
        ("the tail, elements from 60 on (4 of 64)", "the tail, elements from 60 on (4 of 64)"),
        ("every 4th element from 3 to 63", "every 4th element from 3 to 63"),
        ("whole rows: rows 1 to 3; first wrong row [0, 1]", "whole rows: rows 1 to 3; first wrong row [0, 1]"),
        ("in every row: column 7", "in every row: column 7"),
        ("one tile: rows 0 to 3, columns 8 to 15 (4 x 8); first wrong row 0", "columns 8 to 15 (4 x 8)"),
        ("rows 0 to 3 crossed with every 2th column from 0 to 8; first wrong row 0", "crossed with every 2th column"),
        ("scattered over 4 of 4 rows and 128 of 128 columns; first wrong row 0", "scattered over 4 of 4 rows"),
        ("every element; all of it is NaN, as if nothing had been written", "as if nothing had been written"),
        ("every element; all of it is zero", "all of it is zero"),
        (f"every element; all of it is {SECRET}", "all of it is one constant"),
        ("every element; it is the expected answer times 0.5", "it is the expected answer times 0.5"),
        ("every element; it is the expected answer transposed", "transposed"),
        ("every element; it is the expected answer shifted by -1 along dimension 1", "shifted by -1 along dimension 1"),
    ],
)  # fmt: skip
def test_every_place_that_the_judge_names_is_passed_on(wrong, where, said) -> None:
    text = write_feedback(wrong(where=where))
    assert said in text and SECRET not in text


def test_the_places_of_real_masks_are_passed_on(wrong) -> None:
    """What `diagnosis.locate` says of many masks comes through whole."""
    import numpy as np
    from kengine.judge.diagnosis import locate

    draw = np.random.default_rng(3)
    masks = [draw.random(shape) < p for shape in ((40,), (6, 9), (2, 3, 5)) for p in (0.05, 0.3, 0.9) for _ in range(6)]
    for shape in ((12,), (6, 8)):
        for region in (np.s_[..., 3:], np.s_[..., ::2], np.s_[..., 4], np.s_[1:3], np.s_[2]):
            masks.append(np.zeros(shape, bool))
            masks[-1][region] = True
    for place in filter(None, map(locate, masks)):
        assert f"Wrong are: {place}." in write_feedback(wrong(where=place)), place


@pytest.mark.parametrize(
    "form",
    [
        "2 outputs came back, expected 1 output",
        "the output has shape [3], expected [4]",
        "output 1['loss'][0] has dtype float64, expected float32",
        "the output is None, expected a torch.Tensor float32[4, 4]",
        "the output is a torch.Tensor, expected a dict",
        "the output is an array float32[3], expected a tuple of 2",
        "the output is a mine.Tensor, expected a plain torch.Tensor",
        "the output is a tuple of 3, expected 2",
        "output 0 lives on cuda:0, expected cpu",
        "the output has strides [1, 4], expected [4, 1]",
        "the output is expanded (strides [0, 1]): several elements are one place in memory",
        "an output's bytes did not fit into the memory for them",
    ],
)
def test_a_wrong_form_is_said_as_it_is(wrong, form) -> None:
    assert f"Case n=64: {form}." in write_feedback(wrong(problem=form, worst=None, error_ratio=None))


@pytest.mark.parametrize(
    "problem",
    [
        f"output 0 is 2.5, expected {SECRET}",
        f"output 0 is 'has shape [3], expected', expected '{SECRET}'",
        f"output 0 is None, expected '{SECRET}'",
        f"the output has shape [3], expected [4]; expected {SECRET}",
        f"output 0['x'] is 'a list', expected '{SECRET}'",
    ],
)
def test_a_wrong_plain_value_is_not(wrong, problem) -> None:
    text = write_feedback(wrong(problem=problem, worst=None, error_ratio=None))
    assert SECRET not in text and "not of the form that the reference has" in text


def test_the_words_of_a_plugin_that_compares_are_not_passed_on(wrong) -> None:
    text = write_feedback(wrong(by="some_plugin", where=f"every element {SECRET}", problem=f"wants {SECRET}"))
    assert SECRET not in text and "3 of 64 elements" in text


def test_changed_inputs(wrong, change) -> None:
    text = write_feedback(wrong(worst=None, wrong=0, mutated=("x", "out"), problem="the candidate wrote to x, out"))
    assert "the answer is right" in text and "It wrote to x, out, which it may only read." in text


def test_several_cases_worst_first(verdict, change) -> None:
    cases = [
        Comparison(f"n={n}", n == 0, "", float(n), 1.0, 1.0, n, 64, 0, Element(0, (n,), SECRET, "1.0"))
        for n in range(6)
    ]
    text = write_feedback(with_comparison(change, verdict("wrong_result"), *cases))
    assert "5 of 6 cases that were tried are wrong." in text and "... and 2 more." in text
    assert text.index("Case n=5") < text.index("Case n=4") < text.index("Case n=3") and "Case n=2" not in text


def test_no_expected_value_whatever_field_holds_it(verdict, change) -> None:
    """Every status with the value in message, problem, evidence, worst element and, where a judge writes it, log."""
    element = Element(0, (7,), SECRET, "1.5")
    for status in Status:
        for stage in ("lint", "compile", "launch", "compare", "integrity", "time", ""):
            if status in (Status.compile_failed, Status.launch_failed, Status.crashed, Status.timed_out,
                          Status.unsupported) and stage != "compare":  # fmt: skip
                continue  # spoken by a process that knows no expected value
            comparison = Comparison("n=64", False, f"expected {SECRET}", 2.0, 3.1415926, 3.1415926, 3, 64, 0, element,
                                    f"every element; expected {SECRET}")  # fmt: skip
            judged = with_comparison(change, verdict(str(status), 1.0), comparison)
            checks = tuple(Check(n, True, False, f"expected {SECRET}") for n in ("repeat", "launches raise", "other"))
            judged = change(
                judged, message=f"right at first, expected {SECRET}", log=f"expected {SECRET}", stage=stage,
                stages=change(judged.stages, integrity=IntegrityRecord(checks)),
            )  # fmt: skip
            assert SECRET not in write_feedback(judged, max_chars=10_000), (status, stage)


def test_a_race_is_named_without_its_values(verdict, change) -> None:
    message = f"race: output 0 differs in 4 of 8 elements; at (0, 1) it is {SECRET} forwards and 2.5 backwards"
    for status in ("nondeterministic", "launch_failed"):
        text = write_feedback(change(verdict(status), message=message, line=5, log=message))
        assert SECRET not in text and "missing barrier" in text and "5 | return add(x, y)" in text
    shared = change(
        verdict("launch_failed"), message="race_shared: two threads write tile[0] [kernel k, add.cu:5]", line=5
    )
    assert "The emulator saw a race in shared memory" in write_feedback(shared)
    assert "Kernels launched: add_kernel" in write_feedback(verdict("nondeterministic"))


def test_wrong_only_when_timed(verdict, change) -> None:
    judged = change(
        verdict("wrong_result", stage="time"),
        message=f"wrong when timed: expected {SECRET}",
        status=Status.wrong_result,
    )
    text = write_feedback(with_comparison(change, judged, Comparison("n=64", True)))
    assert "wrong when it was timed" in text and SECRET not in text


def test_a_compiler_says_its_line(verdict, change) -> None:
    judged = change(
        verdict("compile_failed"), message="arange's arguments must be constexpr", line=5, log="File add.py\nBoom"
    )
    text = write_feedback(judged)
    assert text.splitlines()[1:3] == ["Line 5: arange's arguments must be constexpr", "  5 | return add(x, y)"]
    assert "Log:\nFile add.py\nBoom" in text
    assert "Boom" not in write_feedback(judged, max_chars=140) and "Line 5" in write_feedback(judged, max_chars=140)
    assert "  9 |" not in write_feedback(change(judged, line=9))


def test_lint_says_rule_line_and_source(verdict, change) -> None:
    findings = (
        Finding("KE102", "reject", "no kernel is launched", "add.py", 5),
        Finding("KE110", "warn", "opens a socket"),
    )
    judged = verdict("lint_rejected")
    text = write_feedback(change(judged, stages=change(judged.stages, lint=LintRecord(findings, 20))))
    assert "KE102 at line 5: no kernel is launched\n  5 | return add(x, y)" in text
    assert "Warning KE110: opens a socket" in text


def test_a_sham_is_told_what_gave_it_away(verdict) -> None:
    assert "although the kernel did not run" in write_feedback(verdict("sham"))
    assert "interfered with" in write_feedback(verdict("tampered"))


def test_a_timeout_names_the_slow_stage(verdict, change) -> None:
    judged = change(
        verdict("timed_out"), message="did not end in 30 s", durations_ns={"compile": 2 * 10**9, "launch": 30 * 10**9}
    )
    assert "did not end in 30 s" in write_feedback(judged)
    assert "The slow stage is launch: 30 s." in write_feedback(judged)


def test_a_slow_kernel_hears_times_and_resources(verdict, change) -> None:
    judged = verdict("too_slow", 0.5, label="slower", coverage=0.25, plan={"min_speedup": 1.5})
    kernel = KernelResources("add_kernel", 255, 96, 2048, 0.125)
    judged = change(
        judged, stages=change(judged.stages, compile=CompileRecord((Artifact(Target("triton", "sm_90"), (kernel,)),)))
    )
    text = write_feedback(judged)
    for part in (
        "Right on 1 case.", "Speed-up over the reference: 0.5x (slower).", "Asked for: 1.5x.",
        "Case n=64: 1 us against 500 ns (0.5x).", "Your kernels take 25% of the device time",
        "Kernel add_kernel: 255 registers, 96 B spilled, 2048 B shared memory, occupancy 12%.",
    ):  # fmt: skip
        assert part in text
    assert "unclear: the times vary" in write_feedback(verdict("passed", 1.5, label="unclear"))


def test_text_of_strangers_cannot_drive_a_terminal(verdict, change) -> None:
    text = write_feedback(change(verdict("crashed"), message="\x1b[2Jgone\u202e"))
    assert "\\x1b[2Jgone\\u202e" in text
