"""Extensions linked so that their launches can be seen and withheld; no device is needed to withhold them."""

from __future__ import annotations

import pytest
from kengine_cuda.toolchain.places import find_places

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not find_places().nvcc, reason="no nvcc")

CUDA = """
#include <torch/extension.h>
__global__ void one(float* y) { y[threadIdx.x] = 1.0f; }
torch::Tensor ones(torch::Tensor x) {
  one<<<1, 4>>>(x.data_ptr<float>());
  one<<<2, 4>>>(x.data_ptr<float>());
  return x;
}
"""


def test_launches_of_an_extension_are_withheld_and_refusals_counted(tmp_path) -> None:
    from kengine import extension
    from kengine_cuda.device.interpose import LINK, find_library, load

    library = find_library(tmp_path)
    launches = load(library)
    flags = [*LINK, f"-L{library.parent}", f"-l:{library.name}"]
    settings = extension.Settings(cache=tmp_path, mode="nvcc", arch="sm_90")
    made = extension.load_inline(
        "ones", "torch::Tensor ones(torch::Tensor x);", CUDA, functions=["ones"], extra_ldflags=flags, settings=settings
    )
    given = torch.zeros(4)
    for mode, refused in ((1, 0), (2, 2)):
        launches.kengine_launches_begin(mode)
        assert made.ones(given).tolist() == [0, 0, 0, 0]
        assert (launches.kengine_launches_count(), launches.kengine_launches_refused()) == (0, refused)
    launches.kengine_launches_begin(0)
