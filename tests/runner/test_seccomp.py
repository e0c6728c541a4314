"""The system call filter, run by a small interpreter of its instructions, also for the machine that this is not."""

from __future__ import annotations

import struct

import pytest
from kengine.runner.sandbox import seccomp

ALLOW, EPERM, EACCES, ENOSYS, KILL = 0x7FFF0000, 0x50001, 0x5000D, 0x50026, 0x80000000
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def run(code: bytes, number: int, arg0: int = 0, arch: int = 0) -> int:
    data = struct.pack("=IIQQ", number, arch, 0, arg0 & (1 << 64) - 1)
    accumulator, at = 0, 0
    while True:
        op, true, false, value = struct.unpack_from("=HBBI", code, at * 8)
        at += 1
        if op == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif op == 0x06:
            return value
        else:
            held = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[op]
            at += true if held else false


@pytest.mark.parametrize(
    ("machine", "number", "arg0", "result"),
    [
        ("x86_64", 0, 0, ALLOW), ("x86_64", 59, 0, ALLOW), ("x86_64", 101, 0, EPERM), ("x86_64", 134, 0, EPERM),
        ("x86_64", 56, 17, ALLOW), ("x86_64", 56, 0x003D0F00, ALLOW), ("x86_64", 56, 0x10000000 | 17, EPERM),
        ("x86_64", 435, 0, ENOSYS), ("x86_64", 41, 1, ALLOW), ("x86_64", 41, 16, ALLOW), ("x86_64", 41, 2, EACCES),
        ("x86_64", 41, 10, EACCES), ("x86_64", 41, 17, EACCES), ("x86_64", 0x40000000, 0, ENOSYS),
        ("x86_64", 62, 1, ALLOW), ("x86_64", 425, 0, EPERM), ("x86_64", 272, 0, EPERM),
        ("aarch64", 63, 0, ALLOW), ("aarch64", 117, 0, EPERM), ("aarch64", 220, 17, ALLOW),
        ("aarch64", 220, 0x10000000, EPERM), ("aarch64", 435, 0, ENOSYS), ("aarch64", 198, 1, ALLOW),
        ("aarch64", 198, 2, EACCES), ("aarch64", 97, 0, EPERM), ("aarch64", 101, 0, ALLOW),
    ],
)  # fmt: skip
def test_what_is_allowed(machine, number, arg0, result):
    assert run(seccomp.program(machine=machine), number, arg0, ARCH[machine]) == result


@pytest.mark.parametrize("machine", ARCH)
def test_another_architecture_is_killed(machine):
    assert run(seccomp.program(machine=machine), 0, 0, 0x40000003) == KILL


def test_signals_and_sockets_can_be_closed_too():
    code = seccomp.program(unix_sockets=False, kill_only=77, machine="x86_64")
    assert run(code, 62, 77, ARCH["x86_64"]) == ALLOW
    assert run(code, 62, 78, ARCH["x86_64"]) == EPERM
    assert run(code, 62, -1, ARCH["x86_64"]) == EPERM
    assert run(code, 41, 1, ARCH["x86_64"]) == EACCES
    assert run(code, 101, 0, ARCH["x86_64"]) == EPERM


def test_an_unknown_machine_has_no_filter():
    assert seccomp.program(machine="riscv64") == b""
    assert seccomp.install(b"") is False
