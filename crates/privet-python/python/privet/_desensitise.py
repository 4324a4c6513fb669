"""Columns that are released with every value changed, once."""

from __future__ import annotations

import json
from typing import Any

from . import _privet
from ._ledger import Ledger, default
from ._model import Certificate
from ._rows import rows as _rows
from ._schema import Schema


class Desensitised:
    """Changed columns: ``frame`` is of the library that the rows came from, ``certificate`` says what they guarantee."""

    def __init__(self, frame: Any, certificate: Certificate) -> None:
        self.frame, self.certificate = frame, certificate

    def __repr__(self):
        return f"<privet.Desensitised>\n{self.certificate!r}"

    def _repr_html_(self):
        return self.certificate._repr_html_()


def desensitise(frame: Any, *, schema: Schema, epsilon: float, ledger: Ledger | None = None) -> Desensitised:
    """Changes every value of the columns so that near values look alike. Asked again, it gives the same."""
    own = default(ledger)._file("desensitise")
    names, columns, text, data = _privet.desensitise(_rows(frame), schema._own, float(epsilon), own)
    is_void = any("void" in claim["guarantee"] for claim in json.loads(data)["claims"])
    certificate = Certificate(text, data, is_void)
    return Desensitised(_like(frame, dict(zip(names, map(_numbers, columns)))), certificate)


def _numbers(cells):
    """Texts as numbers, where all are."""
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        return cells


def _like(frame, columns):
    library = type(frame).__module__.split(".")[0]
    if library == "polars":
        import polars

        return polars.DataFrame(columns)
    if library == "pyarrow":
        import pyarrow

        return pyarrow.table(columns)
    if library == "pandas":
        import pandas

        return pandas.DataFrame(columns)
    return columns
