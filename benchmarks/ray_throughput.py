"""Verdicts a second on toy:cpu with 2 workers: an engine on a Ray cluster of one node against a local engine. Both are
warm, they take turns and have the same priority (Ray's workers are nicer than other processes unless told), so that
whatever else this machine does slows down both. Bar: over 95 % of the local rate.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_worker_niceness", "0")

import arguments
from kengine import Engine, tasks
from kengine.engine import Batch

ROUNDS = 12
COUNT = 60
WORKERS = 2
BAR = 0.95
EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "toy" / "vector_add.py"


def main() -> None:
    import ray

    text = EXAMPLE.read_text()
    whole = tasks.parse(text, EXAMPLE.name)
    # A trusted task, as in training; every candidate differs in text, so that no cache serves two.
    task = tasks.parse_task(whole.task.source)
    items = [tasks.pair(f"# candidate {n}\n{whole.candidate.main.text}", task) for n in range(COUNT)]
    ray.init("local", num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    with Engine(target="toy:cpu", workers=WORKERS) as local, Engine(
        target="toy:cpu", workers=WORKERS, executor="ray"
    ) as cluster:
        for engine in (local, cluster):
            check(engine.verify_many(items))
        rates: dict[str, list[float]] = {"local": [], "ray": []}
        for round_ in range(ROUNDS):
            pair = [("local", local), ("ray", cluster)]
            for name, engine in pair if round_ % 2 else reversed(pair):
                begun = time.perf_counter()
                check(engine.verify_many(items))
                rates[name].append(COUNT / (time.perf_counter() - begun))
    shares = [r / b for r, b in zip(rates["ray"], rates["local"])]
    for name, seen in rates.items():
        print(f"{name}: median {statistics.median(seen):.1f} verdicts/s (of {ROUNDS} x {COUNT})")
    share = statistics.median(shares)
    print(f"ray / local: median {share:.3f}, quartiles {quartiles(shares)}; bar {BAR}")
    sys.exit(share <= BAR)


def check(batch: Batch) -> None:
    verdicts = list(batch)
    assert len(verdicts) == COUNT and all(v.passed for v in verdicts), [str(v) for v in verdicts if not v.passed][:1]


def quartiles(values: list[float]) -> str:
    low, _, high = statistics.quantiles(values, n=4)
    return f"{low:.3f} to {high:.3f}"


if __name__ == "__main__":
    ROUNDS = arguments.read(__doc__, rounds=ROUNDS).rounds
    main()
