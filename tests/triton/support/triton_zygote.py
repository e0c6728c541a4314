"""A process that has warmed up for one target and forks a runner for each request: what the tests judge with.

Requests and replies are pickles on stdin and stdout, each behind its length; both ends are ours.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import struct
import sys
import tempfile
import traceback
from functools import partial
from pathlib import Path
from typing import Any

_warm: set[str] = set()
"""Modules that every fork has from the start."""


class Pickler(pickle.Pickler):
    """Tensors as bytes: torch's own pickling does not know every dtype."""

    def persistent_id(self, obj: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(obj, torch.Tensor):
            return None
        flat = torch.empty(0, dtype=torch.uint8).set_(obj.untyped_storage())
        name = str(obj.dtype).removeprefix("torch.")
        return flat.numpy().tobytes(), name, tuple(obj.shape), tuple(obj.stride()), obj.storage_offset()


class Unpickler(pickle.Unpickler):
    def persistent_load(self, pid: Any) -> Any:
        import torch

        data, name, shape, strides, offset = pid
        flat = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)
        return flat.view(getattr(torch, name)).as_strided(shape, strides, offset)


def read(stream: Any) -> Any:
    head = stream.read(8)
    if len(head) < 8:
        return None
    return Unpickler(io.BytesIO(stream.read(struct.unpack("!Q", head)[0]))).load()


def write(stream: Any, value: Any) -> None:
    body = io.BytesIO()
    Pickler(body).dump(value)
    stream.write(struct.pack("!Q", body.tell()) + body.getvalue())
    stream.flush()


def spread(values: list[Any]) -> list[Any]:
    """Tensors (as torch tensors on the host) into one page-aligned arena, as `Array`s; other values as they are."""
    import torch
    from kengine.array import Array, span
    from kengine.model import TensorSpec

    sizes = [0]
    specs = []
    for value in values:
        if isinstance(value, torch.Tensor):
            spec = TensorSpec(
                str(value.dtype).removeprefix("torch."),
                tuple(value.shape),
                tuple(value.stride()),
                value.storage_offset(),
            )
            specs.append(spec)
            sizes.append(sizes[-1] + (span(spec) + 511) // 256 * 256)
        else:
            specs.append(None)
            sizes.append(sizes[-1])
    arena = memoryview(mmap.mmap(-1, max(sizes[-1], 4096)))
    arrays = []
    for value, spec, at in zip(values, specs, sizes):
        if spec is None:
            arrays.append(value)
            continue
        array = Array(spec, arena[at : at + span(spec)])
        if value.numel():
            array.as_torch().copy_(value)
        arrays.append(array)
    return arrays


def serve(request: dict[str, Any]) -> dict[str, Any]:
    import torch
    from kengine.errors import CandidateFault
    from kengine.model import CaseView, Mode, Target
    from kengine.plugins.hooks import Inputs
    from kengine_triton import plugin

    target = Target.parse(request["target"])
    reply: dict[str, Any] = {"runs": []}
    with tempfile.TemporaryDirectory() as folder:
        workdir = Path(folder)
        os.environ["TRITON_CACHE_DIR"] = request.get("cache") or str(workdir / "cache")
        names, values = list(request["state"]), list(request["state"].values())
        samples = [
            Inputs(
                tuple(spread(args)), tuple(request["init"]), dict(zip(names, spread(values))),
                tuple(spread(request["destination"])),
            )
            for args in request["samples"]
        ]  # fmt: skip
        try:
            artifact = plugin.kengine_compile(request["candidate"], request["view"], target, samples, workdir)
            reply["artifact"] = artifact
            for mode in request["modes"]:
                for i, sample in enumerate(samples):
                    launch = partial(plugin.kengine_launch, artifact, CaseView(i, ()), sample, Mode(mode))
                    if mode == "traced":
                        from watch_support import followed

                        seen = followed(sample, launch)
                        reply["facts"], outputs = seen.facts, seen.outputs
                    else:
                        outputs = launch()
                    value = outputs.value
                    if isinstance(value, torch.Tensor):
                        value = (value,)
                    value = tuple(v.detach().clone() if isinstance(v, torch.Tensor) else v for v in value or ())
                    after = [a.as_torch().clone() if hasattr(a, "as_torch") else a for a in sample.args]
                    reply["runs"].append((value, tuple(outputs.launches), after))
            reply["imported"] = sorted(set(sys.modules) - _warm)
        except CandidateFault as fault:
            reply["fault"] = (fault.status, fault.message, fault.log, fault.line)
    return reply


def main(target: str) -> None:
    from kengine.model import Target
    from kengine.runner import watch
    from kengine_triton import plugin

    inward, outward = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    plugin.kengine_warm(Target.parse(target))
    plugin.kengine_open(Target.parse(target))
    watch.prepare()
    from kengine.runner import child, modules  # noqa: F401

    modules.import_modules("elftools.elf.elffile", "elftools.elf.dynamic")  # as the runner's zygote does

    _warm.update(sys.modules)
    while (request := read(inward)) is not None:
        near, far = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(near)
            with os.fdopen(far, "wb") as back:
                try:
                    reply = serve(request)
                except BaseException:
                    reply = {"broken": traceback.format_exc()}
                write(back, reply)
            os._exit(0)
        os.close(far)
        with os.fdopen(near, "rb") as back:
            reply = read(back)
        _, status = os.waitpid(pid, 0)
        write(outward, reply if reply is not None else {"broken": f"the runner died with status {status}"})


if __name__ == "__main__":
    main(sys.argv[1])
