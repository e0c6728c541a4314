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
    assert len(times) == 25 and min(times) > 0


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
    assert os.stat(f"/proc/{runner.pid}/environ").st_uid == 0, "its keeper is closed to others of its user"
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


def test_before_its_start_it_forks_nothing(zygotes, tmp_path):
    zygote = zygotes()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        fork = {"op": "fork", "kind": "runner", "limits": None, "holder": "r1", "workdir": str(tmp_path)}
        answer = zygote.ask(fork, (theirs.fileno(), 2))
    assert answer == {"ok": False, "message": "fork: wants a start before it, and two descriptors: channel and output"}
    assert zygote.processes() == []


def test_one_request_at_a_time_and_no_work_while_it_waits(warm, runners):
    """A second request that comes too early is answered second, and waiting costs no processor time."""

    def worked() -> float:
        parts = Path(f"/proc/{warm.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    runner, before = runners(), worked()
    wire.send(warm.sock, {"op": "reap", "pid": runner.pid, "timeout_s": 1.0})
    wire.send(warm.sock, {"op": "ping"})
    answers = [wire.receive(warm.sock, time.monotonic() + 20)[0] for _ in range(2)]
    assert "exited" in answers[0] and "families" in answers[1]
    assert worked() - before < 0.1


def test_an_engine_that_goes_while_it_is_owed_an_answer_takes_all_with_it(zygotes, tools, tmp_path):
    zygote = zygotes()
    assert zygote.start()["ok"]
    runner = tools.Runner(zygote, tmp_path)
    wire.send(zygote.sock, {"op": "reap", "pid": runner.pid, "timeout_s": 120.0})
    zygote.sock.close()
    assert zygote.process.wait(timeout=15) == 0
    assert tools.wait_until(lambda: zygote.processes() == [])
    runner.sock.close()


def test_no_descriptor_of_its_own_reaches_a_program_that_is_started(warm):
    home = Path(f"/proc/{warm.process.pid}/fdinfo")
    flags = {int(f.name): int(f.read_text().split("flags:")[1].split()[0], 8) for f in home.iterdir()}
    assert [fd for fd, each in flags.items() if fd > 2 and not each & os.O_CLOEXEC] == []


def test_only_the_last_of_the_dead_are_remembered(monkeypatch):
    from kengine.runner import zygote as module
    from kengine.runner.family import Family

    ended = [(n, 0) for n in range(100, 110)] + [(0, 0)]
    monkeypatch.setattr(module, "_REMEMBERED", 3)
    monkeypatch.setattr(module.os, "waitpid", lambda pid, how: ended.pop(0))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        made = module.Zygote(theirs, families={n: Family(n) for n in range(100, 112)})
        made._reap()
    assert list(made.past) == [107, 108, 109] and sorted(made.families) == [110, 111]


def test_on_a_device_without_a_root_of_its_own_process_numbers_stay(runners):
    """The driver reads its own entries below /proc, which then are those of other numbers."""
    named = runners(device="cuda", without=["private_root"]).ready["sandbox"]
    assert "pid_namespace" not in named and "private_root" not in named
    if "pid_namespace" in runners().ready["sandbox"]:
        assert "pid_namespace" in runners(without=["private_root"]).ready["sandbox"]


class Child:
    """A family that ends when it is told to; `kills` are the ways in which it was asked to."""

    def __init__(self, gone=False, **more):
        self.pid, self.gone, self.kills = 7, gone, []
        self.error = self.reason = ""
        self.killed, self.status, self.pipe = False, None, -1
        vars(self).update(more)

    def kill(self, hard=False):
        self.kills.append(hard)


@pytest.fixture
def server():
    from kengine.runner import zygote as module

    ours, theirs = socket.socketpair()
    made = module.Zygote(theirs)
    made.told = lambda: wire.receive(ours, time.monotonic() + 5)[0]
    with ours, theirs:
        yield made


def test_who_need_not_know_the_end_is_answered_before_it(server):
    server.families[7] = Child()
    assert server._await("kill", {"pid": 7, "wait": False}) == {"ok": True, "status": signal.SIGKILL}
    assert server.waiting is None and server.families[7].kills == [False]
    assert server._await("kill", {"pid": 7}) is None and server.waiting.family is server.families[7]


def test_a_keeper_that_does_not_kill_in_time_is_killed_and_then_given_up(server):
    from kengine.runner.zygote import Waiting

    child = Child()
    server.waiting = Waiting(child, time.monotonic() - 1, "kill")
    server._settle()
    assert child.kills == [True] and server.waiting.deadline > time.monotonic() + 1
    server.waiting.deadline = 0.0
    server._settle()
    assert server.told() == {"ok": False, "message": "kill: child 7 does not die"} and server.waiting is None
    assert child.kills == [True]


@pytest.mark.parametrize(
    ("child", "reason"),
    [
        (Child(True, status=signal.SIGXCPU), "limit of processor time"),
        (Child(True, status=signal.SIGXFSZ), "limit of file size"),
        (Child(True, status=signal.SIGXCPU, killed=True), ""),
        (Child(False, status=signal.SIGXCPU), ""),
        (Child(True, status=signal.SIGSEGV), ""),
        (Child(True, status=24 << 8), ""),  # an exit code that happens to be a signal's number
        (Child(True, status=64), ""),  # a real-time signal has no name
        (Child(True, status=signal.SIGKILL, reason="limit of memory"), "limit of memory"),
        (Child(True, status=signal.SIGXCPU, reason="limit of memory", error="no root"), "no root"),
    ],
)
def test_the_limit_behind_a_death(child, reason):
    from kengine.runner.zygote import _reason

    assert _reason(child) == reason


def test_a_trusted_judge_has_its_channel_alone_and_ends_with_its_zygote(zygotes, tools, tmp_path):
    zygote = zygotes()
    start = {"op": "start", "target": "", "module": None, "preload": ["json"], "path": zygote.path, "role": "judge"}
    assert zygote.ask(start, timeout_s=60)["ok"]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        fork = {"op": "fork", "kind": "judge", "limits": None, "holder": "j1", "workdir": str(tmp_path)}
        pid = zygote.ask(fork, (theirs.fileno(), 2))["pid"]
        theirs.close()
        assert wire.receive(ours, time.monotonic() + 20)[0]["op"] == "ready"
        links = sorted(os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
        assert len([link for link in links if link.startswith("socket:")]) == 1, links
        assert len(links) == 4, "the three, and the channel"
        zygote.process.kill()
        zygote.process.wait()
        assert tools.wait_until(lambda: zygote.processes() == [])
