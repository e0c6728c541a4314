import pytest
from kengine.report.plain import clean, count, cut, duration, name, place, ratio, shared_folder


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb\x00\x7f", "a\\x0db\\x00\\x7f"),
        ("abc\u202egnirts", "abc\\u202egnirts"),
        ("half \ud800", "half \\ud800"),
        ("\u2028", "\\u2028"),
        ("\U000e0041", "\\U000e0041"),
        ("größer als 10 µs, 漢字", "größer als 10 µs, 漢字"),
    ],
)
def test_clean_escapes_what_could_drive_a_terminal(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_clean_of_one_line_has_no_newline() -> None:
    assert clean("a\nb\nc", lines=False) == "a b c"


def test_cut_keeps_head_and_tail_and_says_what_is_missing() -> None:
    text = "a" * 500 + "b" * 500
    short = cut(text, 90)
    assert short.startswith("a" * 60 + "\n[... 910 characters left out ...]\n")
    assert short.endswith("b" * 30)
    assert cut(text, 1000) is text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (7, "7 ns"),
        (9100, "9.1 us"),
        (70_123, "70.1 us"),
        (21_500_000, "21.5 ms"),
        (1.5e9, "1.5 s"),
        (3.6e12, "3600 s"),
    ],
)
def test_duration(ns: float, text: str) -> None:
    assert duration(ns) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.0, "0"), (0.25, "0.25"), (1234.5, "1.23e+03"), (1e-9, "1.0e-09")]
)
def test_ratio(value: "float | None", text: str) -> None:
    assert ratio(value) == text


@pytest.mark.parametrize(
    ("places", "folder"),
    [
        (["a/b/x.py", "a/b/y.py:4"], "a/b/"),
        (["a/b/x.py", "a/bc/y.py"], "a/"),
        (["a/x.py", "b/y.py"], ""),
        (["a/x.py"], ""),
        (["a/x.py", "y.py"], ""),
        (["/t/x.py", "/t/u/y.py"], "/t/"),
        (["/x.py", "/u/y.py"], "/"),
        (["/t/x.py", "t/y.py"], ""),
        (["./t/x.py", "./t/y.py"], ""),
    ],
)
def test_shared_folder(places: "list[str]", folder: str) -> None:
    assert shared_folder(places) == folder


def test_count() -> None:
    assert count(1, "case") == "1 case"
    assert count(2, "case") == "2 cases"
    assert count(3, "launch", "launches") == "3 launches"


def test_place_has_the_line_when_there_is_one(passed, uncompiled) -> None:
    assert name(passed) == place(passed) == "one_row.py"
    assert place(uncompiled) == "one_row.py:5"
