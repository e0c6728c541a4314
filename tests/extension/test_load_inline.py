"""What `load_inline` promises: marshalling, errors, devices, integrity, the cache."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kengine.errors import CandidateFault  # noqa: E402
from kengine.extension import Extension, Settings, candidate_line, load_inline  # noqa: E402
from kengine.extension import load as load_files  # noqa: E402
from kengine.simt import FaultKind, KernelFault, LaunchRefused, Unsupported  # noqa: E402

Load = Callable[..., Extension]

SCALE = """
__global__ void scale(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
torch::Tensor run(torch::Tensor x, double a) {
  auto y = torch::empty_like(x);
  scale<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), a, x.numel());
  return y;
}
"""
RUN = "torch::Tensor run(torch::Tensor x, double a)"


def test_arguments_are_converted_by_the_signature(load: Load) -> None:
    m = load(
        """
#include <tuple>
std::tuple<double, int64_t, bool, std::string, int64_t> kinds(double f, int i, bool b, const std::string& s, c10::optional<int64_t> o) {
  return {f, i, b, s, o.value_or(-1)};
}
int64_t lists(std::vector<torch::Tensor> ts, at::IntArrayRef ints, std::vector<double> fs) {
  int64_t n = 0;
  for (auto& t : ts) n += t.numel();
  for (auto i : ints) n += i;
  for (auto f : fs) n += static_cast<int64_t>(f);
  return n;
}
""",
        "std::tuple<double, int64_t, bool, std::string, int64_t> kinds(double f, int i, bool b, const std::string& s, c10::optional<int64_t> o)",
        "int64_t lists(std::vector<torch::Tensor> ts, at::IntArrayRef ints, std::vector<double> fs)",
    )
    assert m.kinds(2, 3, True, "x", None) == (2.0, 3, True, "x", -1)
    assert m.kinds(torch.tensor(0.5), torch.tensor(7), 1, "", 4) == (0.5, 7, True, "", 4)
    assert m.lists([torch.ones(2, 3), torch.ones(4)], (10, 20), [1.0, 2]) == 43
    for bad in (
        (2.0, 3.5, True, "x", None),
        ("2", 3, True, "x", None),
        (2, 2**40, True, "x", None),
        (2, 3, True, None, None),
        (2, 3),
    ):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            m.kinds(*bad)


def test_tensors_say_where_they_are(load: Load) -> None:
    m = load(
        """
std::vector<bool> where(torch::Tensor x) {
  auto host = torch::zeros({2});
  auto device = torch::zeros({2}, torch::kCUDA);
  return {x.is_cuda(), x.device() == torch::Device(torch::kCUDA, 0), host.is_cuda(), device.is_cuda(), x.cpu().is_cuda(),
          x.cpu().cuda().is_cuda(), (x + 1).is_cuda(), host.options().device().is_cuda(), torch::empty_like(x).is_cuda()};
}
""",
        "std::vector<bool> where(torch::Tensor x)",
    )
    assert m.where(torch.ones(2)) == [True, True, False, True, False, True, True, False, True]


def test_tensor_methods_agree_with_torch(load: Load) -> None:
    m = load(
        """
std::vector<torch::Tensor> all(torch::Tensor x, torch::Tensor w) {
  auto [values, indices] = x.max(1);
  auto parts = x.chunk(2, 0);
  return {x.sum({0, 1}), x.mean(-1, true), x.permute({1, 0}).contiguous(), x.view({-1}), x.reshape({2, -1}), x.t(), x.unsqueeze(0),
          x.flatten(), x.expand({3, 4, 6}), x.to(torch::kDouble), x.clone().fill_(2), values, indices, torch::matmul(x, w),
          torch::softmax(x, 1), torch::cat({x, x}, 1), torch::stack({x, x}), x * 2 + 1, 1 - x, x / w.t(), -x, x[1], parts[1],
          x.index({torch::indexing::Slice(1, 3), 0}), torch::where(x > 0, x, torch::zeros_like(x)), x.clamp(-1, 1),
          torch::layer_norm(x, {6}), torch::arange(0, 5, torch::kFloat), torch::tensor({1.5, 2.5}), torch::full({2}, 3.0),
          x.add(x, 2), x.std({1}, true), torch::gelu(x, "tanh"), x.transpose(0, 1).pow(2).sum(), x.select(0, 1), x.slice(1, 0, 4, 2), x.topk(2)};
}
""".replace(", x.topk(2)}", ", std::get<0>(x.topk(2))}"),
        "std::vector<torch::Tensor> all(torch::Tensor x, torch::Tensor w)",
    )
    torch.manual_seed(1)
    x, w = torch.randn(4, 6), torch.randn(6, 4)
    top = x.max(1)
    expected = [
        x.sum((0, 1)),
        x.mean(-1, True),
        x.permute(1, 0),
        x.view(-1),
        x.reshape(2, -1),
        x.t(),
        x.unsqueeze(0),
        x.flatten(),
        x.expand(3, 4, 6),
        x.double(),
        torch.full_like(x, 2),
        top.values,
        top.indices,
        x @ w,
        x.softmax(1),
        torch.cat([x, x], 1),
        torch.stack([x, x]),
        x * 2 + 1,
        1 - x,
        x / w.t(),
        -x,
        x[1],
        x.chunk(2, 0)[1],
        x[1:3, 0],
        torch.where(x > 0, x, 0),
        x.clamp(-1, 1),
        torch.nn.functional.layer_norm(x, (6,)),
        torch.arange(0, 5, dtype=torch.float),
        torch.tensor([1.5, 2.5]),
        torch.full((2,), 3.0),
        x.add(x, alpha=2),
        x.std(1),
        torch.nn.functional.gelu(x, approximate="tanh"),
        x.pow(2).sum(),
        x[1],
        x[:, 0:4:2],
        x.topk(2).values,
    ]
    actual = m.all(x, w)
    assert len(actual) == len(expected)
    for got, want in zip(actual, expected):
        assert got.dtype == want.dtype
        torch.testing.assert_close(got, want)


def test_torch_check_is_a_runtime_error_with_its_message(load: Load) -> None:
    m = load(
        'void f(torch::Tensor x) { TORCH_CHECK(x.dim() == 2, "x must be 2-D, got ", x.dim(), " in ", x.sizes()); x.size(5); }',
        "void f(torch::Tensor x)",
    )
    with pytest.raises(RuntimeError, match=r"^x must be 2-D, got 1 in \[3\]$"):
        m.f(torch.ones(3))
    with pytest.raises(IndexError, match=r"Dimension out of range .*, but got 5"):
        m.f(torch.ones(3, 3))


def test_element_types_are_checked_and_half_is_exact(load: Load) -> None:
    m = load(
        """
template <typename scalar_t> __global__ void twice(const scalar_t* x, scalar_t* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] * scalar_t(2) + scalar_t(1); }
torch::Tensor f(torch::Tensor x) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND2(torch::kHalf, torch::kBFloat16, x.scalar_type(), "twice", [&] { twice<scalar_t><<<1, 32>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel()); });
  return y;
}
float first(torch::Tensor x) { return x.data_ptr<float>()[0]; }
""",
        "torch::Tensor f(torch::Tensor x)",
        "float first(torch::Tensor x)",
    )
    for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        x = torch.randn(20).to(kind)
        torch.testing.assert_close(m.f(x), x * 2 + 1)
    with pytest.raises(NotImplementedError, match="\"twice\" not implemented for 'Int'"):
        m.f(torch.ones(3, dtype=torch.int32))
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        m.first(torch.ones(3, dtype=torch.float64))


@pytest.mark.parametrize(
    ("source", "where", "what"),
    [
        (SCALE.replace("a * x[i];", "a * x[i]"), 4, "expected ';'"),
        (SCALE.replace("a * x[i]", "a * z[i]"), 4, "'z' was not declared"),
        (SCALE.replace("<float>(), a,", "<float>(), a, 7,"), 8, ""),
    ],
)
def test_compile_errors_name_the_candidates_line(load: Load, source: str, where: int, what: str) -> None:
    with pytest.raises(CandidateFault) as caught:
        load(source, RUN)
    fault = caught.value
    assert (fault.status, fault.line) == ("compile_failed", where)
    assert fault.message.startswith(f"cuda_sources:{where}: ")
    assert what.replace("'", "") in fault.message.replace("'", "").replace("‘", "").replace("’", "")
    assert fault.log


def test_a_function_that_is_not_declared_or_not_defined_is_named(load: Load) -> None:
    with pytest.raises(CandidateFault, match="functions names 'other', which cpp_sources does not declare"):
        load(SCALE, RUN, functions=["other"])
    with pytest.raises(CandidateFault, match=r"'other.at::Tensor.' is declared but not defined"):
        load(SCALE, RUN, "torch::Tensor other(torch::Tensor x)")
    # The prototype has another type than the definition: nothing defines what is called.
    with pytest.raises(CandidateFault, match=r"'run.at::Tensor, float.' is declared but not defined"):
        load(SCALE, "torch::Tensor run(torch::Tensor x, float a)")


def test_streams_need_their_header(load: Load) -> None:
    source = SCALE.replace("64>>>", "64, 0, at::cuda::getCurrentCUDAStream()>>>")
    with pytest.raises(CandidateFault, match="cuda_sources:8"):
        load(source, RUN)
    m = load("#include <ATen/cuda/CUDAContext.h>\n" + source, RUN)
    assert m.run(torch.ones(3), 2.0).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("old", "new", "kind", "argument"),
    [
        ("if (i < n)", "if (true)", FaultKind.OUT_OF_BOUNDS_READ, "x"),
        ("y[i] = a", "y[i + 1] = a", FaultKind.OUT_OF_BOUNDS_WRITE, "tensor of shape [100]"),
        ("y[i] = a * x[i]", "y[0] = a * x[i]", FaultKind.RACE_GLOBAL, "tensor of shape [100]"),
    ],
)
def test_faults_of_kernels_name_argument_and_line(
    load: Load, old: str, new: str, kind: FaultKind, argument: str
) -> None:
    m = load(SCALE.replace(old, new), RUN, check=True)
    with pytest.raises(KernelFault) as caught:
        m.run(torch.arange(100.0), 2.0)
    fault = caught.value.fault
    assert (fault.kind, fault.argument, fault.line, fault.kernel) == (kind, argument, 4, "scale")
    good = load(SCALE, RUN, check=True)
    assert good.run(torch.ones(100), 2.0).sum().item() == 200.0


def test_a_write_past_an_output_is_found_without_check_mode(load: Load) -> None:
    m = load(SCALE.replace("y[i] = a", "y[i + 100000] = a"), RUN)
    with pytest.raises(KernelFault) as caught:
        m.run(torch.ones(100), 2.0)
    assert caught.value.fault.kind is FaultKind.OUT_OF_BOUNDS_WRITE


def test_fresh_memory_is_nan_and_launches_can_be_knocked_out(
    load: Load, knock_out: Callable[[Extension, Any], None]
) -> None:
    m = load(SCALE, RUN)
    m.forget_launches()
    assert m.run(torch.ones(70), 3.0).eq(3).all()
    (launch,) = m.launches()
    assert (launch.kernel, launch.grid, launch.block, launch.completed) == ("scale", (2, 1, 1), (64, 1, 1), True)
    knock_out(m, "noop")
    assert m.run(torch.ones(70), 3.0).isnan().all()
    knock_out(m, "raise")
    with pytest.raises(LaunchRefused):
        m.run(torch.ones(70), 3.0)


def test_results_outlive_the_extension(load: Load) -> None:
    results = [load(SCALE, RUN).run(torch.full((1000,), float(i)), 1.0) for i in range(5)]
    import gc

    gc.collect()
    assert [r.sum().item() for r in results] == [0.0, 1000.0, 2000.0, 3000.0, 4000.0]


def test_overlapping_arguments_are_one_range(load: Load) -> None:
    m = load(
        """
__global__ void k(const float* a, const float* b, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = a[i] + a[i + 2] + b[i]; }
torch::Tensor f(torch::Tensor a, torch::Tensor b) { auto y = torch::empty_like(b); k<<<1, 32>>>(a.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), b.numel()); return y; }
""",
        "torch::Tensor f(torch::Tensor a, torch::Tensor b)",
        check=True,
    )
    x = torch.arange(12.0)
    assert torch.equal(m.f(x, x[1:11]), x[:10] + x[2:] + x[1:11])


def test_pybind_module_forms(load: Load) -> None:
    m = load(
        """
#include <torch/extension.h>
int64_t add(int64_t a, int64_t b) { return a + b; }
double add_float(double a, double b) { return a + b; }
py::dict info(py::list items, py::object extra) {
  py::dict d;
  d["count"] = items.size();
  d["first"] = items.empty() ? py::object(py::none()) : py::object(*items.begin());
  d["extra"] = extra.is_none();
  return d;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "sums";
  m.def("add", &add, py::arg("a"), py::arg("b") = 5, "adds integers");
  m.def("add", &add_float, "adds numbers");
  m.def("twice", [](torch::Tensor x) { return x * 2; });
  m.def("info", &info, py::arg("items"), py::arg("extra") = py::none());
  m.attr("kind") = 3;
}
""",
        functions=None,
    )
    assert (m.add(1), m.add(1, b=2), m.add(a=4, b=4), m.add(1.5, 2.0)) == (6, 3, 8, 3.5)
    assert m.twice(torch.ones(2)).tolist() == [2.0, 2.0]
    assert m.info([7, 8]) == {"count": 2, "first": 7, "extra": True}
    assert (m.kind, m.__doc__) == (3, "sums")
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        _ = m.missing


def test_constructs_of_the_emulator_limits_are_unsupported(load: Load) -> None:
    with pytest.raises(Unsupported, match="inline assembly"):
        load(SCALE.replace("if (i < n)", 'asm volatile("membar.gl;");\n  if (i < n)'), RUN)


def test_hostile_sources_and_arguments(load: Load, settings: Settings) -> None:
    for name in ("with space", "", "a-b", "1x"):
        with pytest.raises(CandidateFault, match="not a C\\+\\+ identifier"):
            load_inline(name, "", SCALE, settings=settings)
    with pytest.raises(CandidateFault, match="NUL"):
        load(SCALE + "\0", RUN)
    with pytest.raises(CandidateFault, match="the largest accepted"):
        load("//" + "x" * (9 << 20), RUN)
    with pytest.raises(ImportError, match="defines no module"):
        load_inline("empty", "", "", settings=settings)
    with pytest.raises(TypeError, match="cpp_sources must be a string"):
        load_inline("empty", 3, "", settings=settings)


def test_the_content_decides_not_the_name(load: Load, settings: Settings, tmp_path: Path) -> None:
    first, second = load(SCALE, RUN), load(SCALE.replace("a * x[i]", "a + x[i]"), RUN)
    assert first.library != second.library
    assert (first.run(torch.ones(1), 3.0).item(), second.run(torch.ones(1), 3.0).item()) == (3.0, 4.0)
    assert load(SCALE, RUN).library == first.library
    apart = load(SCALE, RUN, settings=replace(settings, cache=tmp_path, tools=settings.shared))
    assert apart.library.parent == tmp_path
    assert [p.suffix for p in tmp_path.iterdir()] == [".so"]


def test_cxx_in_the_environment_does_not_matter(
    load: Load, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setenv("CXX", "hipcc")
    m = load_inline(
        "hip_style",
        "#include <torch/extension.h>\n#include <hip/hip_runtime.h>\n" + SCALE,
        functions=["run"],
        extra_cflags=["-O3"],
        verbose=True,
        settings=replace(settings, dialect="hip"),
    )
    assert m.run(torch.ones(3), 4.0).tolist() == [4.0, 4.0, 4.0]
    assert os.environ["CXX"] == "hipcc"


def test_macros_and_language_flags_are_honoured(load: Load) -> None:
    source = "int64_t value() { return FACTOR; }"
    m = load(
        source,
        "int64_t value()",
        extra_cuda_cflags=["-DFACTOR=41", "--use_fast_math", "-gencode=arch=compute_90,code=sm_90"],
    )
    assert m.value() == 41


def test_load_reads_files(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "common.h").write_text("#define FACTOR 3\n")
    (tmp_path / "k.cu").write_text(
        '#include <torch/extension.h>\n#include "common.h"\n' + SCALE.replace("a * x[i]", "FACTOR * a * x[i]")
    )
    (tmp_path / "bind.cpp").write_text(
        f'#include <torch/extension.h>\n{RUN};\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("run", &run); }}\n'
    )
    m = load_files("files", [str(tmp_path / "bind.cpp"), str(tmp_path / "k.cu")], settings=settings)
    assert m.run(torch.ones(2), 2.0).tolist() == [6.0, 6.0]
    with pytest.raises(CandidateFault, match="No such file"):
        load_files("files", [str(tmp_path / "absent.cu")], settings=settings)


def test_candidate_line_maps_a_source_into_its_file() -> None:
    text = 'import torch\nsource = """\nint x;\nint y;\n"""\n'
    assert candidate_line(text, "\nint x;\nint y;\n", 3) == 4
    assert candidate_line(text, "int z;", 1) == 0


@pytest.mark.parametrize("name", ["launches", "take_fault", "path", "describe"])
def test_a_module_binds_no_name_of_the_extensions_own(name: str, load: Load) -> None:
    source = f"#include <torch/extension.h>\nint64_t {name}() {{ return 7; }}\n"
    with pytest.raises(CandidateFault, match=f"binds the name '{name}', which is taken here: rename it") as caught:
        load(source, f"int64_t {name}()")
    assert caught.value.status == "unsupported"
    assert load(source.replace(name, f"{name}_"), f"int64_t {name}_()").describe() == {
        "name": "under_test",
        "headers": "light",
    }
