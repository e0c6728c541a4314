"""The report: figures that add up, unbiased rates, distributions, and a page that stands alone."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from kengine.curate.difficulty import Difficulty
from kengine.curate.funnel import Funnel
from kengine.curate.record import Judgement, Loss, Sample
from kengine.curate.report import Report, report
from kengine.curate.report.distribution import EXACT, Distribution
from kengine.curate.report.figures import gather
from kengine.errors import InfraError, UsageError
from kengine.model import KernelResources
from kengine.rewards.metrics import unbiased_at_k


def judged(status: str = "passed", stage: str = "", **given) -> tuple[Judgement, ...]:
    return (Judgement("hip:gfx942", status, False, stage, versions={"hip": "7"}, **given),)


def kept(n: int, task: str = "a", backend: str = "hip", **labels) -> Sample:
    kernel = KernelResources(f"k{n}", 32 * (n + 1), 0, 1024, 0.5)
    beside = KernelResources("k", 200, details={"target": "hip:gfx950"})
    return Sample(
        f"s:{task}{n}", "s", str(n), group=task, backend=backend,
        labels={"operator": task.upper(), "level": 1, **labels},
        judgements=judged(latency_ns=1000 * (n + 1), speedup=2.0, kernels=(kernel, beside), memory_bytes=4096),
    )  # fmt: skip


def lost(reason: str, task: str = "a", stage: str = "reject", backend: str = "hip", is_judged: bool = True) -> Loss:
    facets = {"backend": backend, "source": "s", "task": f"{task}_task" if task else ""}
    return Loss("u", reason, "", stage, task, facets, judged(reason, "compare") if is_judged else ())


SAMPLES = [kept(n, cluster_size=n + 1) for n in range(3)] + [kept(7, variant="N=7", cluster_size=1)]
LOSSES = [*[lost("wrong_result") for _ in range(4)], lost("compile_failed", "b"), lost("compile_failed", "b"),
          lost("no_code", stage="parse", is_judged=False), lost("malformed_row", "", "load", "", False)]  # fmt: skip


@pytest.fixture
def body() -> dict:
    return gather(SAMPLES, LOSSES, Difficulty(min_attempts=2)).to_json(Funnel(), "T")


def test_kept_and_lost_by_every_facet(body) -> None:
    a, b, none = body["by"]["operator"]
    assert (a["value"], a["taken"], a["added"], a["kept"]) == ("A", 8, 1, 4)
    assert a["lost"] == {"reject wrong_result": 4, "parse no_code": 1}
    assert (b["value"], b["taken"], b["kept"], b["lost"]) == ("b_task", 2, 0, {"reject compile_failed": 2})
    assert (none["value"], none["lost"]) == ("", {"load malformed_row": 1})
    # what is lost is rated by its task's pass rate: 3 of 8 and 0 of 2; the rest by nothing
    rated = {row["value"]: sum(row["lost"].values()) for row in body["by"]["difficulty"]}
    assert rated == {"medium": 5, "hard": 2, "": 1}
    assert [row["value"] for row in body["by"]["backend"]] == ["hip", ""]
    for rows in body["by"].values():
        assert sum(row["kept"] for row in rows) == 4 and sum(sum(row["lost"].values()) for row in rows) == 8


def test_at_k_is_unbiased_and_says_over_how_many_tasks(body) -> None:
    first, second, fourth, eighth = body["at_k"]
    # task a: 8 attempts (3 passed, 4 wrong, 1 without code), task b: 2 that did not compile
    assert (first["k"], first["tasks"], first["passed"]) == (1, 2, pytest.approx((3 / 8 + 0) / 2))
    assert first["compiled"] == pytest.approx((7 / 8 + 0) / 2)
    assert second["passed"] == pytest.approx(unbiased_at_k(8, 3, 2) / 2)
    assert (fourth["tasks"], fourth["passed"]) == (1, pytest.approx(unbiased_at_k(8, 3, 4)))
    assert (eighth["k"], eighth["passed"]) == (8, 1.0)
    assert [(r["pass_rate"], r["tasks"]) for r in body["pass_rates"] if r["tasks"]] == [("never", 1), ("up to 50 %", 1)]


def test_several_backends_stand_apart_and_together() -> None:
    body = gather([*SAMPLES, kept(0, backend="nki")], [lost("wrong_result", backend="nki")]).to_json(Funnel())
    assert [(r["backend"], r["k"], r["tasks"]) for r in body["at_k"]] == [
        ("", 1, 2), ("", 2, 2), ("hip", 1, 1), ("hip", 2, 1), ("nki", 1, 1), ("nki", 2, 1)
    ]  # fmt: skip
    assert [round(r["passed"], 3) for r in body["at_k"]] == [0.75, 1.0, 1.0, 1.0, 0.5, 1.0]


def test_distributions_by_target(body) -> None:
    found = {(d["figure"], d["target"]): d for d in body["distributions"]}
    assert set(found) == {
        ("latency_ns", "hip:gfx942"), ("speedup", "hip:gfx942"), ("registers", "hip:gfx942"), ("spills", "hip:gfx942"),
        ("registers", "hip:gfx950"), ("shared_bytes", "hip:gfx942"), ("occupancy", "hip:gfx942"),
        ("memory_bytes", "hip:gfx942"),
    }  # fmt: skip
    latency = found["latency_ns", "hip:gfx942"]
    assert (latency["low"], latency["p50"], latency["high"], latency["mean"]) == (1000, 2000, 8000, 3500)
    assert found["registers", "hip:gfx950"]["bins"] == [[200, 200, 4]]
    assert body["clusters"]["duplicates"] == 3 and body["clusters"]["bins"] == [[1, 1, 2], [2, 2, 1], [3, 3, 1]]


def test_a_page_that_stands_alone_and_agrees(tmp_path) -> None:
    funnel = Funnel()
    funnel.record("load", 12, 11, {"malformed_row": 1})
    funnel.record("reject", 11, 4, {"wrong_result": 7})
    evil = kept(9, "<script>alert(1)</script>")
    body = report([*SAMPLES, evil], tmp_path / "report", Report(title="A & <b>"), funnel, LOSSES)
    assert json.loads((tmp_path / "report/report.json").read_text()) == json.loads(json.dumps(body))
    text = (tmp_path / "report/report.html").read_text()
    assert "<script" not in text and "A &amp; &lt;b&gt;" in text and "&lt;SCRIPT&gt;" in text
    assert not re.search(r"(?:src|href)\s*=|url\(|@import", text) and "prefers-color-scheme: dark" in text
    tags = _Tags()
    tags.feed(text)
    assert not tags.open and tags.headings[:4] == ["A & <b>", "Funnel", "How often tasks pass", "Tasks by pass rate"]
    assert "5 rows are left of 12 that came or were made; 8 are lost, each for a reason" in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report"]


def test_nothing_at_all(tmp_path) -> None:
    body = report([], tmp_path / "report")
    assert body["rows"] == 0 and body["at_k"] == [] and body["distributions"] == []
    assert "0 rows are left" in (tmp_path / "report/report.html").read_text()


def test_a_disk_that_fails_leaves_the_old_report(tmp_path, monkeypatch) -> None:
    from pathlib import Path

    report(SAMPLES, tmp_path / "report")
    before = (tmp_path / "report/report.html").read_text()
    original = Path.write_text

    def fail(self, *args, **given):
        if self.name == "report.html":
            raise OSError(28, "No space left on device")
        return original(self, *args, **given)

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(InfraError, match="No space left on device; nothing is half-written"):
        report([], tmp_path / "report")
    monkeypatch.undo()
    assert (tmp_path / "report/report.html").read_text() == before
    assert json.loads((tmp_path / "report/report.json").read_text())["rows"] == 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report"]


def test_a_folder_has_a_plain_name() -> None:
    for name in ("", "/tmp/x", "../x", "a/b"):
        with pytest.raises(UsageError, match="folder: want the name of a folder"):
            Report(folder=name)


def test_quantiles_and_bins_of_many_values() -> None:
    spread = Distribution()
    for n in range(1, 20_001):
        spread.add(n)
    body = spread.to_json()
    assert body["count"] == 20_000 == sum(b[2] for b in body["bins"]) and len(spread._values) <= EXACT
    assert (body["low"], body["high"], body["mean"]) == (1, 20_000, pytest.approx(10_000.5, rel=2e-3))
    for name, value in (("p5", 1000), ("p25", 5000), ("p50", 10_000), ("p75", 15_000), ("p95", 19_000)):
        assert body[name] == pytest.approx(value, rel=0.01)
    assert body["bins"][0][0] == 1 and body["bins"][-1][1] == 20_000


def test_bins_of_whole_numbers_hold_equally_many_of_them() -> None:
    spread = Distribution()
    for n in range(100, 150):
        spread.add(n)
    bins = spread.to_json()["bins"]
    assert sum(b[2] for b in bins) == 50 and {b[1] - b[0] for b in bins} == {3} and {b[2] for b in bins[:-1]} == {3}


def test_what_is_no_number_counts_not() -> None:
    spread = Distribution()
    for value in (None, float("nan"), float("inf"), 0.0, -2.5):
        spread.add(value)
    assert spread.count == 2 and (spread.low, spread.high) == (-2.5, 0.0) and Distribution().to_json() == {"count": 0}


class _Tags(HTMLParser):
    """Whether tags are closed, and the texts of headings."""

    VOID = frozenset({"meta", "br", "hr", "img", "input", "link"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data) -> None:
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings.append(data)
