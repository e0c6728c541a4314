"""Candidates that several test files judge."""

from __future__ import annotations

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"

ONE_ROW = """
@triton.jit
def rms(x_ptr, w_ptr, y_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / N + eps)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * N + cols, (x * scale * w).to(y_ptr.dtype.element_ty), mask=mask)

def candidate(x, w):
    y = torch.empty_like(x)
    M, N = x.shape
    rms[(M,)](x, w, y, N, 1e-6, BLOCK=triton.next_power_of_2(N))
    return y
"""

BLOCKED = """
@triton.jit
def rms(x_ptr, w_ptr, y_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = 0.0
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0.0).to(tl.float32)
        acc += tl.sum(x * x, axis=0)
    scale = tl.rsqrt(acc / N + eps)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * N + cols, (x * scale * w).to(y_ptr.dtype.element_ty), mask=mask)

def candidate(x, w):
    y = torch.empty_like(x)
    M, N = x.shape
    rms[(M,)](x, w, y, N, 1e-6, BLOCK=64)
    return y
"""

MULTI_ROW = """
@triton.jit
def rms(x_ptr, w_ptr, y_ptr, M, N, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    offs = rows[:, None] * N + cols[None, :]
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=1) / N + eps)
    w = tl.load(w_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
    tl.store(y_ptr + offs, (x * scale[:, None] * w[None, :]).to(y_ptr.dtype.element_ty), mask=mask)

def candidate(x, w):
    y = torch.empty_like(x)
    M, N = x.shape
    rms[(triton.cdiv(M, 4),)](x, w, y, M, N, 1e-6, ROWS=4, BLOCK=triton.next_power_of_2(N))
    return y
"""

ADD = """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)
"""

TUNED = (
    """
@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (64, 128, 256) for w in (2, 4)], key=["n"]
)
"""
    + ADD.lstrip("\n")
    + """
def candidate(x):
    y = torch.empty_like(x)
    kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y
"""
)

HEURISTIC = """
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(y_ptr + i, tl.load(x_ptr + i) + 1)
    else:
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)

def candidate(x):
    y = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y
"""

NESTED = """
@triton.jit
def inner(x, amount: tl.constexpr):
    return x + amount

@triton.jit
def middle(x):
    return inner(x, 0.5) + 0.5

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, middle(x), mask=i < n)

def candidate(x):
    y = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y
"""

SEVERAL = (
    ADD
    + """
@triton.jit
def double(y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(y_ptr + i, mask=i < n) * 2, mask=i < n)

def candidate(x):
    y = torch.empty_like(x)
    n = x.numel()
    kernel[(triton.cdiv(n, 128),)](x, y, n, BLOCK=128)
    for _ in range(3):
        double[(triton.cdiv(n, 256), 1, 1)](y, n, BLOCK=256)
    return y
"""
)

DESTINATION = (
    ADD
    + """
def candidate(x, y):
    kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
"""
)

MODULE = (
    ADD
    + """
class ModelNew(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.full((1000,), scale))
        self.register_buffer("kept", torch.zeros(1000))

    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(8,)](self.kept, y, 1000, BLOCK=128)
        return y + x * self.scale
"""
)

HONEST_CALLS = (
    ADD
    + """
DEVICE = triton.runtime.driver.active.get_active_torch_device()
PROPERTIES = torch.cuda.get_device_properties(DEVICE)
UNITS = PROPERTIES.multi_processor_count

def candidate(x):
    assert x.is_cuda and x.device.type == "cuda" and x.device == DEVICE and not x.is_cpu
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1
    assert torch.cuda.get_device_capability(x.device) == (9, 0)
    assert triton.runtime.driver.active.get_current_target().backend == "cuda"
    assert triton.runtime.driver.active.utils.get_device_properties(0)["max_shared_mem"] == 232448
    assert x.get_device() == torch.cuda.current_device() == 0
    made = [
        torch.empty(x.shape, device="cuda"), torch.empty(x.shape, device=x.device), x.new_empty(x.shape),
        torch.empty_like(x), torch.zeros(x.shape).cuda(), torch.zeros(x.shape).to("cuda:0"),
        torch.zeros(x.shape).to(x), torch.zeros(x.shape).to(x.device, torch.float32),
        torch.ones(1000, device="cuda") * 2,
    ]
    assert all(y.is_cuda for y in made)
    assert not torch.zeros(3).is_cuda and x.cpu().device.type == "cpu" and not x.cpu().is_cuda
    y = made[1]
    with torch.cuda.device(x.device), torch.cuda.stream(torch.cuda.Stream()):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
        end.record()
    torch.cuda.current_stream().synchronize()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) > 0
    assert UNITS == 132
    torch.cuda.nvtx.range_push("work")
    torch.cuda.nvtx.range_pop()
    with torch.device("cuda"):
        assert torch.zeros(3).is_cuda
    return y
"""
)

MATMUL = """
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)

def candidate(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=torch.float32)
    matmul[(M // {BM}, N // {BN})](a, b, c, M, N, K, BM={BM}, BN={BN}, BK={BK}, num_warps={warps}, num_stages={stages})
    return c
"""


def matmul(BM: int, BN: int, BK: int, warps: int = 4, stages: int = 3) -> str:
    return MATMUL.format(BM=BM, BN=BN, BK=BK, warps=warps, stages=stages)


PERSISTENT = """
@triton.jit
def kernel(x_ptr, y_ptr, rows, columns, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    start = tl.program_id(0)
    step = tl.num_programs(0)
    for row in tl.range(start, rows, step, num_stages=num_stages):
        i = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=-float("inf"))
        e = tl.exp(x - tl.max(x, axis=0))
        tl.store(y_ptr + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)

def candidate(x):
    rows, columns = x.shape
    y = torch.empty_like(x)
    properties = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())
    BLOCK = triton.next_power_of_2(columns)
    compiled = kernel.warmup(x, y, rows, columns, BLOCK=BLOCK, num_stages=2, num_warps=8, grid=(1,))
    compiled._init_handles()
    fits = properties["max_num_regs"] // (compiled.n_regs * properties["warpSize"] * 8)
    fits = min(fits, properties["max_shared_mem"] // max(compiled.metadata.shared, 1))
    programs = min(properties["multiprocessor_count"] * fits, rows)
    kernel[(programs, 1, 1)](x, y, rows, columns, BLOCK=BLOCK, num_stages=2, num_warps=8)
    return y
"""
