"""Names of operators as references call them, each with its category; names of what moves or casts data only."""

from __future__ import annotations

from collections.abc import Mapping

CATEGORIES = (
    "attention", "recurrent", "convolution", "matmul", "normalization", "softmax", "loss", "pooling", "resampling",
    "scan", "sort", "spectral", "reduction", "indexing", "activation", "elementwise", "movement",
)  # fmt: skip
"""Categories, the one that says most about a task first."""

CONTRACTIONS = frozenset({"attention", "recurrent", "convolution", "matmul"})
"""Categories that each take a kernel of their own: two of them are seldom one kernel."""

_NAMES: Mapping[str, str] = {
    "attention": """
        scaled_dot_product_attention multi_head_attention_forward MultiheadAttention flash_attn_func flex_attention
        TransformerEncoderLayer TransformerDecoderLayer TransformerEncoder TransformerDecoder Transformer""",
    "recurrent": "LSTM GRU RNN LSTMCell GRUCell RNNCell lstm gru rnn_tanh rnn_relu",
    "convolution": """
        conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d Conv1d Conv2d Conv3d ConvTranspose1d
        ConvTranspose2d ConvTranspose3d LazyConv2d convolution convolve correlate unfold fold Unfold Fold""",
    "matmul": """
        matmul mm bmm addmm addmv addbmm baddbmm mv dot vdot inner outer linear Linear LazyLinear Bilinear bilinear
        einsum tensordot chain_matmul multi_dot kron cdist ger _scaled_mm _grouped_mm""",
    "normalization": """
        layer_norm LayerNorm batch_norm BatchNorm1d BatchNorm2d BatchNorm3d group_norm GroupNorm instance_norm
        InstanceNorm1d InstanceNorm2d InstanceNorm3d rms_norm RMSNorm local_response_norm LocalResponseNorm normalize
        weight_norm spectral_norm SyncBatchNorm""",
    "softmax": "softmax log_softmax Softmax LogSoftmax softmin Softmin Softmax2d gumbel_softmax",
    "loss": """
        mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy nll_loss kl_div binary_cross_entropy
        binary_cross_entropy_with_logits hinge_embedding_loss triplet_margin_loss cosine_embedding_loss ctc_loss
        margin_ranking_loss multi_margin_loss poisson_nll_loss gaussian_nll_loss soft_margin_loss MSELoss L1Loss
        SmoothL1Loss HuberLoss CrossEntropyLoss NLLLoss KLDivLoss BCELoss BCEWithLogitsLoss HingeEmbeddingLoss
        TripletMarginLoss CosineEmbeddingLoss CTCLoss MarginRankingLoss cosine_similarity pairwise_distance""",
    "pooling": """
        max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d
        adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d lp_pool1d lp_pool2d MaxPool1d
        MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d
        AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d LPPool2d max_unpool2d""",
    "resampling": "interpolate upsample grid_sample pixel_shuffle pixel_unshuffle Upsample PixelShuffle affine_grid",
    "scan": "cumsum cumprod cummax cummin logcumsumexp associative_scan accumulate diff",
    "sort": "sort argsort topk kthvalue msort unique unique_consecutive partition argpartition searchsorted bucketize",
    "spectral": "fft ifft rfft irfft fft2 ifft2 rfft2 irfft2 fftn ifftn stft istft",
    "reduction": """
        sum mean amax amin max min argmax argmin prod std var norm vector_norm matrix_norm logsumexp any all
        count_nonzero nansum nanmean median mode quantile std_mean var_mean aminmax trace histc bincount""",
    "indexing": """
        embedding Embedding EmbeddingBag embedding_bag gather scatter scatter_ scatter_add scatter_add_ scatter_reduce
        index_select index_add index_add_ index_copy index_copy_ index_put index_put_ take take_along_dim nonzero
        masked_select masked_scatter one_hot take_along_axis""",
    "activation": """
        relu relu_ relu6 leaky_relu gelu silu mish elu selu celu sigmoid logsigmoid tanh hardtanh hardsigmoid hardswish
        softplus softsign prelu glu hardshrink softshrink tanhshrink threshold ReLU ReLU6 LeakyReLU GELU SiLU Mish ELU
        SELU CELU Sigmoid LogSigmoid Tanh Hardtanh Hardsigmoid Hardswish Softplus Softsign PReLU GLU swish""",
    "movement": """
        cat concat concatenate stack hstack vstack flip roll rot90 repeat repeat_interleave tile pad tril triu clone
        diag diagonal diag_embed meshgrid copy""",
    "elementwise": """
        add sub mul div true_divide floor_divide pow sqrt rsqrt square exp exp2 expm1 log log2 log10 log1p abs neg sign
        sin cos tan asin acos atan atan2 sinh cosh erf erfc erfinv reciprocal clamp clip where maximum minimum floor
        ceil round trunc frac fmod remainder lerp addcmul addcdiv bitwise_and bitwise_or bitwise_xor bitwise_not
        logical_and logical_or logical_not logical_xor eq ne lt le gt ge isnan isinf masked_fill nan_to_num dropout
        Dropout add_ mul_ sub_ div_ power absolute multiply divide subtract negative hypot sigmoid_ exp_ clamp_
        float_power dropout2d""",
}  # fmt: skip

CATEGORY: Mapping[str, str] = {name: category for category, text in _NAMES.items() for name in text.split()}
"""Category of each operator, by the last part of the name that it is called by."""
