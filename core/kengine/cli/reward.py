"""`kengine reward`: rewards, returns and advantages of rollouts that lie in a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kengine.rewards.baselines import Baseline
    from kengine.rewards.presets import RewardFunction
    from kengine.rewards.rollouts import Rollout

SCHEMA = "kengine.reward/1"
"""Schema of the line that --json writes for one rollout."""

BASELINES = {"mean": "group_mean", "leave-one-out": "leave_one_out", "standardized": "standardized"}


@dataclass
class Rewarded:
    """One rollout after its verdicts have been dropped."""

    file: str
    rollout: Rollout
    statuses: list[str | None]
    rewards: list[float | None]
    returns: list[float | None]
    advantages: list[float | None] | None = None


@click.command("reward")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="ROLLOUTS...")
@click.option("--reward", "name", default="staged", show_default=True, metavar="NAME", help="A preset, or MODULE:NAME.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter of the reward; may be repeated."
)
@click.option(
    "--gamma", type=float, metavar="X", help="Discount of later turns; without it each turn has its own reward."
)
@click.option("--normalize", is_flag=True, help="Divide a return by the sum of its weights.")
@click.option("--baseline", type=click.Choice(list(BASELINES)), help="Add advantages within each group.")
@click.option("--across", type=click.Choice(["turn", "group"]), default="turn", show_default=True,
              help="Compare a turn with the same turn of the others, or with all turns of its group.")  # fmt: skip
@click.option("--allow-self-referenced", is_flag=True, help="Reward candidates that brought their own reference.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line on stdout, and nothing else.")
def command(
    files: tuple[Path, ...], name: str, settings: tuple[str, ...], gamma: float | None, normalize: bool,
    baseline: str | None, across: str, allow_self_referenced: bool, as_json: bool,
) -> int:  # fmt: skip
    """Reward rollouts: one a line, with the verdicts on its turns in `turns`, or one verdict a line as `kengine verify
    --json` writes them. `-` reads stdin. What the machine failed on has no reward (null).

    \b
    kengine reward rollouts.jsonl --reward kevin --gamma 0.4 --baseline mean --json
    kengine reward verdicts.jsonl --reward staged --set speed=0
    """
    from kengine.errors import UsageError
    from kengine.rewards import presets

    if normalize and gamma is None:
        raise UsageError("--normalize divides returns by their weights: give --gamma too")
    parameters = dict(_setting(text) for text in settings)
    if allow_self_referenced:
        parameters["allow_self_referenced"] = True
    function = presets.find(name, parameters)
    rewarded = [_reward(file, rollout, function, gamma, normalize) for file, rollout in _rollouts(files)]
    if baseline is not None:
        _compare(rewarded, baseline, across)
    if as_json:
        for each in rewarded:
            click.echo(json.dumps(_body(each, name), separators=(",", ":"), allow_nan=False))
    else:
        _print(rewarded)
    _note(rewarded)
    return 0


def _setting(text: str) -> tuple[str, Any]:
    from kengine.errors import UsageError

    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set {text!r}: want KEY=VALUE, for instance --set speed=0")
    try:
        return key.strip().replace("-", "_"), json.loads(value)
    except ValueError:
        return key.strip().replace("-", "_"), value


def _rollouts(files: tuple[Path, ...]) -> Iterator[tuple[str, Rollout]]:
    from kengine.cli.files import check_file
    from kengine.errors import UsageError
    from kengine.rewards import rollouts

    for file in files:
        found = False
        try:
            if str(file) == "-":
                for rollout in rollouts.read(sys.stdin, "-"):
                    found = True
                    yield "-", rollout
            else:
                check_file(file, "a file of rollouts", stream=True)
                with file.open(encoding="utf-8") as lines:
                    for rollout in rollouts.read(lines, str(file)):
                        found = True
                        yield str(file), rollout
        except UnicodeDecodeError as error:
            raise UsageError(f"{file}: is not text (byte {error.start} is not UTF-8), expected rollouts") from error
        except OSError as error:
            raise UsageError(f"{file}: cannot be read: {error.strerror or error}") from error
        if not found:
            raise UsageError(f"{file}: is empty, expected rollouts or verdicts (`kengine verify --json` writes them)")


def _reward(file: str, rollout: Rollout, function: RewardFunction, gamma: float | None, normalize: bool) -> Rewarded:
    from kengine.errors import UsageError
    from kengine.model import Verdict
    from kengine.rewards.credit import returns

    try:
        rewards = [function(turn) for turn in rollout.turns]
        credit = list(rewards) if gamma is None else returns(rewards, gamma=gamma, normalize=normalize)
    except UsageError as error:
        raise UsageError(f"{file}:{rollout.line}: {error}") from error
    statuses = [str(turn.status) if isinstance(turn, Verdict) else None for turn in rollout.turns]
    kept = type(rollout)(rollout.line, (), rollout.group, rollout.key)
    return Rewarded(file, kept, statuses, rewards, credit)


def _compare(rewarded: list[Rewarded], baseline: str, across: str) -> None:
    from kengine.rewards import baselines

    function: Baseline = getattr(baselines, BASELINES[baseline])
    spread: Callable[..., list[list[float | None]]] = baselines.by_turn if across == "turn" else baselines.pooled
    groups: dict[str, list[Rewarded]] = {}
    for each in rewarded:
        groups.setdefault(each.rollout.group, []).append(each)
    for group in groups.values():
        for each, advantages in zip(group, spread([each.returns for each in group], function)):
            each.advantages = advantages


def _body(each: Rewarded, name: str) -> dict[str, Any]:
    body = {
        "schema": SCHEMA,
        "file": each.file,
        "line": each.rollout.line,
        "key": each.rollout.key,
        "group": each.rollout.group,
        "reward": name,
        "statuses": each.statuses,
        "rewards": each.rewards,
        "returns": each.returns,
    }
    return body if each.advantages is None else {**body, "advantages": each.advantages}


def _print(rewarded: list[Rewarded]) -> None:
    from rich import box
    from rich.table import Table

    from kengine.cli import console
    from kengine.report.table import cell

    single = all(len(each.rewards) == 1 for each in rewarded)
    discounted = any(each.returns != each.rewards for each in rewarded)
    compared = any(each.advantages is not None for each in rewarded)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("rollout", overflow="fold")
    for header in [*([] if single else ["turn"]), "status"]:
        table.add_column(header)
    for header in ["reward", *(["return"] if discounted else []), *(["advantage"] if compared else [])]:
        table.add_column(header, justify="right")
    for each in rewarded:
        for n, status in enumerate(each.statuses):
            row = [cell(_name(each) if n == 0 else "", lines=False)]
            row += [] if single else [cell(str(n + 1))]
            row += [cell(status or "no verdict"), _number(each.rewards[n])]
            row += [_number(each.returns[n])] if discounted else []
            row += [_number(each.advantages[n] if each.advantages else None)] if compared else []
            table.add_row(*row)
    console.stdout().print(table)


def _name(each: Rewarded) -> str:
    return each.rollout.key or f"{each.file}:{each.rollout.line}"


def _number(value: float | None) -> Any:
    from kengine.report.table import cell

    return cell("-" if value is None else f"{value:.4g}")


def _note(rewarded: list[Rewarded]) -> None:
    from kengine.cli.failure import say

    turns = [reward for each in rewarded for reward in each.rewards]
    masked = sum(reward is None for reward in turns)
    if masked:
        say("note", f"{masked} of {len(turns)} turns have no reward: no verdict, or unsupported; mask them in training")
