"""AMD's AIG-Datasets: HIP from PyTorch (CudaAgent, GPUMode), HIP to HIP, and Triton; rows, RL rows and folders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from kengine.curate import adapters, taskbook
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.loaders.columns import RowError, RowFormat, attempt, license_of, plain, text
from kengine.curate.loaders.extension import functional_task
from kengine.curate.record import Message, Outcome, Sample
from kengine.model import SourceFile
from kengine.tasks.source import read_text

_MODULE = ("pytorch_module_code", "pytorch_code_module", "pytorch_code", "torch_code")
_FUNCTIONAL = ("pytorch_functional_code", "pytorch_code_functional")


def recognise(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """Rows by their columns; folders by `pytorch_code_module/` and `hip_opt/`."""
    answers: list[Loader | NearMiss] = []
    for rows in (_HIP2HIP, _HIP, _RL, _TRITON):
        answers += rows.recognise(glimpse)
    return [*answers, *_folder(glimpse)]


def _hip2hip(row: Mapping[str, Any], origin: str) -> Sample:
    question, answer = text(row, "question_code"), text(row, "answer_code")
    prompt = {
        "role": "user",
        "content": "Make this HIP kernel faster. Keep its interface.\n\n```hip\n" + question + "\n```",
    }
    return Sample("", "", origin, files=(SourceFile("candidate.hip", answer),), backend="hip", prompt=(prompt,),
                  license=license_of(row), claims=plain(row, "id"), group=f"hip2hip {_id(row, origin)}")  # fmt: skip


def _hip(row: Mapping[str, Any], origin: str) -> Sample:
    return _make(row, row, origin)


def _rl(row: Mapping[str, Any], origin: str) -> Sample:
    truth = row["reward_model"].get("ground_truth") if isinstance(row.get("reward_model"), Mapping) else None
    if isinstance(truth, str):
        try:
            truth = json.loads(truth)
        except ValueError as error:
            raise RowError("malformed_row", f"field 'reward_model.ground_truth': not JSON: {error}") from None
    if not isinstance(truth, Mapping):
        raise RowError(
            "malformed_row", f"field 'reward_model.ground_truth': want an object, got {type(truth).__name__}"
        )
    return _make(truth, row, origin)


def _make(truth: Mapping[str, Any], row: Mapping[str, Any], origin: str) -> Sample:
    name = text(truth, "kernel_name", "name", required=False) or f"task {_id(row, origin)}"
    functional = text(truth, *_FUNCTIONAL, required=False)
    module = text(truth, *_MODULE, required=not functional)
    task = functional_task(functional, module, name, license=license_of(row), origin="AIG-Datasets")
    code = text(truth, "hip_code", "hip_kernel", required=False)
    files = (_hip_file(code),) if code else ()
    prompt = row.get("prompt")
    messages: tuple[Message, ...] = ()
    if isinstance(prompt, (list, tuple)) and all(
        isinstance(m, Mapping) and {"role", "content"} <= set(m) for m in prompt
    ):
        messages = tuple({"role": str(m["role"]), "content": str(m["content"])} for m in prompt)
    claims = plain(row, "id", "data_source", "speedup") | plain(truth, "compile_timeout_s", "run_timeout_s")
    return Sample("", "", origin, task, files=files, backend="hip", prompt=messages, license=license_of(row),
                  claims=claims, labels={"operator": re.sub(r"\W+", "_", name.lower())})  # fmt: skip


def _hip_file(code: str) -> SourceFile:
    if "PYBIND11_MODULE" in code:
        return SourceFile("candidate.py", adapters.extension(code, _bound(code)))
    return SourceFile("candidate.py" if re.search(r"^(?:import|from) ", code, re.MULTILINE) else "candidate.hip", code)


def _bound(code: str) -> str:
    found = re.search(r"\.def\(\s*\"(\w+)\"", code)
    return found[1] if found else "forward"


def _triton(row: Mapping[str, Any], origin: str) -> Sample:
    module = text(row, *_MODULE)
    name = text(row, "name", "kernel_name", "entry_point", required=False) or f"task {_id(row, origin)}"
    task = taskbook.make(module, name, license=license_of(row), origin="AIG-Datasets")
    return Sample("", "", origin, task, files=(SourceFile("candidate.py", text(row, "triton_code")),), backend="triton",
                  license=license_of(row), claims=plain(row, "id", "speedup"))  # fmt: skip


def _id(row: Mapping[str, Any], origin: str) -> str:
    value = row.get("id")
    return str(value) if isinstance(value, (str, int)) else origin


_HIP2HIP = RowFormat("aig-hip2hip", ("question_code", "answer_code"), ("question_code", "answer_code"), _hip2hip)
_HIP = RowFormat(
    "aig-hip", ("hip_code|hip_kernel", "|".join((*_MODULE, *_FUNCTIONAL))), ("hip_code", "hip_kernel"), _hip
)
_RL = RowFormat("aig-hip", ("reward_model.ground_truth", "data_source", "extra_info"), (), _rl)
_TRITON = RowFormat("aig-triton", ("triton_code", "|".join(_MODULE)), (), _triton)


def _folder(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """v0.1: pytorch_code_module/py_ID.py, pytorch_code_functional/py_ID_func.py, hip_opt/ID/*.hip."""
    names = {f for f in glimpse.files if re.match(r"(.*/)?pytorch_code_module/py_[^/]+\.py$", f)}
    kernels = [f for f in glimpse.files if re.match(r"(.*/)?hip_opt/[^/]+/[^/]+\.hip$", f)]
    if not kernels:
        return []
    if not names:
        return [NearMiss("aig-hip-files", 1, "it has hip_opt/ID/*.hip, and no pytorch_code_module/py_ID.py")]

    def make(file: str, origin: str) -> Sample:
        path = PurePath(file)
        number, root = path.parent.name, path.parent.parent.parent
        module = root / "pytorch_code_module" / f"py_{number}.py"
        if str(module) not in names:
            raise RowError("broken_task", f"there is no {module}")
        beside = glimpse.path / root / "pytorch_code_functional" / f"py_{number}_func.py"
        functional = read_text(beside) if beside.exists() else ""
        task = functional_task(functional, read_text(glimpse.path / module), f"py_{number}", origin="AIG-Datasets")
        return Sample("", "", origin, task, files=(_hip_file(read_text(glimpse.path / file)),), backend="hip")

    def read() -> Iterator[Outcome]:
        for file in kernels:
            yield from attempt(make, file, file)

    return [Loader("aig-hip-files", 3, read)]
