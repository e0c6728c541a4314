"""The corpus and its reader: what is in it, and a clear error for everything that is not as it should be."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from kengine import lint, tasks
from kengine.model import Capability, Status, Target, TargetInfo
from kengine.selftest import CHECKS, SEEN_BY, TRAPS, CorpusError, load, read_entry

ROOT = Path(__file__).resolve().parent / "corpus"
CORPUS = load(ROOT)
HACKS = [e for e in CORPUS.entries if e.kind == "hack"]
HONEST = [e for e in CORPUS.entries if e.kind == "honest"]
GOOD = """# /// kengine-corpus
# task = "matmul"
# letter = "B2"
# tries = "Keeps answers by shape."
# right = ["sham", "wrong_result"]
# dynamic = ["compare"]
# ///
import torch


def candidate(a, b):
    return a @ b
"""


def written(folder: Path, text: str, where: str = "triton/hacks/one.py") -> Path:
    path = folder / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_corpus_that_is_found_is_this_one() -> None:
    assert load().folder == ROOT
    assert load().entries == CORPUS.entries


def test_there_is_enough_of_everything() -> None:
    assert len(HACKS) >= 80
    assert len(HONEST) >= 60
    by_backend = Counter((e.backend, e.kind) for e in CORPUS.entries)
    assert by_backend["triton", "hack"] >= 45
    assert by_backend["triton", "honest"] >= 35


def test_every_letter_has_several_hacks() -> None:
    counts = Counter(e.letter[0] for e in HACKS if e.backend == "triton")
    assert {letter: counts[letter] for letter in "ABCDEFGH" if counts[letter] < 5} == {}


def test_every_trap_and_every_check_is_tried() -> None:
    assert {e.trap for e in HONEST} == set(TRAPS)
    assert {check for e in HACKS for check in e.dynamic} == set(CHECKS)
    assert set(SEEN_BY) == set(CHECKS)


def test_every_task_is_used_and_names_stand_for_one_thing() -> None:
    assert {e.task for e in CORPUS.entries} == set(CORPUS.tasks)
    texts = Counter((e.backend, re.sub(r"\s+", " ", e.text)) for e in CORPUS.entries)
    assert [key for key, count in texts.items() if count > 1] == []


@pytest.mark.parametrize("entry", CORPUS.entries, ids=lambda e: e.name)
def test_every_entry_can_be_read_by_the_engine(entry) -> None:
    """Nothing but a hack's own doing may stop it; a slip of the pen would count as a hack that was found."""
    item = CORPUS.item(entry)
    assert item.key == entry.name
    assert tasks.examine(item.candidate, item.task) is None
    assert entry.about[0].isupper() and entry.about.endswith(".")


def test_the_engine_sees_neither_block_nor_name() -> None:
    for entry in CORPUS.entries:
        item = CORPUS.item(entry)
        assert item.candidate.main.path == f"candidate{entry.suffix}"
        assert "kengine-corpus" not in item.candidate.main.text
        assert entry.about not in item.candidate.main.text


def test_blanking_the_block_keeps_line_numbers(tmp_path) -> None:
    entry = read_entry(written(tmp_path, GOOD))
    assert entry.text.split("\n")[7] == "import torch"
    assert entry.text.count("\n") == GOOD.count("\n")
    assert entry.text.strip().startswith("import torch")


def test_an_entry_reads_as_written(tmp_path) -> None:
    entry = read_entry(written(tmp_path, GOOD))
    assert (entry.name, entry.kind, entry.backend, entry.letter) == ("triton/hacks/one", "hack", "triton", "B2")
    assert entry.right == {Status.sham, Status.wrong_result}
    assert entry.exposers == {"compare"}
    assert entry.targets == ("triton:*",)
    assert not entry.device
    assert entry.fits(Target("triton", "sm_90")) and not entry.fits(Target("cuda", "sm_90"))


def test_a_native_file_has_its_block_in_its_own_comments(tmp_path) -> None:
    block = GOOD.split("import torch")[0].replace("# ", "// ").replace('"matmul"', '"row_softmax"')
    entry = read_entry(written(tmp_path, block + "__global__ void f(float* x) {}\n", "cuda/hacks/one.cu"))
    assert entry.backend == "cuda" and entry.text.strip() == "__global__ void f(float* x) {}"


def test_why_an_entry_cannot_run(tmp_path) -> None:
    entry = read_entry(written(tmp_path, GOOD.replace("# ///\n", "# device = true\n# ///\n")))
    able = (Capability.compile, Capability.launch)
    assert entry.obstacle(TargetInfo(Target("triton", "interpret"), True, able)) == "only a device shows it"
    assert entry.obstacle(TargetInfo(Target("triton", "sm_90"), False, able)) == ""
    absent = TargetInfo(Target("triton", "sm_90"), False, (Capability.compile,), {"launch": "no CUDA device"})
    assert entry.obstacle(absent) == "no CUDA device"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('# letter = "B2"', '# letter = "K2"', ("one.py:3: letter", "'K2'", "A to J")),
        ('# letter = "B2"', "# letter = 2", ("one.py:3: letter", "2", "one line of text")),
        ('"sham", "wrong_result"', '"passed"', ("right", "'passed'", "lint_rejected")),
        ('"sham", "wrong_result"', '"sham", "sham"', ("right", "twice")),
        ('"sham", "wrong_result"', "", ("right", "list of texts")),
        ('["compare"]', '["comparison"]', ("dynamic", "'comparison'", "did you mean 'compare'")),
        ('["compare"]', "[]", ("right", "without dynamic checks only lint_rejected")),
        ('# task = "matmul"', '# taks = "matmul"', ("one.py:2: taks", "did you mean 'task'")),
        ('# task = "matmul"\n', "", ("lacks 'task'",)),
        ('# task = "matmul"', '# task = "matmul', ("one.py:2", "not TOML")),
        ('# task = "matmul"', 'task = "matmul"', ("one.py:2", "does not begin with")),
        ("# ///\nimport", "import", ("not closed",)),
        ("# /// kengine-corpus", "# /// kengine-corps", ("0 blocks",)),
        ("import torch\n", "# /// kengine-corpus\n# ///\n", ("2 blocks",)),
        ("# ///\n", '# targets = ["cuda:*"]\n# ///\n', ("targets", "'cuda:*'", "triton:ARCH")),
        ("# ///\n", "# device = 1\n# ///\n", ("device", "1", "true or false")),
        ("# ///\n", '# trap = "views"\n# ///\n', ("unknown key", "trap")),
    ],
)
def test_what_is_wrong_with_a_block_is_said(tmp_path, old, new, words) -> None:
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(CorpusError) as error:
        read_entry(path)
    for word in (str(path), *words):
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("where", "word"),
    [("triton/hack/one.py", "'hack'"), ("triton/hacks/One.py", "'One.py'"), ("triton/hacks/one.txt", "'one.txt'")],
)
def test_what_is_wrong_with_a_place_is_said(tmp_path, where, word) -> None:
    with pytest.raises(CorpusError, match=re.escape(word)):
        read_entry(written(tmp_path, GOOD, where))


def test_a_corpus_that_is_none_is_refused(tmp_path) -> None:
    with pytest.raises(CorpusError, match="is no folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(CorpusError, match="holds no entry"):
        load(tmp_path)
    written(tmp_path, GOOD)
    with pytest.raises(CorpusError, match=r"'matmul' is no task of this corpus"):
        load(tmp_path)
    written(tmp_path, "def reference(a):\n    return a\n", "tasks/matmul.py")
    with pytest.raises(CorpusError, match=r"matmul\.py"):
        load(tmp_path)


def test_selecting_by_name_or_folder() -> None:
    from kengine.errors import UsageError

    first = HACKS[0]
    assert CORPUS.select([first.name]).entries == (first,)
    assert first in CORPUS.select([first.name.split("/")[-1]]).entries
    assert {e.kind for e in CORPUS.select(["triton/honest"]).entries} == {"honest"}
    with pytest.raises(UsageError, match=r"no entry 'shape_keyed_cash'.*did you mean 'shape_keyed_cache'"):
        CORPUS.select(["shape_keyed_cash"])


def test_no_rule_is_left_when_lint_is_switched_off() -> None:
    from kengine.plugins import backend as backends
    from kengine.selftest.run import NO_RULES

    entry = next(e for e in HACKS if e.name == "triton/hacks/encoded_source")
    item = CORPUS.item(entry)
    loaded = backends.load("triton")
    target = Target("triton", "interpret")
    assert any(f.severity == "reject" for f in lint.check(item.candidate, item.task, target, loaded).findings)
    assert lint.check(item.candidate, item.task, target, loaded, (), NO_RULES).findings == ()
