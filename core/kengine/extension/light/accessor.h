// Views of a tensor's memory with its sizes and strides, for host code and for kernels.
// NVRTC, to which all code is the device's, gets them without torch's other classes.
#pragma once
#ifndef __CUDACC_RTC__
#include "tensor.h"
#endif

namespace at {
template <class T>
struct DefaultPtrTraits {
  typedef T* PtrType;
};
template <class T>
struct RestrictPtrTraits {
  typedef T* __restrict__ PtrType;
};

template <class T, size_t N, template <class> class P, class I>
class LightAccessorBase {
 public:
  using PtrType = typename P<T>::PtrType;
  C10_HOST_DEVICE LightAccessorBase(PtrType data, const I* sizes, const I* strides) : data_(data), sizes_(sizes), strides_(strides) {}
  C10_HOST_DEVICE I size(I i) const { return sizes_[i]; }
  C10_HOST_DEVICE I stride(I i) const { return strides_[i]; }
  C10_HOST_DEVICE PtrType data() const { return data_; }
#ifndef __CUDACC_RTC__
  IntArrayRef sizes() const { return IntArrayRef(sizes_, N); }
  IntArrayRef strides() const { return IntArrayRef(strides_, N); }
#endif

 protected:
  PtrType data_;
  const I* sizes_;
  const I* strides_;
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t>
class TensorAccessor : public LightAccessorBase<T, N, P, I> {
 public:
  using LightAccessorBase<T, N, P, I>::LightAccessorBase;
  C10_HOST_DEVICE TensorAccessor<T, N - 1, P, I> operator[](I i) const {
    return TensorAccessor<T, N - 1, P, I>(this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1);
  }
};
template <class T, template <class> class P, class I>
class TensorAccessor<T, 1, P, I> : public LightAccessorBase<T, 1, P, I> {
 public:
  using LightAccessorBase<T, 1, P, I>::LightAccessorBase;
  C10_HOST_DEVICE T& operator[](I i) const { return this->data_[this->strides_[0] * i]; }
};

// Owns its sizes and strides, so that it can be passed to a kernel by value.
template <class T, size_t N, template <class> class P, class I>
class LightPacked {
 public:
  using PtrType = typename P<T>::PtrType;
  C10_HOST_DEVICE LightPacked(PtrType data, const int64_t* sizes, const int64_t* strides) : data_(data) {
    for (size_t i = 0; i < N; ++i) sizes_[i] = static_cast<I>(sizes[i]), strides_[i] = static_cast<I>(strides[i]);
  }
  C10_HOST_DEVICE I size(I i) const { return sizes_[i]; }
  C10_HOST_DEVICE I stride(I i) const { return strides_[i]; }
  C10_HOST_DEVICE PtrType data() const { return data_; }

 protected:
  PtrType data_;
  I sizes_[N], strides_[N];
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t>
class GenericPackedTensorAccessor : public LightPacked<T, N, P, I> {
 public:
  using LightPacked<T, N, P, I>::LightPacked;
  C10_HOST_DEVICE TensorAccessor<T, N - 1, P, I> operator[](I i) const {
    return TensorAccessor<T, N - 1, P, I>(this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1);
  }
};
template <class T, template <class> class P, class I>
class GenericPackedTensorAccessor<T, 1, P, I> : public LightPacked<T, 1, P, I> {
 public:
  using LightPacked<T, 1, P, I>::LightPacked;
  C10_HOST_DEVICE T& operator[](I i) const { return this->data_[this->strides_[0] * i]; }
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int32_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, int64_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;

#ifndef __CUDACC_RTC__
template <class T, size_t N>
TensorAccessor<T, N, DefaultPtrTraits, int64_t> Tensor::accessor() const& {
  TORCH_CHECK(dim() == static_cast<int64_t>(N), "TensorAccessor expected ", N, " dims but tensor has ", dim());
  return TensorAccessor<T, N>(data_ptr<std::remove_const_t<T>>(), sizes().data(), strides().data());
}
template <class T, size_t N, template <class> class P, class I>
GenericPackedTensorAccessor<T, N, P, I> Tensor::generic_packed_accessor() const& {
  TORCH_CHECK(dim() == static_cast<int64_t>(N), "TensorAccessor expected ", N, " dims but tensor has ", dim());
  return GenericPackedTensorAccessor<T, N, P, I>(data_ptr<std::remove_const_t<T>>(), sizes().data(), strides().data());
}
#endif
}  // namespace at
