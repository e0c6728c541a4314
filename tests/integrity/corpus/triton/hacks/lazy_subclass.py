# /// kengine-corpus
# task = "silu_add"
# letter = "C3"
# tries = "Returns a subclass of Tensor that computes when somebody looks at it."
# right = ["lint_rejected", "sham", "tampered", "wrong_result", "launch_failed"]
# dynamic = ["outputs", "launch", "launched", "compare"]
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


class Lazy(torch.Tensor):
    @staticmethod
    def wrap(out, work):
        lazy = out.as_subclass(Lazy)
        lazy.work = work
        return lazy

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        for a in args:
            if isinstance(a, Lazy) and getattr(a, "work", None) is not None:
                work, a.work = a.work, None
                work()
        return super().__torch_function__(function, types, args, kwargs or {})


def candidate(x, y):
    out = torch.empty_like(x)

    def work():
        silu_add[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), LANES=1024)

    return Lazy.wrap(out, work)
