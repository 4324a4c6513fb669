"""Ledgers: budgets, and what was paid from them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from . import _privet
from ._schema import Schema
from ._show import Said, table
from .errors import LedgerError, ParameterError


class Remaining(NamedTuple):
    """What remains of a budget: ε at this δ, and how many payments were made."""

    epsilon: float
    delta: float
    payments: int


class Ledger:
    """The chain of payments of all data sets, in the command's file unless another one is named.

    Copies are the same ledger: a cloned estimator pays from the same budget. It pickles by its path.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, wait: float = 10) -> None:
        self._own: Any = _privet.LedgerFile(None if path is None else os.fspath(path), float(wait))

    @classmethod
    def unrecorded(cls, epsilon: float | None = None, delta: float | None = None) -> Ledger:
        """A budget in memory, for experiments: certificates say that nothing was recorded. Without an ε every run gets what it asks for."""
        ledger = cls.__new__(cls)
        if epsilon is None and delta is not None:
            raise ParameterError("delta needs an epsilon: say both, or none")
        ledger._own = _privet.Unrecorded(epsilon, delta)
        return ledger

    @property
    def path(self) -> Path | None:
        """The file; nothing if it is in memory."""
        return None if self._in_memory else self._own.path

    @property
    def _in_memory(self):
        return isinstance(self._own, _privet.Unrecorded)

    def _file(self, what):
        if self._in_memory:
            raise LedgerError(f"{what} needs a ledger that lasts, and this one is in memory: use privet.Ledger()")
        return self._own

    def _accounts(self) -> tuple[_privet.LedgerFile | None, _privet.Unrecorded | None]:
        """As Rust takes it: a file, or a budget in memory."""
        return (None, self._own) if self._in_memory else (self._own, None)

    def limit(
        self, schema: Schema, *, epsilon: float, delta: float | None = None, replace: bool = False, second: bool = False
    ) -> Said:
        """Sets the limit of a data set: once, and for ever. ``replace`` is for columns that are released with changed values."""
        text, data, _ = self._file("limit").limit(schema._own, float(epsilon), delta, replace, second)
        return Said(text, json.loads(data))

    def show(self, dataset: str | None = None) -> Said:
        """Budgets, and what was spent."""
        if self._in_memory:
            text, data, _ = self._own.show()
        else:
            text, data, _ = self._own.show(dataset)
        return Said(text, json.loads(data))

    def remaining(self, dataset: str | Schema) -> Remaining:
        """What remains of the budget of a data set."""
        name = dataset.dataset if isinstance(dataset, Schema) else dataset
        shown = self.show(None if self._in_memory else name).to_dict()
        for known in shown["datasets"]:
            if name == known["dataset"] or name in known["also"]:
                lines = known["budgets"]
                if lines:
                    return Remaining(float(lines[0]["epsilon_left"]), float(lines[0]["delta"]), known["payments"])
        raise LedgerError(f"the ledger has no budget for {name!r}: set one with ledger.limit(schema, epsilon=1)")

    def verify(self, against: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = ()) -> Said:
        """Checks the chain, and models or certificates against it; an error if anything does not verify."""
        files = [against] if isinstance(against, (str, os.PathLike)) else list(against)
        text, data, is_sound = self._file("verify").verify([os.fspath(file) for file in files])
        if not is_sound:
            raise LedgerError(text.rstrip())
        return Said(text, json.loads(data))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self

    def __reduce__(self):
        if self._in_memory:
            raise LedgerError("a ledger in memory cannot be sent to another process: its budget would be there twice. Use privet.Ledger()")
        return _at, (self._own.path, self._own.wait)

    def __repr__(self):
        return "<privet.Ledger in memory>" if self._in_memory else f"<privet.Ledger {str(self.path)!r}>"

    def _repr_html_(self):
        if not self._in_memory and not os.path.exists(self.path):
            return f"<p>{self!r}: there is none yet</p>".replace("<privet", "&lt;privet")
        shown = self.show().to_dict()
        lines = [
            (known["dataset"], line["epsilon"], line["epsilon_left"], line["delta"], known["payments"], known["void"] or "")
            for known in shown["datasets"]
            for line in known["budgets"]
        ]
        head = shown["head"]
        return (
            table(["data set", "ε in all", "ε left", "δ", "payments", "void"], lines)
            + f"<p>{head['entries']} entries; the last is {head['hash'][:16]}…</p>"
        )


def _at(path, wait):
    return Ledger(path, wait=wait)


def default(ledger: Ledger | None) -> Ledger:
    """The ledger that is given, or the command's."""
    return Ledger() if ledger is None else ledger
