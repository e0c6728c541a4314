"""What sampling took: completions, tokens and cost, of what is left and of what was lost alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kengine.model import JsonValue

_PARTS = ("", "reasons_")
"""Completions, and the reasons that [augment] asked for beside them."""


def read_usage(sampling: Mapping[str, JsonValue], model: str) -> dict[str, JsonValue]:
    """What one sample's `sampling` says of its tokens and cost, with its model; {} when it was not sampled at all."""
    found: dict[str, JsonValue] = {}
    for part in _PARTS:
        for key in ("prompt_tokens", "completion_tokens", "cost"):
            value = sampling.get(part + key)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
                found[part + key] = value
    if not found and "number" not in sampling:
        return {}
    return {"model": model, **found}


def price(
    usage: Mapping[str, JsonValue], price_in: float, price_out: float, part: str = ""
) -> dict[str, JsonValue]:  # fmt: skip
    """`cost` of an answer by its tokens and the prices of a million; {} where either is unknown."""
    tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (isinstance(tokens[0], int) and isinstance(tokens[1], int) and (price_in or price_out)):
        return {}
    return {f"{part}cost": (tokens[0] * price_in + tokens[1] * price_out) / 1e6}


@dataclass
class Count:
    """Of one model: answers, those among them whose tokens and whose cost are known, and the sums."""

    answers: int = 0
    metered: int = 0
    priced: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0


@dataclass
class Bill:
    """Sums by model. Costs are in the currency of `price_in` and `price_out`, or of what a source says."""

    models: dict[str, Count] = field(default_factory=dict)

    def add(self, usage: Mapping[str, JsonValue]) -> None:
        """Count what `read_usage` gave for one sample or loss."""
        if not usage:
            return
        count = self.models.setdefault(str(usage.get("model") or ""), Count())
        for part in _PARTS:
            told = {key: usage.get(part + key) for key in ("prompt_tokens", "completion_tokens", "cost")}
            if part and not any(value is not None for value in told.values()):
                continue
            count.answers += 1
            count.metered += told["completion_tokens"] is not None
            count.priced += told["cost"] is not None
            count.prompt_tokens += int(told["prompt_tokens"] or 0)  # type: ignore[arg-type]
            count.completion_tokens += int(told["completion_tokens"] or 0)  # type: ignore[arg-type]
            count.cost += float(told["cost"] or 0.0)  # type: ignore[arg-type]

    def merge(self, other: Bill) -> None:
        """Add what was counted elsewhere."""
        for model, count in other.models.items():
            mine = self.models.setdefault(model, Count())
            for name, value in vars(count).items():
                setattr(mine, name, getattr(mine, name) + value)

    def total(self) -> Count:
        """All models together."""
        sum_ = Bill()
        for count in self.models.values():
            sum_.merge(Bill({"": count}))
        return sum_.models.get("", Count())

    def to_json(self) -> dict[str, Any]:
        """The total and, under `models`, each model's share, the dearest first; {} when nothing was sampled."""
        if not self.models:
            return {}
        ordered = sorted(self.models.items(), key=lambda item: (-item[1].cost, -item[1].completion_tokens, item[0]))
        return {**_body(self.total()), "models": {model: _body(count) for model, count in ordered}}


def describe(body: Mapping[str, Any], rows: int) -> str:
    """The total of `Bill.to_json` as a sentence; rows: how many are left."""
    if not body:
        return ""
    text = f"{body['answers']:,} answers were sampled"
    if body["metered"]:
        text += f" for {body['prompt_tokens']:,} prompt tokens and {body['completion_tokens']:,} completion tokens"
    if body["metered"] < body["answers"]:
        text += f"; {body['answers'] - body['metered']:,} do not say what they took"
    if body["priced"]:
        text += f"; they cost {body['cost']:,.4f} in all"
        if body["priced"] < body["answers"]:
            text += f" as far as {body['priced']:,} of them say"
        if rows:
            text += f", {body['cost'] / rows:,.4f} for each row that is left"
    else:
        text += "; no prices are known (price_in and price_out of [sample])"
    return text


def _body(count: Count) -> dict[str, Any]:
    return {**vars(count), "cost": round(count.cost, 6)}
