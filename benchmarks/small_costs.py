"""What is done for every verdict or every start, beside the standard library doing the least of it: a record written and
read, and old folders looked for."""

from __future__ import annotations

import json
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path

import arguments
from kengine import Engine, Verdict, codec, tasks
from kengine.engine import scratch

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "triton" / "rmsnorm"
FOLDERS = 20


def main() -> None:
    with Engine(target="triton:interpret", workers=1) as engine:
        verdict = engine.verify(tasks.load(FOLDER / "one_row.py"))
    text = codec.dumps(verdict)
    plain = json.loads(text)
    compare("a verdict written", lambda: codec.dumps(verdict), lambda: json.dumps(plain), "json.dumps of its values")
    compare("a verdict read", lambda: codec.loads(text, Verdict), lambda: json.loads(text), "json.loads of its text")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for number in range(FOLDERS):
            (place / f"other-{number}").mkdir()
        compare("old folders sought", lambda: scratch.sweep(place), lambda: list(place.iterdir()), "a listing")


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object], what: str) -> None:
    """Print the fastest of twenty repetitions of each, and their ratio."""
    mine, least = (min(timeit.repeat(each, number=50, repeat=20)) / 50 for each in (ours, theirs))
    print(f"{name:18} {mine * 1e6:6.0f} us   {mine / least:5.1f} x {what}")


if __name__ == "__main__":
    arguments.read(__doc__)
    main()
