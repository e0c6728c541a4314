"""What a candidate can see and reach: not a task file, not another process, no network, nothing to write outside."""

from __future__ import annotations

import os
import subprocess
import textwrap

import pytest
from kengine.runner.sandbox import landlock

NAMESPACES = (
    "pid_namespace", "mount_namespace", "network_namespace", "ipc_namespace", "uts_namespace", "user_namespace",
)  # fmt: skip
# Each line: with what the sandbox is left, and by which measures it must hold then.
MODES = {
    "full": (),
    "landlock_only": NAMESPACES,
    "root_only": ("landlock",),
    "seccomp_only": (*NAMESPACES, "landlock"),
    "no_root": ("private_root",),
}


@pytest.fixture(scope="module", params=MODES)
def mode(request, warm):
    if request.param == "landlock_only" and not landlock.version():
        pytest.skip("this kernel has no Landlock")
    before = warm.without
    warm.without = MODES[request.param]
    yield request.param
    warm.without = before


@pytest.fixture
def attempt(runners, mode):
    """Runs statements in a candidate and returns the name of the exception that they end in, "" for none."""

    def run(statements: str) -> str:
        body = textwrap.indent(textwrap.dedent(statements), "        ")
        text = (
            "import ctypes, os, socket, subprocess, sys\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "def check(result):\n"
            "    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))\n"
            f"def candidate(x):\n    try:\n{body}\n    except BaseException as e:\n        return type(e).__name__\n"
            "    return ''\n"
        )
        reply = runners().run(text)
        assert reply["ok"], reply
        return reply["outputs"][0]["v"]

    return run


FILES = ("full", "landlock_only", "root_only", "no_root")
REFUSED = {"PermissionError", "FileNotFoundError", "OSError", "ProcessLookupError", "NotADirectoryError"}


def test_a_task_file_cannot_be_read(attempt, mode, tmp_path):
    if mode not in FILES:
        pytest.skip("no measure for files left")
    secret = tmp_path / "task.py"
    secret.write_text("def reference(x): return x\n")
    secret.chmod(0o644)
    assert attempt(f"open({str(secret)!r}).read()") in REFUSED
    assert attempt(f"os.listdir({str(tmp_path)!r})") in REFUSED | {""}
    assert attempt(f"assert 'task.py' not in os.listdir({str(tmp_path)!r})") in REFUSED | {""}
    repository = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    listed = f"assert set(os.listdir({os.path.join(repository, 'tests')!r})) <= {{'runner'}}"
    assert attempt(listed) in REFUSED | {""}  # at most the way to the package that is loaded from there
    assert attempt("os.listdir('/home')") in REFUSED
    assert attempt("os.listdir('/var')") in REFUSED
    assert attempt(f"open({__file__!r}).read()") in REFUSED
    assert attempt("subprocess.run(['cat', '/proc/1/environ'], check=True)") in {"CalledProcessError", *REFUSED}


def test_another_runners_folder_cannot_be_seen(attempt, mode, runners, tmp_path):
    if mode not in FILES:
        pytest.skip("no measure for files left")
    other = runners()
    assert other.run("def candidate(x):\n    open('mine', 'w').write('secret')\n    return x\n")["ok"]
    assert attempt(f"open({str(other.workdir / 'mine')!r}).read()") in REFUSED


@pytest.mark.parametrize(
    "place", ["/x", "/etc/x", "/usr/x", "/dev/x", "{torch}/x", "{kengine}/x", "{python}/x", "/sys/x"]
)
def test_nothing_can_be_written_outside(attempt, mode, place):
    if mode not in FILES:
        pytest.skip("no measure for files left")
    import kengine
    import torch

    folders = {
        "torch": os.path.dirname(torch.__file__),
        "kengine": os.path.dirname(kengine.__file__),
        "python": os.path.dirname(os.__file__),
    }
    path = place.format(**folders)
    assert attempt(f"open({path!r}, 'w').write('x')") in REFUSED
    assert not os.path.exists(path)


def test_the_private_folder_is_a_whole_file_system(attempt):
    statements = """
        os.makedirs('a/b'); os.makedirs('c')
        open('a/b/f', 'w').write('x'); os.rename('a/b/f', 'c/g'); os.symlink('c/g', 'l'); assert open('l').read() == 'x'
        os.link('c/g', 'c/h'); os.unlink('c/h'); os.truncate('c/g', 0); os.mkfifo('p')
        open(os.environ['TMPDIR'] + '/t', 'w').close()
    """
    assert attempt(statements) == ""


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_PACKET", "AF_VSOCK"])
def test_no_network(attempt, family):
    kind = "SOCK_RAW" if family == "AF_PACKET" else "SOCK_STREAM"
    assert attempt(f"socket.socket(socket.{family}, socket.{kind})") == "PermissionError"


def test_socket_pairs_work(attempt):
    assert attempt("a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'") == ""


def test_abstract_sockets_of_others_cannot_be_reached(attempt, mode):
    if mode == "root_only":
        pytest.skip("the network namespace holds here; tried with the others")
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0kengine-test-abstract")
        server.listen()
        found = attempt("s = socket.socket(socket.AF_UNIX); s.connect('\\0kengine-test-abstract')")
    assert found in {"PermissionError", "ConnectionRefusedError"}


@pytest.mark.parametrize(
    "call",
    [
        "check(libc.ptrace(16, {pid}, 0, 0))",
        "check(libc.ptrace(0, 0, 0, 0))",
        "check(libc.unshare(0x10000000))",
        "check(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))",
        "check(libc.syscall(323, 0))",  # userfaultfd
        "check(libc.syscall(321, 0, 0, 0))",  # bpf
        "check(libc.syscall(298, 0, 0, 0, 0, 0))",  # perf_event_open
        "check(libc.syscall(425, 8, 0))",  # io_uring_setup
        "check(libc.syscall(250, 0, 0))",  # keyctl
        "check(libc.syscall(310, {pid}, 0, 0, 0, 0, 0))",  # process_vm_readv
        "check(libc.syscall(438, 3, 3, 0))",  # pidfd_getfd
        "check(libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0))",  # clone into a user namespace
        "check(libc.syscall(435, 0, 0))",  # clone3
        "check(libc.setns(3, 0))",
        "check(libc.chroot(b'/tmp'))",
        "os.setuid(0)",
        "os.chown('.', 0, 0)",
    ],
)
def test_refused_system_calls(attempt, call, mode):
    if mode == "seccomp_only" and call.startswith("os."):
        pytest.skip("user 0 stays where its interpreter lies in a closed folder and nothing limits reading")
    if os.uname().machine != "x86_64":
        pytest.skip("numbers of x86_64")
    assert attempt(call.format(pid=os.getpid())) in {"PermissionError", "OSError"}


def test_the_parents_memory_and_descriptors_are_closed_to_it(attempt, warm):
    for pid in ("1", "os.getppid()", str(warm.process.pid), str(os.getpid())):
        for name in ("mem", "environ", "fd/0"):
            found = attempt(f"open('/proc/%s/{name}' % {pid}, 'rb').read(10)")
            assert found in REFUSED, (pid, name, found)


def test_signals_do_not_reach_the_outside(attempt, warm):
    victim = subprocess.Popen(["sleep", "60"])
    try:
        for pid in (victim.pid, warm.process.pid, os.getpid()):
            assert attempt(f"os.kill({pid}, 9)") in {"PermissionError", "ProcessLookupError"}
        assert victim.poll() is None
        assert attempt("os.kill(os.getppid(), 9)") in {"PermissionError", "ProcessLookupError", ""}
    finally:
        victim.kill()
        victim.wait()


def test_no_other_process_is_listed(attempt, mode):
    if mode not in ("full", "root_only"):
        pytest.skip("needs a process namespace")
    assert attempt("assert [n for n in os.listdir('/proc') if n.isdigit()] == ['1', str(os.getpid())]") == ""


def test_descriptors_are_the_three_and_the_channel(attempt):
    # Beside the channel: the lent memory (twice while it is asked for), and the listing itself.
    statements = "n = sorted(map(int, os.listdir('/proc/self/fd'))); assert n[:3] == [0, 1, 2] and len(n) <= 7"
    assert attempt(statements) == ""


def test_lazy_imports_and_programs_work_behind_every_wall(runners, mode):
    text = (
        "import subprocess, sys, torch._dynamo, xml.dom.minidom\n"
        "def candidate(x):\n"
        "    return subprocess.run([sys.executable, '-c', 'import numpy'], check=True).returncode\n"
    )
    reply = runners().run(text)
    assert reply["ok"], reply
    assert reply["outputs"] == [{"k": "value", "v": 0}]


def test_what_is_in_force_is_named(runners, mode):
    named = set(runners().ready["sandbox"])
    assert "rlimits" in named
    assert not named & set(MODES[mode])
    if mode == "landlock_only" and os.geteuid() == 0:
        assert "uid" in named
    if mode == "full" and os.geteuid() == 0:
        assert {"seccomp", "no_new_privs", "capabilities", "uid"} <= named
