// The records of accesses to a region: allocated at its first access, refined at the first one smaller than a granule.
#include <sys/mman.h>

#include "check.h"

namespace simt {

void allocate_cells(Region& r) {
  size_t bytes = ((r.size >> r.shift) + 2) * sizeof(Cell);
  if (r.cells && r.cell_bytes >= bytes) return;
  if (r.cells) munmap(r.cells, r.cell_bytes);
  bytes = (bytes + 4095) & ~size_t(4095);
  r.cells = static_cast<Cell*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (r.cells == MAP_FAILED) r.cells = nullptr, r.kind = Kind::ignored;
  r.cell_bytes = bytes;
}

void refine(Region& r, uint8_t shift) {
  Cell* old = r.cells;
  size_t old_bytes = r.cell_bytes, count = (r.size >> r.shift) + 1;
  int ratio = 1 << (r.shift - shift);
  r.cells = nullptr;
  r.cell_bytes = 0;
  r.shift = shift;
  allocate_cells(r);
  if (!old || !r.cells) return;
  for (size_t i = 0; i < count && i * sizeof(Cell) < old_bytes; ++i)
    if (old[i].written | old[i].read)
      for (int k = 0; k < ratio; ++k) {
        size_t to = i * static_cast<size_t>(ratio) + static_cast<size_t>(k);
        if (to * sizeof(Cell) < r.cell_bytes) r.cells[to] = old[i];
      }
  munmap(old, old_bytes);
}

}  // namespace simt
