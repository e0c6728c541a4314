// kengine's own use of the emulator's cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

__global__ void probe_groups(float* x) {
  namespace cg = cooperative_groups;
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  float v = cg::reduce(tile, x[block.thread_rank()], cg::plus<float>());
  v += cg::exclusive_scan(tile, v) + tile.shfl_down(v, 1);
  cg::coalesced_group active = cg::coalesced_threads();
  if (active.thread_rank() == 0 && tile.any(v > 0)) x[0] = v;
  block.sync();
  cg::this_grid().sync();
}
