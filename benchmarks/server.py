"""What the server adds to a verdict, and whether it loses or doubles one when its processes are killed.

`server.py [COUNT] [overhead|kills]`, default 10000 requests and both. First 64 clients, each with a connection of its
own, ask a server whose engine is a stand-in that takes a fixed time and then hands out a verdict that was reached
before; whatever a client waits beyond that time is the server's. Then a real engine on toy:cpu judges COUNT different
candidates while zygotes and judges are killed at random. Loopback only. Ends with 1 when a figure misses its bound.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import arguments
import uvicorn
from kengine import Engine, Plan, Verdict, codec, tasks
from kengine.client import Client, Settings
from kengine.server.app import Door, create_app
from kengine.server.desk import Desk, Judging
from kengine.server.metrics import Metrics
from kengine.server.protocol import Answer, Request
from kengine.server.run import listen

CLIENTS = 64
BOUND_MS = 10.0
JSON = "Content-Type: application/json"
TASK = """
import numpy as np

def reference(x, y):
    return x + y

def make_inputs(seed, device, rows=64):
    draw = np.random.default_rng(seed)
    return tuple(draw.standard_normal(rows).astype(np.float32) for _ in range(2))
"""
KERNEL = """
import numpy as np
from kengine.testing import toy

@toy.kernel
def add(program, x, y, out):
    rows = slice(0, len(out))
    out[rows] = x[rows] + y[rows]

def candidate(x, y):
    out = np.empty_like(x)
    add[1](x, y, out)
    return out
"""


class StandIn:
    """Takes a fixed time and hands out one verdict with the candidate of the item in it."""

    def __init__(self, verdict: Verdict, engine: Engine, delay_s: float) -> None:
        self.plan, self.target_info, self.workers = engine.plan, engine.target_info, CLIENTS
        self.verdict, self.delay_s = verdict, delay_s

    def verify(self, item: tasks.Item) -> Verdict:
        """Wait, and answer."""
        time.sleep(self.delay_s)
        return replace(self.verdict, candidate=item.candidate, task=item.task)

    def close(self) -> None:
        """Nothing to end."""


@contextlib.contextmanager
def serving(engine: Judging) -> Iterator[tuple[str, int, Metrics]]:
    """A server of this process on a free port."""
    metrics = Metrics()
    desk = Desk({"toy:cpu": engine}, observe=metrics.observe)
    with listen("127.0.0.1", 0) as listener:
        app = create_app(desk, metrics, Door(grace_s=1))
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}", port, metrics
        finally:
            server.should_exit = True
            thread.join(15)


async def one_client(port: int, number: int, calls: int, pause_s: float, waits: list[float]) -> None:
    """Ask `calls` times over one connection, each time a candidate that nobody asked for before."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await asyncio.sleep(pause_s * number / CLIENTS)  # clients of a trainer do not ask in step
    for n in range(calls):
        id = f"{os.getpid()}-{number}-{n}"
        body = codec.dumps(Request(id, candidate_text=f"{KERNEL}# {id}\n", task_text=TASK)).encode()
        head = f"POST /verify HTTP/1.1\r\nHost: localhost\r\n{JSON}\r\nContent-Length: {len(body)}\r\n\r\n"
        begun = time.perf_counter()
        writer.write(head.encode() + body)
        headers = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(headers.split("content-length:")[1].split()[0])
        answer = codec.loads(await reader.readexactly(length), Answer)
        waits.append(time.perf_counter() - begun)
        assert answer.id == id and answer.verdict is not None, answer
        assert answer.verdict.candidate.main.text.endswith(f"# {id}\n"), "another's verdict"
    writer.close()


def clients(port: int, calls: int, delay_s: float) -> list[float]:
    """Seconds that each call of 64 clients took."""
    waits: list[float] = []

    async def all_of_them() -> None:
        await asyncio.gather(*(one_client(port, n, calls, delay_s, waits) for n in range(CLIENTS)))

    asyncio.run(all_of_them())
    return waits


def measure_overhead() -> bool:
    """Compare waits with the time that the stand-in takes: at the pace of real verdicts, and as fast as it goes."""
    with Engine(target="toy:cpu", plan=Plan(cases=1), workers=1) as engine:
        verdict = engine.verify(tasks.parse(KERNEL, task_text=TASK))
        busy = os.getloadavg()[0] > (os.cpu_count() or 1)
        good = True
        for delay_s, calls in ((1.0, 10), (0.0, 30)):
            with serving(StandIn(verdict, engine, delay_s)) as (_, port, _):
                command = [sys.executable, __file__, "client", str(port), str(calls), str(delay_s)]
                own = time.process_time()
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                spent, *waits = (float(line) for line in done.stdout.split())
                own = (time.process_time() - own) * 1e3 / len(waits)
            added = sorted((w - delay_s) * 1e3 for w in waits)
            median, late = statistics.median(added), added[int(len(added) * 0.95)]
            each = spent * 1e3 / len(waits)
            if delay_s:
                figure = f"the server adds {median:.1f} ms (median), {late:.1f} ms (95 %)"
                note = f"; load {os.getloadavg()[0]:.0f}: other work was waited for too, no bound checked" if busy else ""
                good = good and (busy or median < BOUND_MS)
            else:
                figure, note = f"{each:.2f} ms a verdict, {1000 / each:.0f} verdicts/s", ""
                good = good and each < BOUND_MS
            print(f"{CLIENTS} clients, verdicts of {delay_s:g} s: {figure}, {own:.2f} ms of processor time each{note}")
    return good


def kill_some(engine: Engine, stop: threading.Event, killed: Counter[str]) -> None:
    """Kill one process of the engine every few seconds; starting it again takes about one."""
    draw = random.Random(7)
    while not stop.wait(draw.uniform(1.0, 7.0)):
        running = [(name, pid) for name, pid in engine.processes().items() if pid]
        if running:
            name, pid = draw.choice(running)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed[name] += 1


def measure_kills(count: int) -> bool:
    """Judge many candidates while processes die, and count what came back."""
    task = tasks.parse_task(TASK)
    wrong = KERNEL.replace("+ y", "- y")
    items = [tasks.pair(f"{wrong if n % 4 == 3 else KERNEL}# {n}\n", task) for n in range(count)]
    engine = Engine(target="toy:cpu", plan=Plan(cases=1, screen=False), workers=2)
    killed: Counter[str] = Counter()
    stop = threading.Event()
    killer = threading.Thread(target=kill_some, args=(engine, stop, killed))
    begun = time.perf_counter()
    with serving(engine) as (url, _, metrics), Client(Settings(url=url, deadline_s=600, retries=5)) as client:
        killer.start()
        judged = []
        for at in range(0, count, 1000):
            judged += client.judge(items[at : at + 1000])
        stop.set()
        killer.join()
        seen = metrics.registry.get_sample_value
        given = ({"target": "toy:cpu", "status": status} for status in ("passed", "wrong_result"))
        told = sum(seen("kengine_verdicts_total", labels) or 0 for labels in given)
    spent = time.perf_counter() - begun
    verdicts = [j for j in judged if isinstance(j, Verdict)]
    right = sum(
        isinstance(j, Verdict)
        and j.candidate.digest == item.candidate.digest
        and j.status == ("wrong_result" if n % 4 == 3 else "passed")
        for n, (j, item) in enumerate(zip(judged, items))
    )
    print(f"{count} requests in {spent:.0f} s, killed {sum(killed.values())}: {dict(killed)}")
    print(
        f"answers {len(judged)}, with a verdict {len(verdicts)}, of those right and of the right candidate {right}, "
        f"masked {len(judged) - len(verdicts)}; verdicts that the server gave {told:.0f}"
    )
    return len(judged) == count and right == len(verdicts) == told and len(verdicts) >= 0.999 * count


def main() -> int:
    """Run what was asked for."""
    if sys.argv[1:2] == ["client"]:
        port, calls, delay_s = sys.argv[2:]
        begun = time.perf_counter()
        waits = clients(int(port), int(calls), float(delay_s))
        print(time.perf_counter() - begun, *waits, sep="\n")
        return 0
    given = arguments.read(__doc__, count=10_000, part=("both", "overhead", "kills"))
    good = given.part == "kills" or measure_overhead()
    good = (given.part == "overhead" or measure_kills(given.count)) and good
    print("within bounds" if good else "NOT within bounds")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
