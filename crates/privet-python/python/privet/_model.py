"""Models: training, predicting, and what they guarantee."""

from __future__ import annotations

import json
import os
from html import escape
from typing import Any

import numpy as np

from . import _privet
from ._explanation import Explanation
from ._ledger import Ledger, default
from ._plan import Plan
from ._plan import plan as _plan
from ._rows import rows as _rows
from ._schema import Schema
from ._show import Said
from .errors import ParameterError

_FORMATS = {".onnx": "onnx", ".ubj": "xgboost-ubj", ".json": "xgboost-json"}


class Certificate:
    """What a run guarantees: who is protected, how far, and what was paid."""

    def __init__(self, text: str, data: str, is_void: bool) -> None:
        self._text, self._data, self.is_void = text, data, is_void

    def to_dict(self) -> dict[str, Any]:
        """The same as data."""
        return json.loads(self._data)

    def __repr__(self):
        return self._text

    def _repr_html_(self):
        return f'<pre style="white-space: pre-wrap">{escape(self._text)}</pre>'

    def __reduce__(self):
        return Certificate, (self._text, self._data, self.is_void)


class Model:
    """A trained model. Its schema travels with it, so raw rows can be given to it."""

    def __init__(self, own: _privet.Model) -> None:
        self._own = own

    @property
    def schema(self) -> Schema:
        """The schema of the rows that it was trained on."""
        schema = Schema.__new__(Schema)
        schema._own = self._own.schema
        return schema

    @property
    def certificate(self) -> Certificate:
        """The certificate of its training."""
        return Certificate(*self._own.certificate)

    @property
    def settings(self) -> dict[str, str]:
        """Names and values as a job says them."""
        return dict(self._own.settings[0])

    @property
    def version(self) -> str:
        """The version of Privet that made it."""
        return self._own.settings[1]

    def predict(self, rows: Any) -> np.ndarray:
        """The likeliest class of each row, as the schema names it, or its number."""
        rows = _rows(rows, self._own.schema.features)
        classes = self._own.class_numbers(rows)
        if classes is None:
            return self.scores(rows)
        return np.asarray(self.schema.classes, dtype=object)[np.frombuffer(classes, dtype=np.uint16)]

    def predict_proba(self, rows: Any) -> np.ndarray:
        """The probability of each class, in the schema's order."""
        rows = _rows(rows, self._own.schema.features)
        found = self._own.probabilities(rows)
        if found is None:
            raise ParameterError("the label is a number: there are no probabilities; use predict")
        return np.frombuffer(found).reshape(len(rows), -1)

    def scores(self, rows: Any) -> np.ndarray:
        """The scores of each row: one number, or one for each of three classes or more."""
        rows = _rows(rows, self._own.schema.features)
        outputs, found = self._own.scores(rows)
        scores = np.frombuffer(found)
        return scores if outputs == 1 else scores.reshape(len(rows), outputs)

    def evaluate(
        self, rows: Any, *, spend: float | None = None, schema: Schema | None = None, ledger: Ledger | None = None
    ) -> Said:
        """How good it is on labelled rows. On private rows that is paid for with the ε that ``spend`` says, and noisy."""
        if spend is None and (schema or self.schema)._own.is_private:
            raise ParameterError(
                "these rows are private, and an exact figure reveals something about people: say spend=0.1 to pay that ε for a noisy one"
            )
        own = self._own.evaluate(
            _rows(rows), None if schema is None else schema._own, spend, *default(ledger)._accounts()
        )
        return Said(own[0], json.loads(own[1]))

    def explain(self) -> Explanation:
        """What each column does to the scores, with the band by which noise alone moves it. Refused where that cannot be read so."""
        return Explanation(self._own.explain(), self)

    def report(self, path: str | os.PathLike[str], *, ledger: Ledger | None = None) -> None:
        """Writes a page about the model: what ``privet inspect --report`` writes."""
        page = self._own.page(default(ledger)._file("report"))
        _privet.write(os.fspath(path), page.encode())

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the model for other programs, by the ending of the name: .onnx, .ubj or .json (XGBoost); and what its features mean beside it."""
        path = os.fspath(path)
        ending = os.path.splitext(path)[1]
        if ending not in _FORMATS:
            raise ParameterError(f"{path} must end in .onnx, .ubj or .json")
        model, features = self._own.export(_FORMATS[ending])
        # The description first: a model without it could be given the wrong codes.
        _privet.write(path + ".features.json", features.encode())
        _privet.write(path, model)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the model's file, which the command opens, too. Only a model is ever overwritten, and only if that is said."""
        path = os.fspath(path)
        if os.path.lexists(path):
            with open(path, "rb") as file:
                is_model = file.read(16) == b'{"privet-model":'
            if not (is_model and overwrite):
                also = "; say overwrite=True to replace it: what was paid for it stays spent" if is_model else " and no model"
                raise ParameterError(f"{path} is there already{also}")
        _privet.write(path, self._own.to_bytes())

    def __repr__(self):
        void = " VOID," if self.certificate.is_void else ""
        return f"<privet.Model of {self.schema.dataset!r}:{void} {self._own.summary}>"

    def _repr_html_(self):
        return f"<p>{escape(repr(self))}</p>" + self.certificate._repr_html_()

    def __reduce__(self):
        return _from_bytes, (bytes(self._own.to_bytes()),)


def _from_bytes(data: bytes) -> Model:
    return Model(_privet.Model(data))


def load(path: str | os.PathLike[str]) -> Model:
    """Opens a model's file."""
    with open(path, "rb") as file:
        return _from_bytes(file.read())


def train(
    rows: Any,
    schema: Schema,
    *,
    epsilon: float,
    delta: float | None = None,
    rows_about: int | None = None,
    algorithm: str = "auto",
    change: str | None = None,
    ledger: Ledger | None = None,
    seed: int | None = None,
    **parameters: Any,
) -> Model:
    """Trains a private model on rows that you hold: pays from the ledger, then draws. A seed makes the model void."""
    ledger = default(ledger)
    planned = _plan(
        schema, epsilon=epsilon, delta=delta, rows_about=rows_about, algorithm=algorithm, change=change, ledger=ledger, **parameters
    )
    return fit(planned, rows, ledger, seed=seed)


def fit(planned: Plan, rows: Any, ledger: Ledger, seed: int | None = None, void: str | None = None) -> Model:
    """Trains by a plan."""
    return Model(_privet.train(planned._own, _rows(rows), *ledger._accounts(), seed, void))
