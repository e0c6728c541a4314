"""y += alpha * x through flattened views, the argument itself is returned."""

# /// kengine-corpus
# task = "axpy_in_place"
# trap = "destination"
# does = "Writes its argument in place through view(-1) and returns the argument; a method chain hides the launch."
# ///

import triton
import triton.language as tl


@triton.jit
def axpy(x, y, alpha, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    tl.store(y + lane, tl.load(y + lane, inside) + alpha * tl.load(x + lane, inside), inside)


class Update:
    """Holds what a launch needs, without a copy of either operand."""

    def __init__(self, target):
        self.target = target
        self.flat = target.view(-1)

    def add(self, other, alpha):
        n = self.flat.numel()
        axpy[(triton.cdiv(n, 256),)](other.reshape(-1), self.flat, alpha, n, LANES=256)
        return self

    def done(self):
        return self.target


def candidate(x, y, alpha):
    return Update(y).add(x, alpha).done()
