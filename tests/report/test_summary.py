from dataclasses import replace

from kengine.model import CompareRecord, Comparison
from kengine.report.summary import error_text, median, speed_text, stage_lines, worst


def by_stage(verdict):
    return {line.stage: line for line in stage_lines(verdict)}


def test_every_stage_has_a_line_in_order(passed) -> None:
    assert [line.stage for line in stage_lines(passed)] == ["lint", "compile", "launch", "compare", "integrity", "time"]


def test_lines_of_a_pass(passed) -> None:
    lines = by_stage(passed)
    assert lines["lint"].text == "9 rules, 0 rejections, 1 warning"
    assert lines["compile"].text == "2 kernels for triton:interpret, triton:sm_90, triton:gfx942"
    assert lines["launch"].text == "2 cases, 3 kernel launches"
    assert lines["compare"].text == "2 of 2 cases right, largest error 0.5 of what is allowed, 1 skipped"
    assert lines["integrity"].text == "1 of 1 check held, 1 not run"
    assert [lines[s].state for s in ("compare", "time")] == ["ok", "not run"]
    assert lines["lint"].took_ns == 1_200_000


def test_the_failing_stage_says_so_with_and_without_a_record(wrong, uncompiled) -> None:
    assert by_stage(wrong)["compare"].state == "failed"
    assert by_stage(wrong)["compare"].text == "1 of 2 cases right, largest error 812 of what is allowed"
    assert (by_stage(uncompiled)["compile"].state, by_stage(uncompiled)["compile"].text) == ("failed", "compile_failed")
    assert by_stage(uncompiled)["launch"].state == "not run"


def test_the_worst_is_a_wrong_case_even_with_a_smaller_number(passed) -> None:
    right = Comparison("right", True, error_ratio=0.9)
    nan = Comparison("nan", False, problem="NaN", error_ratio=None)
    small = Comparison("small", False, error_ratio=0.5)
    verdict = replace(passed, stages=replace(passed.stages, compare=CompareRecord((right, small, nan))))
    assert worst(verdict) is nan
    assert error_text(nan) == "no number"
    assert error_text(Comparison("ints", True)) == "exact"


def test_speed(timed, passed) -> None:
    assert speed_text(timed) == "1.8x faster"
    assert speed_text(passed) == "-"
    assert by_stage(timed)["time"].text == "1.8x faster against torch eager, 70.1 us over 2 cases"


def test_median() -> None:
    assert median(()) == 0.0
    assert median((3, 1, 2)) == 2.0
    assert median((4, 1, 2, 3)) == 2.5
