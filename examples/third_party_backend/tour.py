"""One kernel of a backend that kengine's core has never heard of, everywhere that kengine judges.

    python tour.py                    # all of it; what is not installed says so
    python tour.py verify rewards server ray
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import kengine
from kengine import rewards, tasks

FOLDER = Path(__file__).parent / "candidates"
TARGET = "pallas:interpret"


def item(old: str = "", new: str = "") -> tasks.Item:
    """The candidate, with a piece of its text changed, and its task."""
    text = (FOLDER / "rmsnorm.py").read_text().replace(old, new)
    return tasks.parse(text, "rmsnorm.py", (FOLDER / "task.py").read_text())


def verify() -> str:
    verdict = kengine.verify(FOLDER / "rmsnorm.py", FOLDER / "task.py", target=TARGET)
    return f"{verdict.status}: {verdict.message}"


def reward() -> str:
    with kengine.Engine(target=TARGET) as engine:
        verdict, wrong = engine.verify_many([item(), item("values * scale", "values / scale")])
    return f"{rewards.correctness(verdict)} when it is right, {rewards.correctness(wrong)} when it is {wrong.status}"


def server() -> str:
    if not all(map(find_spec, ("fastapi", "uvicorn", "httpx"))):
        return "not installed: pip install 'kernel-engine[server]'"
    from kengine.client import Client, Settings

    command = [sys.executable, "-m", "kengine.cli", "serve", "--target", TARGET, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            with Client(Settings(url=re.search(r"http://\S+", line).group())) as client:
                (verdict,) = client.judge([item()])
        finally:
            process.terminate()
    return f"{verdict.status} on {verdict.target}, over HTTP"


def ray() -> str:
    if find_spec("ray") is None:
        return "not installed: pip install 'kernel-engine[ray]'"
    with kengine.Engine(TARGET.split(":")[0], executor="ray", workers=2) as engine:
        verdicts = list(engine.verify_many([item()] * 2))
    return f"{', '.join(v.status for v in verdicts)} on {verdicts[0].target}, on a Ray cluster"


STOPS = {"verify": verify, "rewards": reward, "server": server, "ray": ray}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stops", nargs="*", metavar="STOP", help=f"of {', '.join(STOPS)}; default: all")
    given = parser.parse_args()
    for name in given.stops:
        if name not in STOPS:
            parser.error(f"no stop {name!r}; there are {', '.join(STOPS)}")
    for name in given.stops or STOPS:
        print(f"{name}: {STOPS[name]()}", flush=True)
