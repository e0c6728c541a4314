"""What the candidates of the second corpus must compute: by file name, inputs, constructor arguments, a function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Case = tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...], float]
"""Function, inputs, arguments of the constructor, tolerance. The function is given the candidate's parameters and
buffers after the inputs."""


def _case(function: Callable[..., Any], *inputs: Any, arguments: tuple[Any, ...] = (), tolerance: float = 1e-4) -> Case:
    return function, inputs, arguments, tolerance


def _tanh(x: Tensor) -> Tensor:
    return torch.tanh(x) + 1 - torch.tanh(x) ** 2


def _bce(x: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    weighted = F.binary_cross_entropy_with_logits(x, target, weight.expand_as(x))
    return weighted + F.binary_cross_entropy_with_logits(x, target, reduction="sum")


def _topk(x: Tensor) -> Tensor:
    values, indices = x.topk(5)
    return values + indices


def _min(x: Tensor) -> Tensor:
    values, indices = x.min(-1)
    return values + indices


def _rope(q: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    even, odd = q[..., 0::2], q[..., 1::2]
    c, s = cos[None, :, None], sin[None, :, None]
    return torch.stack([even * c - odd * s, even * s + odd * c], -1).flatten(-2)


def _pad(x: Tensor) -> Tensor:
    return torch.cat([F.pad(x[None], (3, 2), "reflect")[0], F.pad(x, (3, 2), value=1.5)])


def _layer_norm_backward(dy: Tensor, x: Tensor, gamma: Tensor) -> Tensor:
    with torch.enable_grad():
        x, gamma = x.clone().requires_grad_(), gamma.clone().requires_grad_()
        beta = torch.zeros_like(gamma).requires_grad_()
        found = torch.autograd.grad(F.layer_norm(x, (x.shape[-1],), gamma, beta), (x, gamma, beta), dy)
    return torch.cat([g.reshape(-1) for g in found])


def _softmax_backward(gy: Tensor, y: Tensor) -> Tensor:
    return (gy - (gy * y).sum(-1, keepdim=True)) * y


def _quantize(x: Tensor) -> Tensor:
    scale = x.abs().amax(1, keepdim=True) / 127
    return (x / scale).round().clamp(-127, 127) * scale


def _adam(p: Tensor, g: Tensor) -> Tensor:
    p = nn.Parameter(p.clone())
    optimizer = torch.optim.Adam([p], lr=0.01)
    with torch.enable_grad():
        for _ in range(2):
            p.grad = g.clone()
            optimizer.step()
    return p.detach()


def _gemm_max(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    z = F.linear(x, w, b)
    return F.gelu(z - z.amax(1, keepdim=True))


def _bmm_norm(x: Tensor, y: Tensor, w: Tensor, b: Tensor) -> Tensor:
    z = F.linear(x, w, b)
    return ((z - z.mean(1, keepdim=True)) / (z.var(1, unbiased=False, keepdim=True) + 1e-5).sqrt() + y) * y


def _lerp(avg: Tensor, x: Tensor) -> Tensor:
    return 3 * 0.9 * avg + 0.2 * x


def _index_add(base: Tensor, index: Tensor, source: Tensor) -> Tensor:
    return base.index_add(0, index, source)


def make(name: str) -> Case:
    """The case of a candidate, with fresh values."""
    r = torch.randn
    makers: dict[str, Callable[[], Case]] = {
        "sigmoid_grid_stride": lambda: _case(torch.sigmoid, r(40, 33)),
        "tanh_autograd": lambda: _case(_tanh, r(17, 21)),
        "elu_float4": lambda: _case(F.elu, r(13, 31)),
        "selu_half2": lambda: _case(F.selu, r(12, 34), tolerance=5e-3),
        "hardswish_bf16": lambda: _case(F.hardswish, r(18, 20), tolerance=3e-2),
        "hardsigmoid_dispatch_switch": lambda: _case(F.hardsigmoid, 4 * r(15, 16)),
        "softplus_strided": lambda: _case(functools.partial(F.softplus, beta=2.0), r(6, 7, 5)),
        "mish_double": lambda: _case(lambda x: F.mish(x.double()), r(9, 50)),
        "hardtanh_functor": lambda: _case(lambda x: F.hardtanh(x, -0.5, 0.75), r(30, 11), arguments=(-0.5, 0.75)),
        "prelu_channel": lambda: _case(F.prelu, r(3, 5, 6, 7), arguments=(5,)),
        "glu_chunk": lambda: _case(lambda x: F.silu(x.chunk(2, -1)[0]) * x.chunk(2, -1)[1], r(7, 60)),
        "l2_normalize_warp": lambda: _case(lambda x: F.normalize(x, dim=-1), r(3, 5, 70)),
        "frobenius_two_pass": lambda: _case(lambda x: x / x.norm(), r(33, 50)),
        "huber_loss_reduce": lambda: _case(F.smooth_l1_loss, r(40, 60), r(40, 60)),
        "kl_div_cpp_wrapper": lambda: _case(
            lambda p, t: F.kl_div(p.log(), t, reduction="batchmean"), r(9, 80).softmax(-1), r(9, 80).softmax(-1)
        ),
        "hinge_loss_scalar_item": lambda: _case(
            lambda p, t: (1 - p * t).clamp(min=0).mean(), r(20, 30), torch.randint(0, 2, (30,)).float() * 2 - 1
        ),
        "triplet_margin_tuple": lambda: _case(F.triplet_margin_loss, r(8, 200), r(8, 200), r(8, 200)),
        "cosine_similarity_cg": lambda: _case(F.cosine_similarity, r(11, 90), r(11, 90)),
        "bce_with_logits_optional": lambda: _case(_bce, r(6, 20), torch.rand(6, 20), arguments=(20,), tolerance=1e-3),
        "nll_loss_int64": lambda: _case(
            F.nll_loss, r(40, 9).log_softmax(-1), torch.cat([torch.randint(0, 9, (38,)), torch.tensor([-100, -100])])
        ),
        "argmin_packed64": lambda: _case(lambda x: x.argmin(1), r(4, 33, 5), arguments=(1,)),
        "min_dim_pair": lambda: _case(_min, r(40, 19)),
        "prod_reduce_template_block": lambda: _case(lambda x: x.prod(1, keepdim=True), 1 + 0.1 * r(6, 90)),
        "var_welford_shuffle": lambda: _case(lambda x: x.var(1), r(7, 333)),
        "logsumexp_two_reductions": lambda: _case(lambda x: x.logsumexp(-1), r(8, 130)),
        "cumprod_blelloch": lambda: _case(lambda x: x.cumprod(-1), 1 + 0.1 * r(5, 77)),
        "reverse_cumsum_flip": lambda: _case(lambda x: x.flip(1).cumsum(1).flip(1), r(6, 70), tolerance=1e-3),
        "masked_cumsum_bool": lambda: _case(lambda x, m: (x * m).cumsum(1), r(5, 40), torch.rand(5, 40) > 0.5),
        "max_pool1d_dilated": lambda: _case(lambda x: F.max_pool1d(x, 3, 2, 1, 2), r(2, 3, 50), arguments=(3, 2, 1, 2)),
        "avg_pool3d_int_params": lambda: _case(lambda x: F.avg_pool3d(x, 2, 2), r(2, 2, 6, 8, 4)),
        "global_avg_pool_half": lambda: _case(lambda x: F.adaptive_avg_pool2d(x, 1), r(2, 5, 9, 9), tolerance=5e-3),
        "conv_transpose2d_gather": lambda: _case(
            lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1), r(2, 3, 6, 7), arguments=(3, 4)
        ),
        "conv3d_accessor": lambda: _case(F.conv3d, r(2, 2, 6, 5, 7), arguments=(2, 3, 3)),
        "pointwise_conv_bias_relu": lambda: _case(
            lambda x, w, b: F.conv2d(x, w, b).relu(), r(2, 19, 5, 7), arguments=(19, 21)
        ),
        "matmul_transposed_checks": lambda: _case(lambda a, b: a.T @ b, r(45, 37), r(45, 41)),
        "diag_matmul_broadcast": lambda: _case(lambda a, b: a[:, None] * b, r(20), r(20, 34)),
        "triangular_matmul": lambda: _case(lambda a, b: torch.triu(a @ b), torch.triu(r(37, 37)), torch.triu(r(37, 37))),
        "tensor3d_matmul_wmma": lambda: _case(torch.matmul, r(2, 16, 32), r(32, 48), tolerance=3e-2),
        "matrix_scalar_load_files": lambda: _case(lambda a, s: a * s, r(30, 41), 3.14),
        "rope_interleaved": lambda: _case(_rope, r(2, 9, 3, 16), arguments=(9, 16)),
        "index_add_atomic": lambda: _case(_index_add, r(9, 20), torch.randint(0, 9, (31,)), r(31, 20)),
        "gather_rows_vector_return": lambda: _case(
            lambda x, a, b: torch.cat([x.gather(1, a), x.gather(1, b)], 1),
            r(6, 30), torch.randint(0, 30, (6, 7)), torch.randint(0, 30, (6, 4)),
        ),
        "topk_bitonic_shared": lambda: _case(_topk, r(5, 100)),
        "histogram_shared_memset": lambda: _case(lambda x: torch.histc(x, 16, -2.0, 2.0), r(700)),
        "upsample_bilinear": lambda: _case(
            lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False), r(2, 3, 7, 9)
        ),
        "pixel_shuffle_fastdiv": lambda: _case(lambda x: F.pixel_shuffle(x, 2), r(2, 12, 5, 6)),
        "roll_flip_pad": lambda: _case(_pad, r(5, 40)),
        "masked_fill_where": lambda: _case(
            lambda x, m: x.masked_fill(m, -1e4), r(4, 6, 10), torch.rand(6, 10) > 0.5
        ),
        "residual_dropout_scale": lambda: _case(torch.add, r(20, 30), r(20, 30)),
        "layer_norm_backward": lambda: _case(_layer_norm_backward, r(9, 70), r(9, 70), r(70), tolerance=1e-3),
        "softmax_backward_row": lambda: _case(_softmax_backward, r(8, 64), r(8, 64).softmax(-1)),
        "quantize_int8_rows": lambda: _case(_quantize, r(7, 90)),
        "channel_shuffle_nhwc": lambda: _case(lambda x: F.channel_shuffle(x, 3), r(2, 12, 5, 4), arguments=(3,)),
        "outer_product_tril": lambda: _case(lambda a, b: torch.outer(a, b).tril(1), r(33), r(21)),
        "cdist_tiled": lambda: _case(torch.cdist, r(20, 33), r(37, 33), tolerance=1e-3),
        "lerp_ema_inplace": lambda: _case(_lerp, r(300), r(300)),
        "adam_step_struct": lambda: _case(_adam, r(50, 9), r(50, 9)),
        "gemm_max_subtract_gelu": lambda: _case(_gemm_max, r(9, 30), arguments=(30, 50)),
        "conv_relu_hardswish_chain": lambda: _case(
            lambda x, w, b: F.hardswish(F.conv2d(x, w, b, padding=1).relu()), r(2, 3, 8, 9), arguments=(3, 4)
        ),
        "bmm_instance_norm_residual": lambda: _case(_bmm_norm, r(7, 20), r(7, 90), arguments=(20, 90)),
    }
    return makers[name]()
