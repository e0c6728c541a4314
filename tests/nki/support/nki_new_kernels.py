"""Kernels of the standalone `nki` as libraries and language models write them, each with its task."""

from __future__ import annotations

from nki_tasks import NEW, task

KERNELS: dict[str, tuple[str, str]] = {}


def kernel(name: str, text: str, judged: str) -> None:
    KERNELS[name] = (NEW + text, judged)


kernel("load and store with operators of nl", """
@nki.jit
def silu_kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nl.multiply(tile, nl.sigmoid(tile)))
    return out
""", task("a / (1 + np.exp(-a))", (128, 300)))

kernel("layer norm by batch norm statistics", """
@nki.jit
def layer_norm(x, gamma, beta, eps=1e-5):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    g = nl.ndarray((128, d), dtype=x.dtype, buffer=nl.sbuf)
    b = nl.ndarray((128, d), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=g, src=gamma.reshape((1, d)).broadcast(0, 128))
    nisa.dma_copy(dst=b, src=beta.reshape((1, d)).broadcast(0, 128))
    for i in nl.affine_range(n // 128):
        rows = nl.ds(i * 128, 128)
        tile = nl.ndarray((128, d), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[rows, :])
        stats = nl.ndarray((128, 6), dtype=nl.float32, buffer=nl.sbuf)
        moments = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.sbuf)
        nisa.bn_stats(dst=stats, data=tile)
        nisa.bn_aggr(dst=moments, data=stats)
        scale = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=scale, data=moments[:, 1:2], op0=nl.add, operand0=eps)
        nisa.activation(dst=scale, op=nl.rsqrt, data=scale)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.subtract, operand0=moments[:, 0:1], op1=nl.multiply,
                           operand1=scale)
        nisa.tensor_tensor(dst=tile, data1=tile, data2=g, op=nl.multiply)
        nisa.tensor_tensor(dst=tile, data1=tile, data2=b, op=nl.add)
        nisa.dma_copy(dst=out[rows, :], src=tile)
    return out
""", task("(a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + np.float32(1e-5)) * b + c",
          (256, 192), (192,), (192,)))  # fmt: skip

kernel("matmul that transposes on the tensor engine", """
P = 128

def transpose_block(block, rows, columns):
    turned = nl.ndarray((columns, rows), dtype=block.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=block)
    copied = nl.ndarray((columns, rows), dtype=block.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=copied, src=turned)
    return copied

@nki.jit
def matmul(a, b):
    M, K = a.shape
    _, N = b.shape
    assert K % P == 0, "K must be a multiple of 128"
    c = nl.ndarray((M, N), dtype=a.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(M // P):
        acc = nl.ndarray((P, N), dtype=nl.float32, buffer=nl.psum)
        for k in nl.sequential_range(K // P):
            left = nl.ndarray((P, P), dtype=a.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=left, src=a[nl.ds(m * P, P), nl.ds(k * P, P)])
            right = nl.ndarray((P, N), dtype=b.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=right, src=b[nl.ds(k * P, P), :])
            nisa.nc_matmul(dst=acc, stationary=transpose_block(left, P, P), moving=right, accumulate=k > 0)
        res = nl.ndarray((P, N), dtype=c.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=res, src=acc, engine=nisa.scalar_engine)
        nisa.dma_copy(dst=c[nl.ds(m * P, P), :], src=res)
    return c
""", task("a @ b", (256, 256), (256, 384)))

kernel("gated mlp", """
@nki.jit
def swiglu(x_t, w_gate, w_up):
    k, m = x_t.shape
    n = w_gate.shape[1]
    out = nl.ndarray((m, n), dtype=x_t.dtype, buffer=nl.shared_hbm)
    x = nl.ndarray((k, m), dtype=x_t.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=x, src=x_t)
    tiles = []
    for w in (w_gate, w_up):
        weight = nl.ndarray((k, n), dtype=w.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=weight, src=w)
        psum = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=psum, stationary=x, moving=weight)
        tiles.append(psum)
    gate, up = tiles
    act = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=act, op=nl.silu, data=gate)
    res = nl.ndarray((m, n), dtype=x_t.dtype, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=res, data1=act, data2=up, op=nl.multiply)
    nisa.dma_copy(dst=out, src=res)
    return out
""", task("(lambda g, u: g / (1 + np.exp(-g)) * u)(a.T @ b, a.T @ c)", (128, 100), (128, 512), (128, 512)))

kernel("rotary embedding", """
@nki.jit
def rope(x, cos, sin):
    d, s = x.shape
    half = d // 2
    out = nl.ndarray((d, s), dtype=x.dtype, buffer=nl.shared_hbm)
    parts = []
    for source in (x[0:half, :], x[half:d, :], cos, sin):
        tile = nl.ndarray((half, s), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=source)
        parts.append(tile)
    low, high, c, s_ = parts
    for place, (first, second, op) in enumerate(((low, high, nl.subtract), (high, low, nl.add))):
        u = nl.ndarray((half, s), dtype=x.dtype, buffer=nl.sbuf)
        v = nl.ndarray((half, s), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=u, data1=first, data2=c, op=nl.multiply)
        nisa.tensor_tensor(dst=v, data1=second, data2=s_, op=nl.multiply)
        nisa.tensor_tensor(dst=u, data1=u, data2=v, op=op)
        nisa.dma_copy(dst=out[place * half : (place + 1) * half, :], src=u)
    return out
""", task("np.concatenate([a[:32] * b - a[32:] * c, a[32:] * b + a[:32] * c])", (64, 256), (32, 256), (32, 256)))

kernel("cumulative sum by a scan", """
@nki.jit
def cumsum(x):
    n, d = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ones = nl.ndarray((n, d), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    tile = nl.load(x)
    acc = nl.ndarray((n, d), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_tensor_scan(dst=acc, data0=ones, data1=tile, initial=0.0, op0=nl.multiply, op1=nl.add)
    nl.store(out, acc)
    return out
""", task("np.cumsum(a, axis=1)", (64, 200)))

kernel("state space scan in two chunks", """
@nki.jit
def scan(decay, value):
    n, d = decay.shape
    out = nl.ndarray((n, d), dtype=value.dtype, buffer=nl.shared_hbm)
    state = nl.ndarray((n, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=state, value=0.0)
    for chunk in nl.sequential_range(2):
        part = nl.ds(chunk * (d // 2), d // 2)
        a = nl.load(decay[:, part])
        b = nl.load(value[:, part])
        gate = nl.ndarray((n, d // 2), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=gate, op=nl.sigmoid, data=a)
        h = nl.ndarray((n, d // 2), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor_scan(dst=h, data0=gate, data1=b, initial=state, op0=nl.multiply, op1=nl.add)
        nisa.tensor_copy(dst=state, src=h[:, d // 2 - 1 : d // 2])
        nl.store(out[:, part], h)
    return out
""", """
import numpy as np

def make_inputs(seed, device):
    draw = np.random.default_rng(seed)
    return [draw.standard_normal((32, 64)).astype(np.float32) for _ in range(2)]

def reference(decay, value):
    gate = 1 / (1 + np.exp(-decay))
    h, out = np.zeros(len(decay), dtype=value.dtype), np.empty_like(value)
    for t in range(decay.shape[1]):
        h = gate[:, t] * h + value[:, t]
        out[:, t] = h
    return out
""")

kernel("average pooling by an access pattern", """
@nki.jit
def avg_pool2d(x, size=2):
    c, h, w = x.shape
    out = nl.ndarray((c, h // size, w // size), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((c, h, w), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    windows = tile.ap([[h * w, c], [size * w, h // size], [size, w // size], [w, size], [1, size]])
    total = nl.ndarray((c, h // size, w // size), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=windows, axis=(3, 4))
    nisa.tensor_scalar(dst=total, data=total, op0=nl.multiply, operand0=1.0 / (size * size))
    nisa.dma_copy(dst=out, src=total)
    return out
""", task("a.reshape(16, 6, 2, 10, 2).mean((2, 4))", (16, 12, 20)))

kernel("transpose of a batch by dma", """
@nki.jit
def transpose(x):
    b, m, n = x.shape
    out = nl.ndarray((b, n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(b):
        tile = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_transpose(dst=tile, src=x.select(0, i))
        nisa.dma_copy(dst=out[i], src=tile)
    return out
""", task("np.ascontiguousarray(a.transpose(0, 2, 1))", (3, 64, 96)))

kernel("causal mask", """
@nki.jit
def mask(x):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    kept = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.sbuf)
    nisa.affine_select(dst=kept, pattern=[[-1, d]], channel_multiplier=1, on_true_tile=tile, on_false_value=0.0,
                       cmp_op=nl.greater_equal)
    nl.store(out, kept)
    return out
""", task("np.tril(a)", (100, 120)))

kernel("index and maximum of each row", """
@nki.jit
def top(x):
    n, d = x.shape
    values = nl.ndarray((n, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    places = nl.ndarray((n, 8), dtype=nl.uint32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    best = nl.ndarray((n, 8), dtype=nl.float32, buffer=nl.sbuf)
    index = nl.ndarray((n, 8), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.max8(dst=best, src=tile)
    nisa.nc_find_index8(dst=index, data=tile, vals=best)
    nl.store(values, best)
    nl.store(places, index)
    return values, places
""", """
import numpy as np

def make_inputs(seed, device):
    return (np.random.default_rng(seed).standard_normal((50, 90)).astype(np.float32),)

def reference(x):
    order = np.argsort(-x, axis=1, kind="stable")[:, :8]
    return np.take_along_axis(x, order, axis=1), order.astype(np.uint32)
""")

kernel("gather of rows by an index tile", """
@nki.jit
def embedding(table, ids):
    rows, d = table.shape
    n = ids.shape[0]
    out = nl.ndarray((n, d), dtype=table.dtype, buffer=nl.shared_hbm)
    index = nl.ndarray((n, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=index, src=ids.reshape((n, 1)))
    tile = nl.ndarray((n, d), dtype=table.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=table.ap([[d, n], [1, d]], vector_offset=index, indirect_dim=0))
    nisa.dma_copy(dst=out, src=tile)
    return out
""", """
import numpy as np

def make_inputs(seed, device):
    draw = np.random.default_rng(seed)
    return draw.standard_normal((300, 48)).astype(np.float32), draw.integers(0, 300, 64).astype(np.int32)

def reference(table, ids):
    return table[ids]
""")

kernel("argument classes and a nested helper", """
class Shape(nl.NKIObject):
    def __init__(self, rows, columns):
        self.rows = rows
        self.columns = columns

def load_scaled(source, shape, factor):
    tile = nl.ndarray((shape.rows, shape.columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=source)
    nisa.activation(dst=tile, op=nl.copy, data=tile, scale=factor)
    return tile

@nki.jit
def scaled_sum(x, y, alpha=2.0, beta=0.5):
    shape = Shape(*x.shape)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    a, b = load_scaled(x, shape, alpha), load_scaled(y, shape, beta)
    nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.add)
    nisa.dma_copy(dst=out, src=a)
    return out
""", task("np.float32(2) * a + np.float32(0.5) * b", (90, 33), (90, 33)))

kernel("two cores share the rows", """
@nki.jit
def relu_squared(x):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    cores, core = nl.num_programs(0), nl.program_id(0)
    rows = nl.ds(core * (n // cores), n // cores)
    tile = nl.ndarray((n // cores, d), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[rows, :])
    nisa.activation(dst=tile, op=nl.relu, data=tile)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.multiply)
    nisa.dma_copy(dst=out[rows, :], src=tile)
    return out

def run(x):
    return relu_squared[2](x)
""", task("np.maximum(a, 0) ** 2", (200, 50)))

kernel("a host wrapper that pads and cuts", """
@nki.jit
def double(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.static_range(x.shape[0] // 128):
        tile = nl.load(x[i * 128 : (i + 1) * 128])
        nl.store(out[i * 128 : (i + 1) * 128], nl.add(tile, tile))
    return out

def candidate(x):
    rows = x.shape[0]
    padded = np.zeros((-(-rows // 128) * 128, x.shape[1]), dtype=x.dtype)
    padded[:rows] = x
    return np.ascontiguousarray(double(padded)[:rows])
""", task("a + a", (200, 31)))

kernel("bfloat16 with sums in float32", """
@nki.jit
def softmax(x):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    tile = nl.load(x)
    top = nl.max(tile, axis=1, keepdims=True)
    shifted = nl.subtract(tile, nl.broadcast_to(top, (n, d)), dtype=nl.float32)
    power = nl.exp(shifted)
    total = nl.sum(power, axis=1, keepdims=True)
    inverse = nl.reciprocal(total)
    nl.store(out, nl.multiply(power, nl.broadcast_to(inverse, (n, d)), dtype=nl.bfloat16))
    return out
""", """
import ml_dtypes
import numpy as np

def make_inputs(seed, device):
    return (np.random.default_rng(seed).standard_normal((60, 80)).astype(ml_dtypes.bfloat16),)

def reference(x):
    wide = x.astype(np.float32)
    e = np.exp(wide - wide.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)).astype(x.dtype)
""")

kernel("integers and a comparison", """
@nki.jit
def count_equal(x, y):
    n, d = x.shape
    out = nl.ndarray((n, 1), dtype=nl.int32, buffer=nl.shared_hbm)
    a, b = nl.load(x), nl.load(y)
    same = nl.ndarray((n, d), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=same, data1=a, data2=b, op=nl.equal)
    count = nl.ndarray((n, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=count, op=nl.add, data=same, axis=1)
    nl.store(out, count)
    return out
""", """
import numpy as np

def make_inputs(seed, device):
    draw = np.random.default_rng(seed)
    return [draw.integers(0, 4, (40, 100)).astype(np.int32) for _ in range(2)]

def reference(x, y):
    return (x == y).sum(axis=1, keepdims=True).astype(np.int32)
""")

kernel("views: split, permute, merge", """
@nki.jit
def heads_first(x):
    s, width = x.shape
    h = 4
    d = width // h
    out = nl.ndarray((h, s, d), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((s, width), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    by_head = tile.reshape_dim(1, (h, d))
    nisa.dma_copy(dst=out.permute((1, 0, 2)), src=by_head)
    return out
""", task("np.ascontiguousarray(a.reshape(96, 4, 16).transpose(1, 0, 2))", (96, 64)))

kernel("iota, positions and a predicated copy", """
@nki.jit
def keep_even(x):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    place = nl.ndarray((n, d), dtype=nl.int32, buffer=nl.sbuf)
    nisa.iota(dst=place, pattern=[[1, d]], offset=0, channel_multiplier=0)
    odd = nl.ndarray((n, d), dtype=nl.int32, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=odd, data=place, op0=nl.bitwise_and, operand0=1)
    even = nl.ndarray((n, d), dtype=nl.uint8, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=even, data=odd, op0=nl.equal, operand0=0)
    kept = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=kept, value=0.0)
    nisa.tensor_copy_predicated(dst=kept, src=tile, predicate=even)
    nl.store(out, kept)
    return out
""", task("np.where(np.arange(70) % 2 == 0, a, np.float32(0))", (100, 70)))

kernel("a device loop over tiles", """
@nki.jit
def gelu(x):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)

    def body(i):
        tile = nl.ndarray((128, d), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128, 128), :])
        nisa.activation(dst=tile, op=nl.gelu_apprx_tanh, data=tile)
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128), :], src=tile)

    nl.fori_loop(0, n // 128, body)
    return out
""", task("0.5 * a * (1 + np.tanh(np.float32(0.7978845608) * (a + np.float32(0.044715) * a ** 3)))", (256, 60)))

kernel("weighted sum over partitions", """
@nki.jit
def column_sums(x):
    n, d = x.shape
    out = nl.ndarray((1, d), dtype=x.dtype, buffer=nl.shared_hbm)
    ones = nl.ndarray((n, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    tile = nl.load(x)
    total = nl.zeros((1, d), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=total, stationary=ones, moving=tile, accumulate=False)
    res = nl.copy(total, dtype=x.dtype)
    nl.store(out, res)
    return out
""", task("a.sum(axis=0, keepdims=True)", (128, 200)))
