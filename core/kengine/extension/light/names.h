// Operators by the shape of their C++ interface. Every name is an operator of torch with the same order of arguments.
#pragma once

// Tensor member and free function: (self) -> Tensor. In torch, too, these clash with a function of the same name that a
// candidate defines for one tensor.
#define LIGHT_UNARY(X) \
  X(abs) X(absolute) X(neg) X(negative) X(exp) X(exp2) X(log) X(log2) X(log10) X(log1p) X(expm1) X(sqrt) X(rsqrt) X(sin) \
  X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(sigmoid) X(relu) X(floor) \
  X(ceil) X(round) X(trunc) X(frac) X(sign) X(sgn) X(reciprocal) X(square) X(erf) X(erfc) X(erfinv) X(lgamma) X(digamma) X(isnan) \
  X(isinf) X(isfinite) X(logical_not) X(bitwise_not) X(arcsin) X(arccos) X(arctan) X(arcsinh) X(arccosh) X(arctanh) X(angle) X(i0) X(isneginf) X(isposinf) X(fix)

// Tensor member and free function: (self, ...) -> Tensor.
#define LIGHT_BOTH(X) \
  X(detach) X(sum) X(mean) X(prod) X(std) X(var) X(norm) X(logsumexp) X(argmax) X(argmin) X(argsort) X(cumsum) X(cumprod) \
  X(any) X(all) X(amax) X(amin) X(nansum) X(nanmean) X(count_nonzero) X(softmax) X(log_softmax) X(reshape) X(permute) X(transpose) X(t) \
  X(unsqueeze) X(squeeze) X(flatten) X(unflatten) X(narrow) X(select) X(slice) X(index_select) X(gather) X(scatter) X(scatter_add) X(masked_select) \
  X(masked_fill) X(masked_scatter) X(index_add) X(index_copy) X(index_fill) X(diagonal) X(diag) X(diag_embed) X(trace) X(triu) X(tril) X(flip) X(roll) \
  X(rot90) X(movedim) X(swapaxes) X(swapdims) X(as_strided) X(clone) X(add) X(sub) X(mul) X(multiply) X(div) X(divide) X(true_divide) \
  X(floor_divide) X(pow) X(fmod) X(remainder) X(maximum) X(minimum) X(fmax) X(fmin) X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(less) X(greater) X(not_equal) \
  X(logical_and) X(logical_or) X(logical_xor) X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(matmul) X(mm) X(bmm) X(mv) X(dot) X(inner) X(outer) X(ger) \
  X(addmm) X(addmv) X(addbmm) X(baddbmm) X(addcmul) X(addcdiv) X(lerp) X(clamp) X(clamp_min) X(clamp_max) X(clip) X(nonzero) X(repeat_interleave) \
  X(nan_to_num) X(atan2) X(hypot) X(take) X(take_along_dim) X(tile) X(bincount) X(dist) X(renorm) X(copysign) X(heaviside) X(hardshrink) X(ravel) \
  X(broadcast_to) X(conj) X(logaddexp) X(isclose) X(kron) X(cross) X(histc) X(corrcoef) X(cov) X(quantile) X(positive) \
  X(signbit) X(logit) X(rad2deg) X(deg2rad) X(xlogy) X(sinc) X(put) X(adjoint) X(prelu) X(bernoulli) X(multinomial) X(msort) X(vdot) X(inverse) X(pinverse) X(det) X(cholesky) X(matrix_exp) X(matrix_power) \
  X(subtract) X(greater_equal) X(less_equal) X(arctan2) X(bitwise_left_shift) X(bitwise_right_shift) X(moveaxis) X(slice_scatter) X(select_scatter) X(diagonal_scatter) X(as_strided_scatter) X(scatter_reduce) X(index_reduce) X(logcumsumexp) X(logaddexp2) X(nanquantile) X(argwhere) X(diagflat) X(fliplr) X(flipud) X(float_power) X(gcd) X(lcm) X(ldexp) X(nextafter) X(narrow_copy) X(cholesky_solve) X(cholesky_inverse) X(polygamma) X(mvlgamma) X(igamma) X(igammac)

// Tensor members only.
#define LIGHT_METHODS(X)                                                                                                 \
  X(view) X(expand) X(expand_as) X(view_as) X(reshape_as) X(repeat) X(type_as) X(unfold) X(alias) X(new_empty) X(new_zeros) X(new_ones) X(new_full) X(sum_to_size) X(to_dense) X(new_empty_strided) X(pin_memory)

// Tensor members that change the tensor and return it.
#define LIGHT_IN_PLACE(X)                                                                                                \
  X(fill_) X(add_) X(sub_) X(mul_) X(div_) X(pow_) X(clamp_) X(clamp_min_) X(clamp_max_) X(relu_) X(sigmoid_) X(tanh_) X(exp_) X(log_) X(sqrt_) X(rsqrt_) \
  X(abs_) X(neg_) X(square_) X(reciprocal_) X(floor_) X(ceil_) X(round_) X(sin_) X(cos_) X(normal_) X(uniform_) X(random_) X(bernoulli_) X(exponential_) \
  X(masked_fill_) X(masked_scatter_) X(index_add_) X(index_copy_) X(index_fill_) X(scatter_) X(scatter_add_) X(squeeze_) X(unsqueeze_) X(t_) X(transpose_) \
  X(resize_as_) X(set_) X(detach_) X(addmm_) X(addcmul_) X(addcdiv_) X(baddbmm_) X(lerp_) X(fmod_) X(remainder_) X(eq_) X(lt_) X(gt_) X(logical_not_) X(triu_) X(tril_) X(fill_diagonal_) X(copysign_) X(erf_) X(floor_divide_) X(logical_and_) X(logical_or_) X(bitwise_and_) X(bitwise_or_) X(cumsum_) X(nan_to_num_) \
  X(asin_) X(acos_) X(atan_) X(asinh_) X(acosh_) X(atanh_) X(arcsin_) X(arccos_) X(arctan_) X(tan_) X(sinh_) X(cosh_) X(log2_) X(log10_) X(log1p_) X(exp2_) X(expm1_) X(erfc_) X(erfinv_) X(lgamma_) \
  X(digamma_) X(frac_) X(sign_) X(sgn_) X(trunc_) X(atan2_) X(hypot_) X(bitwise_not_) X(bitwise_xor_) X(bitwise_left_shift_) X(bitwise_right_shift_) X(logical_xor_) X(clip_) X(cumprod_) X(divide_) X(multiply_) X(subtract_) X(true_divide_) X(negative_) X(absolute_) \
  X(ge_) X(le_) X(ne_) X(greater_) X(less_) X(not_equal_) X(greater_equal_) X(less_equal_) X(float_power_) X(index_reduce_) X(scatter_reduce_) X(put_) X(renorm_) X(xlogy_) X(addmv_) X(addr_) X(addbmm_) X(cauchy_) X(log_normal_) X(geometric_) \
  X(swapaxes_) X(swapdims_) X(as_strided_) X(heaviside_) X(logit_) X(sinc_) X(deg2rad_) X(rad2deg_) X(gcd_) X(lcm_) X(nextafter_) X(i0_) X(fix_)

// Free functions only: (self, ...) -> Tensor.
#define LIGHT_FUNCTIONS(X)                                                                                               \
  X(linear) X(bilinear) X(conv1d) X(conv2d) X(conv3d) X(convolution) X(conv_transpose1d) X(conv_transpose2d) X(conv_transpose3d) X(layer_norm) X(rms_norm) X(group_norm) X(batch_norm) \
  X(instance_norm) X(dropout) X(alpha_dropout) X(embedding) X(gelu) X(silu) X(mish) X(elu) X(selu) X(celu) X(leaky_relu) X(hardtanh) X(hardswish) X(hardsigmoid) X(softplus) X(softshrink) \
  X(relu6) X(log_sigmoid) X(rrelu) X(threshold) X(glu) X(mse_loss) X(l1_loss) X(smooth_l1_loss) X(huber_loss) X(cross_entropy_loss) X(nll_loss) X(nll_loss2d) X(kl_div) X(binary_cross_entropy) \
  X(binary_cross_entropy_with_logits) X(hinge_embedding_loss) X(cosine_embedding_loss) X(margin_ranking_loss) X(triplet_margin_loss) X(soft_margin_loss) X(poisson_nll_loss) X(max_pool1d) X(max_pool2d) X(max_pool3d) \
  X(avg_pool1d) X(avg_pool2d) X(avg_pool3d) X(adaptive_avg_pool1d) X(adaptive_avg_pool2d) X(adaptive_avg_pool3d) X(upsample_nearest2d) X(upsample_bilinear2d) X(pad) X(constant_pad_nd) X(reflection_pad1d) X(reflection_pad2d) \
  X(replication_pad1d) X(replication_pad2d) X(pixel_shuffle) X(pixel_unshuffle) X(cdist) X(pdist) X(cosine_similarity) X(pairwise_distance) X(searchsorted) X(bucketize) X(one_hot) X(tensordot) \
  X(view_as_real) X(view_as_complex) X(real) X(imag) X(addr) X(im2col) X(col2im) X(grid_sampler) X(scaled_dot_product_attention) X(trapz) X(cumulative_trapezoid) X(isin) X(combinations) X(cartesian_prod) X(vander) X(diff) X(frobenius_norm) X(rsub) X(rnn_tanh_cell) X(linalg_norm) X(linalg_vector_norm) X(_softmax) X(_log_softmax) X(gru_cell) \
  X(atleast_1d) X(atleast_2d) X(atleast_3d) X(grid_sampler_2d) X(grid_sampler_3d) X(reflection_pad3d) X(replication_pad3d) X(upsample_nearest1d) X(upsample_nearest3d) X(upsample_linear1d) X(upsample_bicubic2d) X(upsample_trilinear3d) X(conv_depthwise3d) X(multi_margin_loss) X(multilabel_margin_loss) X(ctc_loss) X(nuclear_norm) X(channel_shuffle) X(trapezoid) X(affine_grid_generator) X(poisson) X(polar) X(feature_dropout) X(rnn_relu_cell) X(binomial) X(complex) X(nll_loss_nd)

// Results of several tensors: members and free functions, and free functions only.
#define LIGHT_PAIRS(X) X(sort) X(topk) X(mode) X(kthvalue) X(cummax) X(cummin) X(aminmax) X(frexp) X(slogdet) X(qr)
#define LIGHT_PAIR_FUNCTIONS(X) X(var_mean) X(std_mean) X(_aminmax) X(adaptive_max_pool1d) X(adaptive_max_pool3d) X(max_pool1d_with_indices) X(max_pool3d_with_indices) X(lstm_cell) X(nll_loss_forward) X(nll_loss2d_forward) X(native_dropout) X(log_sigmoid_forward)
#define LIGHT_TRIPLES(X) X(native_group_norm) X(native_batch_norm) X(unique_dim) X(unique_consecutive) X(_unique2)
#define LIGHT_LISTS(X) X(split) X(chunk) X(unbind) X(split_with_sizes) X(tensor_split) X(hsplit) X(vsplit) X(dsplit) X(unsafe_chunk) X(unsafe_split)
