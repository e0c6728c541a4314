"""Candidates that do harm: each ends as it should within its time, and nothing of it is left."""

from __future__ import annotations

import os
import signal
import time

import pytest
from kengine import wire
from kengine.config import Limits

SMALL = Limits(memory_bytes=1 << 30, cpu_s=3, disk_bytes=16 << 20, file_bytes=8 << 20, processes=40)
HONEST = "def candidate(x):\n    return x + 1\n"
NAMESPACES = (
    "pid_namespace", "mount_namespace", "network_namespace", "ipc_namespace", "uts_namespace", "user_namespace",
)  # fmt: skip
NOTHING = (*NAMESPACES, "no_new_privs", "landlock", "uid", "capabilities", "seccomp")
MODES = {"full": (), "no_root": ("private_root",), "container": NAMESPACES, "nothing": NOTHING}


@pytest.fixture(scope="module", params=MODES)
def mode(request, warm):
    """The same zygote, with what a weaker machine could not have left out of each fork."""
    before = warm.without
    warm.without = MODES[request.param]
    yield request.param
    warm.without = before


@pytest.fixture
def hostile(mode, runners, lend):
    """Runs one candidate with small limits; afterwards an honest one must be judged as ever."""

    def run(text: str, timeout_s: float = 10, limits: Limits = SMALL):
        runner = runners(limits)
        try:
            return runner, runner.run(text, timeout_s=timeout_s)
        except wire.WireError as error:
            return runner, error

    yield run
    lent = lend([pytest.importorskip("kengine.model").TensorSpec("float32", (2,))], [])
    assert runners(SMALL).run(HONEST, lent)["ok"]


def test_hang(hostile):
    runner, reply = hostile("def candidate(x):\n    while True: pass\n", timeout_s=1)
    assert isinstance(reply, wire.WireTimeout)
    begun = time.monotonic()
    assert runner.kill() == {"ok": True, "status": signal.SIGKILL}
    assert time.monotonic() - begun < 2


def test_hang_that_ignores_signals_and_sleeps(hostile):
    text = (
        "import signal, time\n"
        "for n in range(1, 65):\n"
        "    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "def candidate(x):\n    while True: time.sleep(1000)\n"
    )
    runner, reply = hostile(text, timeout_s=1)
    assert isinstance(reply, wire.WireTimeout)
    assert runner.kill()["status"] == signal.SIGKILL


def test_processor_time_is_bounded(hostile):
    runner, reply = hostile("def candidate(x):\n    while True: pass\n", timeout_s=15, limits=Limits(cpu_s=1))
    assert isinstance(reply, wire.WireClosed)
    answer = runner.reap()
    assert answer["status"] & 0x7F == signal.SIGXCPU
    assert answer["reason"] == "limit of processor time"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGBUS, signal.SIGTERM])
def test_death_by_signal_is_reported_exactly(hostile, number):
    runner, reply = hostile(f"import os\ndef candidate(x):\n    os.kill(os.getpid(), {int(number)})\n")
    assert isinstance(reply, wire.WireClosed)
    answer = runner.reap()
    assert answer["exited"]
    assert answer["status"] & 0x7F == number
    assert runner.kill() == {"ok": True, "status": answer["status"]}


def test_segfault_by_a_null_pointer(hostile):
    runner, reply = hostile("import ctypes\ndef candidate(x):\n    ctypes.string_at(0)\n")
    assert isinstance(reply, wire.WireClosed)
    assert runner.reap()["status"] & 0x7F == signal.SIGSEGV
    runner.kill()
    assert b"line 3 in candidate" in runner.printed


@pytest.mark.parametrize("code", [0, 1, 255])
def test_exit_code_is_reported_exactly(hostile, code):
    runner, reply = hostile(f"import os\ndef candidate(x):\n    os._exit({code})\n")
    assert isinstance(reply, wire.WireClosed)
    assert runner.reap() == {"ok": True, "exited": True, "status": code << 8, "reason": ""}


@pytest.mark.parametrize("where", ["import", "call"])
def test_system_exit_is_a_failed_launch(hostile, where):
    text = "raise SystemExit(0)\n" if where == "import" else "def candidate(x):\n    raise SystemExit(0)\n"
    _, reply = hostile(text)
    assert reply["fault"]["status"] == "launch_failed"


def test_fork_bomb(hostile, mode):
    if mode == "nothing":
        pytest.skip("root without a user of its own: nothing on this machine would stop it")
    text = "import os\ndef candidate(x):\n    while True:\n        os.fork()\n"
    runner, reply = hostile(text, timeout_s=5)
    # Every process of the bomb is refused its next fork, and answers on the channel that it shares with the others.
    if isinstance(reply, dict):
        assert reply["fault"]["status"] == "launch_failed"
        assert "BlockingIOError" in reply["fault"]["message"]
        assert "limit processes: 40" in reply["fault"]["message"]
    assert runner.kill()["ok"]


def test_thread_bomb(hostile, mode):
    if mode == "nothing":
        pytest.skip("root without a user of its own: nothing on this machine would stop it")
    text = (
        "import threading, time\n"
        "def candidate(x):\n"
        "    while True:\n"
        "        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n"
    )
    _, reply = hostile(text)
    assert reply["fault"]["status"] == "launch_failed"
    assert "limit processes: 40" in reply["fault"]["message"]


@pytest.mark.parametrize("how", ["[bytearray(1 << 27) for _ in range(10**6)]", "torch.ones(1 << 40)",
                                 "[torch.ones(1 << 26) for _ in range(10**6)]"])  # fmt: skip
def test_allocation_bomb(hostile, how):
    _, reply = hostile(f"import torch\ndef candidate(x):\n    return {how}\n")
    assert reply["fault"]["status"] == "crashed"
    assert "ran out of memory (limit memory_bytes: 1024 MiB)" in reply["fault"]["message"]


def test_allocation_bomb_of_many_processes(hostile, mode):
    text = (
        "import os, time\n"
        "def candidate(x):\n"
        "    for _ in range(6):\n"
        "        if os.fork() == 0:\n"
        "            held = bytearray(b'x' * (300 << 20)); time.sleep(100)\n"
        "    time.sleep(100)\n"
    )
    if mode == "no_root":
        pytest.skip("needs a view of the family's own numbers")
    runner, reply = hostile(text, timeout_s=20)
    assert isinstance(reply, wire.WireClosed)
    answer = runner.reap()
    assert answer["status"] == signal.SIGKILL
    assert answer["reason"] == "limit of memory for all its processes together"


def test_one_file_is_bounded(hostile):
    text = (
        "def candidate(x):\n    f = open('big', 'wb')\n    for _ in range(64): f.write(b'x' * (1 << 20)); f.flush()\n"
    )
    _, reply = hostile(text)
    assert reply["fault"]["status"] == "launch_failed"
    assert "limit file_bytes: 8 MiB" in reply["fault"]["message"]


@pytest.mark.parametrize("place", [".", "/tmp", "/dev/shm"])
def test_all_files_together_are_bounded(hostile, mode, place):
    if mode != "full":
        pytest.skip("a quota needs a mount of its own")
    text = f"def candidate(x):\n    for n in range(64): open('{place}/%d' % n, 'wb').write(b'x' * (1 << 20))\n"
    _, reply = hostile(text)
    assert reply["fault"]["status"] == "launch_failed"
    assert "limit disk_bytes: 16 MiB" in reply["fault"]["message"]


@pytest.mark.parametrize("count", ["0, 4096", "3, 4096"])
def test_closing_all_descriptors(hostile, count):
    runner, reply = hostile(f"import os\ndef candidate(x):\n    os.closerange({count})\n    return x\n")
    assert isinstance(reply, wire.WireClosed)
    assert runner.reap()["exited"]


def test_a_hundred_megabytes_of_output(hostile):
    text = (
        "import os, sys\n"
        "def candidate(x):\n"
        "    for _ in range(50): os.write(1, b'o' * (1 << 20)); sys.stderr.write('e' * (1 << 20))\n"
        "    return x\n"
    )
    runner, reply = hostile(text, timeout_s=20)
    assert reply["ok"], reply
    runner.kill()
    assert runner.total == 100 << 20


CHANNEL = (
    "import os, socket, stat, json, struct\n"
    "def channel():\n"
    "    return next(int(n) for n in os.listdir('/proc/self/fd')\n"
    "                if int(n) > 2 and stat.S_ISSOCK(os.fstat(int(n)).st_mode))\n"
    "def say(d):\n"
    "    b = json.dumps(d).encode(); os.write(channel(), struct.pack('!I', len(b)) + b)\n"
)


@pytest.mark.parametrize("garbage", ["b'\\xff' * 64", "b'\\x00\\x00\\x00\\x02[]'", "struct.pack('!I', 5) + b'{NaN}'",
                                     "os.urandom(5000)"])  # fmt: skip
def test_garbage_on_the_channel(hostile, garbage):
    _, reply = hostile(f"{CHANNEL}def candidate(x):\n    os.write(channel(), {garbage})\n    return x\n")
    assert isinstance(reply, wire.WireError)
    assert not isinstance(reply, (wire.WireClosed, wire.WireTimeout))


def test_a_lie_on_the_channel_has_the_wrong_nonce(hostile):
    lie = "say({'n': 1, 'ok': True, 'outputs': [], 'launches': [], 'details': {}, 'elapsed_ns': 1})"
    runner, reply = hostile(f"{CHANNEL}def candidate(x):\n    {lie}\n    return x\n")
    assert reply["ok"]
    assert not runner.nonce_right


def test_a_lie_cannot_put_an_answer_into_memory_that_was_not_written(runners, lend, tools):
    text = (
        f"{CHANNEL}import sys\n"
        "def candidate(x):\n"
        "    f = sys._getframe()\n"
        "    while 'nonce' not in f.f_locals: f = f.f_back\n"
        "    say({'n': f.f_locals['nonce'], 'ok': True, 'outputs': [{'k': 'array', 'spec': {'dtype': 'float32',\n"
        "         'shape': [4], 'strides': [1]}, 'type': 'torch.Tensor', 'device': 'cpu', 'alias': '', 'sink': 0}],\n"
        "         'launches': [], 'details': {}, 'elapsed_ns': 1})\n"
        "    os._exit(0)\n"
    )
    lent = lend([tools.F4], [tools.F4])
    runner = runners()
    reply = runner.run(text, lent)
    assert reply["ok"]
    assert runner.nonce_right
    assert all(v != v for v in lent.sink(0))  # the judge's poison, which is what the lie is compared by


SLEEP = str(86_400_000 + os.getpid())  # of this run of the tests alone
BEHIND = (
    "import os, subprocess, time\n"
    "def leave():\n"
    "    if os.fork() == 0:\n"
    "        os.setsid()\n"
    "        if os.fork() == 0:\n"
    "            os.setsid()\n"
    f"            subprocess.Popen(['sleep', '{SLEEP}'], start_new_session=True)\n"
    "            time.sleep(86421)\n"
    "        os._exit(0)\n"
    "    os.wait()\n"
    "    time.sleep(0.2)\n"
)


def sleepers() -> list[str]:
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if file.read() == f"sleep\0{SLEEP}\0".encode():
                    found.append(name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("end", ["return x", "os._exit(3)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_children_left_behind_are_killed(hostile, tools, end):
    runner, reply = hostile(f"{BEHIND}def candidate(x):\n    leave()\n    {end}\n")
    if end == "return x":
        assert reply["ok"]
        assert len(sleepers()) == 1
    else:
        assert isinstance(reply, wire.WireError)
        assert runner.reap()["exited"]
    runner.kill()
    assert tools.wait_until(lambda: not sleepers())


def test_kill_everything_harms_only_itself(hostile):
    text = "import os\ndef candidate(x):\n    try: os.kill(-1, 9)\n    except PermissionError: pass\n    return x\n"
    if os.geteuid() == 0 and "nothing" in os.environ.get("PYTEST_CURRENT_TEST", ""):
        pytest.skip("root without walls: it would end the machine")
    hostile(text)


@pytest.mark.parametrize(
    "act",
    [
        "torch.Tensor.copy_ = torch.Tensor.contiguous = torch.Tensor.reshape = None",
        "torch.allclose = lambda *a, **k: True",
        "builtins.len = lambda x: 0",
        "builtins.isinstance = lambda *a: True",
        "sys.modules.clear()",
        "[sys.modules.__setitem__(n, None) for n in list(sys.modules) if 'kengine' in n]",
        "json.dumps = lambda *a, **k: 'x'",
        "socket.socket.sendall = lambda *a: None",
        "sys.stdout = sys.stderr = None",
        "gc.disable(); [setattr(o, '__code__', (lambda *a, **k: 1).__code__) for o in gc.get_objects() "
        "if type(o) is type(candidate) and 'kengine' in (o.__module__ or '')]",
        "sys.setrecursionlimit(30)",
        "sys.settrace(lambda *a: 1 / 0)",
    ],
)
def test_tampering_ends_with_the_runner(hostile, act):
    text = f"import torch, builtins, sys, json, socket, gc\ndef candidate(x):\n    {act}\n    return x + 1\n"
    hostile(text, timeout_s=2)  # what it makes of its own process is its own affair; `hostile` tries the next one
