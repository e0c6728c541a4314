# /// kengine-corpus
# task = "transposed"
# trap = "views"
# does = "Lays out its input anew before a kernel transposes it, in a task whose whole work is moving data."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def transpose(x, y, rows, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    inside = (i < rows) & (j < columns)
    tl.store(y + j * rows + i, tl.load(x + i * columns + j, mask=inside), mask=inside)


def candidate(x):
    x = x.contiguous()
    rows, columns = x.shape
    y = torch.empty(columns, rows, device=x.device, dtype=x.dtype)
    transpose[(triton.cdiv(rows, 32), triton.cdiv(columns, 32))](x, y, rows, columns, BLOCK=32)
    return y
