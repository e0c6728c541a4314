"""Completions as models write them: thoughts, several blocks, prose, cut text, answers in JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kengine.curate import completion
from kengine.curate.completion import guess_backend, parse, prefer, split_thoughts
from kengine.curate.parse import Parse, parse_sample
from kengine.curate.record import Loss, Sample
from kengine.model import SourceFile
from kengine.tasks.markdown import read_blocks

KERNEL = "import triton\n\n\n@triton.jit\ndef kernel(x):\n    pass\n"
OTHER = "import triton\n\n\n@triton.jit\ndef other(x):\n    pass\n"


def fenced(code: str, tag: str = "python") -> str:
    return f"```{tag}\n{code}```\n"


def test_the_last_complete_block_counts_and_prose_around_it_does_not() -> None:
    parsed = parse(f"First a draft:\n{fenced(OTHER)}\nBetter:\n{fenced(KERNEL)}\nThis masks edges.")
    assert (parsed.code, parsed.tag, parsed.blocks) == (KERNEL, "python", 2)
    assert not parsed.truncated and not parsed.bare and parsed.reasoning == ""


def test_an_example_of_use_after_the_kernel_is_not_the_kernel() -> None:
    parsed = parse(fenced(KERNEL) + "Use it so:\n" + fenced("x = torch.ones(4)\nprint(candidate(x))\n"))
    assert parsed.code == KERNEL and parsed.blocks == 2


@pytest.mark.parametrize("tag", ["bash", "text", "json"])
def test_blocks_of_other_languages_do_not_count(tag: str) -> None:
    assert parse(fenced(KERNEL) + fenced("def not_python\n", tag)).code == KERNEL


@pytest.mark.parametrize("tag", ["bash", "json"])
def test_commands_and_data_alone_are_no_candidate(tag: str) -> None:
    parsed = parse("Install it:\n" + fenced("pip install triton\n", tag))
    assert (parsed.code, parsed.blocks, parsed.truncated) == ("", 1, False)
    assert parse(fenced("x\n", tag) + "```python\ndef candidate(x):\n    retu").truncated


def test_the_language_of_the_backend_goes_first() -> None:
    cuda = "__global__ void k() {}\n"
    text = fenced(cuda, "cuda") + fenced(KERNEL)
    assert parse(text, native=True).code == cuda
    assert parse(text, native=False).code == KERNEL


def test_untagged_blocks_and_other_fences() -> None:
    assert parse(f"```\n{KERNEL}```").code == KERNEL
    assert parse(f"~~~python\n{KERNEL}~~~").code == KERNEL
    assert parse(f"````python\n{KERNEL}````").code == KERNEL
    inner = '"""\n```\nnot the end\n```\n"""\n' + KERNEL
    assert parse(f"````python\n{inner}````").code == inner


def test_carriage_returns() -> None:
    parsed = parse(fenced(KERNEL).replace("\n", "\r\n"))
    assert parsed.code == KERNEL


@pytest.mark.parametrize("tag", ["think", "thinking", "reasoning", "THINK"])
def test_thoughts_are_kept_apart(tag: str) -> None:
    parsed = parse(f"<{tag}>\nOne program a row.\n{fenced(OTHER)}</{tag}>\n{fenced(KERNEL)}")
    assert parsed.code == KERNEL and parsed.blocks == 1
    assert parsed.reasoning.startswith("One program a row.") and "def other" in parsed.reasoning


def test_a_thought_that_the_prompt_opened() -> None:
    answer, thoughts, cut = split_thoughts("rows first\n</think>\nanswer")
    assert (answer.strip(), thoughts, cut) == ("answer", "rows first", False)


def test_several_thoughts_are_joined() -> None:
    assert split_thoughts("<think>a</think>x<think>b</think>y") == ("xy", "a\n\nb", False)


def test_a_thought_that_never_ends() -> None:
    parsed = parse(f"<think>\nperhaps\n{fenced(KERNEL)}")
    assert parsed.truncated and parsed.code == "" and "perhaps" in parsed.reasoning


def test_a_block_that_never_ends() -> None:
    assert parse("Here:\n```python\n" + KERNEL).truncated
    assert parse("Here:\n```python\n" + KERNEL).code == ""
    both = parse(fenced(OTHER) + "```python\n" + KERNEL)
    assert both.code == OTHER and both.truncated


def test_code_without_a_fence() -> None:
    parsed = parse(KERNEL)
    assert parsed.bare and parsed.code == KERNEL
    assert parse("Import what you need and define a class, then launch.").code == ""


def test_answers_in_json() -> None:
    parsed = parse(json.dumps({"thought": "tile it", "code": KERNEL}))
    assert parsed.code == KERNEL and parsed.reasoning == "tile it"
    assert parse(json.dumps({"strategy": "s", "code": fenced(KERNEL)})).code == KERNEL
    assert parse('{"code": 3}').code == ""


@given(st.text(alphabet="`~ \n<>/thinkpyodef:@", max_size=200))
def test_any_text_is_taken_apart(text: str) -> None:
    parsed = parse(text)
    blocks, _ = read_blocks(text)
    assert isinstance(parsed.code, str) and parsed.blocks <= len(blocks) + 1


def test_backends_are_guessed_from_code() -> None:
    assert guess_backend(KERNEL) == "triton"
    assert guess_backend("import nki\n@nki.jit\ndef kernel(x): ...") == "nki"
    assert guess_backend("#include <hip/hip_runtime.h>\n__global__ void k() {}") == "hip"
    assert guess_backend("__global__ void k() {}") == "cuda"
    assert guess_backend("import torch") == ""


def sample(**given: object) -> Sample:
    return Sample("s:1", "s", "1", **{"prompt": ({"role": "user", "content": "q"},), **given})  # type: ignore[arg-type]


def test_the_stage_makes_a_candidate() -> None:
    (made,) = parse_sample(sample(completion=f"<think>why</think>{fenced(KERNEL)}"))
    assert isinstance(made, Sample)
    assert made.files == (SourceFile("candidate.py", KERNEL),)
    assert (made.reasoning, made.backend, made.language) == ("why", "triton", "python")


def test_native_code_gets_a_native_name() -> None:
    (made,) = parse_sample(sample(completion=fenced("__global__ void k() {}\n", "cuda")))
    assert isinstance(made, Sample) and made.files[0].path == "candidate.cu" and made.language == "cuda"
    (made,) = parse_sample(sample(completion=fenced("__global__ void k() {}\n", "hip"), backend="hip"))
    assert isinstance(made, Sample) and made.files[0].path == "candidate.hip" and made.language == "hip"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "no_code"),
        ({"completion": "  \n"}, "no_code"),
        ({"completion": "I cannot."}, "no_code"),
        ({"completion": "```python\nx"}, "truncated"),
        ({"completion": "<think>x"}, "truncated"),
        ({"completion": fenced(OTHER) + "```python\nx"}, "truncated"),
        ({"files": (SourceFile("a.py", "x = 1\0"),)}, "binary"),
        ({"files": (SourceFile("a.py", "x = '\ud800'"),)}, "binary"),
        ({"files": (SourceFile("a.py", " \n"),)}, "no_code"),
        ({"files": (SourceFile("a.py", "#" * 300_000),)}, "too_large"),
        ({"completion": KERNEL}, "no_code"),
        ({"completion": fenced(KERNEL), "prompt": ()}, "no_task"),
    ],
)
def test_what_is_no_candidate_is_lost_with_its_reason(given: dict[str, object], reason: str) -> None:
    (loss,) = parse_sample(sample(**given), Parse(truncated="drop", bare=False))
    assert isinstance(loss, Loss) and loss.reason == reason and loss.detail


def test_a_cut_answer_may_be_kept_with_its_last_complete_block() -> None:
    (made,) = parse_sample(sample(completion=fenced(OTHER) + "```python\nx"))
    assert isinstance(made, Sample) and made.code == OTHER and made.labels == {"truncated": True}


def test_line_ends_of_given_code_are_made_one() -> None:
    (made,) = parse_sample(sample(files=(SourceFile("a.py", "\ufeffx = 1\r\ny = 2\r"),)))
    assert isinstance(made, Sample) and made.code == "x = 1\ny = 2\n"


_PIECES = ("<think>", "</think>", "<THINK>", "</Think>", "<reasoning>", "</reasoning>", "<the", "x < y", "plan\n", " ", "```python\n",  # noqa: E501
           "```\n", "~~~\n", "def f():\n", "`", "<", "\n")  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
def test_the_short_way_through_a_thought_gives_what_the_long_one_does(text: str) -> None:
    assert split_thoughts(text) == _long_way(text)


def _long_way(text: str) -> tuple[str, str, bool]:
    begin, closing = "", completion.CLOSING.search(text)
    if closing is not None and f"<{closing[1].lower()}>" not in text[: closing.start()].lower():
        begin, text = text[: closing.start()].strip(), text[closing.end() :]
    thoughts, cut = [begin], False
    for match in completion._THOUGHT.finditer(text):
        thoughts.append(match[2].strip())
        cut = cut or not match[0].lower().endswith(f"</{match[1].lower()}>")
    return completion._THOUGHT.sub("", text), "\n\n".join(t for t in thoughts if t), cut


def test_what_a_backend_wants() -> None:
    assert prefer("nowhere") is None and prefer("toy") in (None, False)
    from kengine.plugins import dialect

    for name, spoken in dialect.declared().items():
        assert prefer(name) is (None if spoken.native else False)


def test_a_fence_may_name_the_backend() -> None:
    from kengine.plugins import dialect

    for name, spoken in dialect.declared().items():
        for tag in (name, *spoken.fences):
            if not spoken.native:
                text = f"```{tag}\ndef kernel(): ...\n```\n```rust\nfn f() {{}}\n```\n"
                assert parse(text, prefer(name)).code == "def kernel(): ...\n"
