"""Each measure that a runner is said to have is there, as the kernel tells it from inside and from outside."""

from __future__ import annotations

import json
import os
import resource
import socket
from pathlib import Path

import pytest
from kengine.config import Limits
from kengine.runner import keeper, sandbox
from kengine.runner.sandbox import identity

NAMESPACES = (
    "pid_namespace", "mount_namespace", "network_namespace", "ipc_namespace", "uts_namespace", "user_namespace",
)  # fmt: skip
LIMITS = Limits(open_files=64, file_bytes=3 << 20, processes=40, cpu_s=7, memory_bytes=1 << 30, disk_bytes=16 << 20)
LOOK = """
import json, os, resource, socket
def candidate(x):
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    names = ("CORE", "FSIZE", "NOFILE", "NPROC", "CPU", "AS")
    return json.dumps({
        "status": {key: value.split() for key, value in status.items()},
        "limits": {name: resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in names},
        "host": socket.gethostname(),
        "first": open("/proc/self/oom_score_adj").read().strip(),
        "own": len(open("/proc/self/environ").read()),
        "mounts": [line.split() for line in open("/proc/self/mountinfo")],
        "inodes": os.statvfs(".").f_files,
    })
"""


MODES = {"full": (), "no_namespaces": NAMESPACES, "same_user": (*NAMESPACES, "landlock", "uid")}


@pytest.fixture(params=MODES)
def seen(request, runners):
    runner = runners(LIMITS, without=MODES[request.param])
    reply = runner.run(LOOK)
    assert reply["ok"], reply
    return set(runner.ready["sandbox"]), json.loads(reply["outputs"][0]["v"]), runner


def test_what_is_named_is_in_force(seen):
    named, found, runner = seen
    status = found["status"]
    root = os.geteuid() == 0
    if "no_new_privs" in named:
        assert status["NoNewPrivs"] == ["1"]
    if "seccomp" in named:
        assert status["Seccomp"] == ["2"]
    if "capabilities" in named:
        assert {int(status[key][0], 16) for key in ("CapEff", "CapPrm", "CapInh", "CapAmb")} == {0}
        assert not root or int(status["CapBnd"][0], 16) == 0
    else:
        assert "uid" in named, "user 0 without a user of its own has no rights at all"
    # Where the interpreter lies in a closed folder one right stays: to read.
    if root and "uid" in named and "capabilities" not in named:
        assert {int(status[key][0], 16) for key in ("CapEff", "CapPrm", "CapBnd")} == {1 << 2}
    if "uid" in named:
        assert len(set(status["Uid"])) == 1 and int(status["Uid"][0]) >= identity.FIRST
        assert status["Gid"] == status["Uid"] and status["Groups"] == []
    if "killed_first" in named:
        assert found["first"] == "1000"
    if "uts_namespace" in named:
        assert found["host"] == "runner" != socket.gethostname()
    if "private_root" in named:
        options = {line[4]: line[5].split(",") for line in found["mounts"]}
        assert {"nosuid", "nodev", "rw"} <= set(options["/tmp"])
        assert [line[4] for line in found["mounts"]].count("/") == 1, "the old root is gone"
        assert str(runner.workdir) not in Path("/proc/self/mountinfo").read_text(), "its mounts are its own"
        writable = {place for place, each in options.items() if "ro" not in each}
        assert all(place.startswith(("/tmp", "/dev", "/proc")) or place.endswith("work") for place in writable)
    if "disk_quota" in named:
        assert 0 < found["inodes"] <= 1 << 18
    assert found["own"] > 0, "it may look into itself"


def test_limits_are_those_of_the_plan(seen):
    named, found, _ = seen
    limits = found["limits"]
    assert limits["CORE"] == [0, 0] and limits["FSIZE"] == [3 << 20] * 2 and limits["NOFILE"] == [64, 64]
    if "uid" in named or "user_namespace" in named:
        assert limits["NPROC"] == [40, 40]
    else:
        assert limits["NPROC"][0] != resource.RLIM_INFINITY
    assert 7 < limits["CPU"][0] < 60 and limits["CPU"][1] == limits["CPU"][0] + 2
    assert 1 << 30 < limits["AS"][0] == limits["AS"][1] < 1 << 40


def test_on_a_device_only_memory_of_its_own_is_counted(runners):
    text = (
        "import resource\n"
        "def candidate(x):\n"
        "    return [resource.getrlimit(n)[0] < 1 << 40 and resource.getrlimit(n)[0] > 0"
        " for n in (resource.RLIMIT_DATA, resource.RLIMIT_AS)]\n"
    )
    reply = runners(LIMITS, device="cuda").run(text)
    assert reply["ok"], reply
    assert [item["v"] for item in reply["outputs"][0]["items"]] == [True, False]


def test_the_keeper_holds_nothing_but_the_pipe_for_its_reports(seen):
    runner = seen[2]
    home = Path(f"/proc/{runner.pid}/fd")
    links = [os.readlink(home / fd) for fd in os.listdir(home)]
    assert len(links) == 1 and links[0].startswith("pipe:"), links


def test_before_linux_6_14_the_numbers_of_processes_are_the_whole_machines_affair(monkeypatch):
    opened = []

    class File:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def write(self, text):
            opened.append(text)

    monkeypatch.setattr(identity.os, "getpid", lambda: 1)
    monkeypatch.setattr(identity, "open", lambda *_: File(), raising=False)
    for release in ("6.8.0-generic", "5.15.0", "6.13.9"):
        monkeypatch.setattr(identity.platform, "release", lambda release=release: release)
        assert not identity.limit_numbers(40) and opened == []
    monkeypatch.setattr(identity.platform, "release", lambda: "6.14.0-rc1")
    assert identity.limit_numbers(40) and opened == ["341"]
    monkeypatch.setattr(identity.os, "getpid", lambda: 2)
    assert not identity.limit_numbers(40) and len(opened) == 1


@pytest.mark.parametrize("alive", [True, False])
def test_a_keeper_whose_zygote_has_gone_already_starts_no_candidate(tmp_path, alive):
    """Its death cannot be announced to a process that had not asked for that yet."""
    read, report = os.pipe()
    channel, output = os.open(os.devnull, os.O_RDWR), os.open(os.devnull, os.O_RDWR)
    mark = tmp_path / "ran"
    settings = sandbox.Settings(workdir=str(tmp_path), limits={}, without=frozenset({"landlock", "uid", "seccomp"}))
    zygote = os.getpid()
    if not alive:
        os.close(read)
    pid = os.fork()
    if pid == 0:
        keeper.keep(settings, ("pid_namespace",), (os.getpid(), zygote), (report, channel, output),
                    lambda *_: mark.write_text("x"))  # fmt: skip
    os.close(report)
    os.waitpid(pid, 0)
    for fd in (channel, output, *([read] if alive else [])):
        os.close(fd)
    assert mark.exists() == alive


def test_rights_that_cannot_be_given_up_are_not_said_to_be_gone(monkeypatch):
    from kengine.runner.sandbox import capabilities

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(capabilities.syscalls, "prctl", refuse)
    monkeypatch.setattr(capabilities.syscalls, "call", refuse)
    for held in (0, 5):
        monkeypatch.setattr(capabilities, "held", lambda held=held: held)
        assert capabilities.drop() is (held == 0) and not capabilities.keep_reading()


def test_another_user_takes_nothing_of_the_old_one_along(monkeypatch):
    done = []
    for name in ("setgroups", "setresgid", "setresuid"):
        monkeypatch.setattr(identity.os, name, lambda *given, name=name: done.append((name, *given)))
    assert identity.take(77, [5])
    assert done == [("setgroups", [5]), ("setresgid", 77, 77, 77), ("setresuid", 77, 77, 77)], "the user comes last"

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(identity.os, "setresuid", refuse)
    assert not identity.take(77, [])
