"""What is exported: every format reads back, says where each row comes from, and splits by task."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from kengine import codec
from kengine.curate import rows
from kengine.curate.export import Export, card, export
from kengine.curate.export.formats import FORMATS, PROVENANCE, provenance
from kengine.curate.export.splits import Splits
from kengine.curate.funnel import Funnel
from kengine.curate.mask import mask_tokens
from kengine.curate.record import Judgement, Loss, Sample, evolve
from kengine.errors import InfraError, UsageError
from kengine.model import SourceFile, Task, TaskSpec

TASKS = [
    Task(
        f"t{n}",
        "function",
        f"def reference(x):\n    return x + {n}\n\n\ndef make_inputs(seed, device):\n    return (1,)\n",
        spec=TaskSpec(level=n % 3),
    )
    for n in range(20)
]
JUDGED = Judgement(
    "triton:interpret",
    "passed",
    True,
    salt="ab" * 16,
    versions={"triton": "3.9"},
    speedup=1.5,
    latency_ns=900,
    compiled_for=("triton:interpret", "triton:sm_90"),
)


def sample(n: int, **given) -> Sample:
    task = TASKS[n % len(TASKS)]
    fields = {
        "task": task,
        "group": task.digest,
        "backend": "triton",
        "license": "MIT",
        "reasoning": "because",
        "labels": {"operator": f"op{n % 2}"},
        "judgements": (JUDGED,),
        **given,
    }
    return Sample(f"s:{n}", "s", f"f:{n}", files=(SourceFile("candidate.py", f"x = {n}\n"),), **fields)


class Corpus:
    def __init__(self, samples: list[Sample]) -> None:
        self.samples = samples

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.samples)

    def __len__(self) -> int:
        return len(self.samples)


def write(folder: Path, samples: list[Sample], section: Export, losses: tuple[Loss, ...] = ()):
    funnel = Funnel()
    funnel.record("load", len(samples) + len(losses), len(samples), {"bad": len(losses)} if losses else {})
    return export(Corpus(samples), folder / "corpus", section, funnel, losses, seed=3)


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


ALL = Export(formats=("messages", "prompt-completion", "slime", "hf", "samples"), splits={"train": 1.0})


def test_every_row_says_where_it_comes_from(tmp_path) -> None:
    write(tmp_path, [sample(0)], ALL)
    for format in ALL.formats:
        (row,) = lines(tmp_path / f"corpus/{format}/train.jsonl")
        if format == "samples":
            assert rows.from_line({k: v for k, v in row.items() if k != "schema"}, "x") == sample(0)
            continue
        told = row["metadata"] if format == "slime" else row
        assert set(PROVENANCE) <= set(told)
        assert (told["uid"], told["license"], told["source"], told["origin"]) == ("s:0", "MIT", "s", "f:0")
        assert told["task_digest"] == TASKS[0].digest and told["candidate_digest"] == sample(0).digest
        assert (told["verdict"], told["targets"], told["emulated"]) == ("passed", ["triton:interpret"], True)
        assert told["seeds"] == ["ab" * 16] and json.loads(told["toolchain"]) == {"triton:interpret": {"triton": "3.9"}}
        assert (told["speedup"], told["latency_ns"], told["operator"], told["level"]) == (1.5, 900, "op0", "0")


def test_messages_flag_what_is_learned_from(tmp_path) -> None:
    write(tmp_path, [sample(0)], Export(splits={"train": 1.0}, system="You write kernels.", loss_flag="learn"))
    (row,) = lines(tmp_path / "corpus/messages/train.jsonl")
    assert [(m["role"], m["learn"]) for m in row["messages"]] == [
        ("system", False),
        ("user", False),
        ("assistant", True),
    ]
    assert row["messages"][-1]["content"] == "<think>\nbecause\n</think>\n\n```python\nx = 0\n```"
    assert row["messages"][1]["content"].startswith("[backend: triton]\nWrite a Triton kernel")


def test_reasoning_may_stand_apart_or_not_at_all(tmp_path) -> None:
    write(tmp_path, [sample(0)], Export(splits={"train": 1.0}, reasoning="field"))
    (row,) = lines(tmp_path / "corpus/messages/train.jsonl")
    assert row["messages"][-1]["reasoning_content"] == "because" and "<think>" not in row["messages"][-1]["content"]
    write(tmp_path, [sample(0)], Export(splits={"train": 1.0}, reasoning="none"))
    (row,) = lines(tmp_path / "corpus/messages/train.jsonl")
    assert "because" not in json.dumps(row["messages"])


def test_a_prompt_that_the_source_had_is_kept(tmp_path) -> None:
    asked = ({"role": "user", "content": "please"},)
    write(tmp_path, [sample(0, prompt=asked)], Export(formats=("prompt-completion",), splits={"train": 1.0}))
    (row,) = lines(tmp_path / "corpus/prompt-completion/train.jsonl")
    assert row["prompt"] == [{"role": "user", "content": "please"}] and row["completion"][0]["role"] == "assistant"


def test_code_that_holds_a_fence_is_fenced_longer(tmp_path) -> None:
    made = evolve(sample(0), files=(SourceFile("a.cu", "// ```\n"), SourceFile("b.py", "y = 1\n")), reasoning="")
    write(tmp_path, [made], Export(splits={"train": 1.0}))
    (row,) = lines(tmp_path / "corpus/messages/train.jsonl")
    assert row["messages"][-1]["content"] == "`````cuda\n// ```\n`````\n\n```python\n# b.py\ny = 1\n```"


def test_rows_of_trainers_hold_the_task_where_kengine_looks_for_it(tmp_path) -> None:
    from kengine.integrations.columns import to_task

    write(tmp_path, [sample(0), sample(20), sample(1)], ALL)
    found = lines(tmp_path / "corpus/slime/train.jsonl")
    assert len(found) == 2, "one row a task, however many samples it has"
    assert to_task(found[0]["label"]) == TASKS[0] and found[0]["prompt"][0]["role"] == "user"


def test_parquet_formats(tmp_path) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'kernel-engine[curate]'")
    import pyarrow.parquet

    section = Export(
        formats=("verl", "nemo-gym", "messages", "hf", "prompt-completion"), files="parquet", splits={"train": 1.0}
    )
    write(tmp_path, [sample(n) for n in range(3)], section)
    tables = {
        f: pyarrow.parquet.read_table(tmp_path / f"corpus/{f}/train.parquet").to_pylist() for f in section.formats
    }
    assert [len(t) for t in tables.values()] == [3] * 5
    verl = tables["verl"][2]
    assert codec.loads(verl["reward_model"]["ground_truth"], Task) == TASKS[2]
    assert (verl["data_source"], verl["ability"], verl["extra_info"]["index"], verl["extra_info"]["split"]) == (
        "kengine/s",
        "kernel",
        2,
        "train",
    )
    assert verl["prompt"][0]["role"] == "user" and verl["extra_info"]["license"] == "MIT"
    gym = tables["nemo-gym"][0]
    assert codec.loads(gym["verifier_metadata"]["task"], Task) == TASKS[0]
    assert gym["responses_create_params"]["input"][0]["role"] == "user" and gym["agent_ref"]["name"]
    assert tables["messages"][0]["messages"][-1]["train"] is True and tables["hf"][0]["code"] == "x = 0\n"
    assert tables["hf"][0]["seeds"] == ["ab" * 16]
    assert pyarrow.parquet.ParquetFile(tmp_path / "corpus/hf/train.parquet").metadata.row_group(0).num_rows == 3


def test_splits_are_by_task_and_stay_when_a_corpus_grows(tmp_path) -> None:
    section = Export(formats=("messages",), splits={"train": 0.6, "validation": 0.4})
    write(tmp_path, [sample(n) for n in range(60)], section)

    def where() -> dict[str, str]:
        return {
            row["task_digest"]: split
            for split in section.splits
            for row in lines(tmp_path / f"corpus/messages/{split}.jsonl")
        }

    first = where()
    assert len(first) == 20 and set(first.values()) == {"train", "validation"}
    total = sum(len(lines(tmp_path / f"corpus/messages/{s}.jsonl")) for s in section.splits)
    assert total == 60, "no task in two splits, no row in none"
    write(tmp_path, [sample(n) for n in range(10)], section)
    assert all(first[task] == split for task, split in where().items())


def test_shares_are_kept_to(tmp_path) -> None:
    splits = Splits({"a": 0.8, "b": 0.2}, 1)
    counts = [splits.find(str(n)) for n in range(5000)].count("b")
    assert 850 < counts < 1150
    assert {Splits({"a": 0.1, "b": 0.9}, 1, single=True).find(str(n)) for n in range(50)} == {"b"}


def test_rows_may_be_repeated_by_weight(tmp_path) -> None:
    given = [evolve(sample(0), weight=3.0), evolve(sample(1), weight=0.2)]
    write(tmp_path, given, Export(splits={"train": 1.0}, weights="repeat"))
    assert [r["uid"] for r in lines(tmp_path / "corpus/messages/train.jsonl")] == ["s:0"] * 3 + ["s:1"]
    write(tmp_path, given, Export(splits={"train": 1.0}))
    assert [r["weight"] for r in lines(tmp_path / "corpus/messages/train.jsonl")] == [3.0, 0.2]


def test_the_card_tells_how_the_corpus_came_about(tmp_path) -> None:
    write(tmp_path, [sample(n) for n in range(4)], ALL, (Loss("s:9", "bad", "it is", "load", "", {"task": "t"}),))
    card = (tmp_path / "corpus/README.md").read_text()
    head, _, body = card.removeprefix("---\n").partition("\n---\n")
    assert "license: mit" in head and "path: messages/train.jsonl" in head
    assert "| load | 5 | 0 | 1 | 4 | bad 1 |" in body and "| op0 | 2 |" in body and "ab" * 16 in body
    assert "- compiled for triton:sm_90: 4 rows" in body
    assert lines(tmp_path / "corpus/losses.jsonl") == [
        {"uid": "s:9", "stage": "load", "reason": "bad", "detail": "it is", "task": "t"}
    ]


def test_yaml_of_the_card_is_yaml(tmp_path) -> None:
    yaml = pytest.importorskip("yaml")
    write(tmp_path, [sample(n) for n in range(4)], ALL)
    head = yaml.safe_load((tmp_path / "corpus/README.md").read_text().split("---\n")[1])
    assert head["configs"][0] == {
        "config_name": "messages",
        "data_files": [{"split": "train", "path": "messages/train.jsonl"}],
    }


@pytest.mark.parametrize(
    ("formats", "files", "named"),
    [
        (("messages", "verl", "slime"), "jsonl", {"messages", "slime"}),
        (("messages", "verl", "slime"), "parquet", {"messages", "verl"}),
        (("messages", "verl"), "jsonl", {"messages"}),
        (("verl",), "jsonl", {"verl"}),
    ],
)
def test_the_card_names_files_of_one_kind(formats, files, named) -> None:
    """`datasets` reads all that a card names with the reader of the first."""
    section = Export(formats=formats, files=files)
    paths = {(f, "train"): f"{f}/train.{section.kind(f)}" for f in formats}
    text = card.write(card.Tally(), Funnel(), paths, "", "")
    assert {line.partition(": ")[2] for line in text.splitlines() if "config_name" in line} == named


def test_samples_that_were_not_judged_say_so(tmp_path) -> None:
    write(tmp_path, [sample(0, judgements=())], Export(splits={"train": 1.0}))
    (row,) = lines(tmp_path / "corpus/messages/train.jsonl")
    assert (row["verdict"], row["emulated"], row["targets"]) == ("unjudged", None, [])
    assert "these rows were not judged" in (tmp_path / "corpus/README.md").read_text()


def test_a_sample_without_task_and_prompt_cannot_be_asked_for(tmp_path) -> None:
    with pytest.raises(UsageError, match="s:0: has neither a prompt nor a task"):
        write(tmp_path, [sample(0, task=None)], Export(splits={"train": 1.0}))
    assert not (tmp_path / "corpus").exists() and not (tmp_path / "corpus.part").exists()


def test_columns_are_those_of_the_schema(tmp_path) -> None:
    for name, format in FORMATS.items():
        if format.schema:
            row = format.make(sample(0), provenance(sample(0), "d"), Export())
            assert set(row) == set(format.schema), name


def test_what_a_table_must_say() -> None:
    for given, said in (
        ({"formats": ("x",)}, "formats: 'x' is not known"),
        ({"splits": {"a": 0.5}}, "add up to 0.5"),
        ({"splits": {"a b": 1.0}}, "name is that of a file"),
        ({"splits": {}}, "want shares"),
        ({"files": "csv"}, "files: 'csv'"),
        ({"folder": "../x"}, "folder: want the name"),
        ({"reasoning": "x"}, "reasoning: 'x'"),
        ({"weights": "x"}, "weights: 'x'"),
    ):
        with pytest.raises(UsageError, match=said):
            Export(**given)


def chatml(messages) -> str:
    return "".join(f"<|{m['role']}|>{m['content']}<|end|>" for m in messages)


def test_only_tokens_of_flagged_messages_count() -> None:
    messages = [
        {"role": "user", "content": "ab", "train": False},
        {"role": "assistant", "content": "cd", "train": True},
        {"role": "user", "content": "ef", "train": False},
        {"role": "assistant", "content": "gh", "train": True},
    ]
    ids, mask = mask_tokens(messages, chatml, lambda text: [ord(c) for c in text])
    assert "".join(map(chr, ids)) == chatml(messages)
    assert "".join(chr(i) for i, counts in zip(ids, mask) if counts) == "cd<|end|>gh<|end|>"


def test_templates_that_allow_no_mask_are_told() -> None:
    with pytest.raises(UsageError, match="rewrites what stands before message 2"):
        mask_tokens([{"role": "user", "content": "a"}] * 2, lambda m: str(len(m)) + chatml(m), lambda t: [1])
    with pytest.raises(UsageError, match="does not write the content of message 1"):
        mask_tokens([{"role": "assistant", "content": " a ", "train": True}], lambda m: "a", lambda t: [1])


def test_the_gradient_reaches_only_what_predicts_the_completion(tmp_path) -> None:
    torch = pytest.importorskip("torch")
    write(tmp_path, [sample(0)], Export(splits={"train": 1.0}))
    (row,) = lines(tmp_path / "corpus/messages/train.jsonl")
    ids, mask = mask_tokens(row["messages"], chatml, lambda text: list(text.encode()))
    labels = torch.tensor([t if counts else -100 for t, counts in zip(ids, mask)])
    logits = torch.zeros(len(ids), 256, requires_grad=True)
    torch.nn.functional.cross_entropy(logits[:-1], labels[1:]).backward()
    moved = (logits.grad.abs().sum(1) > 0).tolist()
    assert moved == [*mask[1:], False] and 0 < sum(mask) < len(mask)


def test_another_seed_gives_another_split() -> None:
    first, again, other = ([Splits({"a": 0.5, "b": 0.5}, seed).find(str(n)) for n in range(50)] for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("n", range(6))
def test_a_corpus_of_one_task_is_in_the_largest_split(tmp_path, n) -> None:
    section = Export(splits={"validation": 0.4, "train": 0.6})
    write(tmp_path, [sample(n + 20 * k) for k in range(3)], section)
    assert [p.name for p in (tmp_path / "corpus/messages").iterdir()] == ["train.jsonl"]


def test_no_weight_repeats_a_row_without_end(tmp_path) -> None:
    write(tmp_path, [evolve(sample(0), weight=150.0)], Export(splits={"train": 1.0}, weights="repeat"))
    assert len(lines(tmp_path / "corpus/messages/train.jsonl")) == 100


def test_several_judgements_tell_the_last_failure_and_the_least_speed() -> None:
    from dataclasses import replace

    slow = replace(JUDGED, target="triton:sm_90", speedup=0.7)
    told = provenance(sample(0, judgements=(JUDGED, slow)), "")
    assert (told["verdict"], told["speedup"], told["targets"]) == ("passed", 0.7, ["triton:interpret", "triton:sm_90"])
    wrong = replace(slow, status="wrong_result", speedup=None)
    told = provenance(sample(0, judgements=(JUDGED, wrong)), "")
    assert (told["verdict"], told["speedup"]) == ("wrong_result", 1.5)


def test_an_export_that_was_killed_between_two_names_comes_back(tmp_path, monkeypatch) -> None:
    from kengine.curate.export import files

    write(tmp_path, [sample(n) for n in range(3)], ALL)
    before = (tmp_path / "corpus/messages/train.jsonl").read_text()
    (tmp_path / "corpus").rename(tmp_path / "corpus.old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.Lines, "add_text", fail)
    with pytest.raises(InfraError, match="No space left on device"):
        write(tmp_path, [sample(9)], ALL)
    assert (tmp_path / "corpus/messages/train.jsonl").read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["corpus"]


def test_the_old_export_goes_when_the_new_one_has_its_name(tmp_path, monkeypatch) -> None:
    write(tmp_path, [sample(n) for n in range(3)], ALL)
    before = (tmp_path / "corpus/messages/train.jsonl").read_text()
    rename = Path.rename

    def refuse(self, target):
        if self.name == "corpus.part":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refuse)
        with pytest.raises(InfraError, match="Input/output error"):
            write(tmp_path, [sample(9)], ALL)
    assert [p.name for p in tmp_path.iterdir()] == ["corpus"], "as the message says, what was there is still there"
    assert (tmp_path / "corpus/messages/train.jsonl").read_text() == before
    write(tmp_path, [sample(9)], ALL)
    assert [p.name for p in tmp_path.iterdir()] == ["corpus"]
    assert [row["uid"] for row in lines(tmp_path / "corpus/messages/train.jsonl")] == ["s:9"]
