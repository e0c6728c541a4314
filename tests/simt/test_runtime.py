"""The runtime library: one in a process, whatever folders hold it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from kengine.simt import build
from kengine.simt.runtime import load_runtime

ADD = 'extern "C" __global__ void add_one(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }'


def test_two_folders_share_one_runtime(simt_cache: Path, tmp_path: Path) -> None:
    first = build(ADD, cache=simt_cache)
    for part in simt_cache.iterdir():
        if part.is_dir():
            (tmp_path / part.name).symlink_to(part)
        elif part.name.startswith("libkengine"):
            shutil.copy(part, tmp_path)
    second = build(ADD, cache=tmp_path)
    assert second.library.parent == tmp_path and second.runtime is first.runtime
    assert load_runtime(next(tmp_path.glob("libkengine*"))) is first.runtime
    for program in (first, second):
        x = program.empty(4, np.float32)
        x[:] = 3
        program.launch("add_one", 1, 4, (x, 4))
        assert x.tolist() == [4, 4, 4, 4]
