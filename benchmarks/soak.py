"""2,000 verdicts in one engine, good and bad ones mixed: nothing may grow.

`soak.py [COUNT] [TARGET]`, default 2000 on triton:interpret. Prints processes, descriptors, shared memory, temporary
files, resident memory (and device memory on a GPU) at every tenth of the way, and ends with 1 when anything grew.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import arguments
import kernels
from kengine import Engine, Plan, tasks

COUNT = 2000
TARGET = "triton:interpret"


def descendants() -> int:
    """Count the processes below this one."""
    parents = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, before = {os.getpid()}, 0
    while len(found) > before:
        before = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    return len(found) - 1


def measure() -> dict[str, int]:
    """Count what could leak."""
    status = Path("/proc/self/status").read_text()
    result = {
        "processes": descendants(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "shared": len(os.listdir("/dev/shm")),
        "temporary": sum(
            1 + sum(len(files) + len(folders) for _, folders, files in os.walk(place))
            for place in Path(tempfile.gettempdir()).glob("kengine-*")
        ),
        "resident_mb": int(status.split("VmRSS:")[1].split()[0]) // 1024,
    }
    if not TARGET.endswith("interpret"):
        query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        result["device_mb"] = int(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0])
    return result


def sources(count: int) -> list[str]:
    good = kernels.candidate("rmsnorm", 0)
    wrong = good.replace("+ 1e-6", "+ 1.0")
    broken = good.replace("tl.rsqrt", "tl.no_such_function")
    crash = good.replace("def candidate(x):\n", "def candidate(x):\n    import os\n    os._exit(3)\n")
    return [f"# {n}\n{(good, good, wrong, broken, good, crash)[n % 6]}" for n in range(count)]


def main() -> int:
    text = kernels.task("rmsnorm", 4, 128)
    items = (tasks.parse(s, f"c{n}.py", task_text=text) for n, s in enumerate(sources(COUNT)))
    seen: dict[str, int] = {}
    samples = []
    with Engine(target=TARGET, compile_for=(), plan=Plan()) as engine:
        for n, verdict in enumerate(engine.verify_many(items)):
            seen[verdict.status.value] = seen.get(verdict.status.value, 0) + 1
            if n % max(1, COUNT // 10) == COUNT // 20:
                samples.append(measure())
                print(n, samples[-1], flush=True)
    print("statuses:", seen)
    slack = {"processes": 6, "descriptors": 12, "shared": 2, "temporary": 60, "resident_mb": 60, "device_mb": 3000}
    first, last = samples[1], samples[-1]
    grown = {k: (first[k], last[k]) for k in first if last[k] > first[k] + slack[k]}
    print("grew:", grown or "nothing")
    return 1 if grown else 0


if __name__ == "__main__":
    given = arguments.read(__doc__, count=COUNT, target=TARGET)
    COUNT, TARGET = given.count, given.target
    sys.exit(main())
