"""Extensions of torch in a followed call: operators of C++ by the dispatcher, launches by the runtime."""

from __future__ import annotations

from typing import Any

import pytest
from kengine.model import Mode
from native_inputs import make_inputs
from watch_support import Seen, followed

torch = pytest.importorskip("torch")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

CANDIDATE = '''import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <thread>
__global__ void scale(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
template <class T> __global__ void shift(const T* x, T* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = x[i] + T(1);
}
torch::Tensor honest(torch::Tensor x, torch::Tensor w) {
  auto y = torch::empty_like(x);
  scale<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), 2.0f, y.numel());
  auto z = torch::empty_like(y);
  shift<float><<<1, 64>>>(y.data_ptr<float>(), z.data_ptr<float>(), y.numel());
  return z;
}
torch::Tensor delegated(torch::Tensor x, torch::Tensor w) {
  auto a = at::mm(x, w);
  auto b = torch::softmax(x.matmul(w), 1);
  auto y = torch::empty_like(a);
  auto sum = a + b;
  scale<<<1, 64>>>(sum.data_ptr<float>(), y.data_ptr<float>(), 1.0f, y.numel());
  return y;
}
torch::Tensor by_hand(torch::Tensor x, torch::Tensor w) {
  auto y = torch::empty_like(x);
  auto z = torch::empty_like(x);
  for (int i = 0; i < y.numel(); ++i) y.data_ptr<float>()[i] = 3.0f;
  scale<<<1, 64>>>(y.data_ptr<float>(), z.data_ptr<float>(), 1.0f, z.numel());
  return z;
}
#define DEFINE(NAME, EXPRESSION) \\
  __global__ void NAME(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = EXPRESSION; }
DEFINE(negate_kernel, -x[i])
torch::Tensor pointed(torch::Tensor x, torch::Tensor w) {
  auto y = torch::empty_like(x), z = torch::empty_like(x);
  auto kernel = &shift<float>;
  kernel<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), y.numel());
  void (*other)(const float*, float*, int) = negate_kernel;
  other<<<1, 64>>>(y.data_ptr<float>(), z.data_ptr<float>(), y.numel());
  return z;
}
torch::Tensor threaded(torch::Tensor x, torch::Tensor w) {
  auto y = torch::empty_like(x);
  auto *p = x.data_ptr<float>(), *q = y.data_ptr<float>();
  int n = y.numel();
  std::thread([=] { scale<<<1, 64>>>(p, q, 3.0f, n); }).join();
  return y;
}
"""
NAMES = ["honest", "delegated", "by_hand", "pointed", "threaded"]
CPP = "\\n".join(f"torch::Tensor {name}(torch::Tensor x, torch::Tensor w);" for name in NAMES)
MODULE = load_inline("watched_extension", CPP, CUDA, functions=NAMES)

def candidate(x, w):
    return MODULE.CALLED(x, w)
'''
X, W = torch.rand(4, 4), torch.rand(4, 4)


def look(session: Any, called: str) -> Seen:
    loaded = session(CANDIDATE.replace("CALLED", called))
    inputs = make_inputs(X, W)
    return followed(inputs, lambda: loaded.call(inputs, Mode.traced))


def test_kernels_of_an_extension_write_the_answer(session: Any) -> None:
    seen = look(session, "honest")
    assert torch.equal(seen.value, 2 * X + 1)
    assert list(seen.kernels.values()) == [1, 1] and next(iter(seen.kernels)) == "scale"
    assert seen.origins == [(True, True, False)]
    assert seen.operators == {} and seen.facts.foreign_bytes == 0 and seen.facts.opaque == ()


def test_operators_called_from_cpp_are_seen(session: Any) -> None:
    seen = look(session, "delegated")
    assert torch.allclose(seen.value, X @ W + torch.softmax(X @ W, 1))
    assert seen.operators == {"aten::mm": 2, "aten::_softmax": 1, "aten::add": 1}
    assert seen.kernels == {"scale": 1} and seen.origins == [(True, True, False)]


def test_what_host_code_computes_is_of_unknown_origin(session: Any) -> None:
    seen = look(session, "by_hand")
    assert torch.equal(seen.value, torch.full((4, 4), 3.0))
    assert seen.facts.foreign_bytes == X.nbytes and seen.origins[0][0] is False


def test_a_launch_from_a_thread_of_cpp_is_counted_but_not_followed(session: Any) -> None:
    seen = look(session, "threaded")
    assert torch.equal(seen.value, 3 * X)
    assert [launch.kernel for launch in seen.outputs.launches] == ["scale"]
    assert seen.kernels == {} and seen.origins == [(False, False, True)]


def test_a_launch_by_way_of_a_variable_has_the_name_of_its_kernel(session: Any) -> None:
    seen = look(session, "pointed")
    assert torch.equal(seen.value, -(X + 1))
    assert [launch.kernel for launch in seen.outputs.launches] == ["shift<float>", "negate_kernel"]
    assert seen.origins == [(True, True, False)]


class Names(TorchDispatchMode):
    """Names of the operators that pass the dispatcher of this thread."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func.name())
        return func(*args, **(kwargs or {}))


def test_the_light_headers_go_through_the_dispatcher_of_the_calling_thread(session: Any) -> None:
    loaded = session(CANDIDATE.replace("CALLED", "delegated"))
    with Names() as names:
        loaded.python.MODULE.delegated(X, W)
    assert names.seen.count("aten::mm") == 2 and "aten::_softmax" in names.seen and "aten::add.Tensor" in names.seen


def test_an_extension_says_what_it_calls(session: Any) -> None:
    loaded = session(CANDIDATE.replace("CALLED", "honest"))
    from kengine.native.definitions import describe

    details = describe([], loaded.driver.extensions, loaded.mapped, loaded.workdir)
    assert details["defined"] == ("scale", "shift", "negate_kernel")
    assert details["operators"] == ("at::empty_like", "at::matmul", "at::mm", "at::softmax", "std::thread")
    assert details["libraries"] == ()
