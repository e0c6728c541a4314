"""Landlock alone: what it refuses to a process that may do everything else, user 0 included."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import kengine
import pytest
from kengine.runner.sandbox import landlock

pytestmark = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")

SCRIPT = """
import json, os, signal, socket, sys
sys.path.insert(0, {core!r})
from kengine.runner.sandbox import landlock, syscalls

read, write, other, port = {read!r}, {write!r}, {other!r}, {port}
syscalls.prctl(syscalls.SET_NO_NEW_PRIVS, 1)
reads = ["/usr", "/lib", "/lib64", "/proc", *(read + name for name in ("/folder", "/file", "/none"))]
named = landlock.restrict(reads, [write])

def connect(family, address):
    with socket.socket(family) as sock:
        sock.settimeout(5)
        sock.connect(address)

acts = {{
    "read a file": lambda: open(read + "/file").read(),
    "read in a folder": lambda: open(read + "/folder/f").read(),
    "list a folder": lambda: os.listdir(read + "/folder"),
    "write where it may": lambda: open(write + "/new", "w").close(),
    "move where it may": lambda: (os.mkdir(write + "/d"), os.rename(write + "/new", write + "/d/new")),
    "read another": lambda: open(other).read(),
    "read a neighbour": lambda: open(read + "/closed").read(),
    "write a file": lambda: open(read + "/file", "r+").close(),
    "write in a folder": lambda: open(read + "/folder/g", "w").close(),
    "cut a file": lambda: os.truncate(read + "/folder/f", 0),
    "remove a file": lambda: os.unlink(read + "/folder/f"),
    "connect by TCP": lambda: connect(socket.AF_INET, ("127.0.0.1", port)),
    "bind by TCP": lambda: socket.socket().bind(("127.0.0.1", 0)),
    "connect to an abstract socket": lambda: connect(socket.AF_UNIX, "\\0kengine-landlock-{port}"),
    "send a signal": lambda: os.kill(os.getppid(), 0),
    "send a signal to itself": lambda: os.kill(os.getpid(), 0),
}}
found = {{}}
for name, act in acts.items():
    try:
        act()
        found[name] = ""
    except OSError as error:
        found[name] = type(error).__name__
print(json.dumps([list(named), found]))
"""
ALLOWED = {
    "read a file", "read in a folder", "list a folder", "write where it may", "move where it may",
    "send a signal to itself",
}  # fmt: skip
SINCE = {  # by version of the interface; the others are refused by the first
    "cut a file": 3, "connect by TCP": 4, "bind by TCP": 4, "connect to an abstract socket": 6, "send a signal": 6,
}  # fmt: skip


def test_what_is_refused_and_what_is_not(tmp_path):
    import socket

    read, write, other = tmp_path / "read", tmp_path / "write", tmp_path / "other"
    (read / "folder").mkdir(parents=True)
    write.mkdir()
    for path in (read / "file", read / "folder" / "f", read / "closed", other):
        path.write_text("text")
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        port = tcp.getsockname()[1]
        abstract.bind(f"\0kengine-landlock-{port}")
        abstract.listen()
        core = str(Path(kengine.__file__).parents[1])
        text = SCRIPT.format(core=core, read=str(read), write=str(write), other=str(other), port=port)
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60)
    named, found = json.loads(done.stdout)
    abi = landlock.version()
    wanted = ["landlock", *(["landlock_tcp"] if abi >= 4 else []), *(["landlock_signal"] if abi >= 6 else [])]
    assert named == wanted, "a file among the paths, and one that is not there, are no reason to give it up"
    if abi < 2:
        del found["move where it may"]
    refused = {name for name in found if name not in ALLOWED and SINCE.get(name, 1) <= abi}
    assert {name for name, error in found.items() if error} == refused
    assert (read / "folder" / "f").read_text() == "text"
