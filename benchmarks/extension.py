"""How long an extension takes to build: light headers against torch's own, all of it measured in one run.

    python benchmarks/extension.py [--full] [--nvcc] [--repeats N]

Without options: the emulator's path. `--full` adds torch's own headers under emulation; `--nvcc` compiles the same
candidate with nvcc through the light headers and through torch's (a minute), and needs a CUDA toolkit, no device.
Processor time is given as well: it does not depend on what else the machine is doing.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

SOURCE = """
#include <torch/extension.h>
#include <cuda_runtime.h>
// {mark}
__global__ void scale(const float* x, float* y, float a, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}}
torch::Tensor run(torch::Tensor x, double a) {{
  TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
  auto y = torch::empty_like(x);
  scale<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), a, x.numel());
  return y;
}}
"""
DECLARATION = "torch::Tensor run(torch::Tensor x, double a);"


def measure(label: str, build: Callable[[str], object], repeats: int) -> float:
    """Best wall time of some builds of never-seen sources, printed with the least processor time; the latter."""
    walls, processors = [], []
    for i in range(repeats):
        source = SOURCE.format(mark=f"{label} {i} {time.time_ns()}")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        build(source)
        walls.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"{label:34s} wall {min(walls):7.2f} s   processor {min(processors):7.2f} s   ({repeats} builds)", flush=True)
    return min(processors)


def main() -> None:
    """Measure what was asked for and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="torch's own headers under emulation")
    parser.add_argument("--nvcc", action="store_true", help="a device build, through both kinds of headers")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()

    import torch
    from kengine.extension import Settings, load_inline, warm
    from kengine.extension import full as full_headers
    from kengine.extension.sources import from_inline

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        emulated = Settings(cache=Path(folder), full_headers=False)
        start = time.perf_counter()
        warm(emulated)
        print(f"shared parts, once a machine: {time.perf_counter() - start:.1f} s")

        def light(settings: Settings) -> Callable[[str], object]:
            return lambda source: load_inline("bench", DECLARATION, source, functions=["run"], settings=settings)

        def full(settings: Settings) -> Callable[[str], object]:
            return lambda source: full_headers.compile_only(
                from_inline("bench", DECLARATION, source, ["run"]), settings
            )

        least = measure("emulated, light", light(emulated), options.repeats)
        measure("emulated, light, check mode", light(replace(emulated, check=True)), options.repeats)
        if options.full:
            print(
                f"  full / light: {measure('emulated, torch headers', full(emulated), 1) / least:.1f}x processor time"
            )
        if options.nvcc:
            native = replace(emulated, mode="nvcc")
            warm(native)
            least = measure("nvcc sm_90, light", light(native), options.repeats)
            print(
                f"  stock / light: {measure('nvcc sm_90, torch headers', full(native), 1) / least:.1f}x processor time"
            )


if __name__ == "__main__":
    main()
