"""What is judged: candidate, task, cases, tolerance, and the part of them that a runner may know."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kengine.model.status import JsonValue


def _bytes(text: str) -> bytes:
    """Text for a digest: records made by hand or from broken JSON may hold half a surrogate pair, and are still told
    apart. Whether such a text can be judged is said where it is judged."""
    return text.encode(errors="surrogatepass")


@dataclass(frozen=True)
class SourceFile:
    """One text file; `path` is relative and for people, never opened."""

    path: str
    text: str


@dataclass(frozen=True)
class Candidate:
    """The kernel under judgement: its files (the first is the main one), the entry's name, and its launch block.

    `options` is the `# /// kengine` (or `// /// kengine`) block of the candidate, parsed: backends read their own keys.
    In a single file the reference and the inputs have been blanked out, line numbers kept.
    """

    files: tuple[SourceFile, ...]
    entry: str
    language: Literal["python", "cuda", "hip"] = "python"
    options: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def main(self) -> SourceFile:
        """The file that holds the entry."""
        return self.files[0]

    @property
    def digest(self) -> str:
        """SHA-256 over names, texts and entry, hexadecimal."""
        h = hashlib.sha256(_bytes(self.entry))
        for f in self.files:
            h.update(b"\0" + _bytes(f.path) + b"\0" + _bytes(f.text))
        return h.hexdigest()


ValueClass = Literal["drawn", "normal", "uniform", "large", "tiny", "zeros", "outlier", "binary"]
Layout = Literal["contiguous", "strided", "offset"]


@dataclass(frozen=True)
class Case:
    """One set of inputs: arguments of make_inputs, dtype, memory layout and class of values. Holds no seed.

    `dtype` is "" for what the task draws itself. `draw` tells apart several draws of the same kind.
    """

    name: str
    params: Mapping[str, JsonValue] = field(default_factory=dict)
    dtype: str = ""
    layout: Layout = "contiguous"
    values: ValueClass = "drawn"
    draw: int = 0


@dataclass(frozen=True)
class Tolerance:
    """How far an answer may be from the reference; every error is relative to the reference's own magnitude.

    rtol: floor of the allowed relative error; None takes the default of the output's dtype.
    honest_factor: how many times the error of an honest run in the task's own precision is allowed.
    precision: "strict", or "tf32": reduced-precision matrix units are part of the contract.
    nan_equal: non-finite values must stand at the same places, which is then right.
    """

    rtol: float | None = None
    honest_factor: float = 4.0
    precision: Literal["strict", "tf32"] = "strict"
    nan_equal: bool = True


@dataclass(frozen=True)
class TaskSpec:
    """What the `# /// kengine` block of a task says; every field has a default."""

    cases: tuple[Case, ...] = ()
    tolerance: Tolerance = field(default_factory=Tolerance)
    allow: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    device: str = ""
    timeout_s: float | None = None
    category: str = ""
    level: int | None = None
    license: str = ""
    origin: str = ""


@dataclass(frozen=True)
class Task:
    """A reference, a way to make inputs, and what counts as right. Only the judge executes `source`.

    form "function": `source` defines reference(*inputs) and make_inputs(seed, device, **params).
    form "module": `source` defines Model, get_inputs() and get_init_inputs() (KernelBench); candidates define ModelNew.
    form "numpy": `source` defines forward(*inputs) and get_inputs() on numpy arrays (NKIBench).
    """

    name: str
    form: Literal["function", "module", "numpy"]
    source: str
    path: str = ""
    spec: TaskSpec = field(default_factory=TaskSpec)
    self_referenced: bool = False

    @property
    def digest(self) -> str:
        """SHA-256 over form, source and spec, hexadecimal."""
        return hashlib.sha256(_bytes(f"{self.form}\0{self.source}\0{self.spec!r}")).hexdigest()


@dataclass(frozen=True)
class TaskView:
    """All that a runner may know of a task: no reference, no inputs, no seed.

    sanitize: an emulator runs kernels with its checks, as far as the time allows. timeout_s: for one call.
    """

    form: Literal["function", "module", "numpy"]
    entry: str
    writes: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    sanitize: bool = True
    timeout_s: float = 30.0


@dataclass(frozen=True)
class TensorSpec:
    """Shape, dtype name, strides and offset (in elements) of one array."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] = ()
    offset: int = 0


@dataclass(frozen=True)
class CaseView:
    """All that a runner may know of a case: a number, and the arrays that the answer must consist of."""

    index: int
    outputs: tuple[TensorSpec, ...]
    writes: tuple[int, ...] = ()
