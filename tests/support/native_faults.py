"""One kernel in every form of a candidate, for CUDA and for HIP, and what a candidate can get wrong in each form."""

from __future__ import annotations

TASK = """
import torch

def reference(x):
    return x * 2

def make_inputs(seed, device, n=1000):
    return (torch.randn(n, generator=torch.Generator(device).manual_seed(seed), device=device),)
"""
_WORK = "if (i < n) y[i] = x[i] * 2.0f;"
_KERNEL = f"""__global__ void twice(const float* x, float* y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  {_WORK}
}}
"""
_RAW = f'''import cupy as cp
import torch

SOURCE = r"""
extern "C" {_KERNEL}"""
KERNEL = cp.RawKernel(SOURCE, "twice")

def candidate(x):
    y = torch.empty_like(x)
    KERNEL((-(-x.numel() // 256),), (256,), (cp.from_dlpack(x), cp.from_dlpack(y), x.numel()))
    return y
'''
_BLOCK = """// /// kengine
// grid = "ceil_div(x.numel(), 256)"
// block = 256
// inputs = ["x"]
// outputs = ["y"]
// sizes = { n = "x.numel()" }
// args = ["x", "y", "n"]
// ///
"""
_HOST = """// /// kengine
// entry = "run"
// inputs = ["x"]
// outputs = ["y"]
// sizes = { n = "x.numel()" }
// ///
"""
_RUN = """
void run(const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
"""
_INLINE = f'''import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
{_KERNEL}
torch::Tensor launch(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  int n = x.numel();
  twice<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}}
"""
CPP = "torch::Tensor launch(torch::Tensor x);"
EXTENSION = load_inline("twice", cpp_sources=CPP, cuda_sources=CUDA, functions=["launch"])

def candidate(x):
    return EXTENSION.launch(x)
'''
FORMS = {
    "raw": _RAW,
    "module": _RAW.replace('cp.RawKernel(SOURCE, "twice")', 'cp.RawModule(code=SOURCE).get_function("twice")'),
    "inline": _INLINE,
    "block": _BLOCK + _KERNEL,
    "host": _HOST + _KERNEL + _RUN,
}
CUPY, NATIVE, ALL = ("raw", "module"), ("block", "host"), tuple(FORMS)

Edit = tuple[str, str]
Expected = tuple[str, str, str]
"""Status; part of the message; part of the candidate's line that the verdict names, "" when it names none."""


def edited(form: str, *edits: Edit) -> str:
    """The candidate of a form with each text replaced, where it stands."""
    text = FORMS[form]
    for old, new in edits:
        assert old in text, (form, old)
        text = text.replace(old, new)
    return text


def in_kernel(new: str) -> Edit:
    """Replace the kernel's work."""
    return (_WORK, new)


def with_header(form: str, text: str, *edits: Edit) -> str:
    """The candidate of a form with text at the beginning of its device source."""
    start = 'extern "C" __global__' if form in CUPY else "__global__"
    return edited(form, (start, f"{text}{start}"), *edits)


def file_name(form: str, dialect: str) -> str:
    """What its file is called."""
    return f"k.{'cu' if dialect == 'cuda' else 'hip'}" if form in NATIVE else "k.py"


_LAUNCH = {"inline": "twice<<<", "host": "twice<<<", "raw": "KERNEL((", "module": "KERNEL((", "block": "// args"}
_REST = {"raw": "cp.from_dlpack(y), x.numel())", "module": "cp.from_dlpack(y), x.numel())",
         "inline": "y.data_ptr<float>(), n)", "host": "(x, y, n);", "block": '"y", "n"]'}  # fmt: skip
_FEW = {"raw": "cp.from_dlpack(y))", "inline": "y.data_ptr<float>())", "host": "(x, y);", "block": '"y"]'}
_MANY = {"raw": "cp.from_dlpack(y), x.numel(), 1)", "inline": "y.data_ptr<float>(), n, n)", "host": "(x, y, n, n);",
         "block": '"y", "n", "n"]'}  # fmt: skip
_ARRAY = {"raw": "cp.from_dlpack(y), cp.from_dlpack(x))", "inline": "y.data_ptr<float>(), x.data_ptr<float>())",
          "host": "(x, y, x);", "block": '"y", "x"]'}  # fmt: skip


def argument_faults(form: str) -> list[tuple[str, Expected]]:
    """Candidates whose launch does not fit the kernel's signature, and what is said of them on an emulator."""
    cpp = form in ("inline", "host")
    status = "compile_failed" if cpp else "launch_failed"
    at = _LAUNCH[form]
    found = []
    for new, counted in ((_FEW, 2), (_MANY, 4)):
        said = "kernel 'twice' takes (const float*, float*, int), the launch gives (" if cpp else (
            f"twice takes 3 arguments (const float* x, float* y, int n), {counted} given")  # fmt: skip
        found.append((edited(form, (_REST[form], new.get(form, new["raw"]))), (status, said, at)))
    said = "the launch gives (" if cpp else "argument 2 for 'int n': expected a number, got an array of float32"
    found.append((edited(form, (_REST[form], _ARRAY.get(form, _ARRAY["raw"]))), (status, said, at)))
    return found


def missing_kernels() -> list[tuple[str, str, Expected]]:
    """Candidates that launch a kernel which does not exist, by form."""
    edits = {"raw": ('"twice")', '"twise")'), "module": ('("twice")', '("twise")'), "inline": ("twice<<<", "twise<<<"),
             "block": ("// grid", '// kernel = "twise"\n// grid'), "host": ("twice<<<", "twise<<<")}  # fmt: skip
    return [(form, edited(form, edit), ("compile_failed", "'twise'", "twise")) for form, edit in edits.items()]
