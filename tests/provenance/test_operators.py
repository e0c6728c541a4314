"""Kinds of operators, by name."""

from __future__ import annotations

import pytest
from kengine.provenance.operators import cost, find_kind, plain


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("aten::mm", "contraction"),
        ("aten::addmm", "contraction"),
        ("aten::matmul", "contraction"),
        ("aten::linear", "contraction"),
        ("aten::_scaled_mm", "contraction"),
        ("numpy::einsum", "contraction"),
        ("cupy::dot", "contraction"),
        ("mkldnn::_linear_pointwise", "contraction"),
        ("quantized::linear_relu_dynamic_fp16", "contraction"),
        ("aten::_weight_int8pack_mm", "contraction"),
        ("aten::_sparse_semi_structured_linear", "contraction"),
        ("aten::hspmm", "contraction"),
        ("aten::_pdist_forward", "contraction"),
        ("aten::upsample_linear1d", "pooling"),
        ("aten::_embedding_bag_forward_only", "pooling"),
        ("aten::embedding", "indexed"),
        ("aten::_transformer_encoder_layer_fwd", "attention"),
        ("aten::special_logsumexp", "softmax"),
        ("aten::slogdet", "linear algebra"),
        ("aten::detach_copy", "movement"),
        ("aten::_sparse_csr_sum", "reduction"),
        ("aten::_grad_sum_to_size", "reduction"),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", "attention"),
        ("aten::convolution", "convolution"),
        ("aten::_softmax", "softmax"),
        ("aten::log_softmax.int", "softmax"),
        ("aten::native_layer_norm", "normalisation"),
        ("aten::_fused_rms_norm", "normalisation"),
        ("aten::linalg_vector_norm", "reduction"),
        ("numpy::add.reduce", "reduction"),
        ("aten::max_pool2d_with_indices", "pooling"),
        ("aten::mse_loss", "loss"),
        ("aten::topk", "sort"),
        ("aten::cumsum", "scan"),
        ("numpy::add.accumulate", "scan"),
        ("numpy::linalg.inv", "linear algebra"),
        ("aten::_fft_r2c", "transform"),
        ("aten::index_put_", "indexed"),
        ("aten::relu_", "elementwise"),
        ("aten::silu.out", "elementwise"),
        ("aten::copy_", "movement"),
        ("aten::im2col", "movement"),
        ("aten::col2im", "convolution"),
        ("aten::index_put_(accumulate)", "indexed"),
        ("aten::_to_dense(sparse)", "indexed"),
        ("aten::mm(sparse)", "contraction"),
        ("aten::mul(complex)", "elementwise"),
        ("aten::sort(index)", "sort"),
        ("aten::_to_copy", "movement"),
        ("aten::constant_pad_nd", "movement"),
        ("aten::clone", "movement"),
        ("aten::new_empty", "movement"),
        ("numpy::ascontiguousarray", "movement"),
    ],
)
def test_kinds(name, kind):
    assert find_kind(name) == kind


def test_own_names():
    names = ["aten::_softmax.out", "aten::mm.default", "relu_", "numpy::add.reduce"]
    assert [plain(name) for name in names] == ["softmax", "mm", "relu", "add.reduce"]


def test_a_contraction_costs_its_flops_where_they_are_more():
    assert cost(3 * 4 * 64 * 64, 2 * 64**3) == 2 * 64**3 // 10
    assert cost(3 * 4 * 4 * 4, 2 * 4**3) == 3 * 4 * 4 * 4
