"""The kernel's own books on a runner: its processes, its threads, and how long each has worked."""

from __future__ import annotations

from pathlib import Path


def find_processes(root: int) -> frozenset[int]:
    """Numbers of a process and of its descendants."""
    return frozenset(pid for pid, _ in read_account(root))


def read_account(root: int) -> dict[tuple[int, int], int]:
    """Nanoseconds of processor time of every thread of a process and its descendants, by process and thread."""
    result: dict[tuple[int, int], int] = {}
    todo = [root]
    while todo:
        pid = todo.pop()
        for task in _listed(Path(f"/proc/{pid}/task")):
            try:
                result[pid, int(task.name)] = int((task / "schedstat").read_text().split()[0])
                todo += [int(child) for child in (task / "children").read_text().split()]
            except (OSError, ValueError, IndexError):
                continue
    return result


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
