"""Stage `parse`: completions become candidates; thoughts are kept apart, what was cut or is no code is dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kengine.curate.completion import guess_backend, parse, prefer
from kengine.curate.lookup import LACK
from kengine.curate.record import Outcome, Sample, drop, evolve, label
from kengine.curate.stage import Context, Stage
from kengine.errors import UsageError
from kengine.model import SourceFile
from kengine.plugins import dialect
from kengine.tasks.source import MAX_BYTES


@dataclass(frozen=True)
class Parse:
    """[parse]: truncated: keep the last complete block of an answer that was cut later on, or drop it.

    max_bytes: largest candidate. bare: take code that stands without a fence. taskless: drop or keep what has neither a
    task nor a prompt, which no trainer can be asked with.
    """

    truncated: str = "keep"
    bare: bool = True
    taskless: str = "drop"
    max_bytes: int = 200_000

    def __post_init__(self) -> None:
        for name in ("truncated", "taskless"):
            if getattr(self, name) not in ("keep", "drop"):
                raise UsageError(f"{name}: {getattr(self, name)!r} is not known; allowed: keep, drop")
        if not 1 <= self.max_bytes <= MAX_BYTES:
            raise UsageError(f"max_bytes: want 1 to {MAX_BYTES:,}, got {self.max_bytes}")


def build(section: Parse, context: Context) -> Stage:
    """The stage."""
    return Stage("parse", "row", lambda sample: parse_sample(sample, section))


def parse_sample(sample: Sample, section: Parse | None = None) -> Iterator[Outcome]:
    """The sample with a candidate, or its loss: no_code, truncated, too_large, binary, no_task."""
    section = section or Parse()
    if section.taskless == "drop" and sample.task is None and not sample.prompt:
        lack = sample.labels.get(LACK)
        yield drop(sample, "no_task", str(lack or "it has neither a task nor a prompt"))
        return
    if LACK in sample.labels:
        sample = evolve(sample, labels={k: v for k, v in sample.labels.items() if k != LACK})
    if sample.files:
        yield _check(sample, section)
        return
    if not sample.completion.strip():
        yield drop(sample, "no_code", "it has neither code nor a completion")
        return
    parsed = parse(sample.completion, prefer(sample.backend))
    if not parsed.code.strip():
        reason = "truncated" if parsed.truncated else "no_code"
        detail = "its thought or its only code block never ends" if parsed.truncated else "it holds no code block"
        yield drop(sample, reason, detail)
        return
    if parsed.truncated and section.truncated == "drop":
        yield drop(sample, "truncated", "it was cut after its last complete code block")
        return
    if parsed.bare and not section.bare:
        yield drop(sample, "no_code", "its code stands without a fence")
        return
    backend = sample.backend or guess_backend(parsed.code)
    sample = evolve(
        sample,
        files=(SourceFile(_name(parsed.code, parsed.tag, backend), parsed.code),),
        reasoning=sample.reasoning or parsed.reasoning,
        backend=backend,
    )
    yield _check(label(sample, truncated=True) if parsed.truncated else sample, section)


def _check(sample: Sample, section: Parse) -> Outcome:
    texts = [file.text for file in sample.files]
    size = sum(map(len, texts))
    if size > section.max_bytes:
        return drop(sample, "too_large", f"it is {size:,} characters, at most {section.max_bytes:,} are taken")
    whole = texts[0] if len(texts) == 1 else "\n".join(texts)
    if "\0" in whole:
        return drop(sample, "binary", "its text holds NUL bytes")
    if not texts[0] or texts[0].isspace():
        return drop(sample, "no_code", "its main file is empty")
    if not whole.isascii():
        try:
            whole.encode()
        except UnicodeEncodeError:
            return drop(sample, "binary", "its text is not valid Unicode")
    if "\r" in whole or "\ufeff" in whole:
        from kengine.tasks.source import normalise

        sample = evolve(sample, files=tuple(replace(f, text=normalise(f.text)) for f in sample.files))
    return sample if sample.backend else evolve(sample, backend=guess_backend(sample.code))


def _name(code: str, tag: str, backend: str) -> str:
    """Name of the candidate's file, whose suffix tells the language: C++ where its fence or nothing but C++ says so."""
    native = dialect.find(backend).native
    if tag in dialect.declared().native or (not tag and native and "__global__" in code and "import " not in code):
        return f"candidate{native or dialect.declared().suffixes.get(tag, '.cu')}"
    return "candidate.py"
