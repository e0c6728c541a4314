# /// kengine-corpus
# task = "row_softmax"
# letter = "C1"
# tries = "Launches on a stream of its own that nobody waits for."
# right = ["lint_rejected", "sham", "tampered", "wrong_result", "nondeterministic"]
# dynamic = ["idle", "late writes", "compare", "timing"]
# device = true
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


side = None


def candidate(x):
    global side
    side = side or torch.cuda.Stream()
    y = torch.empty_like(x)
    with torch.cuda.stream(side):
        torch.cuda._sleep(20_000_000)
        softmax_rows[(x.shape[0],)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y
