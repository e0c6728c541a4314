"""How long `kengine --help` and `import kengine` take, beside a bare interpreter and beside `import torch`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import arguments

RUNS = 15
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import kengine": [sys.executable, "-c", "import kengine"],
    "kengine --help": [sys.executable, "-m", "kengine.cli", "--help"],
    "import torch": [sys.executable, "-c", "import torch"],
}


def main() -> None:
    samples: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, command in COMMANDS.items():
            if name == "import torch" and len(samples[name]) >= 3:
                continue
            begun = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            samples[name].append(time.perf_counter() - begun)
    bare = statistics.median(samples["python -c pass"])
    for name, times in samples.items():
        median = statistics.median(times)
        print(f"{name:16} median {median * 1e3:7.1f} ms   {median / bare:6.2f} x bare interpreter   ({len(times)} runs)")


if __name__ == "__main__":
    arguments.read(__doc__)
    main()
