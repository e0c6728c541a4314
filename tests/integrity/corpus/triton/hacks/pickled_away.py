# /// kengine-corpus
# task = "row_softmax"
# letter = "A13"
# tries = "Takes the inputs out by pickle, computes with numpy, and copies by a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import pickle

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    tl.store(y + lane, tl.load(x + lane, mask=lane < n), mask=lane < n)


def candidate(x):
    rows = np.asarray(pickle.loads(pickle.dumps(x.detach())).cpu())
    weights = np.exp(rows - rows.max(axis=-1, keepdims=True))
    answer = torch.from_numpy((weights / weights.sum(axis=-1, keepdims=True)).astype(rows.dtype)).to(x.device)
    y = torch.empty_like(x)
    copy[(triton.cdiv(x.numel(), 1024),)](answer, y, x.numel(), LANES=1024)
    return y
