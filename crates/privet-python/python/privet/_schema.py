"""Schemas: what is public about a table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from . import _privet
from ._rows import rows as _rows
from .errors import DeclarationError


class Schema:
    """The public description of a table: names, bounds, categories, what is private. Nothing in it comes from rows.

    >>> schema = Schema('''
    ... dataset = "clinic"
    ... [columns]
    ... age = { type = "integer", min = 0, max = 120 }
    ... ill = { type = "label", values = ["no", "yes"] }
    ... ''')
    >>> schema.dataset, schema.features, schema.label
    ('clinic', ['age'], 'ill')
    """

    def __init__(self, toml: str) -> None:
        self._own = _privet.Schema(toml, "the schema")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Schema:
        """The schema in a file."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        schema = cls.__new__(cls)
        schema._own = _privet.Schema(text, os.fspath(path))
        return schema

    @classmethod
    def of(
        cls,
        frame: Any,
        *,
        dataset: str,
        label: str | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        values: Mapping[str, Iterable[Any]] | None = None,
        public: Iterable[str] = (),
        skip: Iterable[str] = (),
        unit: str | None = None,
        rows_per_unit: int = 1,
        weight: str | None = None,
    ) -> Schema:
        """A schema from the names and types of a frame's columns. No cell is read: ``bounds`` and ``values`` are public knowledge.

        ``weight`` names the column that says how much a row counts in training; its bounds are 0 and the largest weight.

        ``frame`` may also be a dictionary of names and types: ``"float"``, ``"int"``, ``"bool"`` or ``"str"``.

        >>> Schema.of({"age": "int", "ill": "str"}, dataset="clinic", label="ill", values={"ill": ["no", "yes"]})
        Traceback (most recent call last):
            ...
        privet.errors.DeclarationError: bounds are missing for 'age'. Privet never takes them from rows: the largest is one person's.
        Say them from public knowledge, such as  bounds={'age': (0, 120)}
        """
        kinds = _kinds(frame)
        public, skip = tuple(public), tuple(skip)
        bounds, values = dict(bounds or {}), dict(values or {})
        known = set(kinds)
        named: list[tuple[str, Iterable[str]]] = [("bounds", bounds), ("values", values), ("public", public), ("skip", skip)]
        for what, given in named:
            strange = [name for name in given if name not in known]
            if strange:
                raise DeclarationError(f"{what} names {_names(strange)}, and the frame has no such column; it has {_names(kinds)}")
        for what, name in [("label", label), ("unit", unit), ("weight", weight)]:
            if name is not None and name not in known:
                raise DeclarationError(f"{what}={name!r} is no column of the frame; it has {_names(kinds)}")
        if weight is not None:
            for what, found in [("label", weight == label), ("unit", weight == unit), ("skip", weight in skip), ("values", weight in values)]:
                if found:
                    raise DeclarationError(f"weight={weight!r} says how much rows count, so it cannot be named in {what}, too")
        lines, no_bounds, no_values = [], [], []
        for name, kind in kinds.items():
            private = "" if name not in public else ", private = false"
            if name == unit:
                lines.append(f'{_text(name)} = {{ type = "id" }}')
            elif name in skip:
                lines.append(f'{_text(name)} = {{ type = "skip" }}')
            elif name in bounds:
                try:
                    low, high = bounds[name]
                except (TypeError, ValueError):
                    raise DeclarationError(f"bounds[{name!r}] must be two numbers, such as (0, 120)") from None
                if name == weight:
                    if float(low) != 0:
                        raise DeclarationError(f"bounds[{name!r}] of weights begin at 0, such as (0, 5)")
                    lines.append(f'{_text(name)} = {{ type = "weight", max = {_number(high)}{private} }}')
                    continue
                of = "label" if name == label else "integer" if kind == "integer" else "number"
                lines.append(f'{_text(name)} = {{ type = "{of}", min = {_number(low)}, max = {_number(high)}{private} }}')
            elif name in values:
                all_values = ", ".join(_text(_cell(value)) for value in values[name])
                of = "label" if name == label else "category"
                lines.append(f'{_text(name)} = {{ type = "{of}", values = [{all_values}]{private} }}')
            elif kind == "flag" and name != weight:
                of = 'label", values = ["false", "true"]' if name == label else 'flag"'
                lines.append(f'{_text(name)} = {{ type = "{of}{private} }}')
            elif kind in ("number", "integer") or name == weight:
                no_bounds.append(name)
            else:
                no_values.append(name)
        _complain(no_bounds, no_values)
        head = [f"dataset = {_text(dataset)}"]
        if unit is not None:
            head += [f"unit = {_text(unit)}", f"rows_per_unit = {int(rows_per_unit)}"]
        return cls("\n".join([*head, "", "[columns]", *lines, ""]))

    def to_toml(self) -> str:
        """As a schema file says it."""
        return self._own.to_toml()

    @property
    def dataset(self) -> str:
        """The name under which a ledger keeps the budget."""
        return self._own.dataset

    @property
    def features(self) -> list[str]:
        """The columns that a model may use."""
        return self._own.features

    @property
    def label(self) -> str | None:
        """The column that is to be predicted."""
        return self._own.label

    @property
    def classes(self) -> list[str] | None:
        """The label's classes; nothing if it is a number."""
        return self._own.classes

    @property
    def protects(self) -> str:
        """Which change is protected, in words."""
        return self._own.protects

    def __str__(self):
        return self._own.explain()

    def __repr__(self):
        return f"<privet.Schema of {self.dataset!r}: {len(self.features)} features, label {self.label!r}>"

    def _repr_html_(self):
        return f'<pre style="white-space: pre-wrap">{escape(str(self))}</pre>'

    def __eq__(self, other):
        return isinstance(other, Schema) and self.to_toml() == other.to_toml()

    def __hash__(self):
        return hash(self.to_toml())

    def __reduce__(self):
        return Schema, (self.to_toml(),)


def _kinds(frame):
    """What each column holds, by its type."""
    if isinstance(frame, dict) and all(isinstance(kind, (str, type)) for kind in frame.values()):
        words = {"float": "number", "int": "integer", "bool": "flag", "str": "text"}
        names = {name: kind if isinstance(kind, str) else kind.__name__ for name, kind in frame.items()}
        strange = [kind for kind in names.values() if kind not in words]
        if strange:
            raise DeclarationError(f"{strange[0]!r} is no type of a column: say 'float', 'int', 'bool' or 'str'")
        return {name: words[kind] for name, kind in names.items()}
    # The types of no rows are those of all: no cell is converted.
    if isinstance(frame, dict):
        head = {name: cells[:0] for name, cells in frame.items()}
    else:
        head = frame.iloc[:0] if type(frame).__module__.split(".")[0] == "pandas" else frame
    kinds = {}
    for name, kind in _rows(head).types():
        if kind.startswith(("Float", "Decimal")):
            kinds[name] = "number"
        elif kind.startswith(("Int", "UInt")):
            kinds[name] = "integer"
        elif kind == "Boolean":
            kinds[name] = "flag"
        else:
            kinds[name] = "text"
    return kinds


def _complain(no_bounds, no_values):
    words = []
    if no_bounds:
        example = ", ".join(f"{name!r}: (0, 120)" for name in no_bounds[:3])
        words.append(
            f"bounds are missing for {_names(no_bounds)}. Privet never takes them from rows: the largest is one person's.\n"
            f"Say them from public knowledge, such as  bounds={{{example}}}"
        )
    if no_values:
        example = ", ".join(f"{name!r}: [...]" for name in no_values[:3])
        words.append(
            f"values are missing for {_names(no_values)}. Privet never takes them from rows: a rare one is one person's.\n"
            f"Say them from public knowledge, such as  values={{{example}}}"
        )
    if words:
        raise DeclarationError("\n".join(words))


def _names(names):
    names = [repr(name) for name in names]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more if names else "none"


def _text(value):
    return json.dumps(str(value), ensure_ascii=False)


def _number(value):
    return repr(float(value)) if not isinstance(value, int) or isinstance(value, bool) else str(value)


def _cell(value):
    """A value as cells of it are read."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
