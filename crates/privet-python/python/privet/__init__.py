"""Boosted models trained on data that may not be pooled.

>>> import privet
>>> schema = privet.Schema.of({"age": "float", "ill": "str"}, dataset="clinic", label="ill",
...                           bounds={"age": (0, 120)}, values={"ill": ["no", "yes"]})
>>> plan = privet.plan(schema, epsilon=1, delta=1e-6, rows_about=2000)
>>> plan.price
Price(epsilon=1.0, delta=1e-06)
"""

from ._privet import __version__
from .errors import BudgetError, DeclarationError, LedgerError, ParameterError, PeerError, PrivetError
from ._desensitise import Desensitised, desensitise
from ._explanation import Explanation
from ._ledger import Ledger, Remaining
from ._model import Certificate, Model, load, train
from ._party import Keys, Party, PartyRun, party
from ._plan import Plan, Price, plan
from ._schema import Schema
from ._simulate import Simulation, simulate

__all__ = [
    "BudgetError",
    "Certificate",
    "DeclarationError",
    "Desensitised",
    "Explanation",
    "Keys",
    "Ledger",
    "LedgerError",
    "Model",
    "ParameterError",
    "Party",
    "PartyRun",
    "PeerError",
    "Plan",
    "Price",
    "PrivetError",
    "Remaining",
    "Schema",
    "Simulation",
    "__version__",
    "desensitise",
    "load",
    "party",
    "plan",
    "simulate",
    "train",
]
