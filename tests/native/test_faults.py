"""Faults that come of a compiler: what it refused, and what it crashed over."""

from __future__ import annotations

import pytest
from kengine.native import faults
from kengine.native.lines import locate

SOURCE = "#error \"nvcc error   : 'ptxas' died due to signal 11\"\n__global__ void f() {}\n"
CRASHES = {
    "nvcc error   : 'ptxas' died due to signal 11 (Invalid memory reference)\n": "ptxas",
    "nvcc error   : 'cicc' died due to signal 6\nnvcc error   : 'cicc' core dumped\n": "cicc",
    "g++: internal compiler error: Segmentation fault signal terminated program cc1plus\n": "g++",
    "clang++-17: error: clang frontend command failed with exit code 139 (use -v to see invocation)\n": "clang++-17",
    "/usr/bin/clang-18: error: clang frontend command failed due to signal (use -v to see invocation)\n":
        "/usr/bin/clang-18",
    "k.h:3:7: internal compiler error: Segmentation fault\nPlease submit a full report\n": "internal compiler error",
    "/opt/cc1plus ended by signal 11 (Segmentation fault) and said nothing\n": "/opt/cc1plus",
}  # fmt: skip
DIED = "nvcc error   : 'ptxas' died due to signal 11\n"
REFUSALS = [
    f"k.cu(1): error: #error {DIED}",
    f"k.cu:1:2: error: {DIED}    1 | #error {DIED}",
    f"k.cu:1:9: warning: a message of two lines\n{DIED}ptxas error   : Entry function 'f' uses too much shared data\n",
    f"k.cu:1:9: warning: a message of two lines\n{DIED}k.o: undefined reference to 'g'\n",
    "clang++: error: linker command failed with exit code 1 (use -v to see invocation)\n",
    "ptxas error   : Entry function 'f' uses too much shared data\n",
]


def fault(log: str):
    lines = locate(SOURCE, SOURCE)
    return faults.compile_fault("k.cu:1: it went wrong", 1, log, "k.cu", lines, "mine.cu")


@pytest.mark.parametrize(("log", "name"), CRASHES.items())
def test_a_crash_is_the_compilers(log: str, name: str) -> None:
    found = fault(f"a warning of before\n{log}")
    assert (found.status, found.message) == ("unsupported", f"the compiler itself crashed over this source: {name}")
    assert log.strip()[:30] in found.log


@pytest.mark.parametrize("log", REFUSALS)
def test_a_refusal_is_the_candidates(log: str) -> None:
    found = fault(log)
    assert (found.status, found.message) == ("compile_failed", "it went wrong (line 1)")
