# /// kengine-corpus
# task = "mse_loss"
# trap = "autotune"
# does = "Atomic partial sums into one number that the tuner resets, with configurations pruned by a function."
# ///

import torch
import triton
import triton.language as tl


def prune(configs, named, **kwargs):
    return [c for c in configs if c.kwargs["BLOCK"] <= 2 * triton.next_power_of_2(named["n"])] or configs[:1]


@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (256, 1024) for w in (4, 8)],
    key=["n"],
    reset_to_zero=["out_ptr"],
    prune_configs_by={"early_config_prune": prune},
)
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(x_ptr + i, mask=i < n, other=0.0) - tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(d * d, 0) / n)


def candidate(prediction, target):
    out = torch.zeros((), device=prediction.device)
    n = prediction.numel()
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](prediction, target, out, n)
    return out
