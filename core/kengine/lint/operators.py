"""Operators of frameworks by how much they do: products, normalisations, cheap arithmetic; the rest moves data."""

from __future__ import annotations

PRODUCTS = frozenset({
    "matmul", "mm", "bmm", "addmm", "baddbmm", "addbmm", "einsum", "tensordot", "inner", "mv", "addmv", "dot", "vdot",
    "chain_matmul", "multi_dot", "linear", "bilinear", "conv1d", "conv2d", "conv3d", "convolution", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "_convolution", "conv_tbc", "cudnn_convolution", "miopen_convolution",
    "thnn_conv2d", "scaled_dot_product_attention", "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention",
    "multi_head_attention_forward", "_scaled_mm", "_int_mm", "cdist", "_addmm_activation", "kron", "ger", "outer",
    "_grouped_mm", "matrix_power", "cudnn_convolution_relu", "mkldnn_convolution", "addr", "__matmul__", "__rmatmul__",
    "lstm", "gru", "rnn_tanh", "rnn_relu", "fft", "rfft", "ifft", "irfft", "flex_attention", "_sparse_mm", "spmm",
})  # fmt: skip
"""Products, convolutions, attention and recurrent layers: the work of a whole kernel."""

NORMS = frozenset({
    "softmax", "log_softmax", "_softmax", "_log_softmax", "logsumexp", "layer_norm", "native_layer_norm", "rms_norm",
    "_fused_rms_norm", "group_norm", "native_group_norm", "batch_norm", "native_batch_norm", "instance_norm",
    "cross_entropy", "cross_entropy_loss", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_similarity", "triplet_margin_loss", "cumsum",
    "cumprod", "logcumsumexp", "var", "std", "var_mean", "std_mean", "sort", "argsort", "topk", "median", "kthvalue",
    "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d",
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "max_pool2d_with_indices", "local_response_norm", "normalize", "softmin", "gumbel_softmax", "hinge_embedding_loss",
    "embedding_bag", "lp_pool2d", "norm", "vector_norm", "matrix_norm", "histc", "bincount",
})  # fmt: skip
"""Normalisations, losses, scans, sorts and pools: several passes over the data."""

ARITHMETIC = frozenset({
    "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "relu6",
    "gelu", "silu", "mish", "softplus", "softsign", "erf", "sin", "cos", "tan", "pow", "square", "reciprocal", "add",
    "sub", "mul", "div", "maximum", "minimum", "clip", "clamp", "abs", "neg", "sum", "prod", "amax", "amin", "mean",
    "max", "min", "argmax", "argmin", "leaky_relu", "elu", "selu", "celu", "hardtanh", "hardswish", "hardsigmoid",
    "addcmul", "addcdiv", "lerp", "true_divide", "multiply", "subtract", "divide", "negative", "logsigmoid", "glu",
    "threshold", "prelu", "rrelu", "logaddexp", "floor_divide", "remainder", "fmod", "sinh", "cosh", "atan", "where",
})  # fmt: skip
"""Elementwise arithmetic and plain reductions."""

ALIASES = {"__matmul__": "matmul", "__rmatmul__": "matmul", "__add__": "add", "__mul__": "mul", "__sub__": "sub",
           "__truediv__": "div", "__pow__": "pow", "__imatmul__": "matmul", "special_softmax": "softmax"}  # fmt: skip

MODULES = {
    "Linear": "linear", "Bilinear": "bilinear", "LazyLinear": "linear", "Conv1d": "conv1d", "Conv2d": "conv2d",
    "Conv3d": "conv3d", "ConvTranspose1d": "conv_transpose1d", "ConvTranspose2d": "conv_transpose2d",
    "ConvTranspose3d": "conv_transpose3d", "MultiheadAttention": "multi_head_attention_forward", "LSTM": "lstm",
    "GRU": "gru", "RNN": "rnn_tanh", "Transformer": "linear", "TransformerEncoderLayer": "linear",
    "TransformerDecoderLayer": "linear", "Softmax": "softmax", "LogSoftmax": "log_softmax", "LayerNorm": "layer_norm",
    "RMSNorm": "rms_norm", "GroupNorm": "group_norm", "BatchNorm1d": "batch_norm", "BatchNorm2d": "batch_norm",
    "BatchNorm3d": "batch_norm", "InstanceNorm1d": "instance_norm", "InstanceNorm2d": "instance_norm",
    "InstanceNorm3d": "instance_norm", "CrossEntropyLoss": "cross_entropy", "MSELoss": "mse_loss",
    "MaxPool1d": "max_pool1d", "MaxPool2d": "max_pool2d", "MaxPool3d": "max_pool3d", "AvgPool1d": "avg_pool1d",
    "AvgPool2d": "avg_pool2d", "AvgPool3d": "avg_pool3d", "AdaptiveAvgPool2d": "adaptive_avg_pool2d", "ReLU": "relu",
    "GELU": "gelu", "SiLU": "silu", "Sigmoid": "sigmoid", "Tanh": "tanh", "LeakyReLU": "leaky_relu", "Mish": "mish",
    "Softplus": "softplus", "ELU": "elu", "Hardtanh": "hardtanh", "Hardswish": "hardswish",
}  # fmt: skip
"""What calling a layer of torch.nn computes."""


def weigh(name: str) -> str:
    """`product`, `norm` or `arithmetic` for the last part of an operator's name, "" for what moves or makes data.

    Variants count as the operator: in-place (`mul_`), `.out`, overloads are cut by the caller.
    """
    bare = ALIASES.get(name, name)
    if bare.endswith("_") and not bare.endswith("__"):
        bare = bare.rstrip("_")
    return "product" if bare in PRODUCTS else "norm" if bare in NORMS else "arithmetic" if bare in ARITHMETIC else ""


def spellings(name: str) -> tuple[str, ...]:
    """The ways in which a task may allow an operator: `aten::mm`, `aten.mm`, `torch.mm`, `at::mm`, and so on."""
    bare = ALIASES.get(name, name)
    bare = bare.rstrip("_") if not bare.endswith("__") else bare
    twins = {"matmul": ("mm", "bmm"), "linear": ("addmm",), "mm": ("matmul",), "bmm": ("matmul",)}.get(bare, ())
    return tuple(
        form.format(one)
        for one in (bare, *twins)
        for form in (
            "aten::{}",
            "aten.{}",
            "at::{}",
            "torch.{}",
            "torch::{}",
            "torch.nn.functional.{}",
            "Tensor.{}",
            "{}",
        )
    )
