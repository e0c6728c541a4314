import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from kengine.model import Candidate, Finding, LintRecord, SourceFile
from kengine.report.html import page, write_page
from kengine.report.plot import error_plot, time_plot
from kengine.report.source import source_view

VOID = {"meta", "br", "link", "img", "hr", "input"}


class Tree(HTMLParser):
    """Collects tags, attributes and text, and notes every tag that is closed out of order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.broken: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, k, v or "") for k, v in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.broken.append(tag)

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def everything(passed, wrong, uncompiled, timed, hostile):
    return [passed, wrong, uncompiled, timed, hostile]


def test_the_page_is_whole_and_holds_every_verdict(everything) -> None:
    tree = Tree(page(everything, [("lost.py", "TaskError", "the reference raises")]))
    text = "".join(tree.text)
    assert not tree.broken and not tree.open
    assert "kengine: 2 of 5 candidates passed" in text
    for part in ("wrong_result", "compile_failed", "tampered", "TaskError", "the reference raises", "KE201",
                 "adds on the host", "num_warps=4", "5:4: error: arange", "3.41x (3.38 to 3.44) faster", "hello",
                 "output 0, element [3, 127]: expected 0.25, got 0.250325", "def candidate(x):"):  # fmt: skip
        assert part in text, part
    ids = {v for _, k, v in tree.attributes if k == "id"}
    assert {v[1:] for _, k, v in tree.attributes if k == "href"} == ids == {"v0", "v1", "v2", "v3", "v4"}


def test_nothing_is_loaded_from_anywhere(everything) -> None:
    text = page(everything)
    tree = Tree(text)
    assert not {"script", "link", "iframe", "object", "embed", "base", "form"} & set(tree.tags)
    assert [a for a in tree.attributes if a[1] in ("src", "srcset", "action", "style") or a[1].startswith("on")] == []
    assert all(v.startswith("#") for _, k, v in tree.attributes if k == "href")
    assert "url(" not in text and "@import" not in text
    policy = next(v for t, k, v in tree.attributes if t == "meta" and v.startswith("default-src"))
    assert policy.startswith("default-src 'none'")


def test_a_stranger_adds_no_element(passed, hostile) -> None:
    text = page([hostile])
    tree = Tree(text)
    assert "<script>alert(1)</script>" in "".join(tree.text), "markup of a stranger is text"
    assert set(tree.tags) <= set(Tree(page([passed])).tags) | {"rect", "line", "a"} and not tree.broken
    for raw in ("\x1b", "\x00", "\u202e", "\ud800"):
        assert raw not in text
    text.encode()
    assert tree.tags.count("section") == 1


def test_dark_and_light() -> None:
    text = page([])
    assert "color-scheme: light dark" in text and "prefers-color-scheme: dark" in text
    assert "no verdict" in text


def test_the_file_is_written_as_utf8(tmp_path, hostile) -> None:
    out = tmp_path / "report.html"
    write_page(out, [hostile])
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_marked_lines_carry_their_notes(uncompiled) -> None:
    view = source_view(uncompiled.candidate.main, uncompiled.stages.lint.findings, uncompiled, True)
    rows = list(view)
    marked = [i for i, row in enumerate(rows) if row.get("class") == "row marked"]
    assert ["".join(rows[i].itertext()) for i in marked] == ["5def kernel(x):", "10    return x + x"]
    assert rows[marked[0] + 1].text == "compile_failed: arange's arguments must be of type tl.constexpr"
    assert rows[marked[1] + 1].text == "KE201 adds on the host"


def test_a_long_source_is_cut_around_its_findings_and_says_so(passed) -> None:
    text = "".join(f"line_{i} = {i}\n" for i in range(1, 40_001)) + "x" * 100_000
    finding = Finding("KE1", "warn", "here", "big.py", 30_000)
    verdict = replace(
        passed,
        candidate=Candidate((SourceFile("big.py", text),), "f"),
        stages=replace(passed.stages, lint=LintRecord((finding,), 1)),
    )
    whole = page([verdict])
    assert "line_30000 = 30000" in whole and "line_30008" in whole and "line_30009" not in whole
    assert "line_20000" not in whole and re.search(r"\.\.\. \d+ lines left out \.\.\.", whole)
    assert len(whole) < 400_000


def test_plots_have_a_bar_for_each_number(passed, wrong, timed) -> None:
    bars = list(error_plot(wrong.stages.compare.comparisons).iter("rect"))
    assert [bar.get("class") for bar in bars] == ["good", "bad"]
    widths = [float(bar.get("width")) for bar in bars]
    assert widths[1] > 3 * widths[0]
    bars = list(time_plot(timed.stages.time.cases, "eager").iter("rect"))
    assert [bar.get("class") for bar in bars] == ["one", "two"] * 2
    assert float(bars[0].get("width")) < float(bars[1].get("width"))
    assert float(bars[2].get("width")) > float(bars[3].get("width"))


def test_plots_of_nothing_are_left_out(passed) -> None:
    assert error_plot(()) is None
    assert time_plot((), "") is None


@pytest.mark.parametrize("ratio", [0.0, 1e-300, 1e300, 1.0])
def test_bars_stay_inside_the_plot(passed, ratio) -> None:
    comparison = replace(passed.stages.compare.comparisons[0], error_ratio=ratio)
    plot = error_plot([comparison])
    width = float(plot.get("viewBox").split()[2])
    for bar in plot.iter("rect"):
        assert 0 < float(bar.get("x")) + float(bar.get("width")) < width
