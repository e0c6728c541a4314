"""What a refused text is told: the first error, its own line, what differs from CUDA."""

from __future__ import annotations

from kengine_hip.diagnostics import first_error


def test_the_first_error_with_its_line(fault_of) -> None:
    fault = fault_of("#include <hip/hip_runtime.h>\n\n__global__ void k(float* y) {\n  y[0] = z;\n  y[1] = w;\n}\n")
    assert (fault.status, fault.line) == ("compile_failed", 4)
    assert fault.message == "error: use of undeclared identifier 'z' (line 4)"
    assert "k.hip:5" in fault.log


def test_an_error_inside_a_header_is_reported_where_the_candidate_led_there(fault_of) -> None:
    fault = fault_of("__global__ void k(float* y) {\n  y[0] =\n      __shfl_down_sync(0xffffffff, y[0], 1);\n}\n")
    assert fault.line == 3
    assert "must have 64 bits on AMD devices" in fault.message


def test_cuda_text_hears_what_differs(fault_of) -> None:
    fault = fault_of(
        "#include <cuda_runtime.h>\n__global__ void k(float* y) {\n"
        "  y[0] = __shfl_down_sync(0xffffffff, y[0], 1);\n}\n",
        name="k.cu",
    )
    assert fault.status == "compile_failed" and fault.line == 3
    assert "this is CUDA text, compiled as HIP for gfx942; line 3: lane masks have 64 bits" in fault.message


def test_too_much_local_memory(fault_of) -> None:
    fault = fault_of("__global__ void k(float* y) { __shared__ float s[20000]; s[threadIdx.x] = 1; y[0] = s[3]; }")
    assert fault.status == "compile_failed"
    assert "local memory (80000) exceeds limit (65536)" in fault.message


def test_a_librarys_header_is_unsupported(fault_of) -> None:
    fault = fault_of(
        "#include <hip/hip_runtime.h>\n#include <hipcub/hipcub.hpp>\n__global__ void k(float* y) { y[0] = 1; }"
    )
    assert (fault.status, fault.line) == ("unsupported", 2)
    assert "'hipcub/hipcub.hpp'" in fault.message or "hipcub/hipcub.hpp" in fault.message


def test_a_missing_header_of_its_own_is_the_candidates(fault_of) -> None:
    fault = fault_of('#include "mine.h"\n__global__ void k(float* y) { y[0] = 1; }')
    assert (fault.status, fault.line) == ("compile_failed", 1)
    assert "mine.h" in fault.message


def test_hostile_texts(fault_of) -> None:
    assert fault_of("__global__ void k(float* y) {").status == "compile_failed"
    assert fault_of("\x7fELF\x01\x02 not text").status == "compile_failed"
    assert fault_of("#error no\n").message.startswith("error: no")


def test_messages_without_a_place() -> None:
    assert first_error("", "k.hip") == ("the compiler gave no message", None)
    assert first_error("error: local memory (9) exceeds limit (8) in function 'k'\n", "k.hip")[1] is None
    log = "In file included from k.hip:7:\n/x/a.h:3:1: error: broken\n"
    assert first_error(log, "k.hip") == ("error: broken", 7)
