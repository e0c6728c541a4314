"""Operators that stand for a chain of others: which, and as what they are counted."""

from __future__ import annotations

import pytest
from kengine.provenance import OperatorUse
from kengine.provenance.passes import by_kind, find_chain


@pytest.mark.parametrize(
    ("name", "chain"),
    [
        ("aten::_softmax", (3, 1)),
        ("aten::_log_softmax", (3, 1)),
        ("aten::native_layer_norm", (4, 1)),
        ("aten::_native_batch_norm_legit_no_training", (3.5, 0.5)),
        ("aten::var_mean.correction", (4, 2)),
        ("numpy::std", (4, 2)),
        ("aten::linalg_vector_norm", (2, 1)),
        ("numpy::linalg.norm", (2, 1)),
        ("aten::_foreach_norm", (2, 1)),
        ("aten::dist", (2.5, 0.5)),
        ("aten::mse_loss", (2.5, 0.5)),
        ("aten::gelu_", (9, 0)),
        ("aten::silu.out", (4.5, 0)),
        ("numpy::logaddexp", (6, 0)),
        ("numpy::hypot", (3, 0)),
        ("aten::clamp_min", None),
        ("aten::_foreach_sigmoid_", (3, 0)),
        ("aten::mul(complex)", (3, 0)),
        ("aten::gelu_backward", (5, 0)),
        ("aten::index_add_", (0, 1)),
        ("aten::index_put_(accumulate)", (0, 1)),
        ("aten::_to_dense(sparse)", (0, 1)),
        ("aten::_embedding_bag_forward_only", (0, 1)),
        ("aten::mm(sparse)", None),
        ("aten::index_put_", None),
        ("aten::mul", None),
        ("aten::exp", None),
        ("aten::sum.dim_IntList", None),
        ("aten::mm", None),
        ("aten::convolution", None),
        ("aten::sort", None),
    ],
)
def test_chains(name, chain):
    assert find_chain(name) == chain


def test_a_chain_is_counted_by_the_kinds_of_its_parts():
    uses = [OperatorUse("aten::_softmax", "softmax", 1, 100), OperatorUse("aten::exp", "elementwise", 2, 30)]
    assert by_kind(uses) == {"elementwise": 330, "reduction": 100}
    assert by_kind(uses, {"softmax"}) == {"softmax": 100, "elementwise": 30}


def test_what_only_moves_data_is_movement():
    assert by_kind([OperatorUse("aten::clone", "movement", 1, 100)]) == {"movement": 100}
