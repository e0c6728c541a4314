"""Real compiles with no device: by NVRTC and by nvcc, whichever are installed; and what is read off texts and logs."""

from __future__ import annotations

import pytest
from kengine.errors import CandidateFault
from kengine.native.driver import Unit
from kengine.native.lines import locate
from kengine_cuda.chips import CHIPS, EMULATED, find
from kengine_cuda.extension import instances_of
from kengine_cuda.occupancy import occupancy, refusal
from kengine_cuda.toolchain import compiler, places
from kengine_cuda.toolchain.device_text import device_part
from kengine_cuda.toolchain.places import Places, find_places
from kengine_cuda.toolchain.ptxas import Usage, plain_name, read_usage

FOUND = find_places()
SOURCE = """
template <typename T> __global__ void scale(T* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * T(2);
}
extern "C" __global__ void turn(const float* x, float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
"""
HOST = (
    "#include <vector>\n#include <cstdio>\n" + SOURCE + "void run(float* x, int n) { scale<float><<<1, n>>>(x, n); }\n"
)
by = pytest.mark.parametrize(
    "tool",
    [
        pytest.param(
            "nvrtc", marks=pytest.mark.skipif(not FOUND.nvrtc, reason="no NVRTC: pip install nvidia-cuda-nvrtc")
        ),
        pytest.param("nvcc", marks=pytest.mark.skipif(not FOUND.nvcc, reason="no nvcc")),
    ],
)


@pytest.fixture
def only(monkeypatch):
    """A function that leaves one of the compilers."""

    def leave(tool: str) -> None:
        kept = Places(FOUND.nvrtc if tool == "nvrtc" else "", FOUND.nvcc if tool == "nvcc" else "", FOUND.includes)
        monkeypatch.setattr(compiler, "find_places", lambda: kept)

    return leave


def unit(text: str, *instances: str, options=()) -> Unit:
    return Unit(text, "k.cu", locate(text, text), tuple(options), instances)


@by
@pytest.mark.parametrize("arch", sorted(CHIPS))
def test_every_chip(only, tmp_path, tool: str, arch: str) -> None:
    only(tool)
    made = compiler.compile_unit(unit(SOURCE, "scale<float>", "scale<double>"), CHIPS[arch], tmp_path, "k.cu", "file")
    assert made.image[:4] == b"\x7fELF" and made.by.startswith(tool)
    assert set(made.symbols) >= {"scale<float>", "scale<double>", "turn"}
    assert made.symbols["scale<float>"] != made.symbols["scale<double>"]
    turn = made.usage[made.symbols["turn"]]
    assert turn.shared == 256 and 4 < turn.registers < 40 and turn.spill_stores == 0


@by
def test_host_code_beside_the_kernels(only, tmp_path, tool: str) -> None:
    only(tool)
    made = compiler.compile_unit(unit(HOST, "scale<float>"), EMULATED, tmp_path, "k.cu", "file")
    assert "scale<float>" in made.symbols and "turn" in made.symbols


@by
@pytest.mark.parametrize("style", ["plain", "file"])
def test_errors_have_the_line(only, tmp_path, tool: str, style) -> None:
    only(tool)
    with pytest.raises(CandidateFault) as caught:
        compiler.compile_unit(unit(SOURCE.replace("63 - ", "sixty - ")), EMULATED, tmp_path, "mine.cu", style)
    assert (caught.value.status, caught.value.line) == ("compile_failed", 10)
    assert caught.value.message == 'identifier "sixty" is undefined (line 10)'
    assert "mine.cu(10)" in caught.value.log


@by
def test_options_and_spills(only, tmp_path, tool: str) -> None:
    only(tool)
    body = "".join(f"  float v{i} = x[i + {i}];\n" for i in range(64)) + "  __syncthreads();\n"
    body += "  x[i] = " + " + ".join(f"v{i} * v{(i * 7) % 64}" for i in range(64)) + ";\n"
    text = 'extern "C" __global__ void f(float* x) {\n  int i = threadIdx.x * N;\n' + body + "}\n"
    given = unit(text, options=("-DN=3", "-maxrregcount=24", "-arch=sm_80", "-I/nowhere", "--bogus"))
    usage = compiler.compile_unit(given, EMULATED, tmp_path, "k.cu", "plain").usage["f"]
    assert usage.registers <= 24 and usage.spill_stores > 0 and usage.spill_loads > 0 and usage.stack > 0


@by
def test_too_much_shared_memory_is_the_assemblers_error(only, tmp_path, tool: str) -> None:
    only(tool)
    with pytest.raises(CandidateFault, match="shared"):
        compiler.compile_unit(unit(SOURCE.replace("s[64]", "s[640000]")), EMULATED, tmp_path, "k.cu", "plain")


def test_no_compiler(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(compiler, "find_places", lambda: Places("", "", ()))
    with pytest.raises(CandidateFault) as caught:
        compiler.compile_unit(unit(SOURCE), EMULATED, tmp_path, "k.cu", "plain")
    assert caught.value.status == "unsupported" and "pip install" in caught.value.message


def test_places_come_from_packages_and_the_toolkit(monkeypatch, tmp_path) -> None:
    root = tmp_path / "toolkit"
    for name in ("bin/nvcc", "lib64/libnvrtc.so.13", "include/cuda_runtime.h"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    (root / "bin/nvcc").chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(root))
    monkeypatch.setattr(places, "_wheels", list)
    found = places.find_places.__wrapped__()
    assert found.nvcc == str(root / "bin/nvcc") and found.nvrtc == str(root / "lib64/libnvrtc.so.13")
    assert found.includes[0] == str(root / "include") and found.problem == ""


def test_logs() -> None:
    log = """ptxas info    : Compiling entry function '_Z5scaleIfEvPT_i' for 'sm_90'
ptxas info    : Function properties for _Z5scaleIfEvPT_i
    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 31 registers, used 1 barriers, 128 bytes smem, 368 bytes cmem[0]
"""
    assert read_usage(log) == {"_Z5scaleIfEvPT_i": Usage("_Z5scaleIfEvPT_i", 31, 16, 12, 20, 128)}
    assert read_usage("") == {}


@pytest.mark.parametrize(
    ("symbol", "name"),
    [("turn", "turn"), ("_Z5scaleIfEvPT_i", "scale"), ("_ZN2ns3addEPf", "ns::add"), ("_ZN12_GLOBAL__N_13addEPf", "add"),
     ("_ZN2ns5scaleIfEEvPT_", "ns::scale")],
)  # fmt: skip
def test_names(symbol: str, name: str) -> None:
    assert plain_name(symbol) == name


def test_host_functions_become_blanks_and_lines_stay() -> None:
    source = """#include <torch/extension.h>
#include <cuda_fp16.h>
#define CHECK(x) TORCH_CHECK(x.is_cuda(), "no")
struct Pair { float a; int b() const { return 1; } };
namespace tools {
__device__ float twice(float x) { return 2 * x; }
static int blocks(int n) { return (n + 255) / 256; }
}
template <typename T> __global__ void k(T* x) { x[0] = tools::twice(x[0]); }
torch::Tensor run(torch::Tensor x) {
  std::vector<int> v = {1, 2};
  k<float><<<tools::blocks(1), 1>>>(x.data_ptr<float>());
  return x;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
"""
    kept = device_part(source)
    assert kept.count("\n") == source.count("\n")
    for gone in ("torch/extension", "blocks", "run", "std::vector", "PYBIND11"):
        assert gone not in kept
    for there in ("cuda_fp16", "struct Pair", "int b() const", "twice(float x)", "__global__ void k", "#define CHECK"):
        assert there in kept
    assert kept.split("\n")[8] == source.split("\n")[8]


def test_instances_that_a_source_launches() -> None:
    source = """
constexpr int TILE = 16;
template <typename T, int N> __global__ void k(T* x) { }
__global__ void plain(float* x) { }
void run() { k<scalar_t, TILE><<<1, 1>>>(x); k<at::Half, 8><<<1, 1>>>(x); plain<<<1, 1>>>(x);
             k<Other, 8><<<1, 1>>>(x); }
"""
    assert instances_of(source) == ("k<float, 16>", "k<c10::Half, 8>")


@pytest.mark.parametrize(
    ("arch", "registers", "shared", "threads", "share"),
    [
        ("sm_90", 32, 0, 256, 1.0), ("sm_90", 64, 0, 256, 0.5), ("sm_90", 255, 0, 256, 0.125),
        ("sm_80", 32, 40000, 256, 0.5), ("sm_120", 32, 0, 1024, 32 / 48), ("sm_90", 16, 0, 32, 0.5),
        ("sm_90", 32, 300000, 256, None), ("sm_90", 128, 0, 1024, None),
    ],
)  # fmt: skip
def test_occupancy(arch: str, registers: int, shared: int, threads: int, share) -> None:
    assert occupancy(CHIPS[arch], registers, shared, threads) == share


def test_launches_that_a_chip_refuses() -> None:
    chip = CHIPS["sm_90"]
    assert refusal(chip, 64, 0, 1024) == ""
    assert refusal(chip, 72, 0, 1024) == "72 registers for each of 1024 threads are 73728, the chip has 65536"
    assert "2048 threads a block" in refusal(chip, 8, 0, 2048)
    assert refusal(chip, 8, 200000, 64) == "" and "sm_80 has 166912" in refusal(CHIPS["sm_80"], 8, 200000, 64)


def test_chips_that_have_no_entry() -> None:
    assert find("sm_89").capability == (8, 9) and find("sm_120a").capability == (12, 0)
    assert find("sm_103").warps == 64 and find("sm_75").shared_block == 64 * 1024
    assert find("gfx942") is None and find("sm_") is None and find("sm_xx") is None


@by
def test_host_code_beyond_the_light_headers_does_not_keep_kernels_from_compiling(only, tool, tmp_path) -> None:
    only(tool)
    host = "torch::Tensor run(torch::Tensor x) { at::globalContext(); return torch::nn::functional::relu(x); }\n"
    text = "#include <torch/extension.h>\n" + SOURCE + host
    unit = Unit(text, "cuda_sources.cu", locate(text, text), (), ("scale<float>",))
    binary = compiler.compile_unit(unit, find("sm_90"), tmp_path, "k.py", "extension")
    assert {"scale<float>", "turn"} <= set(binary.symbols)
    broken = Unit(text.replace("T(2)", "T(2"), "cuda_sources.cu", unit.lines, (), ("scale<float>",))
    with pytest.raises(CandidateFault) as caught:
        compiler.compile_unit(broken, find("sm_90"), tmp_path, "k.py", "extension")
    assert caught.value.status == "compile_failed"


@pytest.mark.parametrize("name", ["--extended-lambda", "-expt-extended-lambda"])
def test_flags_of_the_language_reach_nvcc(monkeypatch, tmp_path, name: str) -> None:
    """NVRTC, which does not know them, does not get them; a macro may be two words."""
    given: list[list[str]] = []

    def compile_source(command, source, filename, options, names, workdir):
        given.append(list(options))
        raise compiler.nvcc.NvccError("stopped", "")

    monkeypatch.setattr(compiler.nvcc, "compile_source", compile_source)
    monkeypatch.setattr(compiler, "find_places", lambda: Places("", "nvcc", ()))
    made = unit(SOURCE, options=("-D", "WIDTH=4", "-O3", name, "-U", "NDEBUG"))
    with pytest.raises(CandidateFault):
        compiler.compile_unit(made, EMULATED, tmp_path, "k.cu", "file")
    assert given[0][3:] == ["-std=c++17", "-DWIDTH=4", "-UNDEBUG", name]
    assert name not in compiler._options(made.options)
