"""Rows a second of reading, parsing and exporting, and the share of a curation that is not spent on verdicts.

    python benchmarks/curate.py [ROWS] [SAMPLES]

First ROWS (100,000) completions of about 1.2 kB go from JSON lines to an exported corpus, judged by nothing: wanted are
over 20,000 rows a second on two processors. Then SAMPLES (500) variants of RMSNorm are curated at triton:interpret, with
every stage that needs no network; wanted is less than 5 % of the time in which no verdict is being reached.
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
    print(f"{count:,} rows, {megabytes:.0f} MB: {count / took:,.0f} rows/s from source to corpus ({took:.1f} s)")
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

        def timed(bench: Bench, target: str, item: object) -> object:
            begun = self._enter()
            try:
                return verify(bench, target, item)  # type: ignore[arg-type]
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
    """The share of a run in which no verdict is being reached."""
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
    print(f"  no verdict at work in {took - covered.seconds:.2f} s, {(took - covered.seconds) / took:.1%} of the time")
    print(f"  {used:.1f} s of processor time in all")


def main(arguments: list[str]) -> int:
    """Measure both."""
    rows = int(arguments[0]) if arguments else 100_000
    samples = int(arguments[1]) if len(arguments) > 1 else 500
    with tempfile.TemporaryDirectory() as scratch:
        if rows:
            measure_rows(Path(scratch), rows)
    with tempfile.TemporaryDirectory() as scratch:
        if samples:
            measure_verdicts(Path(scratch), samples)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
