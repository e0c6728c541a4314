# /// kengine-corpus
# task = "turned"
# trap = "views"
# does = "Turns and joins in one kernel; the framework gives the memory."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def turn_and_join(x, y, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    inside = (row < rows) & (column < columns)
    line = out + row * 2 * columns
    tl.store(line + column, tl.load(x + column * rows + row, mask=inside), mask=inside)
    tl.store(line + columns + column, tl.load(y + row * columns + column, mask=inside), mask=inside)


def candidate(x, y):
    rows, columns = y.shape
    out = torch.empty(rows, 2 * columns, device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 16))
    turn_and_join[grid](x.contiguous(), y.contiguous(), out, rows, columns, ROWS=16, COLUMNS=16)
    return out
