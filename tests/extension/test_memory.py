"""Memory that kernels of an extension may touch beside their arguments, and what one call leaves to the next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kengine.extension import Extension, Settings, toolkit  # noqa: E402
from kengine.simt import FaultKind, KernelFault, LaunchRefused  # noqa: E402

ADD = """
__global__ void add(const float* x, const float* b, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + b[i];
}
torch::Tensor sum(const torch::Tensor& x, const float* b) {
  auto y = torch::empty_like(x);
  add<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), b, y.data_ptr<float>(), x.numel());
  return y;
}
"""
ONE = "torch::Tensor run(torch::Tensor x)"


def test_a_tensor_that_an_operator_made_is_known_as_long_as_it_lives(load: Callable[..., Extension]) -> None:
    body = """ {
      static torch::Tensor ones = torch::ones_like(x);
      static float* p = ones.data_ptr<float>();
      return sum(x, p);
    }"""
    m = load(ADD + ONE + body, ONE, check=True)
    for _ in range(3):
        x = torch.randn(100)
        assert torch.equal(m.run(x), x + 1)


def test_the_bounds_of_what_an_operator_made_are_kept(load: Callable[..., Extension]) -> None:
    m = load(ADD + ONE + "{ auto t = torch::ones_like(x); return sum(x, t.data_ptr<float>() + 1); }", ONE, check=True)
    with pytest.raises(KernelFault) as caught:
        m.run(torch.randn(100))
    fault = caught.value.fault
    assert (fault.kind, fault.byte_offset, fault.thread) == (FaultKind.OUT_OF_BOUNDS_READ, 400, (35, 0, 0))


@pytest.mark.parametrize("check", [False, True])
def test_host_and_device_do_not_share_memory(load: Callable[..., Extension], check: bool) -> None:
    two = "std::vector<torch::Tensor> run(torch::Tensor x)"
    body = """ {
      std::vector<float> table(x.numel(), 2.0f);
      auto there = torch::from_blob(table.data(), {x.numel()}, torch::kFloat32).to(x.device());
      for (auto& v : table) v = 7.0f;
      auto here = x.cpu();
      here.add_(5);
      return {sum(x, there.data_ptr<float>()), here, here.to(x.options())};
    }"""
    m = load(ADD + two + body, two, check=check)
    x = torch.randn(100)
    before = x.clone()
    first, here, back = m.run(x)
    assert torch.equal(x, before) and torch.equal(first, before + 2)
    assert torch.equal(here, before + 5) and torch.equal(back, here) and back.data_ptr() != here.data_ptr()


def test_parts_of_the_standard_library_come_as_with_torchs_headers(load: Callable[..., Extension]) -> None:
    counts = "int64_t run(std::vector<int64_t> v)"
    body = "{ std::set<int64_t> s(v.begin(), v.end()); std::variant<int, float> w = 1; std::deque<int> d; return s.size() + w.index() + d.size(); }"
    assert load(counts + body, counts).run([3, 1, 3]) == 2


def test_a_refused_launch_leaves_no_error_to_the_next_call(
    load: Callable[..., Extension], knock_out: Callable[[Extension, Any], None]
) -> None:
    silent = load(ADD + ONE + "{ return sum(x, x.data_ptr<float>()); }", ONE)
    asking = load(
        ADD
        + ONE
        + "{ auto y = sum(x, x.data_ptr<float>()); TORCH_CHECK(cudaGetLastError() == cudaSuccess); return y; }",
        ONE,
    )
    x = torch.randn(10)
    knock_out(silent, "raise")
    with pytest.raises(LaunchRefused):
        silent.run(x)
    silent.set_mode("normal")
    assert torch.equal(asking.run(x), 2 * x)


def test_every_folder_with_the_tools_gives_the_same_glue(settings: Settings, tmp_path: Path) -> None:
    library = toolkit.glue_library(settings.shared)
    other = tmp_path / library.name
    other.symlink_to(library)
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / library.name).write_bytes(library.read_bytes())
    assert toolkit.load_glue(other) is toolkit.load_glue(copy / library.name) is toolkit.load_glue(library)
