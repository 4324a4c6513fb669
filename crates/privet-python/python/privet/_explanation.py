"""Explanations: what each column does to a model's scores."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ._rows import rows as _rows
from ._show import frame
from .errors import ParameterError


class Term:
    """What one column, or two together, add to a score; with the standard deviation of the noise in it."""

    def __init__(self, explanation, number, data):
        self._explanation, self._number, self._data = explanation, number, data

    @property
    def name(self) -> str:
        """The column, or both."""
        return " × ".join(column["name"] for column in self._data["columns"])

    @property
    def output(self) -> str:
        """Which score it adds to, in words."""
        return self._explanation.outputs[self._data["output"]]

    def to_frame(self):
        """A line for each part of the columns' ranges: ``low`` and ``high`` of numbers or ``cell`` otherwise, ``value``, ``noise``."""
        columns = self._data["columns"]
        count = len(self._data["values"])
        wide = [len(column["segments"]) for column in columns]
        lines = {}
        for place, column in enumerate(columns):
            after = int(np.prod(wide[place + 1 :]))
            segments = [column["segments"][cell // after % wide[place]] for cell in range(count)]
            before = "" if len(columns) == 1 else column["name"] + " "
            lines[before + "cell"] = [_cell(segment) for segment in segments]
            lines[before + "low"] = [segment.get("between", {}).get("low") for segment in segments]
            lines[before + "high"] = [segment.get("between", {}).get("high") for segment in segments]
        lines["value"] = self._data["values"]
        lines["noise"] = self._data["noise"] or [None] * count
        return frame(lines)

    def _repr_html_(self):
        return self._explanation._own.svg(self._number)

    def __repr__(self):
        return f"<privet term {self.name!r} of the {self.output}>"


class Explanation:
    """Base, shapes and pairs: together they are the score. Nothing is computed from rows."""

    def __init__(self, own, model):
        self._own, self._model = own, model
        data = json.loads(own.json())
        self.outputs, self.base = data["outputs"], data["base"]
        self._importance = data["importance"]
        self.terms = [Term(self, number, term) for number, term in enumerate(data["terms"])]

    @property
    def shapes(self) -> list[Term]:
        """The terms about one column."""
        return [term for term in self.terms if len(term._data["columns"]) == 1]

    @property
    def pairs(self) -> list[Term]:
        """The terms about two columns."""
        return [term for term in self.terms if len(term._data["columns"]) == 2]

    def __getitem__(self, name: str | tuple[str, str]) -> Term:
        wanted = " × ".join(name) if isinstance(name, tuple) else name
        for term in self.terms:
            if term.name == wanted:
                return term
        raise KeyError(f"no term {wanted!r}; there are {', '.join(repr(term.name) for term in self.terms[:20])}")

    def importance(self):
        """How much each column does beside what noise alone would do, weighted by precision; the one that stands out furthest first."""
        names = ["name", "size", "by_noise", "deviations", "stands_out"]
        return frame({name: [own[name] for own in self._importance] for name in names})

    def row(self, rows: Any) -> Any:
        """What each term adds to the scores of rows; with the base that is the score. Of numbers, before they are cut at the label's bounds."""
        rows = _rows(rows, self._model._own.schema.features)
        count, found = self._own.contributions(rows)
        values = np.frombuffer(found).reshape(count, len(self.terms))
        lines = {}
        for output, name in enumerate(self.outputs):
            own = [term._number for term in self.terms if term._data["output"] == output]
            before = "" if len(self.outputs) == 1 else name + ": "
            lines[before + "base"] = np.full(count, self.base[output])
            for number in own:
                lines[before + self.terms[number].name] = values[:, number]
            lines[before + "score"] = self.base[output] + values[:, own].sum(axis=1)
        return frame(lines)

    def plot(self, name: str, ax: Any = None) -> Any:
        """A shape on matplotlib axes, if matplotlib is there."""
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ParameterError("plot needs matplotlib: pip install matplotlib; a term shows itself in a notebook without it") from None
        term = self[name]
        if len(term._data["columns"]) != 1:
            raise ParameterError("plot draws one column; a pair shows itself in a notebook")
        ax = ax or plt.gca()
        segments = term._data["columns"][0]["segments"]
        values = np.asarray(term._data["values"])
        noise = 1.96 * np.asarray(term._data["noise"] or np.zeros(len(values)))
        numbers = [i for i, segment in enumerate(segments) if "between" in segment]
        if numbers:
            edges = [segments[i]["between"]["low"] for i in numbers] + [segments[numbers[-1]]["between"]["high"]]
            ax.stairs(values[numbers], edges, baseline=None)
            step = np.repeat(edges, 2)[1:-1]
            ax.fill_between(step, np.repeat((values - noise)[numbers], 2), np.repeat((values + noise)[numbers], 2), alpha=0.3)
        else:
            ax.errorbar([_cell(segment) for segment in segments], values, yerr=noise, fmt="o")
        ax.set_xlabel(name)
        ax.set_ylabel(term.output)
        return ax

    def save(self, path: str | os.PathLike[str], *, ledger: Any = None) -> None:
        """Writes a page: the same bytes as ``privet inspect --report``."""
        self._model.report(path, ledger=ledger)

    def __repr__(self):
        return f"<privet.Explanation: {len(self.shapes)} shapes and {len(self.pairs)} pairs>"

    def _repr_html_(self):
        return self._own.html()


def _cell(segment):
    if "between" in segment:
        return f"{segment['between']['low']:g} to {segment['between']['high']:g}"
    if "one_of" in segment:
        return ", ".join(segment["one_of"])
    return "missing" if "missing" in segment else "not declared"

