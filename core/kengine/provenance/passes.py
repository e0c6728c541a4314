"""Operators that do in one pass over memory what a chain of elementary ones does in several.

Work is counted by bytes. A reference that writes GELU out reads and writes its data nine times, and an operator that
does all of it reads and writes once: by its own bytes it would be a ninth of that work. It is counted as the chain.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from kengine.provenance.facts import OperatorUse
from kengine.provenance.operators import plain

_CHAINS: tuple[tuple[str, float, float], ...] = (
    # Names, and what elementwise operators and reductions of the chain read and write, in bytes of the one operator.
    # With B bytes of data a unary operator takes 2B, a binary one 3B, a reduction B.
    (r"(safe_|masked_|sparse_)?(log_)?softmax", 3, 1),  # max, subtract, exp, sum, divide over 2B
    (r"(special_)?logsumexp|logaddexp\.reduce", 4, 2),
    (r"native_layer_norm|layer_norm|native_group_norm|group_norm|instance_norm", 4, 1),  # mean, variance, scale, affine
    (r"(fused_)?rms_norm", 3, 0.5),
    (r".*batch_norm.*", 3.5, 0.5),
    (r"(nan)?(var|std)|(var|std)_mean", 4, 2),  # mean, subtract, square, mean over B
    (r"(linalg_(vector_|matrix_)?|frobenius_|native_|foreach_)?norm", 2, 1),  # square, sum, root over B
    (r"weight_norm(_interface)?", 2, 1),
    (r"dist|(mse|l1)_loss", 2.5, 0.5),  # subtract, square, sum over 2B
    (r"(smooth_l1|huber|soft_margin|multi_margin|multilabel_margin)_loss|pairwise_distance", 4.5, 0.5),
    (r"binary_cross_entropy(_with_logits)?", 8, 0.5),
    (r"cosine_similarity", 3.5, 1.5),
    (r"mish", 10, 0),  # softplus, tanh, a product
    (r"gelu", 9, 0),  # by tanh; by erf it takes a little more than half
    (r"softplus|log_?sigmoid(_forward)?|logaddexp2?", 6, 0),  # maximum, absolute value, negation, exp, log1p, a sum
    (r"hardswish", 5.5, 0),
    (r"silu", 4.5, 0),
    (r"hardsigmoid|elu|selu|celu|sinh|cosh", 4, 0),
    (r"sigmoid|tanh|glu|hypot|lerp|logit|sinc|(special_)?entr|nan_to_num|cross|(hard|soft)shrink", 3, 0),
    (r"leaky_relu|prelu|threshold|clamp|clip|rsqrt|xlogy|(special_)?xlog1py|heaviside", 2, 0),
    (r"addcmul|addcdiv|log1p|expm1", 1.5, 0),
    # Sums by another name: what is added where it belongs is a sum over what has one place.
    (r"embedding_bag.*|index_(add|reduce)|scatter_(add|reduce).*|.*segment_reduce.*|add\.at|bincount", 0, 1),
    (r".*\(accumulate\)|(to_dense|coalesce|sum|add|mul|neg)\(sparse\)", 0, 1),
    (r".*\(complex\)", 3, 0),  # four products and two sums of parts that are half as large
    (r"(gelu|silu|mish|tanh|sigmoid|softplus|elu|hardswish|(log_)?softmax|.*(layer|group|rms)_norm)_backward.*", 5, 0),
    (r"fused_adamw?", 6, 0),
    (r"fused_(sgd|adagrad)", 3, 0),
)  # fmt: skip
_known: dict[str, tuple[float, float] | None] = {}


def find_chain(name: str) -> tuple[float, float] | None:
    """How much the elementwise operators and the reductions of an operator's chain cost, in its own cost; None for an
    operator that is elementary, or whose work its FLOPs tell."""
    own = plain(name).removeprefix("foreach_") or name
    if own not in _known:
        found = ((e, r) for pattern, e, r in _CHAINS if re.fullmatch(pattern, own))
        _known[own] = next(found, None)
    return _known[own]


def by_kind(uses: Iterable[OperatorUse], whole: Container[str] = ()) -> dict[str, int]:
    """Cost of some operators by kind, those that stand for a chain as the chain's; `whole` names (as `plain` gives
    them) are counted as they are."""
    result: dict[str, int] = {}
    for use in uses:
        chain = None if use.kind == "movement" or plain(use.name) in whole else find_chain(use.name)
        parts = {use.kind: 1.0} if chain is None else {"elementwise": chain[0], "reduction": chain[1]}
        for kind, amount in parts.items():
            result[kind] = result.get(kind, 0) + int(amount * use.cost)
    return result
