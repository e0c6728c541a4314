"""Reading code objects: bundles, and bytes that are none."""

from __future__ import annotations

import struct

import pytest
from kengine_hip.code_object import CodeObjectError, read_kernels, unbundle
from kengine_hip.demangle import demangle

pytest.importorskip("msgpack")
pytest.importorskip("elftools")


def bundle(*parts: tuple[bytes, bytes]) -> bytes:
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(parts))
    size = len(head) + sum(24 + len(name) for name, _ in parts)
    table, body = b"", b""
    for name, data in parts:
        table += struct.pack("<QQQ", size + len(body), len(data), len(name)) + name
        body += data
    return head + table + body


def test_the_device_part_of_a_bundle(build) -> None:
    data = build("__global__ void k(float* y) { y[threadIdx.x] = 1; }").data
    made = bundle((b"host-x86_64-unknown-linux--", b""), (b"hipv4-amdgcn-amd-amdhsa--gfx942", data))
    assert unbundle(made) == data
    assert [kernel.name for kernel in read_kernels(made)] == ["_Z1kPf"]


@pytest.mark.parametrize(
    "data", [b"", b"MZ\x90", b"\x7fELF", b"\x7fELF" + bytes(80), bundle((b"host", b"")), bundle()],
    ids=["empty", "other", "cut", "zeros", "host only", "no part"],
)  # fmt: skip
def test_what_is_no_code_object(data) -> None:
    with pytest.raises(CodeObjectError):
        read_kernels(data)


def test_names_as_they_are_written() -> None:
    assert demangle("add") == "add"
    assert demangle("_Z5scaleIfEvPKT_PS0_i") == "scale<float>"
    assert demangle("_Z4fillIfLi4EEvPT_") == "fill<float, 4>"
    assert demangle("_ZN2ns1kEPf") == "ns::k"
