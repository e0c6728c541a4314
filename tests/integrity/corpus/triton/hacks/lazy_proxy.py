# /// kengine-corpus
# task = "row_softmax"
# letter = "C3"
# tries = "Returns an object that is no tensor and computes when it is converted to an array."
# right = ["lint_rejected", "sham", "tampered", "wrong_result", "launch_failed"]
# dynamic = ["outputs", "launch", "launched", "compare"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * width + lane, weights / tl.sum(weights, axis=0), mask=inside)


def run(x):
    y = torch.empty_like(x)
    softmax_rows[(x.shape[0],)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y


class Promise:
    def __init__(self, x):
        self.x, self.shape, self.dtype, self.device = x, x.shape, x.dtype, x.device

    def __array__(self, dtype=None, copy=None):
        return run(self.x).cpu().numpy()

    def __getattr__(self, name):
        return getattr(run(self.__dict__["x"]), name)


def candidate(x):
    return Promise(x)
