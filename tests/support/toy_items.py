"""Candidates in the toy language, and what processes are left below this one."""

from __future__ import annotations

import os
import time
from pathlib import Path

from kengine import tasks

TASK = """
import numpy as np

def reference(x, y):
    return x + y

def make_inputs(seed, device, rows=300):
    draw = np.random.default_rng(seed)
    return tuple(draw.standard_normal(rows).astype(np.float32) for _ in range(2))
"""

GOOD = """
import numpy as np
from kengine.testing import toy

@toy.kernel
def add(program, x, y, out):
    rows = slice(program * 64, min(program * 64 + 64, len(out)))
    out[rows] = x[rows] + y[rows]

def candidate(x, y):
    out = np.empty_like(x)
    add[-(-len(x) // 64)](x, y, out)
    return out
"""


def candidate(body="", top=""):
    """The good candidate with statements put in front of its call, and at the top of the file."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return top + "\n" + GOOD.replace("    out = np.empty_like(x)\n", lines + "    out = np.empty_like(x)\n")


def item(text, task=TASK):
    return tasks.parse(text, "candidate.py", task_text=task)


def descendants():
    """Processes below this one."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parents[int(name)] = int(Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, grown = {os.getpid()}, True
    while grown:
        more = {p for p, parent in parents.items() if parent in found} - found
        grown = bool(more)
        found |= more
    return found - {os.getpid()}


def settled(expected, seconds=5.0):
    """Wait until the processes below this one are no more than `expected`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if len(descendants()) <= expected:
            return True
        time.sleep(0.02)
    return False
