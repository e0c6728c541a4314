# /// kengine-corpus
# task = "silu_add"
# letter = "C5"
# tries = "Computes the first calls honestly into a bank, and later hands out the bank in turn."
# right = ["lint_rejected", "sham", "wrong_result", "nondeterministic"]
# dynamic = ["sequence", "repeat", "fresh contents", "unsampled pair"]
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


bank = {}
turn = 0


def candidate(x, y):
    global turn
    answers = bank.setdefault(x.numel(), [])
    if len(answers) < 4:
        answers.append(run(x, y))
        return answers[-1].clone()
    turn += 1
    return answers[turn % 4].clone()
