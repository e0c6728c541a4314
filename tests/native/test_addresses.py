"""Extensions of torch whose functions are called with addresses as numbers, or are given tables of pointers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kengine.errors import CandidateFault
from kengine.model import Mode
from native_inputs import make_inputs
from watch_support import followed

torch = pytest.importorskip("torch")

CANDIDATE = '''import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <cstdint>
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void gather(const int64_t* table, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = reinterpret_cast<const float*>(table[0])[i] + reinterpret_cast<const float*>(table[1])[i];
}
void launch_add(uintptr_t left, uintptr_t right, uintptr_t out, int n) {
  add<<<(n + 63) / 64, 64>>>((const float*)left, (const float*)right, (float*)out, n);
}
torch::Tensor by_table(torch::Tensor a, torch::Tensor b) {
  std::vector<int64_t> pointers = {(int64_t)a.data_ptr<float>(), (int64_t)b.data_ptr<float>()};
  auto table = torch::tensor(pointers).to(a.device());
  auto c = torch::empty_like(a);
  gather<<<4, 64>>>(table.data_ptr<int64_t>(), c.data_ptr<float>(), c.numel());
  return c;
}
"""
CPP = """
#include <torch/extension.h>
#include <cstdint>
void launch_add(uintptr_t left, uintptr_t right, uintptr_t out, int n);
torch::Tensor by_table(torch::Tensor a, torch::Tensor b);
torch::Tensor filled(int n) { return torch::zeros({n}, torch::device(torch::kCUDA)); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("run", &launch_add);
  m.def("by_table", &by_table);
  m.def("filled", &filled);
}
"""
MODULE = load_inline("addresses", CPP, CUDA)

def candidate(a, b):
    BODY
'''
A, B = torch.rand(200), torch.rand(200)
IN_PLACE = "c = torch.empty_like(a); MODULE.run({}, b.data_ptr(), c.data_ptr(), {}); return c"


def load(session: Callable[..., Any], body: str) -> Any:
    return session(CANDIDATE.replace("BODY", body))


def test_a_function_of_addresses_is_run_and_followed(session: Any) -> None:
    inputs = make_inputs(A, B)
    loaded = load(session, IN_PLACE.format("a.data_ptr()", "a.numel()"))
    seen = followed(inputs, lambda: loaded.call(inputs, Mode.traced))
    assert torch.equal(seen.value, A + B)
    assert seen.kernels == {"add": 1} and seen.origins == [(True, True, False)] and seen.facts.foreign_bytes == 0


def test_an_address_inside_of_a_tensor_is_one_of_it(session: Any) -> None:
    found = load(session, IN_PLACE.format("a[4:].data_ptr()", "196")).call(make_inputs(A, B), Mode.normal)
    assert torch.equal(found.value[:196], A[4:] + B[:196])


def test_bounds_are_those_of_the_tensor_and_the_fault_names_the_parameter(session: Any) -> None:
    with pytest.raises(CandidateFault) as caught:
        load(session, IN_PLACE.format("a.data_ptr()", "201")).call(make_inputs(A, B), Mode.normal)
    assert caught.value.status == "launch_failed"
    assert "out-of-bounds read of 4 bytes at byte offset 800 of 'left' (800 bytes)" in caught.value.message
    assert caught.value.line == 8


@pytest.mark.parametrize("address", ["12345680", "a.data_ptr() + (1 << 41)"])
def test_an_address_that_belongs_to_nothing_is_a_fault(session: Any, address: str) -> None:
    with pytest.raises(CandidateFault, match=r"out-of-bounds read of 4 bytes at address .*, far from every buffer"):
        load(session, IN_PLACE.format(address, "200")).call(make_inputs(A, B), Mode.normal)


def test_memory_that_an_extension_made_outlives_a_call_with_its_address(session: Any) -> None:
    run = "MODULE.run(a.data_ptr(), b.data_ptr(), c.data_ptr(), 200)"
    body = f"c = MODULE.filled(200)\n    for _ in range(3): {run}\n    return c"
    found = load(session, body).call(make_inputs(A, B), Mode.normal)
    assert torch.equal(found.value, A + B) and found.launches[0].count == 3


def test_pointers_in_a_table_are_followed(session: Any) -> None:
    inputs = make_inputs(A, B)
    loaded = load(session, "return MODULE.by_table(a, b)")
    seen = followed(inputs, lambda: loaded.call(inputs, Mode.traced))
    assert torch.equal(seen.value, A + B)
    assert seen.kernels == {"gather": 1} and seen.origins == [(True, True, False)]
