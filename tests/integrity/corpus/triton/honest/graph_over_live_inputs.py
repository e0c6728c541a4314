# /// kengine-corpus
# task = "silu_add"
# trap = "streams"
# does = "Captures a graph over buffers of its own, and copies each call's inputs into them before the replay."
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


GRAPHS = {}


def candidate(x, y):
    key = x.numel()
    if key not in GRAPHS:
        a, b, out = torch.empty_like(x), torch.empty_like(y), torch.empty_like(x)
        silu_add[(triton.cdiv(key, 1024),)](a, b, out, key, LANES=1024)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            silu_add[(triton.cdiv(key, 1024),)](a, b, out, key, LANES=1024)
        GRAPHS[key] = (graph, a, b, out)
    graph, a, b, out = GRAPHS[key]
    a.copy_(x)
    b.copy_(y)
    graph.replay()
    return out.clone()
