"""Rows a second of reading, parsing and exporting, and the share of a curation that is not spent on verdicts.

First ROWS completions of about 1.2 kB go from JSON lines to an exported corpus, judged by nothing: wanted are over
20,000 rows a second on two processors. Then SAMPLES variants of RMSNorm are curated at triton:interpret, with every
stage that needs no network; wanted is less than 5 % of the time in which no verdict is being reached, and where the
rest went is printed by stage. 0 leaves a part out:

    python benchmarks/curate.py                  both
    python benchmarks/curate.py 1,000,000 0      the first, a million rows; memory is that of a run of any size
    python benchmarks/curate.py 0 500            the second

Seconds of processor time stand beside those of the clock: on a machine that others use as well they say more.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

import arguments
from kengine.curate import pipeline, settings
from kengine.curate.judge import Bench

ROOT = Path(__file__).resolve().parents[1]
RMSNORM = ROOT / "examples" / "triton" / "rmsnorm"
TASK = ROOT / "examples" / "curate_rmsnorm" / "tasks" / "rmsnorm.py"


def kernels() -> list[str]:
    """The candidates of the RMSNorm examples, without their tasks."""
    names = ("one_row", "blocked", "multi_row", "subtracts_mean", "sham", "tiny_block")
    texts = [(RMSNORM / f"{name}.py").read_text() for name in names]
    head = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
    return [head + text[text.index("@triton.jit") :] for text in texts]


def write_rows(path: Path, count: int) -> None:
    """Completions with a thought and a code block, no two the same."""
    codes = kernels()
    with path.open("w") as file:
        for n in range(count):
            code = codes[n % len(codes)].replace("normalize_row", f"normalize_{n}")
            text = f"<think>\nOne program takes one row; edges are masked. {n}\n</think>\n\n```python\n{code}```\n"
            row = {"completion": text, "task": "rmsnorm", "backend": "triton", "license": "Apache-2.0", "model": "m"}
            file.write(json.dumps(row) + "\n")


def measure_rows(folder: Path, count: int) -> None:
    """Rows a second from source to corpus, and the memory that it takes."""
    write_rows(folder / "rows.jsonl", count)
    text = (
        f'[[source]]\npath = "rows.jsonl"\ntasks = {json.dumps(str(TASK.parent))}\n[export]\nformats = ["messages"]\n'
    )
    read = settings.parse(text, folder / "curate.toml")
    begun, used = time.perf_counter(), processor_seconds()
    result = pipeline.run(read)
    took, used = time.perf_counter() - begun, processor_seconds() - used
    assert result.rows == count, result.funnel.to_json()
    megabytes = (folder / "rows.jsonl").stat().st_size / 1e6
    rate = count / took
    print(f"{count:,} rows, {megabytes:.0f} MB: {rate:,.0f} rows/s from source to corpus ({took:.1f} s, ", end="")
    print(f"{bar(rate > 20_000)} 20,000 rows/s)")
    processors = len(os.sched_getaffinity(0))
    print(f"  {used:.1f} s of processor time in all, {used / count * 1e6:.0f} us a row, {processors} processors")
    for name, seconds in result.seconds.items():
        print(f"  {name:12}  {count / seconds:10,.0f} rows/s")
    own, others = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"  memory        {own:10,.0f} MiB at most, {others:,.0f} MiB in the largest of its processes")


def processor_seconds() -> float:
    """Of this process and of those it started that have ended."""
    return sum(os.times()[:4])


class Covered:
    """How long at least one verdict was being reached, and all of them together."""

    def __init__(self) -> None:
        self.seconds = self.summed = 0.0
        self._active, self._since, self._lock = 0, 0.0, threading.Lock()

    def watch(self) -> None:
        """Take the time of every verdict from now on."""
        verify = Bench.verify

        def timed(bench: Bench, target: str, item: object, uid: str) -> object:
            begun = self._enter()
            try:
                return verify(bench, target, item, uid)  # type: ignore[arg-type]
            finally:
                self._leave(begun)

        Bench.verify = timed  # type: ignore[method-assign, assignment]

    def _enter(self) -> float:
        now = time.perf_counter()
        with self._lock:
            if not self._active:
                self._since = now
            self._active += 1
        return now

    def _leave(self, begun: float) -> None:
        now = time.perf_counter()
        with self._lock:
            self._active -= 1
            self.summed += now - begun
            if not self._active:
                self.seconds += now - self._since


def measure_verdicts(folder: Path, count: int) -> None:
    """The share of a run in which no verdict is being reached, and what was done in it."""
    write_rows(folder / "samples.jsonl", count)
    text = (
        f'[[source]]\npath = "samples.jsonl"\ntasks = {json.dumps(str(TASK.parent))}\n'
        '[reject]\ntargets = ["triton:interpret"]\n[dedup]\n[difficulty]\n'
        '[balance]\nhard = 2.0\n[curriculum]\n[export]\nformats = ["messages"]\n[report]\n'
    )
    covered = Covered()
    covered.watch()
    begun, used = time.perf_counter(), processor_seconds()
    result = pipeline.run(settings.parse(text, folder / "verdicts.toml"))
    took, used = time.perf_counter() - begun, processor_seconds() - used
    print(f"{count} samples at triton:interpret: {took:.1f} s, {result.rows} kept, {count / took:.2f} samples/s")
    rest = took - covered.seconds
    print(f"  no verdict at work in {rest:.2f} s, {rest / took:.1%} of the time ({bar(rest / took < 0.05)} 5 %)")
    print(f"  {used:.1f} s of processor time in all")
    inside = {name: s - covered.seconds if "reject" in name else s for name, s in result.seconds.items()}
    inside["before, between and after"] = took - sum(result.seconds.values())
    for name, seconds in inside.items():
        print(f"  {name + ' without verdicts' if 'reject' in name else name:32} {seconds:7.2f} s  {seconds / took:6.2%}")


def bar(reached: bool) -> str:
    """How a figure stands to what is wanted."""
    return "within" if reached else "NOT within"


def main(rows: int, samples: int) -> int:
    """Measure both."""
    with tempfile.TemporaryDirectory() as scratch:
        if rows:
            measure_rows(Path(scratch), rows)
    with tempfile.TemporaryDirectory() as scratch:
        if samples:
            measure_verdicts(Path(scratch), samples)
    return 0


if __name__ == "__main__":
    given = arguments.read(__doc__, least=0, rows=100_000, samples=500)
    sys.exit(main(given.rows, given.samples))
