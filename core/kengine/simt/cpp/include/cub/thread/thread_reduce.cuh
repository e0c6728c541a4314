// Reductions and scans over the items of one thread.
#pragma once
#include "thread_operators.cuh"

namespace cub {

template <int N, class T, class Op>
SIMT_MEMBER inline T ThreadReduce(T (&items)[N], Op op, T prefix) {
  for (int i = 0; i < N; ++i) prefix = static_cast<T>(op(prefix, items[i]));
  return prefix;
}
template <int N, class T, class Op>
SIMT_MEMBER inline T ThreadReduce(T (&items)[N], Op op) {
  T result = items[0];
  for (int i = 1; i < N; ++i) result = static_cast<T>(op(result, items[i]));
  return result;
}
// The last value; the prefix counts where `with_prefix` says so. Input and output may be the same array.
template <int N, class T, class Op>
SIMT_MEMBER inline T ThreadScanInclusive(T (&in)[N], T (&out)[N], Op op, T prefix, bool with_prefix = true) {
  T running = with_prefix ? static_cast<T>(op(prefix, in[0])) : in[0];
  out[0] = running;
  for (int i = 1; i < N; ++i) out[i] = running = static_cast<T>(op(running, in[i]));
  return running;
}
template <int N, class T, class Op>
SIMT_MEMBER inline T ThreadScanExclusive(T (&in)[N], T (&out)[N], Op op, T prefix, bool with_prefix = true) {
  T first = in[0], running = with_prefix ? static_cast<T>(op(prefix, first)) : first;
  out[0] = with_prefix ? prefix : first;
  for (int i = 1; i < N; ++i) {
    T own = in[i];
    out[i] = running;
    running = static_cast<T>(op(running, own));
  }
  return running;
}

}  // namespace cub
