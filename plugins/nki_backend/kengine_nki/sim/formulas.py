"""The numpy formula of each supported function, in the names of its arguments.

Tests evaluate these very strings: `op`, `op0` and so on are numpy functions, `p` and `i` partition and free index,
`erf`, `scan`, `mx_quantize`, `mx_matmul` and `segment_bounds` are plain loops in the tests. A tuple is several outputs.
"""

from __future__ import annotations

SIGMOID = "(1 / (1 + np.exp(-{})))"
_S, _S17 = SIGMOID.format("x"), SIGMOID.format("1.702 * x")
_CDF = "0.5 * (1 + erf(x / np.sqrt(2)))"

UNARY = {
    "abs": "np.abs(x)", "arctan": "np.arctan(x)", "ceil": "np.ceil(x)", "copy": "x", "cos": "np.cos(x)",
    "erf": "erf(x)", "erf_dx": "2 / np.sqrt(np.pi) * np.exp(-x * x)", "exp": "np.exp(x)", "floor": "np.floor(x)",
    "gelu": f"x * {_CDF}", "gelu_apprx_sigmoid": f"x * {_S17}",
    "gelu_apprx_sigmoid_dx": f"{_S17} + 1.702 * x * {_S17} * (1 - {_S17})",
    "gelu_apprx_tanh": "0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))",
    "gelu_dx": f"{_CDF} + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)", "invert": "~x", "log": "np.log(x)",
    "logical_not": "x == 0", "mish": "x * np.tanh(np.log1p(np.exp(x)))", "negative": "-x", "reciprocal": "1 / x",
    "relu": "np.maximum(x, 0)", "rsqrt": "1 / np.sqrt(x)", "sigmoid": _S, "sign": "np.sign(x)", "silu": f"x * {_S}",
    "silu_dx": f"{_S} * (1 + x * (1 - {_S}))", "sin": "np.sin(x)", "softplus": "np.log1p(np.exp(x))",
    "sqrt": "np.sqrt(x)", "square": "x * x", "tan": "np.tan(x)", "tanh": "np.tanh(x)", "trunc": "np.trunc(x)",
}  # fmt: skip
BINARY = {
    "abs_max": "np.where(np.abs(x) > np.abs(y), x, y)", "abs_min": "np.where(np.abs(x) < np.abs(y), x, y)",
    "add": "x + y", "bitwise_and": "x & y", "bitwise_or": "x | y", "bitwise_xor": "x ^ y", "divide": "x / y",
    "equal": "x == y", "fmod": "np.fmod(x, y)", "greater": "x > y", "greater_equal": "x >= y",
    "left_shift": "x << y", "less": "x < y", "less_equal": "x <= y", "logical_and": "(x != 0) & (y != 0)",
    "logical_or": "(x != 0) | (y != 0)", "logical_xor": "(x != 0) ^ (y != 0)", "maximum": "np.maximum(x, y)",
    "minimum": "np.minimum(x, y)", "mod": "np.mod(x, y)", "multiply": "x * y", "not_equal": "x != y",
    "power": "np.power(np.abs(x), y)", "right_shift": "x >> y", "subtract": "x - y",
}  # fmt: skip
REDUCE = {
    name: f"np.{name}(x, axis=axis, keepdims=True)" for name in ("sum", "max", "min", "mean", "prod", "var", "all")
}
LANGUAGE = {
    **UNARY, **BINARY, **REDUCE,
    "affine_range": "range(start, stop, step)", "sequential_range": "range(start, stop, step)",
    "static_range": "range(start, stop, step)", "dynamic_range": "range(start, stop, step)",
    "fori_loop": "x + sum(range(lower, upper, step))", "while_loop": "x + sum(range(init, 0, -1))",
    "broadcast_to": "np.broadcast_to(x, shape)", "device_print": "x", "dropout": "distribution",
    "ds": "x[:, start:start + size]", "empty_like": "np.empty_like(x).shape", "expand_dims": "np.expand_dims(x, axis)",
    "full": "np.full(shape, fill_value)", "gather_flattened": "np.take_along_axis(data, indices, axis=1)",
    "is_hbm": "buffer in ('private_hbm', 'shared_hbm')", "is_on_chip": "buffer in ('sbuf', 'psum')",
    "is_psum": "buffer == 'psum'", "is_sbuf": "buffer == 'sbuf'", "load": "src", "load_transpose2d": "src.T",
    "matmul": "x @ y", "ndarray": "np.empty(shape).shape", "no_reorder": "x", "num_programs": "grid[0]",
    "ones": "np.ones(shape)", "program_id": "np.arange(grid[0])", "program_ndim": "len(grid)", "rand": "distribution",
    "random_seed": "x", "rms_norm": "x / np.sqrt(np.sum(x * x, axis=1, keepdims=True) / n + epsilon) * w",
    "shared_constant": "constant", "shared_identity_matrix": "np.eye(n)",
    "softmax": "np.exp(x - x.max(1, keepdims=True)) / np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)",
    "store": "value", "transpose": "x.T", "where": "np.where(condition, x, y)", "zeros": "np.zeros(shape)",
    "zeros_like": "np.zeros_like(x)",
}  # fmt: skip
OLD_LANGUAGE = {
    "arange": "x[np.arange(p0)[:, None], np.arange(f0)[None, :]]",
    "atomic_rmw": "dst + value", "finfo": "np.finfo(np.float32).max",
    "gemm_grid": "x[0:128, 0:512]", "gemm_stationary_grid": "x[0:128, 0:128]",
    "loop_reduce": "sum(np.split(x, 4, axis=1))", "static_cast": "np.rint(x)",
}  # fmt: skip

_AFFINE = "offset + channel_multiplier * p + step * i"
_RANGE = "comp_op0(i + range_start, bound0) & comp_op1(i + range_start, bound1)"
_SELECTED = f"np.where({_RANGE}, on_true_tile, np.finfo(np.float32).min)"
ISA = {
    "activate2": "op(op1(op0(data, imm0), imm1))", "activation": "op(data * scale + bias)",
    "activation_reduce": "(op(data * scale + bias), op(data * scale + bias).sum(1, keepdims=True))",
    "affine_select": f"np.where(cmp_op({_AFFINE}, 0), on_true_tile, on_false_value)",
    "bn_aggr": "np.stack([mean, variance], axis=1)",
    "bn_stats": "np.stack([f(data[:, k::2]) for k in (0, 1) for f in (count, mean, spread)], axis=1)",
    "core_barrier": "peer", "dma_compute": "sum(s * c for s, c in zip(srcs, scales))", "dma_copy": "src",
    "dma_transpose": "np.transpose(src, axes)", "dropout": "distribution",
    "exponential": "(np.exp(src - max_value), np.exp(src - max_value).sum(1, keepdims=True))",
    "get_nc_sub_version": "0", "get_nc_version": "3", "iota": _AFFINE,
    "local_gather":
        "np.concatenate([src_buffer[g:g + 16][:, index[g:g + 16].flatten('F')] for g in range(0, 32, 16)])",
    "max8": "-np.sort(-src, axis=1)[:, :8]", "memset": "np.full(shape, value)",
    "nc_find_index8": "np.argmax(data[:, None, :] == vals[:, :, None], axis=2)",
    "nc_match_replace8": "np.where((data[:, :, None] == vals[:, None, :]).any(2), imm, data)",
    "nc_matmul": "stationary.T @ moving", "nc_matmul_mx": "mx_matmul(stationary, moving)",
    "nc_n_gather": "np.take_along_axis(data, indices, axis=1)",
    "nc_stream_shuffle": "np.concatenate([src[q:q + 32][shuffle_mask] for q in range(0, 128, 32)])",
    "nc_transpose": "data.T",
    "nonzero_with_count": "np.array([*np.flatnonzero(src[0]) + index_offset, *[padding_val] * 3, 5])",
    "quantize_mx": "mx_quantize(src)", "rand2": "distribution", "rand_set_state": "distribution",
    "range_select": f"({_SELECTED}, {_SELECTED}.max(1, keepdims=True))", "reciprocal": "1 / data",
    "register_alloc": "x", "register_load": "src", "register_move": "src", "register_store": "src",
    "rng": "distribution", "scalar_tensor_tensor": "op1(op0(data, operand0), operand1)",
    "select_reduce": "(np.where(predicate, on_true, on_false), np.where(predicate, on_true, on_false).max(1, "
                     "keepdims=True))",
    "sendrecv": "peer", "sequence_bounds": "segment_bounds(segment_ids)", "set_rng_seed": "distribution",
    "tensor_copy": "src", "tensor_copy_predicated": "np.where(predicate, src, dst)",
    "tensor_partition_reduce": "op.reduce(data, axis=0, keepdims=True)",
    "tensor_reduce": "op.reduce(data, axis=1, keepdims=True)", "tensor_scalar": "op1(op0(data, operand0), operand1)",
    "tensor_scalar_cumulative": "op1.accumulate(op0(src, imm0), axis=1)",
    "tensor_scalar_reduce": "(op0(data, operand0), reduce_op.reduce(op0(data, operand0), axis=1, keepdims=True))",
    "tensor_tensor": "op(data1, data2)", "tensor_tensor_scan": "scan(data0, data1, initial, op0, op1)",
}  # fmt: skip
OLD_ISA = {
    "affine_select": "np.where(pred, on_true_tile, on_false_value)", "iota": "p * 3 + i",
    "tensor_copy_dynamic_dst": "src", "tensor_copy_dynamic_src": "src",
}  # fmt: skip
TENSOR = {
    "ap": "np.lib.stride_tricks.as_strided(x, (128, 4), (x.strides[0], 8))", "broadcast": "np.repeat(x[:, None], 3, 1)",
    "expand_dim": "x[:, None]", "flatten_dims": "x.reshape(128, 8)", "get_pattern": "[[8, 128], [1, 8]]",
    "indirect": "np.take(x, order, axis=1)", "is_contiguous": "True", "is_indirect": "False",
    "permute": "x.reshape(128, 2, 4).transpose(0, 2, 1)",
    "rearrange": "x.reshape(128, 2, 4).transpose(0, 2, 1).reshape(128, 8)",
    "reinterpret_cast": "x.view(np.int32)", "reshape": "x.reshape(128, 2, 4)", "reshape_dim": "x.reshape(128, 2, 4)",
    "select": "x.reshape(128, 2, 4)[:, 1]", "slice": "x[:, 1:7:2]", "squeeze_dim": "x", "vector_select": "x[rows]",
    "view": "x.view(np.int32)",
}  # fmt: skip
OLD_TENSOR = {
    "assert_shape": "x", "astype": "np.rint(x)", "broadcast_to": "np.broadcast_to(x[:, :1], (128, 8))",
    "expand_dims": "x[:, None]", "reshape": "x.reshape(128, 2, 4)", "view": "x.view(np.int32)",
}  # fmt: skip
