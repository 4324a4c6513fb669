"""Plans: what a run does and costs, before any row is read."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from . import _privet
from ._ledger import Ledger, default
from ._schema import Schema
from ._show import Said
from .errors import DeclarationError, ParameterError


class Price(NamedTuple):
    """The most that a run charges."""

    epsilon: float
    delta: float


class Plan:
    """Everything about a run that is fixed before rows are read."""

    def __init__(self, schema: Schema, own: _privet.Plan, ledger: Ledger) -> None:
        self.schema, self._own, self._ledger = schema, own, ledger

    @property
    def price(self) -> Price:
        """The most that is charged."""
        return Price(*self._own.price)

    @property
    def settings(self) -> dict[str, str]:
        """Names and values as a job says them, defaults included."""
        return dict(self._own.settings)

    @property
    def trees(self) -> int | None:
        """How many trees there will be; nothing for other algorithms."""
        return int(self.settings["trees"]) if "trees" in self.settings else None

    @property
    def noise(self) -> list[str]:
        """How much error noise adds, in sentences."""
        return self._own.noise

    @property
    def not_protected(self) -> list[str]:
        """What is not protected, in sentences."""
        protection = self.to_dict()["protection"]
        return protection["not_protected"] if protection else ["everything"]

    def _said(self):
        file, _ = self._ledger._accounts()
        text, data, _ = self._own.answer(file)
        return Said(text, json.loads(data))

    def to_dict(self) -> dict[str, Any]:
        """The same as data: what ``privet --json plan`` prints; there are no files."""
        return self._said().to_dict()

    def __str__(self):
        return repr(self._said())

    def __repr__(self):
        return f"<privet.Plan: ε = {self.price.epsilon:g}, δ = {self.price.delta:g}, {self.settings['algorithm']}>"

    def _repr_html_(self):
        return self._said()._repr_html_()


def plan(
    schema: Schema,
    *,
    epsilon: float,
    delta: float | None = None,
    rows_about: int | None = None,
    algorithm: str = "auto",
    change: str | None = None,
    ledger: Ledger | None = None,
    **parameters: Any,
) -> Plan:
    """What training would do and cost. No row is needed, and nothing is spent.

    ``parameters`` are those of the algorithm in a job, such as ``trees=100``.
    """
    if rows_about is None:
        raise DeclarationError("rows_about is missing: about how many rows are there, by public knowledge? It is never counted.")
    given = {"name": algorithm, **{name: value for name, value in parameters.items() if value is not None}}
    privacy = {"epsilon": float(epsilon), "delta": delta, "rows_about": rows_about, "change": change}
    lines = ["[algorithm]", *_lines(given), "[privacy]", *_lines(privacy)]
    own = _privet.Plan(schema._own, "\n".join(lines) + "\n")
    return Plan(schema, own, default(ledger))


def _lines(given):
    return [f"{name} = {_value(name, value)}" for name, value in given.items() if value is not None]


def _value(name, value):
    if not name.isidentifier():
        raise ParameterError(f"{name!r} is no parameter")
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    raise ParameterError(f"{name} must be a number, a truth value or a text; it is {type(value).__name__}")
