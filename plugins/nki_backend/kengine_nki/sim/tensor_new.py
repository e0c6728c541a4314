"""The tensor of the new generation: no operators, views by methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import views
from .access import assign, copy, raw
from .access_pattern import access_pattern
from .errors import NkiError, Unsupported, check
from .indexing import index_basic
from .program import current
from .tensor import Gather, NkiTensor, row_major


class NewTensor(NkiTensor):
    """A tensor as kernels of the standalone `nki` package see it."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return index_basic(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        target = index_basic(self, key)
        current().step(("assignment", "vector"), 64)
        if isinstance(value, NkiTensor):
            copy(target, value)
        else:
            assign(target, np.asarray(value, np.float32))

    permute = views.permute
    broadcast = views.broadcast
    expand_dim = views.expand_dim
    squeeze_dim = views.squeeze_dim
    reshape_dim = views.reshape_dim
    flatten_dims = views.flatten_dims
    rearrange = views.rearrange
    view = views.view_as
    reinterpret_cast = views.view_as
    ap = access_pattern

    def reshape(self, shape: Any) -> Any:
        return views.reshape(self, shape)

    def slice(self, dim: int, start: Any, end: Any, step: int = 1) -> Any:
        check(0 <= dim < self.ndim, f"slice dim {dim} out of range for a tensor with {self.ndim} dimensions")
        return index_basic(self, tuple(slice(start, end, step) if i == dim else slice(None) for i in range(self.ndim)))

    def select(self, dim: int, index: Any) -> Any:
        check(0 <= dim < self.ndim, f"select dim {dim} out of range for a tensor with {self.ndim} dimensions")
        at = views.scalar_index(index)
        dynamic = not isinstance(index, (int, np.integer))
        check(not (dynamic and self.on_chip and dim == 0), "dynamic select cannot target the partition dimension")
        return index_basic(self, tuple(at if i == dim else slice(None) for i in range(self.ndim)))

    def vector_select(self, dim: int, vector_offset: Any) -> Any:
        check(dim == 0, f"vector_select dim must be 0, got {dim}")
        check(not self.on_chip, f"vector_select is only supported on HBM tensors, got {self.buffer}")
        check(self.gather is None, "vector_select cannot be applied to an indirect view")
        pairs = tuple(zip(self.strides[1:], self.shape[1:]))
        return views.indirect_rows(self, vector_offset, 0, pairs, self.offset)

    def indirect(self, index: Any, num_elem: int | None = None) -> Any:
        """Column gather (trn3): offset i is `index[i % 16, i // 16]` of each group of 16 partitions."""
        program = current()
        check(program.chip.generation >= 4, "NkiTensor.indirect is only supported for NeuronCore-v4 or newer")
        check(self.ndim == 2 and self.on_chip, f"indirect needs a 2-dimensional on-chip tensor, got {self.shape}")
        check(index.shape[0] == self.shape[0], f"indirect index needs {self.shape[0]} partitions, got {index.shape}")
        count = index.size if num_elem is None else int(num_elem)
        partitions, picks = self.shape[0], raw(index).astype(np.int64)
        if partitions % 16:
            raise Unsupported("NkiTensor.indirect with a partition count that is not a multiple of 16")
        check(count <= 16 * index.shape[1], f"indirect num_elem {count} exceeds the {16 * index.shape[1]} offsets")
        order = np.arange(count)
        rows: Any = np.arange(partitions) // 16 * 16
        columns = picks[rows[:, None] + order % 16, order // 16]
        bad = (columns < 0) | (columns >= self.shape[1])
        if bad.any():
            raise NkiError(
                f"Out-of-bound access for tensor `{self.name}` on dimension 1: index {columns[bad][0]} exceed "
                f"dimension size of {self.shape[1]}"
            )
        flat = self.offset + np.arange(partitions)[:, None] * self.strides[0] + columns * self.strides[1]
        return self.make(self.offset, flat.shape, row_major(flat.shape), gather=Gather(flat, None, "", False))

    def get_pattern(self) -> list[list[int]]:
        return [[s, n] for s, n in zip(self.strides, self.shape)]

    def is_indirect(self) -> bool:
        return self.gather is not None

    def is_contiguous(self) -> bool:
        first = 1 if self.on_chip else 0
        expected = row_major(self.shape)
        pairs = list(zip(self.shape, self.strides, expected))[first:]
        return all(n == 1 or s == e for n, s, e in pairs)


NewTensor.__name__ = NewTensor.__qualname__ = "NkiTensor"
