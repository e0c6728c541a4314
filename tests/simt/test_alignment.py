# ruff: noqa: E501  (LLVM's text)
"""Checks of alignment in LLVM's text: with typed pointers and without, and under every clang of this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kengine.simt.alignment import add_checks

TYPED = """define dso_local void @k(%struct.float4* noundef %0, <4 x float>* noundef %1) #0 {
  %3 = alloca %struct.float4, align 16
  %4 = load %struct.float4*, %struct.float4** %9, align 8
  %5 = bitcast %struct.float4* %3 to i8*
  %6 = bitcast %struct.float4* %4 to i8*
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 16 %5, i8* align 16 %6, i64 16, i1 false), !dbg !7
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 16 bitcast (%struct.float4* @g to i8*), i8* align 16 %6, i64 16, i1 false)
  %7 = load <4 x float>, <4 x float>* %1, align 16, !dbg !8
  store <4 x float> <float 0.0, float 1.0, float 2.0, float 3.0>, <4 x float>* %1, align 16
  store i32 1, i32* %8, align 4
}
define void @host(i8* %0) #1 {
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 16 %5, i8* align 16 %0, i64 16, i1 false)
}
attributes #0 = { nounwind sanitize_thread uwtable }
attributes #1 = { nounwind uwtable }"""
OPAQUE = """define dso_local void @k(ptr noundef %0, ptr noundef %1) #0 {
  %3 = alloca %struct.float4, align 16
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %3, ptr align 16 %4, i64 16, i1 false), !dbg !7
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 getelementptr inbounds ([4 x %T], ptr @g, i64 0, i64 1), ptr align 8 %4, i64 16, i1 false)
  %7 = load <4 x float>, ptr %1, align 16, !dbg !8
  store <2 x double> %x, ptr %1, align 16
}
attributes #0 = { sanitize_thread }"""


def added(text: str) -> list[str]:
    before = text.split("\n")
    return [line.strip() for line in add_checks(text).split("\n") if line and line not in before]


def test_typed_pointers() -> None:
    assert added(TYPED) == [
        "call void @simt_note_alignment(i8* %6, i64 16, i64 0), !dbg !7",
        "call void @simt_note_alignment(i8* %6, i64 16, i64 0)",
        "%simt.0 = bitcast <4 x float>* %1 to i8*, !dbg !8",
        "call void @simt_note_alignment(i8* %simt.0, i64 16, i64 0), !dbg !8",
        "%simt.1 = bitcast <4 x float>* %1 to i8*",
        "call void @simt_note_alignment(i8* %simt.1, i64 16, i64 1)",
        "declare void @simt_note_alignment(i8*, i64, i64)",
    ]


def test_opaque_pointers() -> None:
    assert added(OPAQUE) == [
        "call void @simt_note_alignment(ptr %4, i64 16, i64 0), !dbg !7",
        "call void @simt_note_alignment(ptr %4, i64 8, i64 0)",
        "call void @simt_note_alignment(ptr %1, i64 16, i64 0), !dbg !8",
        "call void @simt_note_alignment(ptr %1, i64 16, i64 1)",
        "declare void @simt_note_alignment(ptr, i64, i64)",
    ]


def test_text_without_anything_to_check_stays_as_it_is() -> None:
    text = TYPED.replace("sanitize_thread ", "")
    assert add_checks(text) == text


RUN = """
import sys
from pathlib import Path
import numpy as np
from kengine.simt import KernelFault, build
from kengine.simt.toolchain import find_compiler

assert find_compiler().is_clang
source = '''__global__ void k(float4* y, const float4* x, double2* d, int n) {
  __shared__ float4 s[8];
  int i = threadIdx.x;
  s[i] = x[i];
  __syncthreads();
  y[i] = s[i ^ 1];
  d[i] = make_double2(s[i].x, 1.0);
}'''
program = build(source, check=True, cache=Path(sys.argv[1]))
x, y, d = np.arange(36, dtype=np.float32), np.zeros(32, np.float32), np.zeros(16)
program.launch("k", 1, 8, (y, x, d, 8))
assert (y.reshape(8, 4) == x[:32].reshape(8, 4)[np.arange(8) ^ 1]).all() and (d[::2] == x[:32:4]).all()
try:
    program.launch("k", 1, 8, (y, x[1:33], d, 8))
except KernelFault as error:
    print(error.fault.kind.value, error.fault.line)
"""


@pytest.mark.parametrize("name", ["clang++", *(f"clang++-{version}" for version in range(11, 23))])
def test_a_misaligned_copy_is_found(name: str, tmp_path: Path) -> None:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"no {name} here")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path)], capture_output=True, text=True, timeout=300, check=False,
        env={"KENGINE_SIMT_CXX": path, "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("misaligned 4\n", "")
