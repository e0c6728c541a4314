# /// kengine-corpus
# task = "row_softmax"
# trap = "inline"
# does = "Uses descriptors made on the device, and gives Triton an allocator for them."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, rows, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    source = tl.make_tensor_descriptor(x, [rows, width], [width, 1], [1, LANES])
    target = tl.make_tensor_descriptor(y, [rows, width], [width, 1], [1, LANES])
    values = source.load([row, 0])
    values = tl.where((tl.arange(0, LANES) < width)[None, :], values, -float("inf"))
    weights = tl.exp(values - tl.max(values, axis=1)[:, None])
    target.store([row, 0], weights / tl.sum(weights, axis=1)[:, None])


def allocate(size, alignment, stream):
    return torch.empty(size, device="cuda" if torch.cuda.is_available() else "cpu", dtype=torch.int8)


triton.set_allocator(allocate)


def candidate(x):
    rows, width = x.shape
    pad = -width % 4
    if pad:
        x = torch.nn.functional.pad(x, (0, pad))
    y = torch.empty_like(x)
    if pad:
        softmax_padded[(rows,)](x, y, rows, width, width + pad, LANES=triton.next_power_of_2(width))
        return y[:, :width]
    softmax_rows[(rows,)](x, y, rows, width, LANES=triton.next_power_of_2(width))
    return y


@triton.jit
def softmax_padded(x, y, rows, width, pitch, LANES: tl.constexpr):
    row = tl.program_id(0)
    source = tl.make_tensor_descriptor(x, [rows, width], [pitch, 1], [1, LANES])
    target = tl.make_tensor_descriptor(y, [rows, width], [pitch, 1], [1, LANES])
    values = source.load([row, 0])
    values = tl.where((tl.arange(0, LANES) < width)[None, :], values, -float("inf"))
    weights = tl.exp(values - tl.max(values, axis=1)[:, None])
    target.store([row, 0], weights / tl.sum(weights, axis=1)[:, None])
