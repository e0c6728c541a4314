// kengine's own use of the emulator's CUB.
#include <cub/cub.cuh>

struct ProbeLarger {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

__global__ void probe_blocks(const float* x, float* y, unsigned* keys) {
  typedef cub::BlockReduce<float, 128> Reduce;
  typedef cub::BlockScan<float, 128> Scan;
  typedef cub::BlockLoad<float, 128, 4> Load;
  typedef cub::BlockStore<float, 128, 4> Store;
  typedef cub::BlockRadixSort<unsigned, 128, 1> Sort;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sort::TempStorage sort;
  } temp;
  float items[4];
  Load(temp.load).Load(x, items);
  __syncthreads();
  float total = Reduce(temp.reduce).Sum(items[0]);
  __syncthreads();
  Scan(temp.scan).InclusiveSum(items[1], items[2]);
  __syncthreads();
  items[3] = Reduce(temp.reduce).Reduce(items[3], ProbeLarger()) + total;
  __syncthreads();
  Store(temp.store).Store(y, items);
  __syncthreads();
  unsigned own[1] = {keys[threadIdx.x]};
  Sort(temp.sort).Sort(own);
  keys[threadIdx.x] = own[0];
}

__global__ void probe_warps(const float* x, float* y) {
  typedef cub::WarpReduce<float> Reduce;
  typedef cub::WarpScan<float> Scan;
  __shared__ typename Reduce::TempStorage reduce;
  __shared__ typename Scan::TempStorage scan;
  float sums, v = Reduce(reduce).Sum(x[threadIdx.x]);
  Scan(scan).InclusiveSum(v, sums);
  y[threadIdx.x] = sums;
}
