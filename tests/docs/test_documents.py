"""The documents say what is: commands, options and links exist, hooks match, every status and key is explained."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
IDS = [path.name for path in DOCUMENTS]
WRITTEN = [path for path in DOCUMENTS if "This page is written by `scripts/" not in path.read_text()]
"""Pages that no script writes: the examples in lint rules need not be whole programs."""


def commands(text: str) -> Iterator[list[str]]:
    """Arguments of every `kengine ...` in shell and console blocks and in inline code."""
    shown = [line for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S) for line in block.splitlines()]
    shown += re.findall(r"^```console[^\n]*\n\$ ([^\n]*)", text, re.M)
    for line in shown:
        if line.startswith("kengine "):
            yield shlex.split(line.split(" #")[0].split(" > ")[0])[1:]
    outside = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for code in re.findall(r"`kengine ([^`]+)`", outside):
        yield shlex.split(code)


@pytest.mark.parametrize("path", DOCUMENTS, ids=IDS)
def test_commands_and_options_exist(path: Path) -> None:
    from kengine.cli import COMMANDS

    for name, *arguments in commands(path.read_text()):
        if name.startswith("-"):
            continue
        assert name in COMMANDS, f"{path.name}: kengine {name}"
        command: click.Command = import_module(f"kengine.cli.{name}").command
        known = {o for p in command.params if isinstance(p, click.Option) for o in (*p.opts, *p.secondary_opts)} | {
            "--help"
        }
        for argument in arguments:
            if argument.startswith("-") and argument != "-":
                assert argument.split("=")[0] in known, f"{path.name}: kengine {name} {argument}"


def test_there_is_something_to_check() -> None:
    assert sum(1 for path in DOCUMENTS for _ in commands(path.read_text())) >= 20


@pytest.mark.parametrize("path", DOCUMENTS, ids=IDS)
def test_files_and_links_exist(path: Path) -> None:
    text = path.read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.M | re.S)):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}"
    for shown in re.findall(r"\bexamples/[\w/.*]+", text):
        assert list(ROOT.glob(shown.rstrip(".,"))), f"{path.name} shows {shown}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=IDS)
def test_console_blocks_show_real_output(path: Path) -> None:
    for block in re.findall(r"^```console[^\n]*\n(.*?)^```", path.read_text(), re.M | re.S):
        first, *rest = block.splitlines()
        assert first.startswith("$ kengine ")
        assert rest, f"{path.name}: {first} shows no output; run `make docs`"
        assert "Traceback" not in block and "fault of kengine itself" not in block


def shown_rules() -> list[tuple[str, list[str], int]]:
    """Page, arguments and count of rules of every console block that shows a lint stage."""
    found = []
    for path in DOCUMENTS:
        for command, output in re.findall(
            r"^```console[^\n]*\n\$ kengine ([^\n]*)\n(.*?)^```", path.read_text(), re.M | re.S
        ):
            for count in re.findall(r"^  lint .*? (\d+) rules, ", output, re.M):
                found.append((path.name, shlex.split(command), int(count)))
    return found


@pytest.mark.parametrize(("page", "arguments", "count"), shown_rules())
def test_the_count_of_rules_is_that_of_today(page: str, arguments: list[str], count: int) -> None:
    from kengine import lint, tasks
    from kengine.errors import PluginError
    from kengine.plugins.backend import load
    from kengine.target import Target

    options = {name: arguments[i + 1] for i, name in enumerate(arguments) if name.startswith("--")}
    target = Target.parse(options["--target"]) if "--target" in options else Target(options["--backend"], "cpu")
    task = ROOT / options["--task"] if "--task" in options else None
    item = tasks.load(ROOT / arguments[-1], task)
    try:
        backend = load(target.backend)
    except PluginError:
        backend = None  # a backend of the examples that is not installed, which has no rules of its own
    assert lint.check(item.candidate, item.task, target, backend).rules == count, f"{page}: run `make docs`"


@pytest.mark.parametrize("path", DOCUMENTS, ids=IDS)
def test_make_targets_exist(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    text = path.read_text()
    shown = "\n".join([*re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S), *re.findall(r"`([^`\n]+)`", text)])
    for target in re.findall(r"^(?:\S+=\S+ )*make ([\w-]+)", shown, re.M):
        assert re.search(rf"^{target}:", makefile, re.M), f"{path.name}: make {target}"


@pytest.mark.parametrize("path", WRITTEN, ids=[path.name for path in WRITTEN])
def test_python_blocks_parse_and_import_what_exists(path: Path) -> None:
    for block in re.findall(r"^```python\n(.*?)^```", path.read_text(), re.M | re.S):
        tree = ast.parse(block)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("kengine"):
                module = import_module(node.module)
                for alias in node.names:
                    assert hasattr(module, alias.name) or import_module(f"{node.module}.{alias.name}"), alias.name


def hooks() -> dict[str, tuple[str, str]]:
    """Signature and docstring of every hook in hooks.py, in order."""
    tree = ast.parse((ROOT / "core" / "kengine" / "plugins" / "hooks.py").read_text())
    (specs,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Hooks")
    return {f.name: (signature(f), ast.get_docstring(f) or "") for f in specs.body if isinstance(f, ast.FunctionDef)}


def signature(function: ast.FunctionDef) -> str:
    arguments = [
        f"{a.arg}: {ast.unparse(a.annotation)}" for a in function.args.args if a.arg != "self" and a.annotation
    ]
    assert function.returns is not None
    return f"{function.name}({', '.join(arguments)}) -> {ast.unparse(function.returns)}"


def test_the_hooks_are_documented_as_they_are() -> None:
    text = (ROOT / "docs" / "backends.md").read_text()
    shown: dict[str, tuple[str, str]] = {}
    for part in re.split(r"^### (?=kengine_)", text, flags=re.M)[1:]:
        name, code, rest = re.match(r"(\w+)\n\n```python\n(.*?)```\n\n(.*?)(?=^## |\Z)", part, re.S | re.M).groups()  # type: ignore[union-attr]
        (function,) = ast.parse(code).body
        assert isinstance(function, ast.FunctionDef)
        shown[name] = (signature(function), rest.strip())
    assert list(shown) == list(hooks()), "every hook, in the order in which they are called"
    for name, (spec, doc) in hooks().items():
        assert shown[name][0] == spec
        assert shown[name][1].split() == doc.split(), f"{name}: the text differs from its docstring"


def test_the_index_leads_to_every_page() -> None:
    text = (ROOT / "docs" / "index.md").read_text()
    for path in (ROOT / "docs").glob("*.md"):
        assert path.name == "index.md" or f"]({path.name})" in text, path.name


def test_every_status_and_exit_code_is_explained() -> None:
    from kengine.cli import INTERRUPT_EXIT, TERMINATED_EXIT
    from kengine.cli.failure import ORDER
    from kengine.model import Status

    text = (ROOT / "docs" / "verdicts.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", text, re.M) == [str(s) for s in Status]
    codes = {int(c) for c in re.findall(r"^\| (\d+) \|", text, re.M)}
    assert codes == {*ORDER, INTERRUPT_EXIT} and str(TERMINATED_EXIT) in text
    assert f"in the order {', '.join(map(str, ORDER))}" in text


def test_every_key_of_the_block_is_explained() -> None:
    from typing import get_args

    from kengine.model import Layout, ValueClass
    from kengine.tasks.block import CANDIDATE_KEYS, TASK_KEYS
    from kengine.tasks.spec import _CASE_KEYS, _TOLERANCE_KEYS

    text = (ROOT / "docs" / "tasks.md").read_text()
    for key in (*TASK_KEYS, *CANDIDATE_KEYS, *_TOLERANCE_KEYS, *(k for k in _CASE_KEYS if k != "draws")):
        assert f"`{key}`" in text, key
    for value in (*get_args(Layout), *get_args(ValueClass)):
        assert f'`"{value}"`' in text, value


def test_the_readme_counts_right() -> None:
    from kengine.curate.loaders import FORMATS

    text = (ROOT / "README.md").read_text()
    assert f"Samples come from {len(FORMATS)} formats" in text
    table = (ROOT / "docs" / "rewards.md").read_text().partition("## Presets")[2].partition("\n## ")[0]
    presets = re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines() if line[:3] == "| `"))
    assert len(presets) == 18 and "Eighteen reward presets" in text
    judged = re.search(r"judges (\w+) RMSNorm kernels", text)
    assert judged and judged[1] == "nine"
    assert len(list((ROOT / "examples" / "triton" / "rmsnorm").glob("*.py"))) == 9
    rows = (ROOT / "examples" / "curate_rmsnorm" / "replay.jsonl").read_text().splitlines()
    assert f"{len(rows)} raw completions in" in text


def test_every_stage_is_explained_in_order() -> None:
    from kengine.report.summary import STAGES

    text = (ROOT / "docs" / "verdicts.md").read_text()
    assert tuple(re.findall(r"^\d\. `(\w+)`", text, re.M)) == STAGES


def test_the_changelog_names_the_version_or_is_unreleased() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert "## [Unreleased]" in text
