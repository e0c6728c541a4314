"""Everything that only a GPU can tell, within one sitting: tests, throughput, timing, the selftest, costs, a soak.

    python scripts/device_round.py [--wheels FOLDER] [--out FOLDER] [--seconds 540] [--only NAME ...]

Run it with the Python that has torch and Triton; nothing is fetched. Every wheel in FOLDER (`make device-wheels` fills
dist/device) is unpacked into build/device_site, which is put before that Python's own packages; without --wheels what
is installed is used. Steps run in the order of their weight, each with a limit of its own and none past the end, and
leave a log each. OUT/summary.txt and summary.json have every bar with its figure: met, missed, or not run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEAST_S, ENDING_S = 10.0, 5.0
"""A step that would have less than the first is not begun; one that is stopped has the second to print what it has."""


@dataclass(frozen=True)
class Bar:
    """One figure in a log. pattern: its regular expression, whose first group is the figure; every match must hold."""

    name: str
    pattern: str
    wanted: str
    holds: Callable[[float], bool]


@dataclass(frozen=True)
class Step:
    """One command of this Python, which must end with 0. limit_s: seconds that it may take. bars: what its log is held
    against."""

    name: str
    arguments: tuple[str, ...]
    limit_s: float
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True)
class Result:
    """One line of the summary; met is None for what was not run."""

    step: str
    bar: str
    figure: str
    wanted: str
    met: bool | None


def steps(target: str) -> tuple[Step, ...]:
    """All steps for a target of the machine's device, those that decide most first."""
    # By name: elsewhere in tests are modules whose packages a machine that was borrowed for its GPU does not have.
    marked = [p for p in sorted((ROOT / "tests").rglob("test_*.py")) if "mark.device" in p.read_text()]
    files = tuple(str(p.relative_to(ROOT)) for p in marked if p.parent.name != "integrity")
    options = ("-q", "-rsfE", "-p", "no:cacheprovider", "--continue-on-collection-errors", "-m", "device")
    return (
        Step("test-device", ("-m", "pytest", *options, *files), 200, (
            Bar("tests passed", r"(\d+) passed", "1 or more", lambda n: n >= 1),
        )),
        Step("verdicts", ("benchmarks/device_verdicts.py",), 130, (
            Bar("verdicts a second", r"^correctness: .* = ([\d.]+)/s", "10 or more", lambda n: n >= 10),
            Bar("times a process for each", r"^correctness: ([\d.]+) x", "5 or more", lambda n: n >= 5),
            Bar("verdicts a second with timing", r"^with timing: .* = ([\d.]+)/s", "4 or more", lambda n: n >= 4),
            Bar("honest kernels passed", r"^correctness: .*, (\d+) passed", "128", lambda n: n == 128),
        )),
        Step("timing", ("benchmarks/device_timing.py",), 80, (
            Bar("ratio to the profiler", r"ratio ([\d.]+)", "within 3 %", lambda n: abs(n - 1) <= 0.03),
            Bar("spread over verdicts, %", r"spread over \d+ runs ([\d.]+)%", "below 1", lambda n: n < 1),
        )),
        Step("selftest", ("-m", "kengine", "selftest", "--target", target), 140),
        Step("extension", ("benchmarks/device_extension.py",), 130, (
            Bar("times torch's own load_inline", r"^load_inline: ([\d.]+) x", "10 or more", lambda n: n >= 10),
            Bar("honest extensions passed", r"^load_inline: .*, (\d+) passed", "64", lambda n: n == 64),
        )),
        Step("integrity", ("benchmarks/integrity.py", target), 60, (
            Bar("checks, times a verdict", r"ratio ([\d.]+)", "1.5 or less", lambda n: n <= 1.5),
        )),
        Step("costs", ("benchmarks/device_costs.py", "1.5"), 50, (
            Bar("contexts a second", r"by torch, 16 at once: ([\d.]+)/s", "10 or more", lambda n: n >= 10),
        )),
        Step("soak", ("benchmarks/soak.py", "300", target), 90),
        Step("selftest-cuda", ("-m", "kengine", "selftest", "--target", target.replace("triton", "cuda")), 120),
    )  # fmt: skip


def run(step: Step, limit_s: float, log: Path, environ: dict[str, str]) -> int | None:
    """Run one step into its log; its exit code, None when it was stopped at the limit."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-u", *step.arguments],
            cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            # Tests that are interrupted still say which of them failed.
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENDING_S)
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def read(step: Step, code: int | None, limit_s: float, text: str) -> list[Result]:
    """Hold a log against the bars of its step; a step that was stopped has the figures that it had printed by then."""
    results = []
    for bar in step.bars:
        found = [float(n) for n in re.findall(bar.pattern, text, re.MULTILINE)]
        figure = ", ".join(f"{n:g}" for n in found) or "none"
        results.append(Result(step.name, bar.name, figure, bar.wanted, all(map(bar.holds, found)) if found else False))
    ended = f"stopped after {limit_s:.0f} s" if code is None else f"exit code {code}"
    return [*results, Result(step.name, "ends well", ended, "exit code 0", code == 0)]


def write(results: Sequence[Result], out: Path) -> None:
    """Write the summary as a table and as JSON."""
    words = {True: "met", False: "MISSED", None: "not run"}
    rows = [(words[r.met], r.step, r.bar, r.figure, r.wanted) for r in results]
    widths = [max(len(row[n]) for row in rows) for n in range(4)] if rows else []
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0))) for row in rows]
    (out / "summary.txt").write_text("\n".join(lines) + "\n")
    (out / "summary.json").write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n")


def unpack(wheels: Path, site: Path) -> None:
    """Install every wheel of a folder into another, without fetching anything. Raises SystemExit."""
    found = sorted(wheels.glob("*.whl"))
    if not found:
        raise SystemExit(f"{wheels}: holds no wheel; `make device-wheels` makes them")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--upgrade"]
    done = subprocess.run([*command, "--target", str(site), *map(str, found)], check=False)
    if done.returncode:
        raise SystemExit(f"pip could not install {', '.join(p.name for p in found)} into {site}")


def find_target(environ: dict[str, str]) -> str:
    """The Triton target of the device here. Raises SystemExit when torch finds none, or a package is missing."""
    look = (
        "import torch, triton, kengine\n"
        "assert torch.cuda.is_available(), 'torch finds no device'\n"
        "print('triton:sm_%d%d' % torch.cuda.get_device_capability())"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], env=environ, cwd="/", capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"no device to measure on: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout.split()[-1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the round; 0 when every bar was met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, help="folder of wheels to use")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT") or "device_round"))
    parser.add_argument("--seconds", type=float, default=540.0, help="when the last step must have ended")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this step; may be repeated")
    given = parser.parse_args(arguments)
    begun = time.monotonic()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    environ = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    if given.wheels is not None:
        # Not below OUT: what was measured is brought back from a borrowed machine, and the packages need not be.
        site = ROOT / "build" / "device_site"
        unpack(given.wheels, site)
        environ["PYTHONPATH"] = os.pathsep.join([str(site), *filter(None, [environ.get("PYTHONPATH")])])
    chosen = steps(find_target(environ))
    unknown = set(given.only) - {step.name for step in chosen}
    if unknown:
        raise SystemExit(f"no step {', '.join(sorted(unknown))}; there are {', '.join(s.name for s in chosen)}")
    results: list[Result] = []
    for step in chosen:
        left = given.seconds - (time.monotonic() - begun)
        if given.only and step.name not in given.only:
            continue
        if left < LEAST_S:
            results += [Result(step.name, bar.name, "", bar.wanted, None) for bar in step.bars]
            results.append(Result(step.name, "ends well", "", "exit code 0", None))
            continue
        limit, log, started = min(step.limit_s, left), out / f"{step.name}.log", time.monotonic()
        code = run(step, limit, log, environ)
        took = time.monotonic() - started
        ended = "stopped" if code is None else f"exit code {code}"
        print(f"{step.name}: {ended} after {took:.0f} s, {log}", flush=True)
        results += read(step, code, limit, log.read_text(errors="replace"))
        write(results, out)
    write(results, out)
    print((out / "summary.txt").read_text(), end="")
    return 0 if all(r.met for r in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
