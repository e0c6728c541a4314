"""The zygote outlives its children, tells how they ended, and takes all of them with it."""

from __future__ import annotations

import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from kengine import wire
from kengine.config import Limits

SLEEPS = "import os, time\ndef candidate(x):\n    os.fork() or os.setsid()\n    time.sleep(1000)\n"
NAMESPACES = (
    "pid_namespace", "mount_namespace", "network_namespace", "ipc_namespace", "uts_namespace", "user_namespace",
)  # fmt: skip


def busy_runner(tools, zygote, tmp_path):
    """A runner whose candidate has a child in another session and does not answer."""
    runner = tools.Runner(zygote, tmp_path)
    with pytest.raises(wire.WireTimeout):
        runner.run(SLEEPS, timeout_s=0.5)
    return runner


@pytest.fixture(params=["namespaces", "container"])
def busy(request, zygotes, tools, tmp_path):
    zygote = zygotes(without=NAMESPACES if request.param == "container" else ())
    assert zygote.start()["ok"]
    busy_runner(tools, zygote, tmp_path)
    return zygote


def test_all_die_when_the_socket_closes(busy, tools):
    assert len(busy.processes()) >= 3
    assert busy.close() == 0
    assert tools.wait_until(lambda: busy.processes() == [])


def test_all_die_with_sigterm(busy, tools):
    busy.process.terminate()
    assert busy.process.wait(timeout=10) == 0
    assert tools.wait_until(lambda: busy.processes() == [])


def test_all_die_when_the_zygote_is_killed(busy, tools):
    busy.process.kill()
    busy.process.wait()
    assert tools.wait_until(lambda: busy.processes() == []), busy.processes()


def test_a_killed_keeper_leaves_nothing(busy, tools):
    keepers = [p for p in busy.processes() if parent(p) == busy.process.pid]
    for pid in keepers:
        os.kill(pid, signal.SIGKILL)
    assert tools.wait_until(lambda: busy.processes() == []), busy.processes()
    answer = busy.ask({"op": "reap", "pid": keepers[0], "timeout_s": 1})
    assert answer["exited"]
    assert answer["status"] == signal.SIGKILL


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_reap_waits_and_says_that_it_lives(runners):
    runner = runners()
    begun = time.monotonic()
    assert runner.reap(0.3) == {"ok": True, "exited": False, "status": 0, "reason": ""}
    assert 0.25 < time.monotonic() - begun < 2
    assert runner.kill() == {"ok": True, "status": signal.SIGKILL}
    assert runner.reap()["status"] == signal.SIGKILL


def test_kill_without_waiting(warm, runners):
    runner = runners()
    assert warm.ask({"op": "kill", "pid": runner.pid, "wait": False}) == {"ok": True, "status": signal.SIGKILL}
    assert runner.reap() == {"ok": True, "exited": True, "status": signal.SIGKILL, "reason": ""}


def test_requests_that_make_no_sense(warm):
    assert "no child 1 here" in warm.ask({"op": "kill", "pid": 1})["message"]
    assert "no child" in warm.ask({"op": "reap", "pid": "x"})["message"]
    assert "no child" in warm.ask({"op": "kill"})["message"]
    assert "unknown request 'dance'" in warm.ask({"op": "dance"})["message"]
    assert "two descriptors" in warm.ask({"op": "fork", "kind": "runner"})["message"]
    assert warm.ask({"op": "ping"}) == {"ok": True, "pid": warm.process.pid, "families": 0}


def test_a_backend_that_cannot_be_loaded_is_said(zygotes):
    zygote = zygotes()
    assert zygote.ask({"op": "fork"})["ok"] is False
    answer = zygote.start(module="no_such_backend")
    assert answer["ok"] is False
    assert "no_such_backend" in answer["message"]
    answer = zygote.start(preload=("no_such_library",))
    assert answer["ok"] is False
    assert "no_such_library" in answer["message"]
    assert zygote.start()["ok"]


def test_garbage_from_the_engine_ends_it(zygotes):
    zygote = zygotes()
    zygote.sock.sendall(b"\xff" * 100)
    assert zygote.process.wait(timeout=10) == 0


def test_it_has_one_thread_and_few_descriptors(warm, runners):
    for _ in range(3):
        runners().kill()
    assert len(os.listdir(f"/proc/{warm.process.pid}/task")) == 1
    assert len(os.listdir(f"/proc/{warm.process.pid}/fd")) <= 8


def test_many_forks_leave_nothing_growing(warm, tools, tmp_path):
    def figures():
        rss = int(Path(f"/proc/{warm.process.pid}/statm").read_text().split()[1])
        return len(os.listdir(f"/proc/{warm.process.pid}/fd")), len(os.listdir("/proc/self/fd")), rss

    def once():
        runner = tools.Runner(warm, tmp_path)
        runner.kill()
        os.rmdir(runner.workdir)  # nothing in it: what the runner wrote went with its own file system

    for _ in range(20):
        once()
    before = figures()
    for _ in range(60):
        once()
    after = figures()
    assert after[:2] == before[:2]
    assert (after[2] - before[2]) * os.sysconf("SC_PAGESIZE") < 4 << 20
    assert warm.processes() == []


def test_fork_to_ready(warm, tools, tmp_path, capsys):
    times = []
    for _ in range(25):
        runner = tools.Runner(warm, tmp_path)
        times.append(runner.ready_s * 1e3)
        runner.kill()
    with capsys.disabled():
        middle, best, worst = statistics.median(times), min(times), max(times)
        print(f"\nfork to ready: median {middle:.1f} ms, best {best:.1f}, worst {worst:.1f}")
    assert statistics.median(times) < 100  # a bound against a blunder; the figure itself is printed


def test_two_runners_die_apart(runners, lend):
    first, second = runners(), runners()
    assert first.run("def candidate(x):\n    return x\n")["ok"]
    first.kill()
    assert second.run("def candidate(x):\n    return x\n")["ok"]


@pytest.mark.parametrize("limits", [None, {**asdict(Limits()), "device": "cpu"}])
def test_judges_are_forked_trusted_or_sandboxed(zygotes, tmp_path, limits):
    zygote = zygotes()
    start = {"op": "start", "target": "", "module": None, "preload": ["numpy"], "path": zygote.path, "role": "judge"}
    assert zygote.ask(start, timeout_s=60)["ok"]
    ours, theirs = socket.socketpair()
    tmp_path.chmod(0o777)
    fork = {"op": "fork", "kind": "judge", "limits": limits, "holder": "j1", "workdir": str(tmp_path)}
    answer = zygote.ask(fork, (theirs.fileno(), 2))
    theirs.close()
    ready, _ = wire.receive(ours, time.monotonic() + 20)
    assert (ready["op"], ready["holder"]) == ("ready", "j1")
    assert ("seccomp" in ready["sandbox"]) == (limits is not None)
    wire.send(ours, {"op": "ping"})
    assert wire.receive(ours, time.monotonic() + 10)[0]["ok"]
    assert zygote.ask({"op": "kill", "pid": answer["pid"]}) == {"ok": True, "status": signal.SIGKILL}
    ours.close()


PLAIN = """
import os, sys
sys.path.insert(0, {core!r})
from kengine.runner.sandbox import mounts, syscalls
syscalls.unshare(0x20000)
syscalls.mount("none", "/", flags=0x4000 | 0x40000)
# The interpreter may lie in a folder that only root can enter: show it to everybody, at the same place.
for home in {homes!r}:
    top = "/" + home.split("/")[1]
    if os.stat(top).st_mode & 0o1 == 0:
        os.makedirs("/mnt/kept", exist_ok=True)
        syscalls.mount("none", "/mnt", "tmpfs"); os.mkdir("/mnt/kept")
        syscalls.mount(home, "/mnt/kept", flags=0x1000 | 0x4000)
        syscalls.mount("none", top, "tmpfs", data="mode=0755")
        os.makedirs(home)
        syscalls.mount("/mnt/kept", home, flags=0x1000 | 0x4000)
        syscalls.unmount("/mnt")
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture
def plain(zygotes, tools):
    """A zygote of a user without rights, which a test run by root makes for itself."""
    if os.geteuid() != 0:
        pytest.skip("every other test of this file has run as a plain user already")
    core = str(Path(sys.modules["kengine"].__file__).parents[1])
    script = PLAIN.format(core=core, homes=sorted({os.path.realpath(sys.base_prefix)}))
    probe = subprocess.run([sys.executable, "-c", script, sys.executable, "-c", "import torch"], capture_output=True)
    if probe.returncode:
        pytest.skip(f"no plain user can start this interpreter: {probe.stderr[-200:]!r}")

    def make(**kwargs):
        zygote = zygotes(wrap=(sys.executable, "-c", script), **kwargs)
        assert zygote.start()["ok"]
        return zygote

    return make


@pytest.mark.parametrize("without", [(), NAMESPACES])
def test_a_plain_user_gets_walls_too(plain, tools, tmp_path, without):
    zygote = plain(without=without)
    assert Path(f"/proc/{zygote.process.pid}/status").read_text().split("Uid:")[1].split()[0] == "65534"
    runner = tools.Runner(zygote, tmp_path, Limits(processes=40))
    named = set(runner.ready["sandbox"])
    assert {"no_new_privs", "landlock", "capabilities", "seccomp", "rlimits"} <= named
    assert "uid" not in named
    if not without:
        assert {"user_namespace", "pid_namespace", "private_root", "disk_quota"} <= named
    reply = runner.run("import torch._dynamo, subprocess\ndef candidate(x):\n    return x\n")
    assert reply["ok"], reply
    runner.kill()
    if not without:
        runner = tools.Runner(zygote, tmp_path, Limits(processes=40))
        try:
            reply = runner.run("import os\ndef candidate(x):\n    while True:\n        os.fork()\n", timeout_s=5)
            assert "limit processes: 40" in reply["fault"]["message"]
        except wire.WireError:
            pass
        assert runner.kill()["ok"]
    secret = tmp_path / "task.py"
    secret.write_text("secret")
    secret.chmod(0o644)
    runner = tools.Runner(zygote, tmp_path)
    assert not runner.run(f"open({str(secret)!r}).read()\n")["ok"]
    assert runner.kill()["ok"]
    assert tools.wait_until(lambda: zygote.processes() == [])
