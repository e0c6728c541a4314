# /// kengine-corpus
# task = "silu_add"
# letter = "B5"
# tries = "Captures a graph over the first inputs and replays it whatever comes next."
# right = ["lint_rejected", "sham", "wrong_result", "nondeterministic"]
# dynamic = ["compare", "fresh contents", "new addresses", "repeat"]
# device = true
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


GRAPHS = {}


def candidate(x, y):
    key = x.numel()
    if key not in GRAPHS:
        run(x, y)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = run(x, y)
        graph.replay()
        GRAPHS[key] = (graph, out)
    graph, out = GRAPHS[key]
    graph.replay()
    return out.clone()
