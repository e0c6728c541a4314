"""What kind of work an operator does, whatever framework it belongs to."""

from __future__ import annotations

import re

FLOPS_PER_BYTE = 10
"""FLOPs that take a processor or an accelerator about as long as moving a byte, for adding up unlike work."""

_MOVEMENT = frozenset(
    """
    _conj _copy_from _fw_primal _local_scalar_dense _neg_view _pin_memory _reshape_alias _reshape_copy
    _resize_output _to_copy _to_cpu _unsafe_view alias alias_copy allclose arange array as_strided as_strided_copy
    as_strided_scatter asanyarray asarray ascontiguousarray astype atleast_1d atleast_2d atleast_3d block_diag
    broadcast_arrays broadcast_tensors broadcast_to can_cast cartesian_prod cat channel_shuffle chunk clone
    common_type complex concat concatenate constant_pad_nd contiguous copy copy_ copyto data deepcopy
    detach detach_ detach_copy diag diag_embed diagonal diagonal_copy diagonal_scatter dsplit dstack empty empty_like
    empty_permuted empty_strided equal expand expand_as expand_copy expand_dims eye fill fill_ flatten flip fliplr
    flipud from_buffer frombuffer fromfunction fromiter full full_like gather hsplit hstack identity im2col imag index
    index_select is_nonzero is_pinned is_same_size isfinite isinf isnan item lift lift_fresh lift_fresh_copy
    linspace logspace masked_select may_share_memory meshgrid moveaxis movedim narrow narrow_copy ndim new_empty
    new_empty_strided new_full new_ones new_zeros nonzero ones ones_like pad permute permute_copy pin_memory
    pixel_shuffle pixel_unshuffle put put_ rand rand_like randint randint_like randn randn_like randperm ravel real
    record_stream reflection_pad1d reflection_pad2d reflection_pad3d repeat repeat_interleave replication_pad1d
    replication_pad2d replication_pad3d require reshape resize resize_ result_type roll rollaxis rot90 scalar_tensor
    select select_copy select_scatter set_ shape shares_memory size slice slice_copy slice_scatter split split_copy
    split_with_sizes split_with_sizes_copy squeeze squeeze_copy stack stride swapaxes swapdims sym_numel sym_size
    sym_storage_offset sym_stride t t_copy take take_along_axis tensor_split tile to to_dense transpose transpose_
    transpose_copy tril tril_indices triu triu_indices type_as unbind unbind_copy unflatten unfold unfold_copy
    unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_copy view view_as view_as_complex
    view_as_complex_copy view_as_real view_as_real_copy view_copy vsplit vstack where zero zero_ zeros zeros_like
    """.split()  # noqa: SIM905
)
"""Allocating, moving, casting, padding, choosing: what every wrapper around a kernel does."""

_KINDS: tuple[tuple[str, str], ...] = (
    ("contraction", r"(add)?(mm|bmm|mv|r)|baddbmm|addbmm|.*matmul.*|(mkldnn_)?linear|(v|i)?dot|vecdot|vdot|inner|outer|"
     r"ger|tensordot|einsum|kron|chain_matmul|multi_dot|linalg_multi_dot|(bi|tri)linear|.*scaled_mm.*|.*int_mm.*|"
     r".*mixed_mm.*|.*_mm(_.*)?|s?spaddmm|(h?sp|s)mm|(?!upsample).*linear(_(?!unpack).*)?|compute_linear_combination|cov|"
     r"corrcoef|"
     r"addmm_activation|sparse_.*mm.*|.*grouped_mm.*|convolve|correlate|matvec|vecmat|matrix_power|.*cdist.*|.*gem[mv].*|"
     r"pdist.*|euclidean_dist"),
    ("attention", r".*scaled_dot_product.*|.*attention.*|transformer_encoder_layer.*"),
    ("convolution", r".*conv.*|.*_unfold.*|col2im|thnn_.*"),
    ("recurrence", r".*(lstm|gru|rnn).*"),
    ("softmax", r".*softmax.*|(special_)?logsumexp|logaddexp\.reduce"),
    ("normalisation", r"(native_)?(layer|group|batch|instance|rms|weight|fused_rms)_norm.*|.*batch_norm.*|renorm|"
     r"normalize|"
     r"local_response_norm"),
    ("pooling", r".*pool.*|upsample.*|.*interpolate.*|.*grid_sampler.*|.*resample.*|embedding_bag.*"),
    ("loss", r".*_loss.*|cross_entropy|binary_cross_entropy.*|kl_div|.*nll.*|cosine_similarity|pairwise_distance|"
     r"ctc.*"),
    ("sort", r"(arg)?sort|topk|kthvalue|msort|unique.*|searchsorted|bucketize|histc|histogram.*|bincount|median|"
     r"nanmedian|"
     r"(arg)?partition|quantile|nanquantile|mode|percentile"),
    ("scan", r"cum.*|logcumsumexp|.*\.accumulate|diff|trapz|trapezoid"),
    ("reduction", r"sum|nansum|mean|nanmean|prod|std|var|std_mean|var_mean|amax|amin|aminmax|max|min|argmax|argmin|all|"
     r"any|"
     r"(frobenius_|nuclear_|native_|foreach_)?norm|(sparse_(csr_)?)?(sum|prod)|.*sum_to_size|foreach_(max|powsum)|"
     r"linalg_vector_norm|linalg_matrix_norm|linalg_norm|count_nonzero|trace|.*\.reduce(at)?|dist|ptp|average"),
    ("linear algebra", r"linalg_.*|cholesky.*|inverse|inv|svd|qr|lu.*|(sp)?solve.*|eig.*|(log|slog)?det|pinv.*|"
     r"lstsq|matrix_exp.*|geqrf|or[gm]qr|triangular_solve"),
    ("transform", r".*fft.*|stft|istft"),
    ("indexed", r"embedding.*|index_(add|copy|fill|put|reduce).*|scatter.*|.*segment_reduce.*|masked_fill|"
     r"masked_scatter|"
     r"one_hot|add\.at|.*\(accumulate\)"),
)  # fmt: skip
_PATTERNS = [(kind, re.compile(rf"(?:{pattern})\Z")) for kind, pattern in _KINDS]

_MOVES = re.compile(
    r"embedding(_renorm)?|index_(copy|fill|put)|scatter|masked_(fill|scatter)|one_hot|upsample_nearest.*"
)
"""Operators of other kinds that give elements of their inputs, or constants, and nothing else."""

HEAVY = frozenset(
    {"contraction", "attention", "convolution", "recurrence", "softmax", "normalisation", "pooling", "loss", "sort",
     "scan", "transform", "linear algebra"}
)  # fmt: skip
"""Kinds that are a kernel's work wherever they stand; the others also occur in honest preparation."""

INDEX = "(index)"
"""Ends the name of an operator that sorts or adds up whole numbers alone: where they are no answer they are a plan of
which element goes where."""

_known: dict[str, str] = {}


def plain(name: str) -> str:
    """An operator's own name: `aten::_softmax.out` and `aten.softmax_.default` are both `softmax`."""
    own = name.rpartition("::")[2].removesuffix(INDEX)
    head, _, tail = own.partition(".")
    if tail in ("reduce", "accumulate", "reduceat", "at"):
        return own
    if head in ("linalg", "fft", "random", "lib", "stride_tricks"):
        head = tail.partition(".")[0] if head != "linalg" else f"linalg_{tail}"
    return head if head in _MOVEMENT else head.strip("_") or head


def moves(name: str) -> bool:
    """Whether all that an operator gives are elements of its inputs and constants, whatever its kind."""
    return find_kind(name) == "movement" or _MOVES.fullmatch(plain(name)) is not None


def find_kind(name: str) -> str:
    """Kind of an operator: `movement`, one of the kinds of work, or `elementwise` for everything else."""
    kind = _known.get(name)
    if kind is None and name.endswith("(sparse)"):
        # To make a sparse array dense adds up what has one place.
        kind = find_kind(name.removesuffix("(sparse)"))
        kind = _known[name] = "indexed" if kind in ("movement", "elementwise") else kind
    if kind is None:
        own = plain(name)
        if own in _MOVEMENT or name.rpartition("::")[2].partition(".")[0] in _MOVEMENT:
            kind = "movement"
        else:
            kind = next((k for k, pattern in _PATTERNS if pattern.match(own)), "elementwise")
        _known[name] = kind
    return kind


def cost(nbytes: int, flops: int) -> int:
    """Bytes, or FLOPs as bytes where those are more."""
    return max(nbytes, flops // FLOPS_PER_BYTE)
