"""The kernel's own books on a runner: its processes, its threads, what each does and how long it has worked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Thread:
    """One thread at one moment: nanoseconds that it has worked, and whether it works or waits for a processor to."""

    worked_ns: int
    runnable: bool


def find_processes(root: int) -> frozenset[int]:
    """Numbers of a process and of its descendants."""
    return frozenset(pid for pid, _ in read_account(root))


def read_account(root: int) -> dict[tuple[int, int], Thread]:
    """Every living thread of a process and of its descendants, by process and thread number."""
    result: dict[tuple[int, int], Thread] = {}
    todo = [root]
    while todo:
        pid = todo.pop()
        for task in _listed(Path(f"/proc/{pid}/task")):
            try:
                state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                worked = int((task / "schedstat").read_text().split()[0])
                if state not in "ZX":
                    result[pid, int(task.name)] = Thread(worked, state == "R")
                todo += [int(child) for child in (task / "children").read_text().split()]
            except (OSError, ValueError, IndexError):
                continue
    return result


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
