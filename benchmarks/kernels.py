"""Candidates for the benchmarks: 8 tasks, and for each as many distinct Triton kernels as are asked for."""

from __future__ import annotations

from collections.abc import Iterator

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"

_ELEMENTWISE = '''
@triton.jit
def kernel_{tag}({pointers}, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
{loads}
    tl.store(out_ptr + offsets, {formula}, mask=mask)


def candidate({arguments}):
    out = torch.empty_like({first})
    n = out.numel()
    kernel_{tag}[(triton.cdiv(n, {block}),)]({arguments}, out, n, BLOCK={block}, num_warps={warps})
    return out
'''

_ROWWISE = '''
@triton.jit
def kernel_{tag}(x_ptr, out_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < width
    x = tl.load(x_ptr + row * width + columns, mask=mask, other={other}).to(tl.float32)
{body}
    tl.store(out_ptr + row * width + columns, y, mask=mask)


def candidate(x):
    out = torch.empty_like(x)
    rows, width = x.shape
    kernel_{tag}[(rows,)](x, out, width, BLOCK=triton.next_power_of_2(width) * {spread}, num_warps={warps})
    return out
'''

_MATMUL = '''
@triton.jit
def kernel_{tag}(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        ks = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :], mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + columns[None, :], mask=(ks[:, None] < K) & (columns[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc, mask=(rows[:, None] < M) & (columns[None, :] < N))


def candidate(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    grid = (triton.cdiv(M, {bm}), triton.cdiv(N, {bn}))
    kernel_{tag}[grid](a, b, c, M, N, K, BM={bm}, BN={bn}, BK={bk}, num_warps={warps})
    return c
'''

TASKS: dict[str, tuple[str, str]] = {
    "add": ("x, y", "x + y"),
    "swiglu": ("x, y", "torch.nn.functional.silu(x) * y"),
    "relu_squared": ("x", "torch.relu(x) ** 2"),
    "sigmoid": ("x", "torch.sigmoid(x)"),
    "softmax": ("x", "torch.softmax(x, dim=-1)"),
    "rmsnorm": ("x", "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)"),
    "layernorm": ("x", "torch.nn.functional.layer_norm(x, (x.shape[-1],))"),
    "matmul": ("a, b", "a @ b"),
}
"""Name -> arguments and the reference's expression."""

_FORMULAS = {
    "add": "x + y",
    "swiglu": "x * tl.sigmoid(x) * y",
    "relu_squared": "tl.where(x > 0, x * x, 0.0)",
    "sigmoid": "tl.sigmoid(x)",
}
_BODIES = {
    "softmax": (
        "-float('inf')",
        "    e = tl.exp(x - tl.max(x, axis=0))\n    y = e / tl.sum(e, axis=0)",
    ),
    "rmsnorm": ("0.0", "    y = x * tl.rsqrt(tl.sum(x * x, axis=0) / width + 1e-6)"),
    "layernorm": (
        "0.0",
        "    mean = tl.sum(x, axis=0) / width\n    d = tl.where(mask, x - mean, 0.0)\n"
        "    y = d * tl.rsqrt(tl.sum(d * d, axis=0) / width + 1e-5)",
    ),
}


def task(name: str, rows: int, columns: int) -> str:
    """Text of one task file with three cases (one of them with odd sizes)."""
    arguments, expression = TASKS[name]
    count = arguments.count(",") + 1
    if name == "matmul":
        shapes = "torch.randn(rows, columns, generator=g, device=device), torch.randn(columns, rows, generator=g, device=device)"
    else:
        shapes = ", ".join(["torch.randn(rows, columns, generator=g, device=device)"] * count) + ("," if count == 1 else "")
    return f'''# /// kengine
# name = "{name}"
# extra_values = false
# [[cases]]
# rows = {rows}
# columns = {columns}
# [[cases]]
# rows = {rows // 2 + 1}
# columns = {columns - 3}
# [[cases]]
# rows = {rows}
# columns = {columns}
# values = "outlier"
# ///
import torch


def reference({arguments}):
    return {expression}


def make_inputs(seed, device, rows, columns):
    g = torch.Generator(device=device).manual_seed(seed)
    return ({shapes})
'''


def candidate(name: str, variant: int) -> str:
    """Text of one candidate; variants differ in block shape, warps and names, so that no cache can serve two."""
    tag = f"{name}_{variant}"
    warps = (1, 2, 4, 8)[variant % 4]
    if name == "matmul":
        bm, bn, bk = ((32, 32, 32), (64, 32, 32), (32, 64, 32), (64, 64, 32))[variant // 4 % 4]
        return HEAD + _MATMUL.format(tag=tag, bm=bm, bn=bn, bk=bk, warps=warps)
    if name in _BODIES:
        other, body = _BODIES[name]
        return HEAD + _ROWWISE.format(tag=tag, other=other, body=body, spread=(1, 2, 1, 2)[variant // 4 % 4], warps=warps)
    arguments = TASKS[name][0]
    names = arguments.split(", ")
    return HEAD + _ELEMENTWISE.format(
        tag=tag,
        pointers=", ".join(f"{n}_ptr" for n in names),
        loads="\n".join(f"    {n} = tl.load({n}_ptr + offsets, mask=mask)" for n in names),
        formula=_FORMULAS[name],
        arguments=arguments,
        first=names[0],
        block=(128, 256, 512, 1024)[variant // 4 % 4],
        warps=warps,
    )


def corpus(count: int, rows: int, columns: int) -> Iterator[tuple[str, str, str]]:
    """Yield (task name, task text, candidate text), `count` in all, task by task in turn."""
    names = list(TASKS)
    for n in range(count):
        name = names[n % len(names)]
        yield name, task(name, rows, columns), candidate(name, n // len(names))
