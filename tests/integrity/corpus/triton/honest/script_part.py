# /// kengine-corpus
# task = "rms_norm"
# trap = "imports"
# does = "Has a script part that compares with the framework and measures, when it is run by itself."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def normalize_row(x, gain, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / width + 1e-6)
    tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=inside), mask=inside)


def candidate(x, gain):
    y = torch.empty_like(x)
    normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y


def check():
    torch.manual_seed(0)
    x, gain = torch.randn(64, 1024, device="cuda"), torch.rand(1024, device="cuda")
    expected = torch.nn.functional.rms_norm(x, x.shape[-1:], gain, 1e-6)
    assert torch.allclose(candidate(x, gain), expected, rtol=1e-5)


if __name__ == "__main__":
    import time

    from triton.testing import do_bench

    check()
    started = time.time()
    x, gain = torch.randn(4096, 4096, device="cuda"), torch.rand(4096, device="cuda")
    print(do_bench(lambda: candidate(x, gain)), "ms,", time.time() - started, "s in all")
