"""What the host does around kernels: functions that work on arrays, and functions that only arrange them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.kernels import Function, device_functions, find_kernels, own_nodes
from kengine_nki.lint.sizes import find_sizes

LIBRARIES = ("numpy.", "torch.", "scipy.", "jax.numpy.", "jax.nn.", "jax.lax.", "ml_dtypes.")
PRODUCTS = frozenset({
    "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "tensordot", "inner", "dot", "vdot", "mv", "multi_dot",
    "linear", "bilinear", "conv1d", "conv2d", "conv3d", "convolve", "correlate", "conv_transpose1d", "conv_transpose2d",
    "scaled_dot_product_attention", "multi_head_attention_forward", "fft", "ifft", "rfft", "kron",
})  # fmt: skip
NORMS = frozenset({
    "softmax", "log_softmax", "logsumexp", "layer_norm", "rms_norm", "group_norm", "batch_norm", "instance_norm",
    "cross_entropy", "mse_loss", "cumsum", "cumprod", "var", "std", "mean", "argsort", "sort", "topk", "median",
})  # fmt: skip
ELEMENTWISE = frozenset({
    "exp", "exp2", "expm1", "log", "log1p", "log2", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "gelu", "silu", "mish",
    "softplus", "erf", "sin", "cos", "tan", "arctan", "power", "pow", "square", "reciprocal", "add", "subtract",
    "multiply", "mul", "divide", "true_divide", "div", "sub", "maximum", "minimum", "clip", "clamp", "where", "abs",
    "sum", "prod", "max", "min", "amax", "amin", "argmax", "argmin", "negative", "sign", "leaky_relu", "elu",
})  # fmt: skip
WORK = PRODUCTS | NORMS | ELEMENTWISE
_METHODS = PRODUCTS | NORMS | {"exp", "sigmoid", "tanh", "relu", "rsqrt", "sqrt", "log", "erf", "sum", "prod", "amax"}
_MOVES = frozenset({
    "ndarray", "zeros", "zeros_like", "empty_like", "ds", "arange", "dma_copy", "tensor_copy", "load", "store", "copy",
    "affine_range", "sequential_range", "static_range", "dynamic_range", "program_id", "num_programs", "par_dim",
    "memset", "expand_dims", "device_print", "program_ndim", "get_nc_version", "mgrid", "no_reorder",
})  # fmt: skip


def work_name(source: SourceTree, node: ast.AST, names: frozenset[str] = WORK) -> str:
    """What a node computes of an array on the host (`numpy.matmul`, `@`), "" if it computes nothing of the kind."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return "@" if names & PRODUCTS else ""
    if not isinstance(node, ast.Call):
        return ""
    resolved = source.resolve(node.func)
    for dotted in sorted(resolved):
        if dotted.startswith(LIBRARIES) and dotted.rpartition(".")[2] in names:
            return dotted
    if not resolved and isinstance(node.func, ast.Attribute) and node.func.attr in names & _METHODS:
        return f".{node.func.attr}()"
    return ""


def host_work(source: SourceTree, names: frozenset[str] = WORK) -> Iterator[tuple[ast.AST, str]]:
    """Nodes outside of kernels, reached from the entry and not in a constructor, that compute on arrays.

    A root or a logarithm of a size (`np.sqrt(x.shape[-1])`) is not one.
    """
    device = {n for f in device_functions(source) for n in own_nodes(f)} | find_kernels(source).bodies
    for node in source.nodes:
        if node not in source.reached or node in device or not isinstance(node, (ast.Call, ast.BinOp)):
            continue
        what = work_name(source, node, names)
        if what and not _of_size(source, node) and not _in_constructor(source, node):
            yield node, what


def only_moves(source: SourceTree) -> bool:
    """Whether the file's live kernels and helpers hold nothing but allocations, copies, loads and stores.

    False as soon as anything in them is not understood: a call of something else, an operator on a tile.
    """
    known = {c.node: c for c in find_calls(source)}
    functions = [f for f in device_functions(source) if f in source.reached]
    if not functions:
        return False
    own = {f"@{f.name}" for f in functions}
    for function in functions:
        for node in own_nodes(function):
            if isinstance(node, ast.Call):
                call = known.get(node)
                if call is not None:
                    if call.member not in _MOVES or call.get("dst_rmw_op") is not None:
                        return False
                elif not _is_plain(source, node, own):
                    return False
            elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.AugAssign)) and not _on_numbers(source, node):
                return False
    return True


def _is_plain(source: SourceTree, node: ast.Call, own: set[str]) -> bool:
    names = source.resolve(node.func)
    if names:
        return all(n.startswith(("builtins.", "math.")) or n in own for n in names)
    return isinstance(node.func, ast.Attribute) and node.func.attr in (
        "reshape", "view", "ap", "permute", "broadcast_to", "broadcast", "expand_dim", "append", "astype",
    )  # fmt: skip


def _on_numbers(source: SourceTree, node: ast.BinOp | ast.UnaryOp | ast.AugAssign) -> bool:
    """Whether an operator certainly works on sizes and indices, not on tiles: its operands are numbers, or it stands
    in an index, a mask or the arguments of a range.
    """
    if find_sizes(source).is_number(node.value if isinstance(node, ast.AugAssign) else node):
        return True
    child: ast.AST = node
    parent = source.parents.get(node)
    while isinstance(parent, (ast.expr, ast.keyword, ast.Slice)):
        if isinstance(parent, ast.Subscript):
            return child is parent.slice
        if isinstance(parent, ast.keyword) and parent.arg == "mask":
            return True
        if isinstance(parent, ast.Call) and any(
            n.endswith(("_range", ".ds", "builtins.range", ".ndarray")) for n in source.resolve(parent.func)
        ):
            return True
        child, parent = parent, source.parents.get(parent)
    return False


def _of_size(source: SourceTree, node: ast.AST) -> bool:
    """Whether a call of a library's function works on numbers, not on an array."""
    if not isinstance(node, ast.Call) or not node.args or not source.resolve(node.func):
        return False
    return all(map(find_sizes(source).is_number, node.args))


def _in_constructor(source: SourceTree, node: ast.AST) -> bool:
    function = source.function_of(node)
    return isinstance(function, Function) and function.name == "__init__"
