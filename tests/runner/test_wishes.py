"""What a runner wishes for is built once, in the background, for those who come later; nothing else comes of a wish."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from kengine.runner import wishes

BACKEND = """
import os, subprocess, time
from double_backend import *
from double_backend import _loaded
from kengine.runner import wishes

def build(name):
    with open("@FOLDER@/built", "a") as file:
        file.write(f"{name} {os.getpid()} {os.nice(0)} {len(os.listdir('/proc/self/fd'))}\\n")
    if name == "long":
        subprocess.run(["sleep", "98765"])

@hookimpl
def kengine_warm(target):
    for name in ("first", "second", "long", "broken"):
        wishes.offer(name, lambda name=name: build(name) if name != "broken" else 1 / 0)
    if os.path.exists("@FOLDER@/ordered"):
        wishes.order("second", "first")
    return True
"""
CANDIDATE = "from kengine.runner import wishes\n@WISH@\ndef candidate(x):\n    return x + 1\n"


@pytest.fixture
def start(zygotes, tools, tmp_path):
    def start_it(*, ordered: bool = False, without: tuple[str, ...] = ()):
        (tmp_path / "wishing_backend.py").write_text(BACKEND.replace("@FOLDER@", str(tmp_path)))
        if ordered:
            (tmp_path / "ordered").touch()
        zygote = zygotes(path=(str(tmp_path),), without=without)
        assert zygote.start("wishing_backend")["ok"]
        return zygote

    return start_it


def run(tools, zygote, tmp_path: Path, wish: str) -> None:
    """A whole candidate, from fork to end."""
    runner = tools.Runner(zygote, tmp_path)
    reply = runner.run(CANDIDATE.replace("@WISH@", wish))
    assert reply["ok"], reply
    runner.kill()


def built(tmp_path: Path) -> list[str]:
    place = tmp_path / "built"
    return [line.split()[0] for line in place.read_text().splitlines()] if place.exists() else []


def lies_still(zygote, tmp_path: Path, names: list[str]) -> bool:
    """Whether these are what is built, a second and some turns of the zygote later, too."""
    for _ in range(10):
        assert zygote.ask({"op": "ping"})["ok"]
        time.sleep(0.1)
    return built(tmp_path) == names


@pytest.mark.parametrize("without", [(), ("pid_namespace", "mount_namespace", "user_namespace")])
def test_a_wish_is_granted_once_and_gives_way_to_others(start, tools, tmp_path, without) -> None:
    zygote = start(without=without)
    run(tools, zygote, tmp_path, "assert wishes.wish('first')")
    assert tools.wait_until(lambda: built(tmp_path) == ["first"])
    _, pid, nice, descriptors = (tmp_path / "built").read_text().split()
    assert int(pid) != zygote.process.pid and int(nice) == wishes.NICENESS and int(descriptors) <= 5
    run(tools, zygote, tmp_path, "wishes.wish('first')")
    run(tools, zygote, tmp_path, "wishes.wish('second'), wishes.wish('first')")
    assert tools.wait_until(lambda: built(tmp_path) == ["first", "second"])
    assert lies_still(zygote, tmp_path, ["first", "second"])


def test_without_a_wish_nothing_is_built(start, tools, tmp_path) -> None:
    zygote = start()
    run(tools, zygote, tmp_path, "")
    assert lies_still(zygote, tmp_path, [])


@pytest.mark.parametrize(
    "forged",
    [
        "assert not wishes.wish('/etc/passwd')",
        "assert not wishes.wish('first\\nsecond') and not wishes.wish('')",
        "wishes._offers['mine'] = lambda: 1; wishes.wish('mine')",
        "wishes._page[4:] = b'\\xff' * (len(wishes._page) - 4)",
        "wishes.offer('mine', print); wishes.order('first'); wishes._page.resize",
    ],
)
def test_what_is_not_offered_is_not_built(forged: str, start, tools, tmp_path) -> None:
    zygote = start()
    run(tools, zygote, tmp_path, forged)
    assert lies_still(zygote, tmp_path, [])
    run(tools, zygote, tmp_path, "wishes.wish('second')")
    assert tools.wait_until(lambda: built(tmp_path) == ["second"])


def test_a_build_that_fails_is_not_tried_again_and_keeps_no_other_from_being_built(start, tools, tmp_path) -> None:
    zygote = start()
    run(tools, zygote, tmp_path, "wishes.wish('broken'), wishes.wish('second')")
    assert tools.wait_until(lambda: built(tmp_path) == ["second"])


def test_what_warming_up_puts_off_is_built_in_its_order(start, tools, tmp_path) -> None:
    zygote = start(ordered=True)
    run(tools, zygote, tmp_path, "")
    assert tools.wait_until(lambda: built(tmp_path) == ["second", "first"])


def test_a_runner_sees_nobody_elses_page(start, tools, tmp_path) -> None:
    zygote = start()
    first = tools.Runner(zygote, tmp_path)
    leave = "wishes._page[100:104] = b'mark'"
    assert first.run(CANDIDATE.replace("@WISH@", leave))["ok"]
    alone = "lines = [l for l in open('/proc/self/maps') if 'rw-s' in l and '/dev/zero' in l]\nassert len(lines) == 1"
    run(tools, zygote, tmp_path, f"assert wishes._page[:] == bytes(len(wishes._page))\n{alone}")
    first.kill()


@pytest.mark.parametrize("how", ["close", "terminate", "kill"])
def test_what_is_being_built_ends_with_the_zygote(how: str, start, tools, tmp_path) -> None:
    zygote = start()
    run(tools, zygote, tmp_path, "wishes.wish('long')")
    assert tools.wait_until(lambda: built(tmp_path) == ["long"])
    builder = int((tmp_path / "built").read_text().split()[1])
    assert tools.wait_until(lambda: sleepers(builder))
    before = sleepers(builder)
    run(tools, zygote, tmp_path, "")  # candidates do not wait for it, and their ends do not touch it
    assert sleepers(builder) == before
    if how == "close":
        zygote.close()
    else:
        getattr(zygote.process, how)()
        zygote.process.wait(timeout=15)
    assert tools.wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in (builder, *before)))


def sleepers(builder: int) -> list[int]:
    """What the builder has started."""
    try:
        return [int(pid) for pid in Path(f"/proc/{builder}/task/{builder}/children").read_text().split()]
    except OSError:
        return []
