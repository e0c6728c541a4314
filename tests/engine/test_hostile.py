"""Candidates that fight back: each ends in the right status within its deadline, and the next is judged normally."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace

import pytest
from kengine import Engine, Limits, Plan
from toy_items import GOOD, candidate, item

LIE = """
import json, os, socket, struct
for name in sorted(os.listdir('/proc/self/fd'), key=int):
    fd = int(name)
    try:
        s = socket.socket(fileno=os.dup(fd))
        body = {body}
        s.sendall(struct.pack('!I', len(body)) + body)
    except OSError:
        pass
"""


def at_import(statement):
    return candidate(top=statement)


@pytest.mark.parametrize(
    ("name", "text", "status", "words"),
    [
        ("hang", candidate("while True: pass"), "timed_out", "no answer"),
        ("hang at import", at_import("while True: pass"), "timed_out", "no answer"),
        ("sleeps", candidate("import time; time.sleep(100)"), "timed_out", "no answer"),
        ("segfault", candidate("import ctypes; ctypes.string_at(0)"), "crashed", "SIGSEGV"),
        ("exit 0", candidate("import os; os._exit(0)"), "crashed", "exit code 0"),
        ("exit at import", at_import("import os; os._exit(0)"), "crashed", "exit code 0"),
        ("SystemExit", candidate("raise SystemExit(0)"), "launch_failed", "SystemExit"),
        ("sys.exit at import", at_import("import sys; sys.exit(0)"), "launch_failed", "SystemExit"),
        ("KeyboardInterrupt", candidate("raise KeyboardInterrupt"), "launch_failed", "KeyboardInterrupt"),
        ("kills itself", candidate("import os; os.kill(os.getpid(), 9)"), "crashed", "SIGKILL"),
        ("kills its parent", candidate("import os; os.kill(os.getppid(), 9); import time; time.sleep(100)"), None, ""),
        ("kills everything", candidate("import os\nos.kill(-1, 9)\nimport time\ntime.sleep(100)"), None, ""),
        ("aborts", candidate("import os; os.abort()"), "crashed", "SIGABRT"),
        ("closes its descriptors", candidate("import os; os.closerange(0, 4096)"), None, ""),
        ("endless recursion", candidate("def f(): return f()\nf()"), "launch_failed", "Recursion"),
        ("raises", candidate("raise ValueError('odd length')"), "launch_failed", "odd length"),
        ("an exception that cannot be printed", candidate(
            "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E()"), "launch_failed", ""),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 and "\n" not in value else "",
)  # fmt: skip
def test_ends_in_the_right_status(verdict_of, name, text, status, words):
    verdict = verdict_of(text)
    assert verdict.status != "passed"
    if status is None:
        assert verdict.status in ("crashed", "timed_out", "launch_failed", "tampered"), verdict.message
    else:
        assert verdict.status == status, verdict.message
    assert words in verdict.message


def test_a_fork_bomb_is_bounded_and_swept_away(verdict_of):
    verdict = verdict_of(candidate("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"))
    assert verdict.status in ("timed_out", "crashed", "tampered"), verdict.message


def test_memory_without_end(verdict_of):
    verdict = verdict_of(candidate("hoard = []\nwhile True: hoard.append(bytearray(1 << 24))"))
    assert verdict.status in ("launch_failed", "crashed"), verdict.message
    assert "emory" in verdict.message or "SIGKILL" in verdict.message


def test_a_full_disk_is_the_candidates_own(verdict_of):
    body = "with open('filler', 'wb') as f:\n    while True: f.write(bytes(1 << 20))"
    verdict = verdict_of(candidate(body))
    assert verdict.status in ("launch_failed", "crashed"), verdict.message
    many = "n = 0\nwhile True:\n    open(f'filler{n}', 'wb').write(bytes(1 << 20))\n    n += 1"
    verdict = verdict_of(candidate(many))
    assert verdict.status in ("launch_failed", "crashed"), verdict.message


def test_a_hundred_megabytes_of_output_do_no_harm_and_are_cut(verdict_of):
    body = "import os\nos.write(1, b'begin ')\nfor _ in range(100): os.write(1, b'x' * (1 << 20))\nos.write(1, b' end')"
    verdict = verdict_of(candidate(body))
    assert verdict.status == "passed", verdict.message
    assert verdict.stages.launch is not None
    output = verdict.stages.launch.output
    assert output.startswith("begin xxx")
    assert "bytes left out" in output
    assert len(output) < 100_000


@pytest.mark.parametrize(
    "body",
    [
        "b'\\xff\\xfe garbage'",
        "b'[1, 2]'",
        'b\'{"n": 1, "ok": true}\'',
        "json.dumps({'n': 0, 'ok': True, 'outputs': [], 'launches': [], 'details': {}, 'elapsed_ns': 1}).encode()",
        "json.dumps({'ok': False, 'error': 'infra', 'message': 'machine on fire'}).encode()",
        "b'{\"n\": NaN}'",
        "b'[' * 100000",
    ],
)
def test_garbage_and_lies_on_the_channel(verdict_of, body):
    verdict = verdict_of(candidate(LIE.replace("{body}", body)))
    assert verdict.status == "tampered", verdict.message
    assert "channel" in verdict.message


def test_a_lie_with_the_right_nonce_cannot_produce_the_answer(verdict_of):
    # It finds the nonce on the stack and answers for itself: the sinks stay poisoned, and the judge reads only those.
    body = """
import json, os, socket, struct, sys
frame, nonce = sys._getframe(), None
while frame and nonce is None:
    for value in list(frame.f_locals.values()):
        if isinstance(value, dict) and isinstance(value.get('n'), int) and 'op' in value:
            nonce = value['n']
    frame = frame.f_back
tree = {'k': 'array', 'spec': {'dtype': 'float32', 'shape': [300], 'strides': [], 'offset': 0},
        'type': 'numpy.ndarray', 'device': 'cpu', 'alias': '', 'sink': 0}
reply = json.dumps({'n': nonce, 'ok': True, 'outputs': [tree], 'launches': [{'kernel': 'add', 'grid': [5], 'count': 1}],
                    'details': {}, 'elapsed_ns': 1}).encode()
for name in sorted(os.listdir('/proc/self/fd'), key=int):
    try:
        socket.socket(fileno=os.dup(int(name))).sendall(struct.pack('!I', len(reply)) + reply)
    except OSError:
        pass
os._exit(0)
"""
    verdict = verdict_of(candidate(body.strip()))
    assert verdict.status in ("wrong_result", "tampered", "crashed"), verdict.message


def test_children_left_behind_are_killed(verdict_of):
    # In the first call only: what is started while it is compiled is its own as well.
    body = """
import os, time
if not hasattr(time, "started"):
    time.started = True
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            time.sleep(1000)
        os._exit(0)
"""
    verdict = verdict_of(candidate(body.strip()))
    assert (verdict.status, verdict.stage) == ("tampered", "integrity")
    assert "processes that it started are still there" in verdict.message


@pytest.mark.parametrize(
    "body",
    [
        "import builtins; builtins.len = lambda *a: 0; builtins.isinstance = lambda *a: True; builtins.print = None",
        "import sys; [sys.modules.pop(k) for k in list(sys.modules)]",
        "import sys\nfor k in list(sys.modules):\n    if k.startswith('kengine'): sys.modules[k] = None",
        "import json; json.dumps = lambda *a, **k: '{\"ok\": true}'",
        "import numpy; numpy.array_equal = numpy.allclose = lambda *a, **k: True",
        "import time; time.perf_counter_ns = lambda: 0; time.monotonic = lambda: 0.0",
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    ],
)
def test_tampering_stays_in_its_own_process(verdict_of, body):
    wrong = candidate(body).replace("x[rows] + y[rows]", "x[rows] - y[rows]")
    assert verdict_of(wrong).status != "passed"


def test_nothing_of_the_answer_is_within_reach(verdict_of):
    body = """
import gc, os, sys
seen = []
for name in os.listdir('/proc'):
    if name.isdigit() and int(name) != os.getpid():
        try: seen.append(open(f'/proc/{name}/mem', 'rb'))
        except OSError: pass
assert not seen, 'memory of another process can be read'
words = [v for v in os.environ.values()] + sys.argv + [str(p) for p in sys.path]
assert not [w for w in words if 'task' in w.lower()], words
texts = [o for o in gc.get_objects() if isinstance(o, dict)]
assert not [1 for d in texts if 'salt' in d or 'reference' in d and 'make_inputs' in d], 'an answer lies about'
"""
    verdict = verdict_of(candidate(body.strip()))
    assert verdict.status == "passed", verdict.message


def test_files_of_the_user_cannot_be_read_or_written(verdict_of, tmp_path):
    secret = tmp_path / "task.py"
    secret.write_text("the reference")
    body = f"""
try:
    open({str(secret)!r}).read()
except OSError:
    pass
else:
    raise AssertionError('it can read the task')
try:
    open({str(tmp_path / "left")!r}, 'w')
except OSError:
    pass
else:
    raise AssertionError('it can write outside')
"""
    verdict = verdict_of(candidate(body.strip()))
    assert verdict.status == "passed", verdict.message
    assert not (tmp_path / "left").exists()


def test_no_network(verdict_of):
    server = socket.create_server(("127.0.0.1", 0))
    reached = threading.Event()

    def accept():
        try:
            server.accept()
            reached.set()
        except OSError:
            pass

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    port = server.getsockname()[1]
    body = f"""
import socket
try:
    socket.create_connection(('127.0.0.1', {port}), timeout=1)
except OSError:
    pass
else:
    raise AssertionError('it has a network')
"""
    try:
        verdict = verdict_of(candidate(body.strip()))
    finally:
        server.close()
    assert verdict.status == "passed", verdict.message
    assert not reached.is_set()


def test_an_answer_computed_without_the_kernel_is_a_sham(verdict_of):
    sham = GOOD.replace("    return out", "    return x + y")
    verdict = verdict_of(sham)
    assert verdict.status == "sham", verdict.message
    never = GOOD.replace("    add[-(-len(x) // 64)](x, y, out)\n    return out", "    return x + y")
    assert verdict_of(never).status in ("sham", "lint_rejected")
    saved = GOOD.replace(
        "    add[-(-len(x) // 64)](x, y, out)\n",
        "    try:\n        add[-(-len(x) // 64)](x, y, out)\n    except RuntimeError:\n        return x + y\n",
    )
    verdict = verdict_of(saved)
    assert verdict.status == "sham", verdict.message


def test_the_sandbox_says_what_is_in_force(verdict_of):
    verdict = verdict_of(GOOD)
    assert len(verdict.environment.sandbox) >= 3


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (candidate("while True: pass"), "while True: pass"),
        (candidate("n = 0\nwhile True:\n    print(n)"), "print(n)"),
        (candidate("import time; time.sleep(100)"), "time.sleep(100)"),
        (candidate("sum(range(10**15))"), "sum(range"),
        (at_import("import threading\nthreading.Event().wait()"), "Event().wait()"),
        (candidate("import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))\nwhile True: pass"), ""),
        (candidate("import signal\nsignal.signal(signal.SIGALRM, signal.SIG_DFL)\nwhile True: pass"), ""),
        (candidate("import os\nos.closerange(3, 4096)\nwhile True: pass"), ""),
        (candidate("import os\nfor fd in range(3, 64):\n    try: os.ftruncate(fd, 0)\n    except OSError: pass\n"
                   "while True: pass"), "while True"),
    ],
    ids=["loop", "prints", "sleeps", "within C", "at import", "blocks", "unset", "closes", "truncates"],
)  # fmt: skip
def test_where_an_endless_one_stood_is_told_as_far_as_it_lets(verdict_of, text, line):
    verdict = verdict_of(text)
    assert verdict.status == "timed_out" or ("closerange" in text and verdict.status == "crashed"), verdict.message
    if line:
        assert verdict.line and line in text.split("\n")[verdict.line - 1], (verdict.line, verdict.message)
        assert verdict.message.endswith(f"; it was at line {verdict.line}")
    else:
        assert verdict.line == 0 and "at line" not in verdict.message


def test_a_line_of_another_file_is_not_taken_for_one_of_the_main_file():
    from kengine.model import SourceFile

    made = item(candidate("import helper\nhelper.wait()"))
    both = (*made.candidate.files, SourceFile("helper.py", "def wait():\n" + "\n" * 40 + "    while True: pass\n"))
    made = replace(made, candidate=replace(made.candidate, files=both))
    plan = Plan(launch_timeout_s=2.0, compile_timeout_s=2.0, ignore=("KE",))
    with Engine(target="toy:cpu", plan=plan, workers=1) as engine:
        verdict = engine.verify(made)
    assert verdict.status == "timed_out", verdict.message
    assert "helper.wait()" in made.candidate.main.text.split("\n")[verdict.line - 1], "where it left its own file"


def test_a_candidate_that_is_slow_again_and_again_has_one_limit_for_everything():
    limits = Limits(wall_s=3.0)
    with Engine(target="toy:cpu", plan=Plan(launch_timeout_s=2.0, limits=limits, ignore=("KE",)), workers=1) as engine:
        verdict = engine.verify(item(candidate("import time\ntime.sleep(0.8)")))
    assert verdict.status == "timed_out"
    assert "the 3 s that a candidate has in all" in verdict.message
