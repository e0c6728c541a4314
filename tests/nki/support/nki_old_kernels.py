"""Kernels of `neuronxcc.nki` as libraries and language models wrote them, each with its task."""

from __future__ import annotations

from nki_tasks import OLD, task

KERNELS: dict[str, tuple[str, str]] = {}


def kernel(name: str, text: str, judged: str) -> None:
    KERNELS[name] = (OLD + text, judged)


kernel("grids, masks and operators", """
@nki.jit
def add_scaled(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ix = nl.arange(128)[:, None]
    iy = nl.arange(x.shape[1])[None, :]
    for i in nl.affine_range((x.shape[0] + 127) // 128):
        mask = (i * 128 + ix < x.shape[0])
        a = nl.load(x[i * 128 + ix, iy], mask=mask)
        b = nl.load(y[i * 128 + ix, iy], mask=mask)
        nl.store(out[i * 128 + ix, iy], value=a * 2.0 - b + 1.0, mask=mask)
    return out
""", task("a * 2 - b + 1", (300, 90), (300, 90)))

kernel("three-dimensional blocks as a benchmark lays them out", """
@nki.jit
def kernel(v1):
    v2 = nl.ndarray((4, nl.par_dim(128), 64), dtype=np.float32, name='v2', buffer=nl.shared_hbm)
    for i0 in nl.affine_range(4):
        v3 = nl.ndarray((nl.par_dim(128), 64), dtype=np.float32, name='v3', buffer=nl.sbuf)
        v3[nl.arange(128)[:, None], nl.arange(64)[None, :]] = nl.load(
            v1[i0, nl.arange(128)[:, None], nl.arange(64)[None, :]], dtype=np.float32)
        v4 = nl.ndarray((nl.par_dim(128), 64), dtype=np.float32, name='v4', buffer=nl.sbuf)
        v4[nl.arange(128)[:, None], nl.arange(64)[None, :]] = nisa.activation(
            op=nl.silu, data=v3[nl.arange(128)[:, None], nl.arange(64)[None, :]])
        nl.store(v2[i0, nl.arange(128)[:, None], nl.arange(64)[None, :]],
                 value=v4[nl.arange(128)[:, None], nl.arange(64)[None, :]])
    return v2
""", task("a / (1 + np.exp(-a))", (4, 128, 64)))

kernel("accumulation over a loop by loop_reduce", """
@nki.jit
def row_sums(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray((rows, 1), dtype=np.float32, buffer=nl.sbuf)
    for j in nl.affine_range(columns // 64):
        tile = nl.load(x[:, j * 64:(j + 1) * 64])
        total[...] = nl.loop_reduce(nl.sum(tile, axis=[1], keepdims=True), op=np.add, loop_indices=[j])
    nl.store(out, value=total)
    return out
""", task("a.sum(1, keepdims=True)", (100, 256)))

kernel("a matmul with transposed loads", """
@nki.jit
def matmul(a, b):
    m, k = a.shape
    n = b.shape[1]
    out = nl.ndarray((m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // 128):
        acc = nl.zeros((nl.par_dim(128), n), dtype=nl.float32, buffer=nl.psum)
        for j in nl.affine_range(k // 128):
            left = nl.load_transpose2d(a[i * 128:(i + 1) * 128, j * 128:(j + 1) * 128])
            right = nl.load(b[j * 128:(j + 1) * 128, :])
            acc[...] += nl.matmul(left, right, transpose_x=True)
        nl.store(out[i * 128:(i + 1) * 128, :], value=nl.copy(acc, dtype=out.dtype))
    return out
""", task("a @ b", (256, 256), (256, 256)))

kernel("a matmul with tile constants and block tensors", """
@nki.jit
def nki_matmul_tiled_(lhsT, rhs):
    K, M = lhsT.shape
    K_, N = rhs.shape
    assert K == K_, "lhsT and rhs must have the same contraction dimension"
    result = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    TILE_M = nl.tile_size.gemm_stationary_fmax
    TILE_K = nl.tile_size.pmax
    TILE_N = nl.tile_size.gemm_moving_fmax
    for m in nl.affine_range(M // TILE_M):
        for n in nl.affine_range(N // TILE_N):
            res_psum = nl.zeros((TILE_M, TILE_N), nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // TILE_K):
                lhsT_tile = nl.ndarray((TILE_K, TILE_M), dtype=lhsT.dtype, buffer=nl.sbuf)
                rhs_tile = nl.ndarray((TILE_K, TILE_N), dtype=rhs.dtype, buffer=nl.sbuf)
                lhsT_tile[...] = nl.load(lhsT[k * TILE_K:(k + 1) * TILE_K, m * TILE_M:(m + 1) * TILE_M])
                rhs_tile[...] = nl.load(rhs[k * TILE_K:(k + 1) * TILE_K, n * TILE_N:(n + 1) * TILE_N])
                res_psum[...] += nl.matmul(lhsT_tile[...], rhs_tile[...], transpose_x=True)
            res_sb = nl.copy(res_psum, dtype=result.dtype)
            nl.store(result[m * TILE_M:(m + 1) * TILE_M, n * TILE_N:(n + 1) * TILE_N], value=res_sb)
    return result
""", task("a.T @ b", (128, 128), (128, 512)))

kernel("softmax with numpy functions as operators", """
@nki.jit
def softmax(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    top = nisa.tensor_reduce(np.max, tile, axis=(1,), negate=True)
    total = nl.ndarray((x.shape[0], 1), dtype=np.float32, buffer=nl.sbuf)
    power = nisa.activation_reduce(np.exp, tile, bias=top, reduce_op=np.add, reduce_res=total)
    nl.store(out, value=nisa.tensor_scalar(power, np.multiply, nisa.reciprocal(total)))
    return out
""", task("(lambda e: e / e.sum(1, keepdims=True))(np.exp(a - a.max(1, keepdims=True)))", (100, 77)))

kernel("a column vector made of a row by the identity", """
@nki.jit
def transpose(x):
    n, d = x.shape
    out = nl.ndarray((d, n), dtype=x.dtype, buffer=nl.shared_hbm)
    identity = nl.shared_constant(np.identity(n, dtype=np.float32))
    tile = nl.load(x)
    turned = nisa.nc_matmul(tile, nl.load(identity), is_transpose=False)
    nl.store(out, value=nl.copy(turned, dtype=x.dtype))
    return out
""", task("np.ascontiguousarray(a.T)", (96, 64)))

kernel("average pooling over five axes", """
@nki.jit
def tensor_avgpool(in_tensor):
    pool_size = 2
    sz_cin, sz_hin, sz_win = in_tensor.shape
    sz_hout, sz_wout = sz_hin // pool_size, sz_win // pool_size
    out = nl.ndarray((sz_cin, sz_hout, sz_wout), dtype=in_tensor.dtype, buffer=nl.shared_hbm)
    i0, i1, i2, i3, i4 = nl.mgrid[0:sz_cin, 0:sz_hin // pool_size, 0:pool_size, 0:sz_win // pool_size, 0:pool_size]
    in_tile = nl.load(in_tensor)
    total = nl.sum(in_tile[i0, pool_size * i1 + i2, pool_size * i3 + i4], axis=[2, 4])
    nl.store(out, value=total / (pool_size * pool_size))
    return out
""", task("a.reshape(16, 6, 2, 10, 2).mean((2, 4))", (16, 12, 20)))

kernel("a grid of programs", """
@nki.jit
def tensor_add_kernel_(a_input, b_input):
    c_output = nl.ndarray(a_input.shape, dtype=a_input.dtype, buffer=nl.shared_hbm)
    offset_i_x = nl.program_id(0) * 128
    offset_i_y = nl.program_id(1) * 64
    ix = offset_i_x + nl.arange(128)[:, None]
    iy = offset_i_y + nl.arange(64)[None, :]
    a_tile = nl.load(a_input[ix, iy])
    b_tile = nl.load(b_input[ix, iy])
    nl.store(c_output[ix, iy], value=a_tile + b_tile)
    return c_output

def nki_tensor_add(a_input, b_input):
    grid_x = a_input.shape[0] // 128
    grid_y = a_input.shape[1] // 64
    return tensor_add_kernel_[grid_x, grid_y](a_input, b_input)
""", task("a + b", (256, 128), (256, 128)))

kernel("a scan for a state space model", """
@nki.jit
def mamba(delta, u, a):
    channels, length = delta.shape
    states = a.shape[1]
    out = nl.ndarray((channels, length), dtype=delta.dtype, buffer=nl.shared_hbm)
    d_tile, u_tile, a_tile = nl.load(delta), nl.load(u), nl.load(a)
    du = nisa.tensor_tensor(d_tile, u_tile, op=nl.multiply)
    total = nl.zeros((nl.par_dim(channels), length), dtype=np.float32, buffer=nl.sbuf)
    i_p = nl.arange(channels)[:, None]
    for s in nl.affine_range(states):
        decay = nisa.activation(op=nl.exp, data=d_tile, scale=a_tile[i_p, s + nl.arange(1)[None, :]])
        state = nisa.tensor_tensor_scan(decay, du, initial=0, op0=np.multiply, op1=np.add)
        total[...] += state
    nl.store(out, value=total)
    return out
""", """
import numpy as np

def make_inputs(seed, device):
    draw = np.random.default_rng(seed)
    delta = np.abs(draw.standard_normal((32, 48))).astype(np.float32)
    return delta, draw.standard_normal((32, 48)).astype(np.float32), -draw.random((32, 4)).astype(np.float32)

def reference(delta, u, a):
    total = np.zeros_like(delta)
    for s in range(a.shape[1]):
        h = np.zeros_like(delta[:, 0])
        for t in range(delta.shape[1]):
            h = np.exp(delta[:, t] * a[:, s]) * h + delta[:, t] * u[:, t]
            total[:, t] += h
    return total
""")

kernel("rms norm and matmul in one", """
@nki.jit
def fused(x, w):
    m, k = x.shape
    n = w.shape[1]
    out = nl.ndarray((m, n), dtype=x.dtype, buffer=nl.shared_hbm)
    weight = nl.load(w)
    for i in nl.affine_range(m // 128):
        tile = nl.load(x[i * 128:(i + 1) * 128, :])
        mean = nl.mean(nl.square(tile), axis=[1], keepdims=True)
        scaled = nl.multiply(tile, nl.rsqrt(mean))
        turned = nl.copy(nisa.nc_transpose(scaled), dtype=x.dtype)
        product = nisa.nc_matmul(turned, weight)
        nl.store(out[i * 128:(i + 1) * 128, :], value=product)
    return out
""", task("(a / np.sqrt((a * a).mean(1, keepdims=True))) @ b", (256, 128), (128, 200)))

kernel("an optimiser step on four arrays", """
@nki.jit
def adamw(theta, g, m, v):
    rows, columns = theta.shape
    out = nl.ndarray((rows, columns), dtype=theta.dtype, buffer=nl.shared_hbm)
    ip, jf = nl.mgrid[0:128, 0:columns]
    for i in nl.affine_range(nl_ceil(rows, 128)):
        inside = i * 128 + ip < rows
        t, gr, mo, ve = [nl.load(s[i * 128 + ip, jf], mask=inside) for s in (theta, g, m, v)]
        mo = nisa.scalar_tensor_tensor(data=mo, op0=np.multiply, operand0=9.0, op1=np.add, operand1=gr, mask=inside)
        ve = nl.add(nl.multiply(ve, 0.999), nl.multiply(nl.square(gr), 0.001), mask=inside)
        step = nl.multiply(mo, nl.rsqrt(nl.add(ve, 1e-3)), mask=inside)
        nl.store(out[i * 128 + ip, jf], value=t - step * 0.001, mask=inside)
    return out

def nl_ceil(a, b):
    return (a + b - 1) // b
""", """
import numpy as np

def make_inputs(seed, device):
    draw = np.random.default_rng(seed)
    theta, g, m, v = (draw.standard_normal((200, 60)).astype(np.float32) for _ in range(4))
    return theta, g, m, v * v

def reference(theta, g, m, v):
    m = np.float32(9) * m + g
    v = np.float32(0.999) * v + np.float32(0.001) * g * g
    return theta - np.float32(0.001) * m / np.sqrt(v + np.float32(1e-3))
""")

kernel("batch norm statistics", """
@nki.jit
def layer_norm(x):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    moments = nisa.bn_aggr(nisa.bn_stats(tile))
    scale = nl.rsqrt(moments[:, 1] + 1e-5)
    shifted = nisa.tensor_scalar(tile, np.subtract, moments[:, 0], op1=np.multiply, operand1=scale)
    nl.store(out, value=shifted)
    return out
""", task("(a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + np.float32(1e-5))", (100, 128)))

kernel("casts and static types", """
@nki.jit
def half(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x, dtype=nl.float32)
    wide = nl.static_cast(tile, nl.float32).astype(np.float32)
    nl.store(out, value=nl.multiply(wide, 0.5, dtype=x.dtype))
    return out
""", task("a * np.float16(0.5)", (64, 90), dtype="float16"))

kernel("bfloat16 matmul", """
@nki.jit
def matmul(a, b):
    k, m = a.shape
    n = b.shape[1]
    out = nl.ndarray((m, n), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    res = nisa.nc_matmul(nl.load(a), nl.load(b))
    nl.store(out, value=nl.copy(res, dtype=nl.bfloat16))
    return out
""", """
import ml_dtypes
import numpy as np

def make_inputs(seed, device):
    draw = np.random.default_rng(seed)
    return [draw.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((128, 64), (128, 256))]

def reference(a, b):
    return (a.astype(np.float32).T @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
""")

kernel("causal scores by affine_select", """
@nki.jit
def scores(q, k):
    d, n = q.shape
    out = nl.ndarray((n, n), dtype=q.dtype, buffer=nl.shared_hbm)
    products = nisa.nc_matmul(nl.load(q), nl.load(k))
    i_q, i_k = nl.mgrid[0:n, 0:n]
    tile = nl.copy(products, dtype=np.float32)
    masked = nisa.affine_select(pred=(i_q >= i_k), on_true_tile=tile, on_false_value=-1e4)
    nl.store(out, value=masked)
    return out
""", task("np.where(np.tri(a.shape[1], dtype=bool), a.T @ b, np.float32(-1e4))", (64, 100), (64, 100)))

kernel("positions by iota", """
@nki.jit
def add_position(x):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(n)[:, None]
    i_f = nl.arange(d)[None, :]
    place = nisa.iota(i_p * 2 + i_f, dtype=nl.int32)
    nl.store(out, value=nl.add(nl.load(x), nl.copy(place, dtype=np.float32)))
    return out
""", task("a + (2 * np.arange(60)[:, None] + np.arange(70)).astype(np.float32)", (60, 70)))

kernel("a second output and a host wrapper", """
@nki.jit
def split(x):
    low = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    high = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(low, value=nl.minimum(tile, 0.0))
    nl.store(high, value=nl.maximum(tile, 0.0))
    return low, high

def candidate(x):
    negative, positive = split(x)
    return positive, negative
""", task("(np.maximum(a, 0), np.minimum(a, 0))", (90, 50)))

kernel("sequential iterations that depend on each other", """
@nki.jit
def powers(x):
    n, d = x.shape
    out = nl.ndarray((3, nl.par_dim(n), d), dtype=x.dtype, buffer=nl.shared_hbm)
    base = nl.load(x)
    now = nl.ndarray((nl.par_dim(n), d), dtype=np.float32, buffer=nl.sbuf)
    now[...] = nl.copy(base)
    for i in nl.sequential_range(3):
        nl.store(out[i], value=now)
        now[...] = nl.multiply(now, base)
    return out
""", task("np.stack([a, a * a, a * a * a])", (40, 60)))

kernel("module level calls that only a Neuron machine needs", """
from neuronxcc.nki.typing import tensor
import neuronxcc.nki.compiler as ncc

@nki.jit(platform_target="trn1")
@nki.compiler.skip_middle_end_transformations
def tanh_kernel(x: tensor) -> tensor:
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.tanh(nl.load(x)))
    return out
""", task("np.tanh(a)", (128, 128)))

kernel("dma copies and an explicit broadcast", """
@nki.jit
def add_row(x, row):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((nl.par_dim(n), d), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    line = nl.load(row.reshape((1, d)))
    nl.store(out, value=nl.add(tile, nl.broadcast_to(line, shape=(n, d))))
    return out
""", task("a + b", (100, 64), (64,)))
