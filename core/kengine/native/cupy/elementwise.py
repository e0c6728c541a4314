"""`cupy.ElementwiseKernel` of the facade: the loop around an operation, generated and given to the driver."""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine.native import observe
from kengine.native.cupy import generated, kernels
from kengine.native.cupy.arrays import poison, wrap
from kengine.native.driver import Configuration

THREADS = 128


class ElementwiseKernel:
    """An operation on the elements of its arguments, with broadcasting; `raw` arguments are indexed freely."""

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel", reduce_dims: bool = True,
        preamble: str = "", no_return: bool = False, return_tuple: bool = False, loop_prep: str = "",
        after_loop: str = "", options: Any = (), **_: Any,
    ) -> None:  # fmt: skip
        self.in_params = generated.read_parameters(in_params)
        self.out_params = generated.read_parameters(out_params)
        self.operation, self.name, self.preamble = operation, name, preamble
        self.no_return, self.return_tuple = no_return, return_tuple
        self.loop_prep, self.after_loop = loop_prep, after_loop
        self.options = tuple(options)
        kernels.note_generated(name)

    nin = property(lambda self: len(self.in_params))
    nout = property(lambda self: len(self.out_params))

    def __call__(self, *args: Any, size: int | None = None, block_size: int = THREADS, **_: Any) -> Any:
        many = len(self.in_params) + len(self.out_params)
        if len(args) not in (len(self.in_params), many):
            raise TypeError(f"Wrong number of arguments for {self.name!r}: {len(args)}, it takes {len(self.in_params)} "
                            f"or {many} with its outputs")  # fmt: skip
        parameters = (*self.in_params, *self.out_params)
        given = [generated.check_array(v, p.name) for v, p in zip(args, parameters)] + [None] * (many - len(args))
        bound: dict[str, str] = {}
        generated.bind_types(parameters, given, bound)
        shape = _shape(parameters, given, size)
        outs = [
            poison(np.empty(shape, generated.dtype_of(p, bound))) if v is None else v
            for p, v in zip(self.out_params, given[len(self.in_params) :])
        ]
        ins = given[: len(self.in_params)]
        with observe.kernel(self.name, [*ins, *outs]):
            self._launch(bound, ins, outs, shape, block_size)
        if self.no_return:
            return None
        made = tuple(wrap(out) for out in outs)
        return made if self.return_tuple or len(made) != 1 else made[0]

    def _launch(self, bound: dict[str, str], ins: list[Any], outs: list[Any], shape: Any, block_size: int) -> None:
        count = int(np.prod(shape, dtype=np.int64))
        arguments: list[Any] = []
        for parameter, value in zip(self.in_params, ins):
            dtype = generated.dtype_of(parameter, bound)
            array = np.asarray(value, dtype=dtype)
            arguments.append(np.ascontiguousarray(array if parameter.raw else np.broadcast_to(array, shape)))
        written = [np.ascontiguousarray(out) for out in outs]
        arguments += written
        if count:
            module = kernels.build(self._source(bound), self.options, (), f"{self.name}.cu")
            grid = (min(-(-count // block_size), 1 << 20), 1, 1)
            sizes = [np.int64(a.size) for a in arguments]
            values = [item for pair in zip(arguments, sizes) for item in pair]
            module.launch(self.name, Configuration(grid, (block_size, 1, 1)), [*values, np.int64(count)], strict=True)
        for out, array in zip(outs, written):
            if out is not array and not np.shares_memory(out, array):
                out[...] = array

    def _source(self, bound: dict[str, str]) -> str:
        heads, locals_ = [], []
        for group, const in ((self.in_params, "const "), (self.out_params, "")):
            for p in group:
                kind = generated.CPP_TYPES[generated.dtype_of(p, bound)]
                heads.append(f"{const}{kind}* _raw_{p.name}, long long _size_{p.name}")
                if p.raw:
                    locals_.append((True, f"_RawArray<{const}{kind}> {p.name} = {{_raw_{p.name}, _size_{p.name}}};"))
                elif const:
                    locals_.append((False, f"const {kind} {p.name} = _raw_{p.name}[i];"))
                else:
                    locals_.append((False, f"{kind}& {p.name} = _raw_{p.name}[i];"))
        before = "\n".join(text for outside, text in locals_ if outside)
        inside = "\n".join(text for outside, text in locals_ if not outside)
        return (
            f"{generated.prelude((*self.in_params, *self.out_params), bound)}\n"
            f"struct _Size {{ long long n; __device__ long long size() const {{ return n; }} }};\n{self.preamble}\n"
            f'extern "C" __global__ void {self.name}({", ".join(heads)}, long long n) {{\n'
            f"_Size _ind = {{n}}; (void)_ind;\n{before}\n{self.loop_prep};\n"
            "for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; "
            "i += (long long)gridDim.x * blockDim.x) {\n"
            f"{inside}\n{self.operation};\n}}\n{self.after_loop};\n}}\n"
        )


def _shape(parameters: Any, values: list[Any], size: int | None) -> tuple[int, ...]:
    arrays = [np.shape(v) for p, v in zip(parameters, values) if v is not None and not p.raw]
    if size is not None:
        return (int(size),)
    if not any(isinstance(v, np.ndarray) for p, v in zip(parameters, values) if v is not None and not p.raw):
        raise ValueError("Loop size is undecided; give size=")
    shape: tuple[int, ...] = np.broadcast_shapes(*arrays)
    return shape


def names() -> dict[str, Any]:
    """What the module `cupy` gets from here."""
    return {"ElementwiseKernel": ElementwiseKernel}
