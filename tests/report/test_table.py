import io
from dataclasses import replace

from kengine.report.table import first_line, verdict_table
from kengine.report.text import verdict_text
from rich.console import Console


def show(renderable, width=120, terminal=False) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, markup=False)
    console.print(renderable)
    return console.file.getvalue()


def test_one_row_for_each_verdict_and_each_error(passed, wrong, uncompiled) -> None:
    text = show(verdict_table([passed, wrong, uncompiled], [("lost.py", "TaskError", "the reference raises")]))
    rows = text.splitlines()
    assert [row.split()[:2] for row in rows[2:5]] == [
        ["one_row.py", "passed"], ["one_row.py", "wrong_result"], ["one_row.py:5", "compile_failed"],
    ]  # fmt: skip
    assert "812" in rows[3] and "0.5" in rows[2]
    assert rows[5].split()[:2] == ["lost.py", "TaskError"]
    total = "1 passed, 1 compile_failed, 1 wrong_result, 1 without a verdict on triton:interpret (emulator)"
    assert f"{total}; self-referenced" in " ".join(text.split())


def test_columns_that_say_nothing_are_left_out(passed, timed) -> None:
    alone = show(verdict_table([passed]))
    assert "speed" not in alone and "target" not in alone.splitlines()[0]
    both = show(verdict_table([passed, timed]), width=140)
    assert "1.8x faster" in both and "triton:sm_90" in both.splitlines()[3]


def test_a_shared_folder_is_said_once(passed, wrong) -> None:
    def moved(verdict, path):
        file = replace(verdict.candidate.files[0], path=path)
        return replace(verdict, candidate=replace(verdict.candidate, files=(file,)))

    text = show(verdict_table([moved(passed, "out/a.py"), moved(wrong, "out/b.py")], [("out/c.py", "TaskError", "")]))
    assert [row.split()[0] for row in text.splitlines()[2:5]] == ["a.py", "b.py", "c.py"]
    assert "on triton:interpret (emulator), in out/" in text


def test_no_colour_unless_it_is_a_terminal(passed) -> None:
    assert "\x1b[" not in show(verdict_table([passed]))
    assert "\x1b[" in show(verdict_table([passed]), terminal=True)


def test_a_narrow_window_folds_messages_and_keeps_statuses(wrong) -> None:
    assert "wrong_result" in show(verdict_table([wrong]), width=60)


def test_nothing_of_a_stranger_reaches_the_terminal_raw(hostile) -> None:
    for renderable in (verdict_table([hostile], [("\x1b[2J", "TaskError", "\x1b[2J")]), verdict_text(hostile)):
        text = show(renderable)
        assert "\x1b" not in text and "\x00" not in text and "\u202e" not in text and "\ud800" not in text
        assert "[bold]" in text, "markup of a stranger is text"
        text.encode()


def test_first_line_skips_blanks_and_cuts() -> None:
    assert first_line("\n\n  reason\nmore") == "  reason"
    assert first_line("") == ""
    assert len(first_line("x" * 10_000)) < 500


def test_the_full_text_names_everything(passed, wrong, uncompiled, timed) -> None:
    text = show(verdict_text(passed))
    for part in (
        "passed  one_row.py  on triton:interpret (emulator), self-referenced", "2 cases right", "KE201",
        "one_row.py:10", "adds on the host", "2048 B", "75%", "num_warps=4", "nothing to compile", "kernel[8] x2",
        "skipped large 0: the reference overflows", "with launches that do nothing the outputs stay poisoned",
        "not run", "hello", "torch 2.13.0", "sandbox: landlock",
    ):  # fmt: skip
        assert part in text, part
    text = show(verdict_text(wrong))
    for part in (
        "wrong in case outlier 0: expected 0.25, got 0.250325 at [3, 127]",
        "outlier 0: output 0 is outside of what is allowed", "output 0, element [3, 127]: expected 0.25, got 0.250325",
        "largest error 0.000325, allowed 4e-07", "640 of 8192 elements are wrong; from row 3 on, columns 64 to 127",
    ):  # fmt: skip
        assert part in text, part
    text = show(verdict_text(uncompiled))
    assert "5 | def kernel(x):" in text and "5:4: error: arange" in text
    text = show(verdict_text(timed))
    assert "3.41x (3.38 to 3.44) faster" in text and "9.1 us" in text and "activity" in text
