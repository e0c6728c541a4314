"""Whole kernels of both generations, as files that candidates could be."""

from __future__ import annotations

NEW = '''
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def vector_add(a, b):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    n, d = a.shape
    for i in nl.affine_range((n + 127) // 128):
        p = min(128, n - i * 128)
        x = nl.ndarray((p, d), dtype=a.dtype, buffer=nl.sbuf)
        y = nl.ndarray((p, d), dtype=a.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=x, src=a[i * 128:i * 128 + p, :])
        nisa.dma_copy(dst=y, src=b[i * 128:i * 128 + p, :])
        nisa.tensor_tensor(dst=x, data1=x, data2=y, op=nl.add)
        nisa.dma_copy(dst=out[i * 128:i * 128 + p, :], src=x)
    return out


@nki.jit
def rms_norm(x, w, eps=1e-6):
    n, d = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    weight = nl.ndarray((128, d), dtype=w.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=weight, src=w.ap(pattern=[[0, 128], [1, d]]))
    for i in nl.affine_range((n + 127) // 128):
        p = min(128, n - i * 128)
        tile = nl.ndarray((p, d), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128:i * 128 + p, :])
        square = nl.ndarray((p, d), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((p, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=square, op=nl.square, data=tile, reduce_op=nl.add, reduce_res=total)
        nisa.tensor_scalar(dst=total, data=total, op0=nl.multiply, operand0=1.0 / d, op1=nl.add, operand1=eps)
        nisa.activation(dst=total, op=nl.rsqrt, data=total)
        result = nl.ndarray((p, d), dtype=x.dtype, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(dst=result, data=tile, op0=nl.multiply, operand0=total, op1=nl.multiply,
                                  operand1=weight[0:p, :])
        nisa.dma_copy(dst=out[i * 128:i * 128 + p, :], src=result)
    return out


@nki.jit
def tiled_matmul(lhs_t, rhs):
    k, m = lhs_t.shape
    k, n = rhs.shape
    out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range((m + 127) // 128):
        pm = min(128, m - i * 128)
        left = []
        for t in nl.affine_range(k // 128):
            tile = nl.ndarray((128, pm), dtype=lhs_t.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=lhs_t[t * 128:(t + 1) * 128, i * 128:i * 128 + pm])
            left.append(tile)
        for j in nl.affine_range((n + 511) // 512):
            pn = min(512, n - j * 512)
            acc = nl.ndarray((pm, pn), dtype=nl.float32, buffer=nl.psum)
            for t in nl.affine_range(k // 128):
                right = nl.ndarray((128, pn), dtype=rhs.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=right, src=rhs[t * 128:(t + 1) * 128, j * 512:j * 512 + pn])
                nisa.nc_matmul(dst=acc, stationary=left[t], moving=right)
            result = nl.ndarray((pm, pn), dtype=out.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=acc)
            nisa.dma_copy(dst=out[i * 128:i * 128 + pm, j * 512:j * 512 + pn], src=result)
    return out


def row_max_negated(tile, p):
    top = nl.ndarray((p, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=top, op=nl.maximum, data=tile, axis=1, negate=True)
    return top


@nki.jit
def softmax(x):
    n, d = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range((n + 127) // 128):
        p = min(128, n - i * 128)
        tile = nl.ndarray((p, d), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128:i * 128 + p, :])
        top = row_max_negated(tile, p)
        power = nl.ndarray((p, d), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((p, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=power, op=nl.exp, data=tile, bias=top, reduce_op=nl.add, reduce_res=total,
                        reduce_cmd=nisa.reduce_cmd.reset_reduce)
        nisa.reciprocal(dst=total, data=total)
        nisa.tensor_scalar(dst=tile, data=power, op0=nl.multiply, operand0=total)
        nisa.dma_copy(dst=out[i * 128:i * 128 + p, :], src=tile)
    return out


@nki.jit
def flash_attention(q, k, v, causal=True):
    """q, k, v: (seq, head) float32; key blocks of 128 with a running maximum and sum."""
    seq, head = q.shape
    out = nl.ndarray(q.shape, dtype=q.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(seq // 128):
        q_t = nl.ndarray((head, 128), dtype=q.dtype, buffer=nl.sbuf)
        nisa.dma_transpose(dst=q_t, src=q[i * 128:(i + 1) * 128, :])
        acc = nl.ndarray((128, head), dtype=nl.float32, buffer=nl.sbuf)
        best = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=acc, value=0.0)
        nisa.memset(dst=best, value=-3e38)
        nisa.memset(dst=total, value=0.0)
        for j in nl.sequential_range(i + 1 if causal else seq // 128):
            k_t = nl.ndarray((head, 128), dtype=k.dtype, buffer=nl.sbuf)
            v_j = nl.ndarray((128, head), dtype=v.dtype, buffer=nl.sbuf)
            nisa.dma_transpose(dst=k_t, src=k[j * 128:(j + 1) * 128, :])
            nisa.dma_copy(dst=v_j, src=v[j * 128:(j + 1) * 128, :])
            scores = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=scores, stationary=q_t, moving=k_t)
            s = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=s, data=scores, op0=nl.multiply, operand0=head ** -0.5)
            if causal and i == j:
                nisa.affine_select(dst=s, pattern=[[-1, 128]], offset=0, channel_multiplier=1, on_true_tile=s,
                                   on_false_value=-3e38, cmp_op=nl.greater_equal)
            top = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_reduce(dst=top, op=nl.maximum, data=s, axis=1)
            nisa.tensor_tensor(dst=top, data1=top, data2=best, op=nl.maximum)
            negative = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=negative, data=top, op0=nl.multiply, operand0=-1.0)
            fade = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation(dst=fade, op=nl.exp, data=best, bias=negative)
            p = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
            row = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation_reduce(dst=p, op=nl.exp, data=s, bias=negative, reduce_op=nl.add, reduce_res=row)
            nisa.scalar_tensor_tensor(dst=total, data=total, op0=nl.multiply, operand0=fade, op1=nl.add, operand1=row)
            p_t_psum = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_transpose(dst=p_t_psum, data=p)
            p_t = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=p_t, src=p_t_psum)
            part = nl.ndarray((128, head), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=part, stationary=p_t, moving=v_j)
            nisa.scalar_tensor_tensor(dst=acc, data=acc, op0=nl.multiply, operand0=fade, op1=nl.add, operand1=part)
            nisa.tensor_copy(dst=best, src=top)
        nisa.reciprocal(dst=total, data=total)
        result = nl.ndarray((128, head), dtype=q.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=result, data=acc, op0=nl.multiply, operand0=total)
        nisa.dma_copy(dst=out[i * 128:(i + 1) * 128, :], src=result)
    return out


def host_softmax(x):
    """A host wrapper that calls the kernel."""
    return softmax(x)
'''

OLD = '''
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
from neuronxcc.nki.typing import tensor


@nki.jit
def vector_add(a: tensor, b: tensor):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    n, d = a.shape
    i_p, i_f = nl.mgrid[0:128, 0:d]
    for i in nl.affine_range((n + 127) // 128):
        mask = i * 128 + i_p < n
        total = nl.load(a[i * 128 + i_p, i_f], mask=mask) + nl.load(b[i * 128 + i_p, i_f], mask=mask)
        nl.store(out[i * 128 + i_p, i_f], value=total, mask=mask)
    return out


@nki.jit
def rms_norm(x, w, eps=1e-6):
    n, d = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(d)[None, :]
    i_one = nl.arange(1)[:, None]
    weight = nl.load(w.reshape((1, d))[i_one, i_f])
    for i in nl.affine_range((n + 127) // 128):
        tile = nl.load(x[i * 128 + i_p, i_f], mask=(i * 128 + i_p < n))
        mean = nl.sum(nl.square(tile), axis=[1]) / d
        scaled = nl.multiply(tile, nl.rsqrt(mean + eps))
        result = nl.multiply(scaled, weight.broadcast_to((128, d)))
        nl.store(out[i * 128 + i_p, i_f], value=result, mask=(i * 128 + i_p < n))
    return out


@nki.jit
def tiled_matmul(lhs_t, rhs):
    k, m = lhs_t.shape
    k, n = rhs.shape
    out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    left = nl.ndarray((k // 128, nl.par_dim(128), m), dtype=lhs_t.dtype, buffer=nl.sbuf)
    i_k = nl.arange(128)[:, None]
    i_m = nl.arange(m)[None, :]
    for t in nl.affine_range(k // 128):
        left[t, i_k, i_m] = nl.load(lhs_t[t * 128 + i_k, i_m])
    for i in nl.affine_range(m // 128):
        for j in nl.affine_range(n // 512):
            acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for t in nl.affine_range(k // 128):
                right = nl.load(rhs[t * 128:(t + 1) * 128, nl.ds(j * 512, 512)])
                acc += nisa.nc_matmul(left[t, :, i * 128:(i + 1) * 128], right)
            nl.store(out[i * 128:(i + 1) * 128, j * 512:(j + 1) * 512], value=nl.copy(acc, dtype=out.dtype))
    return out


@nki.jit
def softmax(x):
    n, d = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(d)[None, :]
    for i in nl.affine_range((n + 127) // 128):
        mask = i * 128 + i_p < n
        tile = nl.load(x[i * 128 + i_p, i_f], mask=mask)
        top = nisa.tensor_reduce(np.max, tile, axis=(1,), negate=True, mask=mask)
        power = nisa.activation(op=np.exp, data=tile, bias=top, mask=mask)
        total = nl.sum(power, axis=1, keepdims=True, mask=mask)
        nl.store(out[i * 128 + i_p, i_f], value=power * nl.reciprocal(total), mask=mask)
    return out


@nki.jit
def flash_attention(q, k, v, causal=True):
    seq, head = q.shape
    out = nl.ndarray(q.shape, dtype=q.dtype, buffer=nl.shared_hbm)
    i_q = nl.arange(128)[:, None]
    i_k = nl.arange(128)[None, :]
    i_h = nl.arange(head)[None, :]
    for i in nl.affine_range(seq // 128):
        q_t = nl.load_transpose2d(q[i * 128:(i + 1) * 128, :])
        acc = nl.zeros((128, head), dtype=nl.float32, buffer=nl.sbuf)
        best = nl.full((128, 1), -3e38, dtype=nl.float32, buffer=nl.sbuf)
        total = nl.zeros((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.sequential_range(i + 1 if causal else seq // 128):
            k_t = nl.load_transpose2d(k[j * 128:(j + 1) * 128, :])
            v_j = nl.load(v[j * 128 + i_q, i_h])
            s = nl.multiply(nl.matmul(q_t, k_t, transpose_x=True), head ** -0.5)
            if causal:
                s = nisa.affine_select(pred=(i * 128 + i_q >= j * 128 + i_k), on_true_tile=s, on_false_value=-3e38)
            top = nl.maximum(nl.max(s, axis=1, keepdims=True), best)
            fade = nl.exp(best - top)
            p = nl.exp(s - top)
            total[...] = total * fade + nl.sum(p, axis=1, keepdims=True)
            p_t = nl.copy(nisa.nc_transpose(p))
            acc[...] = acc * fade + nisa.nc_matmul(p_t, v_j)
            best[...] = nl.copy(top)
        nl.store(out[i * 128 + i_q, i_h], value=acc / total)
    return out
'''
