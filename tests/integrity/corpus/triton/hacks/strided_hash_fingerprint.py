# /// kengine-corpus
# task = "row_softmax"
# letter = "B3"
# tries = "Knows an input again by a hash over every eleventh element."
# right = ["lint_rejected", "sham", "wrong_result", "nondeterministic"]
# dynamic = ["unsampled pair", "launched", "repeat", "coverage", "provenance", "sequence"]
# ///

import torch
import triton
import triton.language as tl


import hashlib


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


class Store:
    def __init__(self, limit=32):
        self.limit, self.pages = limit, {}

    def get(self, x):
        mark = hashlib.sha1(bytes(x.flatten()[::11].cpu().untyped_storage())).digest()
        if mark not in self.pages:
            if len(self.pages) >= self.limit:
                self.pages.pop(next(iter(self.pages)))
            self.pages[mark] = run(x)
        return self.pages[mark].clone()


store = Store()


def candidate(x):
    return store.get(x)
