"""Loaders of the formats that kernel corpora come in; each offers to read what it recognises, or says what lacks."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.plugins.hooks import hookimpl

KENGINE_SPEC = (1, 0)

FORMATS: Mapping[str, str] = {
    "samples": "plain",
    "completions": "plain",
    "completion-files": "plain",
    "kernelbench": "kernelbench",
    "kernelbench-files": "kernelbench",
    "multikernelbench": "kernelbench",
    "cuda-agent-ops": "kernelbench",
    "kernelbook": "kernelbook",
    "ai-cuda-engineer": "extension",
    "robust-kbench": "extension",
    "aig-hip2hip": "aig",
    "aig-hip": "aig",
    "aig-hip-files": "aig",
    "aig-triton": "aig",
    "tritonbench-g": "tritonbench",
    "tritonbench-t": "tritonbench",
    "rocmbench": "tritonbench",
    "gpu-mode": "gpumode",
    "flashinfer-bench": "flashinfer",
    "backendbench": "backendbench",
    "nkibench": "nkibench",
}
"""Name of each format and the module that reads it."""


@hookimpl
def kengine_load(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """What every loader of the core says to a source."""
    answers: list[Loader | NearMiss] = []
    for name in dict.fromkeys(FORMATS.values()):
        answers += import_module(f"{__name__}.{name}").recognise(glimpse)
    return answers
