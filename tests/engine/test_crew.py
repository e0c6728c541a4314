"""What the crew lends and takes back: walls around whatever came with a candidate, and nothing left behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import kengine
import pytest
from kengine import Engine, Plan
from kengine.engine import zygote as zygotes
from kengine.engine.crew import Crew, _judge_recipe
from kengine.engine.zygote import Recipe, Zygote
from kengine.errors import WorkerLost
from kengine.plugins import backend as backends
from toy_items import GOOD, TASK, descendants, item, settled


@pytest.fixture
def crew():
    made = Crew(Plan(), standbys=1)
    yield made
    made.close()


@pytest.fixture
def toy():
    backend = backends.load("toy")
    return backend, backend.targets()[0]


def folders(crew):
    return sorted(os.listdir(crew._root))


def test_the_judge_of_a_task_that_came_with_a_candidate_sits_behind_walls(crew, toy):
    backend, info = toy
    task = kengine.tasks.parse(TASK + GOOD, "single.py").task
    (zygote,) = [crew._zygotes.setdefault(r.key, Zygote(r)) for r in [_judge_recipe(info, task.source, backend)]]
    zygote.start()
    before = len(descendants())
    with crew.own_judge(info, task, backend) as judge:
        judge.call("ping", {}, 60.0)
        assert "rlimits" in judge.sandbox and "seccomp" in judge.sandbox
        (folder,) = folders(crew)
        assert folder.startswith("j") and len(descendants()) > before
    assert judge.pid is None and folders(crew) == [] and crew._alive == set()
    assert settled(before), "its process is ended"
    trusted = crew.judge(info, item(GOOD).task, backend)
    trusted.call("ping", {}, 60.0)
    assert trusted.sandbox == ()


def test_such_a_judge_works_in_a_folder_of_its_own_and_within_limits():
    text = (
        TASK.replace(
            "    draw = np",
            "    import os, resource\n"
            "    assert os.getcwd() == os.environ['HOME'] != '/', os.getcwd()\n"
            "    assert resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY\n"
            "    assert resource.getrlimit(resource.RLIMIT_CPU)[0] != resource.RLIM_INFINITY\n"
            "    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY, 'arenas are files'\n"
            "    draw = np",
        )
        + GOOD
    )
    assert "RLIMIT_FSIZE" in text
    plan = Plan(cases=1, limits=kengine.Limits(file_bytes=1 << 20, cpu_s=50, memory_bytes=1 << 30))
    with Engine(target="toy:cpu", plan=plan, workers=1) as engine:
        verdict = engine.verify(kengine.tasks.parse(text, "single.py"))
    assert verdict.passed, verdict.message


def test_a_runner_is_forgotten_with_its_folder_and_others_cannot_list_the_folders(crew, toy):
    backend, info = toy
    assert os.stat(crew._root).st_mode & 0o777 == 0o711
    with crew.runner(info, backend.module) as runner:
        assert os.path.basename(runner.workdir) in folders(crew) and runner in crew._alive
    assert runner.ended and not os.path.exists(runner.workdir) and runner not in crew._alive
    assert len(folders(crew)) == len(crew._alive) == 1, "the standby"


def test_a_standby_that_has_died_is_nobodys_runner(crew, toy):
    backend, info = toy
    crew.warm(info, backend)
    ((standby,),) = crew._ready.values()
    standby._zygote.ask({"op": "kill", "pid": standby.pid})
    with crew.runner(info, backend.module) as runner:
        assert runner is not standby and runner.alive()
    assert standby.ended and not os.path.exists(standby.workdir)


def test_a_crew_that_is_closed_starts_nothing_again(crew, toy):
    backend, info = toy
    judge = crew.judge(info, item(GOOD).task, backend)
    assert not crew.closed
    crew.close()
    assert crew.closed and not crew._root.exists() and not crew._drain._thread.is_alive()
    for ask in (
        lambda: crew.judge(info, item(GOOD).task, backend) and judge.call("ping", {}, 5.0),
        lambda: crew.own_judge(info, item(GOOD).task, backend).__enter__(),
        lambda: crew.runner(info, backend.module).__enter__(),
        lambda: crew.warm(info, backend),
        lambda: judge.call("ping", {}, 5.0),
    ):
        with pytest.raises(WorkerLost, match="the engine is closed"):
            ask()
    assert not crew._root.exists() and not any(crew.processes().values())


@pytest.fixture
def zygote():
    made = Zygote(Recipe("judge", preload=("json",)))
    yield made
    made.close()


def test_a_zygote_knows_nothing_of_its_callers_surroundings(zygote, monkeypatch, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    for name in ("KENGINE_TOKEN", "OPENAI_API_KEY", "PYTHONPATH", "LD_PRELOAD_NOT"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    kept, (read, write) = os.dup(0), os.pipe()
    os.dup2(read, 0)
    try:
        zygote.start()
    finally:
        os.dup2(kept, 0)
        for fd in (kept, read, write):
            os.close(fd)
    home = Path(f"/proc/{zygote.pid}")
    assert "-I" in (home / "cmdline").read_text().split("\0")[:3], "no folder of the user's, no variable of Python's"
    given = dict(line.partition("=")[::2] for line in (home / "environ").read_text().split("\0") if line)
    assert not any(str(tmp_path) in value for value in given.values())
    assert given["CUDA_VISIBLE_DEVICES"] == "3" and given["OMP_NUM_THREADS"] == "1"
    assert not (tmp_path / "ran").exists(), "it was isolated when it started"
    assert os.readlink(home / "cwd") == "/" and os.readlink(home / "fd/0") == os.devnull
    assert os.getsid(zygote.pid) == zygote.pid, "a Ctrl-C at the terminal is not for it"
    path = zygotes.search_path(("kengine", "toy_items"))
    assert str(tmp_path) not in path and str(Path(kengine.__file__).parents[1]) in path
    assert str(Path(sys.modules["toy_items"].__file__).parent) in path, "asked for by name"


def test_only_the_process_that_forked_them_is_asked_about_children(zygote):
    handled = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    try:
        zygote.start()
    finally:
        signal.signal(signal.SIGINT, handled)
    first = zygote.generation
    assert zygote.ask_running(first, {"op": "ping"})["ok"]
    os.kill(zygote.pid, signal.SIGINT)
    assert zygote.ask_running(first, {"op": "ping"})["ok"], "a Ctrl-C is the engine's affair"
    os.kill(zygote.pid, signal.SIGKILL)
    os.waitid(os.P_PID, zygote.pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(WorkerLost, match="the zygote of judge is gone, and all its children with it"):
        zygote.ask_running(first, {"op": "ping"})
    assert zygote.ask({"op": "ping"})["ok"] and zygote.generation == first + 1
    with pytest.raises(WorkerLost, match="is gone"):
        zygote.ask_running(first, {"op": "ping"})
    assert zygote.ask_running(first + 1, {"op": "ping"})["ok"]


def test_a_zygote_that_is_mute_is_lost_and_replaced(zygote):
    zygote.start()
    pid = zygote.pid
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(WorkerLost, match="was lost: no whole message before the deadline"):
        zygote.ask({"op": "ping"}, timeout_s=0.3)
    assert zygote.pid is None and not os.path.exists(f"/proc/{pid}")
    assert zygote.ask({"op": "ping"})["ok"]


def test_what_cannot_be_warmed_up_is_said_and_ended():
    from kengine.errors import PluginLoadError

    broken = Zygote(Recipe("judge", preload=("no_such_library_here",)))
    with pytest.raises(PluginLoadError, match=r"judge could not be warmed up: .*no_such_library_here"):
        broken.start()
    assert broken.pid is None and broken._sock is None and broken._log is None


def test_candidates_that_begin_at_once_are_made_up_for_once(monkeypatch, toy):
    backend, info = toy
    made = Crew(Plan(), standbys=6)
    begin, end = threading.Barrier(6), threading.Event()
    try:
        made.warm(info, backend)
        inner, forks = made._fork, []

        def slow(*args):
            forks.append(args)
            time.sleep(0.05)
            return inner(*args)

        monkeypatch.setattr(made, "_fork", slow)

        def judge():
            begin.wait(5)
            with made.runner(info, backend.module):
                end.wait(10)

        threads = [threading.Thread(target=judge) for _ in range(6)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 10
        while sum(len(queue) for queue in made._ready.values()) < 6 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)
        assert len(forks) == 6 and sum(len(queue) for queue in made._ready.values()) == 6
        end.set()
        for thread in threads:
            thread.join(10)
    finally:
        end.set()
        made.close()


def test_a_fork_that_fails_is_made_up_for_later(monkeypatch, toy):
    backend, info = toy
    made = Crew(Plan(), standbys=3)
    try:
        made.warm(info, backend)
        inner, failing = made._fork, [True]

        def fork(*args):
            if failing:
                raise WorkerLost("no process can be made")
            return inner(*args)

        monkeypatch.setattr(made, "_fork", fork)
        with pytest.raises(WorkerLost), made.runner(info, backend.module):
            pass
        failing.clear()
        with made.runner(info, backend.module):
            assert sum(len(queue) for queue in made._ready.values()) == 3
        assert not any(made._coming.values())
    finally:
        made.close()
