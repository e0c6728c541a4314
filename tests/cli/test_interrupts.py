"""Ctrl-C and SIGTERM end a command wherever they come, with their own exit codes; none gets lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

INSIDE = """
import os, signal, sys, time, weakref
from kengine.cli import interrupts

class Thing:
    pass

def send(*_):
    os.kill(os.getpid(), signal.{name})
    for _ in range(1000):
        pass

def in_a_callback():
    thing = Thing()
    reference = weakref.ref(thing, send)
    del thing
    time.sleep(30)
    return 1

def in_a_finalizer():
    Thing.__del__ = send
    Thing()
    time.sleep(30)
    return 1

def swallowed():
    try:
        send()
    except BaseException:
        return 1

def in_a_text():
    exec("send()")
    return 1

def turned_into_another():
    try:
        send()
    finally:
        raise OSError("closing failed")

def meant():
    try:
        send()
    except BaseException:
        interrupts.settle()
    return 0

interrupts.install()
try:
    code = interrupts.conclude({place})
except OSError as error:
    code = 9
sys.exit(code)
"""
SIGNALS = pytest.mark.parametrize(
    ("name", "code", "word"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")]
)


def run(clean_environment, text, before=signal.SIG_DFL, **options):
    """Exit code and stderr of a program. before: how SIGINT is handled when it starts; in the background of a shell,
    where these tests may run, it is ignored."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env=clean_environment(), timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, before), **options,
    )  # fmt: skip
    assert time.monotonic() - begun < 25, "it went on as if nothing had been"
    return done.returncode, done.stderr


@SIGNALS
@pytest.mark.parametrize("place", ["in_a_callback", "in_a_finalizer", "swallowed", "in_a_text"])
def test_no_signal_is_lost_wherever_it_is_raised(clean_environment, name, code, word, place) -> None:
    found = run(clean_environment, INSIDE.format(name=name, place=place))
    assert found == (code, f"kengine: {word}\n")


def test_a_signal_that_ends_the_command_as_it_should_is_no_interruption(clean_environment) -> None:
    assert run(clean_environment, INSIDE.format(name="SIGINT", place="meant")) == (0, "")


def test_what_else_goes_wrong_is_not_hidden(clean_environment) -> None:
    assert run(clean_environment, INSIDE.format(name="SIGINT", place="turned_into_another"))[0] == 9


def test_what_others_drop_is_told_as_before(clean_environment) -> None:
    text = (
        "import sys\nfrom kengine.cli import interrupts\n"
        "class Thing:\n    def __del__(self):\n        raise ValueError('dropped')\n"
        "def work():\n    Thing()\n    return 3\n"
        "interrupts.install()\nsys.exit(interrupts.conclude(work))\n"
    )
    code, err = run(clean_environment, text)
    assert code == 3 and "ValueError: dropped" in err


def test_an_interrupt_stays_ignored_where_the_caller_ignores_it(clean_environment) -> None:
    text = (
        "import os, signal, sys\nfrom kengine.cli import interrupts\ninterrupts.install()\n"
        "def work():\n    os.kill(os.getpid(), signal.SIGINT)\n    return 3\n"
        "sys.exit(interrupts.conclude(work))\n"
    )
    assert run(clean_environment, text, before=signal.SIG_IGN) == (3, "")
    assert run(clean_environment, text) == (130, "kengine: interrupted\n")


def test_after_the_work_is_done_a_signal_ends_the_process_at_once(clean_environment) -> None:
    text = (
        "import os, signal, time\nfrom kengine.cli import interrupts\ninterrupts.install()\n"
        "assert interrupts.conclude(lambda: 0) == 0\nos.kill(os.getpid(), signal.{})\ntime.sleep(30)\n"
    )
    assert run(clean_environment, text.format("SIGINT")) == (-signal.SIGINT, "")
    assert run(clean_environment, text.format("SIGTERM")) == (-signal.SIGTERM, "")


AT = """
import os, signal, sys
from kengine.cli import main

class Sender:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.{name})
        return None

sys.meta_path.insert(0, Sender())
sys.argv = ["kengine", "verify", "--backend", "toy", "--json", "add.py", "subtract.py"]
main()
"""


@SIGNALS
@pytest.mark.parametrize(
    "module", ["click", "kengine.cli.verify", "kengine.model", "kengine.tasks", "kengine.engine.crew", "kengine.lint"]
)
def test_while_something_is_imported(add, subtract, clean_environment, tmp_path, module, name, code, word) -> None:
    text = AT.format(module=module, name=name)
    found, err = run(clean_environment, text, cwd=tmp_path)
    assert (found, err.strip()) == (code, f"kengine: {word}")
