"""`cupy.ReductionKernel` of the facade: partial results in many places, joined by a tree as on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine.native import observe
from kengine.native.cupy import generated, kernels
from kengine.native.cupy.arrays import poison, wrap
from kengine.native.driver import Configuration

PARTS = 64
"""Partial results for each output: element j goes to part j mod PARTS."""


class ReductionKernel:
    """map, reduce and post-map expressions over one or several axes."""

    def __init__(
        self, in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str, identity: Any,
        name: str = "reduce_kernel", reduce_type: str | None = None, reduce_dims: bool = True, preamble: str = "",
        options: Any = (), **_: Any,
    ) -> None:  # fmt: skip
        self.in_params = generated.read_parameters(in_params)
        self.out_params = generated.read_parameters(out_params)
        if len(self.out_params) != 1:
            raise ValueError("a reduction has one output")
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity, self.name, self.reduce_type = identity, name, reduce_type
        self.preamble, self.options = preamble, tuple(options)
        kernels.note_generated(name)

    def __call__(
        self, *args: Any, out: Any = None, axis: Any = None, keepdims: bool = False, stream: Any = None
    ) -> Any:
        if len(args) not in (len(self.in_params), len(self.in_params) + 1):
            raise TypeError(f"Wrong number of arguments for {self.name!r}: {len(args)}")
        if len(args) > len(self.in_params):
            out = args[-1]
        ins = [generated.check_array(v, p.name) for v, p in zip(args, self.in_params)]
        bound: dict[str, str] = {}
        generated.bind_types((*self.in_params, *self.out_params), [*ins, out], bound)
        shape = np.broadcast_shapes(*(np.shape(v) for p, v in zip(self.in_params, ins) if not p.raw))
        axes = _axes(axis, len(shape))
        kept = tuple(n for i, n in enumerate(shape) if i not in axes)
        result = poison(np.empty(kept, generated.dtype_of(self.out_params[0], bound)))
        with observe.kernel(self.name, [*ins, result]):
            self._launch(bound, ins, result, shape, axes)
        if keepdims:
            result = result.reshape(tuple(1 if i in axes else n for i, n in enumerate(shape)))
        if out is not None:
            out[...] = result
            return out
        return wrap(result)

    def _launch(self, bound: dict[str, str], ins: list[Any], result: Any, shape: Any, axes: tuple[int, ...]) -> None:
        order = [i for i in range(len(shape)) if i not in axes] + list(axes)
        length = int(np.prod([shape[i] for i in axes], dtype=np.int64))
        values: list[Any] = []
        for parameter, value in zip(self.in_params, ins):
            array = np.asarray(value, dtype=generated.dtype_of(parameter, bound))
            if not parameter.raw:
                array = np.broadcast_to(array, shape).transpose(order)
            made = np.ascontiguousarray(array)
            values += [made, np.int64(made.size)]
        if result.size:
            module = kernels.build(self._source(bound), self.options, (), f"{self.name}.cu")
            grid = (-(-result.size // 32), 1, 1)
            counts = [np.int64(result.size), np.int64(length)]
            module.launch(self.name, Configuration(grid, (32, 1, 1)), [*values, result, *counts], strict=True)

    def _source(self, bound: dict[str, str]) -> str:
        out = self.out_params[0]
        out_type = generated.CPP_TYPES[generated.dtype_of(out, bound)]
        work = self.reduce_type or out_type
        work = generated.CPP_TYPES.get(work, work)
        heads, inside, raw = [], [], []
        for p in self.in_params:
            kind = generated.CPP_TYPES[generated.dtype_of(p, bound)]
            heads.append(f"const {kind}* _raw_{p.name}, long long _size_{p.name}")
            if p.raw:
                raw.append(f"_RawArray<const {kind}> {p.name} = {{_raw_{p.name}, _size_{p.name}}};")
            else:
                inside.append(f"const {kind} {p.name} = _raw_{p.name}[_at];")
        identity = self.identity if self.identity is not None else "0"
        reads, before = "\n".join(inside), "\n".join(raw)
        return (
            f"{generated.prelude((*self.in_params, out), bound)}\n{self.preamble}\n"
            f"typedef {work} type_reduce;\n#define REDUCE(a, b) ({self.reduce_expr})\n"
            f'extern "C" __global__ void {self.name}({", ".join(heads)}, {out_type}* _out, long long _outs, '
            "long long _length) {\n"
            "long long _o = blockIdx.x * (long long)blockDim.x + threadIdx.x;\nif (_o >= _outs) return;\n"
            "struct { long long n; __device__ long long size() const { return n; } } _in_ind = {_outs * _length}, "
            f"_out_ind = {{_outs}};\n(void)_in_ind; (void)_out_ind;\n{before}\n"
            f"type_reduce _part[{PARTS}];\nfor (int _k = 0; _k < {PARTS}; ++_k) _part[_k] = type_reduce({identity});\n"
            "for (long long _j = 0; _j < _length; ++_j) {\nlong long _at = _o * _length + _j, i = _at; (void)i;\n"
            f"{reads}\ntype_reduce _mapped = static_cast<type_reduce>({self.map_expr});\n"
            f"type_reduce& _slot = _part[_j % {PARTS}];\n"
            f"_slot = _j < {PARTS} ? _mapped : static_cast<type_reduce>(REDUCE(_slot, _mapped));\n}}\n"
            f"long long _have = _length < {PARTS} ? _length : {PARTS};\n"
            "for (long long _n = _have; _n > 1; _n = (_n + 1) / 2)\n"
            "for (long long _k = 0; _k < _n / 2; ++_k) "
            "_part[_k] = static_cast<type_reduce>(REDUCE(_part[_k], _part[_k + (_n + 1) / 2]));\n"
            f"type_reduce a = _part[0]; long long i = _o; (void)i;\n{out_type}& {out.name} = _out[_o];\n"
            f"{self.post_map_expr};\n}}\n"
        )


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted({int(a) % ndim for a in given}))


def names() -> dict[str, Any]:
    """What the module `cupy` gets from here."""
    return {"ReductionKernel": ReductionKernel}
