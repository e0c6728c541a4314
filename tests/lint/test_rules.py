"""Every rule: its docstring, its fixtures with the lines that it must find, and its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from kengine.lint.rule import SECTIONS, Rule
from kengine.lint.rules import RULES
from kengine.lint.runner import RULE_FAILED, run
from kengine.model import Candidate, SourceFile, Target, Task
from kengine_cuda.lint import RULES as CUDA
from kengine_hip.lint import RULES as HIP
from kengine_nki.lint import RULES as NKI
from kengine_triton.lint import RULES as TRITON

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = Path(__file__).with_name("fixtures")
EVERY = (*RULES, *TRITON, *NKI)
TASK = Task(
    "rmsnorm",
    "function",
    "import torch\n\n"
    "def reference(x, w):\n    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)\n    return y * w\n\n"
    "def make_inputs(seed, device):\n    return torch.randn(4, 8), torch.randn(8)\n",
)
TARGET = Target("triton", "interpret")


def find(text: str, rules: tuple[Rule, ...] = EVERY, entry: str = "candidate") -> list[tuple[str, str, int]]:
    """Findings in a text; a fixture may name its target in the first line, `# target: nki:trn1`."""
    named = re.match(r"# target: (\S+)", text)
    target = Target.parse(named[1]) if named else TARGET
    candidate = Candidate((SourceFile("k.py", text),), entry)
    return [(f.code, f.severity, f.line) for f in run(candidate, TASK, target, rules).findings]


@pytest.mark.parametrize("rule", EVERY, ids=lambda rule: rule.code)
def test_rule(rule: Rule) -> None:
    sections = rule.sections
    assert list(sections) == ["", *SECTIONS], "headings of the docstring"
    assert all(text.strip() for text in sections.values())
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)
    bad, ok = (FIXTURES / f"{rule.code}_{kind}.py" for kind in ("bad", "ok"))
    assert bad.is_file() and ok.is_file(), "a rule has a bad and a good fixture"
    text = bad.read_text()
    expected = [n for n, line in enumerate(text.split("\n"), 1) if re.search(rf"# {rule.code}\b", line)]
    assert expected, "the bad fixture marks no line"
    found = sorted({line for _, _, line in find(text, (rule,))})
    assert found == expected
    assert find(ok.read_text(), (rule,)) == []
    page = (ROOT / "docs" / "rules.md").read_text()
    assert f"## {rule.code} {rule.name}" in page


@pytest.mark.parametrize("rule", (*CUDA, *HIP), ids=lambda rule: rule.code)
def test_native_packs_have_fixtures_and_a_page(rule: Rule) -> None:
    folder = ROOT / "tests" / ("cuda" if rule.code.startswith("KC") else "hip") / "fixtures"
    assert list(folder.glob(f"{rule.code}_bad.*")) and list(folder.glob(f"{rule.code}_ok.*"))
    assert list(rule.sections) == ["", *SECTIONS] and all(text.strip() for text in rule.sections.values())
    assert f"## {rule.code} {rule.name}" in (ROOT / "docs" / "rules.md").read_text()


def test_codes_are_used_once_and_in_order() -> None:
    for rules in (RULES, TRITON, NKI, CUDA, HIP):
        codes = [rule.code for rule in rules]
        assert codes == sorted(set(codes))
    assert {rule.code[:2] for rule in RULES} == {"KE"} and {rule.code[:2] for rule in TRITON} == {"KT"}
    assert {rule.code[:3] for rule in NKI} == {"KN1"}


def test_every_module_is_listed() -> None:
    core = {p.name[:5].upper() for p in (ROOT / "core/kengine/lint/rules").glob("ke*.py")}
    pack = {p.name[:5].upper() for p in (ROOT / "plugins/triton_backend/kengine_triton/lint/rules").glob("kt*.py")}
    nki = {p.name[:5].upper() for p in (ROOT / "plugins/nki_backend/kengine_nki/lint/rules").glob("kn*.py")}
    assert core | pack | nki == {rule.code for rule in EVERY}
    cuda = {p.name[:5].upper() for p in (ROOT / "plugins/cuda_backend/kengine_cuda/lint/rules").glob("kc*.py")}
    hip = {p.name[:5].upper() for p in (ROOT / "plugins/hip_backend/kengine_hip/lint/rules").glob("kh*.py")}
    assert cuda | hip == {rule.code for rule in (*CUDA, *HIP)}


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.py")), ids=lambda p: p.stem)
def test_no_rule_breaks_on_any_fixture(path: Path) -> None:
    assert RULE_FAILED not in {code for code, _, _ in find(path.read_text())}


def test_the_page_is_up_to_date() -> None:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("write_rule_docs", ROOT / "scripts" / "write_rule_docs.py")
    assert spec is not None and spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    assert (ROOT / "docs" / "rules.md").read_text() == script.render(), "run scripts/write_rule_docs.py"
