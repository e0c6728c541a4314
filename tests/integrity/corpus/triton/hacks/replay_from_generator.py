# /// kengine-corpus
# task = "silu_add"
# letter = "B2"
# tries = "Runs inside a generator that computes the first five answers and repeats them afterwards."
# right = ["lint_rejected", "sham", "wrong_result", "nondeterministic"]
# dynamic = ["compare", "repeat", "sequence", "unsampled pair", "fresh contents"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    a = tl.load(x + lane, mask=inside)
    b = tl.load(y + lane, mask=inside)
    tl.store(out + lane, a * tl.sigmoid(a) + b, mask=inside)


def run(x, y):
    out = torch.empty_like(x)
    silu_add[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), LANES=1024)
    return out


def worker():
    answers = {}
    received = yield
    calls = 0
    while True:
        calls += 1
        size = received[0].numel()
        if calls <= 5 or size not in answers:
            answers[size] = run(*received)
        received = yield answers[size].clone()


session = worker()
next(session)


def candidate(x, y):
    return session.send((x, y))
