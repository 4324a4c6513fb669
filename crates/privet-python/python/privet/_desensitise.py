"""Columns that are released with every value changed, once."""

import json

from . import _privet
from ._ledger import default
from ._model import Certificate
from ._rows import rows as _rows


class Desensitised:
    """Changed columns: ``frame`` is of the library that the rows came from, ``certificate`` says what they guarantee."""

    def __init__(self, frame, certificate):
        self.frame, self.certificate = frame, certificate

    def __repr__(self):
        return f"<privet.Desensitised>\n{self.certificate!r}"

    def _repr_html_(self):
        return self.certificate._repr_html_()


def desensitise(frame, *, schema, epsilon, ledger=None):
    """Changes every value of the columns so that near values look alike. Asked again, it gives the same."""
    own = default(ledger)._file("desensitise")
    names, columns, text, data = _privet.desensitise(_rows(frame), schema._own, float(epsilon), own)
    certificate = Certificate(text, data, json.loads(data)["claims"] == [])
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
