"""scikit-learn estimators that train with differential privacy.

Whether ``fit`` raises depends on shapes, types and names only, never on what cells hold: an exception would tell about a person. So NaN, infinite
numbers, a label with one class only and tables without rows are no errors. ``declare="from-data"`` takes bounds, values and classes from the rows, as
other estimators do; the certificate is void then.

Cross-validation trains many models, and each pays: folds overlap, so a person is in most of them. ``cost(search)`` says before how much that is. Scores
on rows that are set aside are exact, and not protected: keep them to yourself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from ._explanation import Explanation
from ._ledger import Ledger, default
from ._model import Certificate, Model
from ._model import fit as _fit
from ._plan import Plan
from ._plan import plan as _plan
from ._rows import rows as _rows
from ._schema import Schema, _cell, _kinds
from .errors import DeclarationError, ParameterError

__all__ = ["Cost", "PrivetClassifier", "PrivetRegressor", "cost"]

_VOID = "bounds, values or classes were taken from the rows (declare=\"from-data\")"
_MODES = ("explicit", "from-data")
_ALGORITHM = ("trees", "leaves", "learning_rate", "splits")


# A data class, so that parameters are declared once for both estimators: scikit-learn reads them from the signature that is made of these.
@dataclass(eq=False, repr=False)
class _Estimator(BaseEstimator):
    """What both estimators do."""

    epsilon: float = 1.0
    delta: float | None = None
    _: KW_ONLY
    schema: Schema | None = None
    bounds: tuple[float, float] | Mapping[str, tuple[float, float]] | None = None
    values: Mapping[str, Sequence[Any]] | None = None
    public: Sequence[str] = ()
    dataset: str | None = None
    rows_about: int | None = None
    ledger: Ledger | None = None
    algorithm: str = "trees"
    trees: int | None = None
    leaves: int | None = None
    learning_rate: float | None = None
    splits: str | None = None
    declare: str = "explicit"
    random_state: int | np.random.RandomState | None = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Pays from the ledger, then trains."""
        if self.declare not in _MODES:
            raise ParameterError(f"declare={self.declare!r} is none of {', '.join(map(repr, _MODES))}")
        X = self._check(X, reset=True)
        kind, facts, cells = self._labels(_one_column(self, X, y))
        schema = self._declared(X, kind, facts)
        rows = _rows(X, None if _is_frame(X) else self._names(X)).with_column(schema.label, *cells)
        planned = self._planned(schema, len(rows))
        void = _VOID if self.declare == "from-data" else None
        seed = self.random_state
        if seed is not None:
            seed = int(seed) if isinstance(seed, (int, np.integer)) else int(check_random_state(seed).randint(2**31))
        self.model_: Model = _fit(planned, rows, self._purse(), seed=seed, void=void)
        self.schema_: Schema = schema
        self.certificate_: Certificate = self.model_.certificate
        return self

    def _labels(self, y):
        """The label: its type, its classes or bounds, and its cells as Rust takes them."""
        raise NotImplementedError

    # What is read

    def _check(self, X, reset):
        """The rows as they are given, if they are a frame; else as an array of numbers."""
        if _is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        if self.declare == "from-data":
            return validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
        return validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0, ensure_min_features=1
        )

    def _names(self, X):
        if _is_frame(X):
            return [str(name) for name in X.columns] if hasattr(X, "columns") else list(_kinds(X))
        schema = self.schema
        if schema is None:
            return [f"x{i}" for i in range(X.shape[1])]
        if len(schema.features) != X.shape[1]:
            raise DeclarationError(f"the schema has {len(schema.features)} features and the array {X.shape[1]} columns")
        return schema.features

    def _declared(self, X, kind, facts):
        """The schema: the one that is given, or from what is declared, or from rows if that is said."""
        if self.schema is not None:
            return self.schema
        kinds = _kinds(X) if _is_frame(X) else dict.fromkeys(self._names(X), "float")
        # Whole numbers, too: the same table has the same bins as an array and as a frame.
        words = {"number": "float", "integer": "float", "flag": "bool", "text": "str"}
        kinds = {name: words.get(own, own) for name, own in kinds.items()}
        bounds = {name: self.bounds for name in kinds} if isinstance(self.bounds, tuple) else dict(self.bounds or {})
        values = dict(self.values or {})
        if self.declare == "from-data":
            _from_rows(X, kinds, bounds, values)
        bounds = {name: own for name, own in bounds.items() if kinds.get(name) == "float"}
        label = "label"
        while label in kinds:
            label += "_"
        kinds[label] = kind
        (values if kind == "str" else bounds)[label] = facts
        dataset = self.dataset
        if dataset is None:
            if self.declare != "from-data" and not default(self.ledger)._in_memory:
                raise DeclarationError(
                    "dataset is missing: under which name does the ledger keep the budget of these rows? Say dataset='clinic', or give a schema."
                )
            dataset = "unnamed"
        return Schema.of(kinds, dataset=dataset, label=label, bounds=bounds, values=values, public=tuple(self.public))

    def _planned(self, schema, rows=None):
        rows_about = self.rows_about
        if rows_about is None and self.declare == "from-data" and rows is not None:
            rows_about = max(rows, 1)
        given = {name: getattr(self, name) for name in _ALGORITHM}
        return _plan(
            schema,
            epsilon=self.epsilon,
            delta=self.delta,
            rows_about=rows_about,
            algorithm=self.algorithm,
            ledger=self._purse(),
            **given,
        )

    def _purse(self):
        if self.ledger is None and self.declare == "from-data":
            return Ledger.unrecorded()
        return default(self.ledger)

    def _rows_of(self, X):
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return _rows(X, None if _is_frame(X) else self.schema_.features)

    # What the model can do

    def plan(self) -> Plan:
        """What ``fit`` would do and cost. Spends nothing; needs a schema."""
        if self.schema is None:
            raise DeclarationError("plan needs a schema: say schema=privet.Schema.of(frame, ...)")
        return self._planned(self.schema)

    def explain(self) -> Explanation:
        """What each column does to the scores."""
        check_is_fitted(self)
        return self.model_.explain()

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the model's file, which the command opens, too."""
        check_is_fitted(self)
        self.model_.save(path, overwrite=overwrite)


@dataclass(eq=False, repr=False, kw_only=True)
class PrivetClassifier(ClassifierMixin, _Estimator):
    """Boosted trees for classes, trained with differential privacy.

    >>> import numpy as np, privet
    >>> from privet.sklearn import PrivetClassifier
    >>> X = np.linspace(0, 1, 400).reshape(-1, 1)
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> model = PrivetClassifier(epsilon=2, bounds=(0, 1), classes=[0, 1], rows_about=400, ledger=privet.Ledger.unrecorded(epsilon=2))
    >>> model.fit(X, y).score(X, y) > 0.8
    True
    """

    classes: Sequence[Any] | None = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _labels(self, y):
        if self.declare == "from-data":
            check_classification_targets(y)
        self.classes_ = self._classes(y)
        names = self._class_names()
        return "str", names, ("codes", (_codes(y, self.classes_), names))

    def _classes(self, y):
        if self.schema is not None:
            names = self.schema.classes
            if names is None:
                raise DeclarationError("the schema's label is a number: use PrivetRegressor")
            return _typed(names, y.dtype)
        if self.classes is not None:
            return np.unique(np.asarray(self.classes))
        if self.declare != "from-data":
            raise DeclarationError("classes are missing: say them from public knowledge, such as classes=[0, 1]. No row was looked at.")
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {classes}")
        return classes

    def _class_names(self):
        if self.schema is not None:
            return self.schema.classes
        return [_cell(value.item() if hasattr(value, "item") else value) for value in self.classes_]

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores: of two classes one number, above zero for the second."""
        rows = self._rows_of(X)
        return self.model_.scores(rows)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class."""
        rows = self._rows_of(X)
        return self.model_.predict_proba(rows)

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each row."""
        rows = self._rows_of(X)
        numbers = self.model_._own.class_numbers(rows)
        return self.classes_[np.frombuffer(numbers or b"", dtype=np.uint16)]


@dataclass(eq=False, repr=False, kw_only=True)
class PrivetRegressor(RegressorMixin, _Estimator):
    """Boosted trees for a number, trained with differential privacy.

    >>> import numpy as np, privet
    >>> from privet.sklearn import PrivetRegressor
    >>> X = np.linspace(0, 1, 400).reshape(-1, 1)
    >>> model = PrivetRegressor(epsilon=4, bounds=(0, 1), target=(0, 2), rows_about=400, ledger=privet.Ledger.unrecorded(epsilon=4))
    >>> model.fit(X, 2 * X[:, 0]).score(X, 2 * X[:, 0]) > 0.5
    True
    """

    target: tuple[float, float] | None = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def _labels(self, y):
        y = np.ascontiguousarray(_reals(y))
        return "float", self._numbers(y), ("float64", y)

    def _numbers(self, y):
        if self.schema is not None:
            if self.schema.classes is not None:
                raise DeclarationError("the schema's label has classes: use PrivetClassifier")
            return None
        if self.target is not None:
            return tuple(self.target)
        if self.declare != "from-data":
            raise DeclarationError(
                "target is missing: say between which numbers y lies, from public knowledge, such as target=(0, 100). No row was looked at."
            )
        low, high = float(np.min(y)), float(np.max(y))
        room = max(1e-6, 1e-6 * abs(high - low), 1e-6 * abs(high))
        return low - room, high + room

    def predict(self, X: Any) -> np.ndarray:
        """The number of each row."""
        rows = self._rows_of(X)
        return self.model_.scores(rows)


def _is_frame(X):
    return hasattr(X, "__arrow_c_stream__") or type(X).__module__.split(".")[0] == "pandas"


def _one_column(estimator, X, y):
    """y as one column; of its cells nothing is asked unless they are not protected."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if estimator.declare == "from-data":
        y = check_array(y, ensure_2d=False, dtype=None, ensure_all_finite=_is_numeric(y), input_name="y")
        if len(y) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    return y


def _reals(y):
    """Numbers; of objects those that are none are missing."""
    if y.dtype.kind in "OUS":
        def real(cell):
            try:
                return float(cell)
            except (TypeError, ValueError):
                return np.nan

        return np.array([real(cell) for cell in y.tolist()], dtype=np.float64)
    return y.astype(np.float64)


def _is_numeric(y):
    return np.asarray(y).dtype.kind in "fiu"


def _codes(y, classes):
    """Where each label stands among the classes; -1 where it is none of them."""
    order = np.argsort(classes, kind="stable")
    try:
        places = np.searchsorted(classes, y, sorter=order).clip(0, len(classes) - 1)
        codes = order[places].astype(np.int32)
        codes[classes[codes] != y] = -1
        return np.ascontiguousarray(codes)
    except TypeError:
        known = {_cell(value): place for place, value in enumerate(classes.tolist())}
        return np.array([known.get(_cell(value), -1) for value in y.tolist()], dtype=np.int32)


def _typed(names, dtype):
    """Classes of a schema as labels of this type."""
    if dtype.kind == "b":
        return np.array([name in ("true", "1", "yes") for name in names])
    if dtype.kind in "iuf":
        try:
            return np.array([dtype.type(float(name)) for name in names])
        except ValueError:
            pass
    return np.array(names, dtype=object)


def _from_rows(X, kinds, bounds, values):
    """Bounds and values that are not declared, from the rows."""
    for place, (name, kind) in enumerate(kinds.items()):
        if name in bounds or name in values or kind == "bool":
            continue
        cells = np.asarray(X.iloc[:, place] if hasattr(X, "iloc") else X[name] if _is_frame(X) else X[:, place])
        if kind == "float":
            finite = cells[np.isfinite(cells.astype(np.float64))].astype(np.float64)
            low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
            if np.float32(low) >= np.float32(high):
                room = max(1.0, abs(low) * 1e-3)
                low, high = low - room, high + room
            bounds[name] = (low, high)
        else:
            found = sorted({_cell(cell) for cell in cells.tolist() if cell is not None and cell == cell})
            values[name] = found if len(found) > 1 else [*found, "another", "and another"][:2]


class Cost(NamedTuple):
    """What a search will pay: how many fits, their ε added up, which share of what is left, whether that is there, and that in words."""

    fits: int
    epsilon: float
    share: float
    fits_in_budget: bool
    words: str

    def __repr__(self) -> str:
        return self.words


def cost(search: Any) -> Cost:
    """How many payments a search will make, and whether they fit into what is left.

    Each fit of a search pays, since folds overlap. Give the search ``error_score="raise"``: otherwise a refused fit becomes a score of NaN, and the
    budget is gone before the last one.
    """
    from sklearn.model_selection import ParameterGrid, check_cv

    estimator, before = search.estimator, ""
    while hasattr(estimator, "steps"):
        name, estimator = estimator.steps[-1]
        before += name + "__"
    if not isinstance(estimator, _Estimator):
        raise ParameterError("the search is not about an estimator of privet")
    if hasattr(search, "param_grid"):
        candidates = list(ParameterGrid(search.param_grid))
    elif hasattr(search, "n_iter"):
        candidates = [{}] * int(search.n_iter)
    else:
        raise ParameterError("the search has neither param_grid nor n_iter: its fits cannot be counted before")
    folds = check_cv(search.cv).get_n_splits()
    plans = []
    for candidate in candidates:
        own = {name[len(before) :]: value for name, value in candidate.items() if name.startswith(before)}
        known = estimator.get_params(deep=False)
        planned = type(estimator)(**{**known, **{name: value for name, value in own.items() if name in known}}).plan()
        plans.append(planned)
    dearest = max(plans, key=lambda planned: planned.price.epsilon)
    fits = folds * len(plans) + bool(search.refit)
    total = folds * sum(planned.price.epsilon for planned in plans) + bool(search.refit) * dearest.price.epsilon
    share = _share(plans, folds) + bool(search.refit) * _share([dearest], 1)
    allowed = share <= 1
    what = "fits into what is left" if allowed else "more than is left"
    refit = " + 1 refit" if search.refit else ""
    words = (
        f"{len(plans)} candidates × {folds} folds{refit} = {fits} fits, ε = {total:g} added up: {what}. "
        "Exact scores of rows that are set aside are not protected."
    )
    if search.error_score != "raise":
        words += ' Say error_score="raise": otherwise a refused fit becomes a score of NaN.'
    return Cost(fits, total, share, allowed, words)


def _share(plans, times):
    """Which part of what is left these plans pay, so many times; infinite if one alone is refused."""
    total = 0.0
    for planned in plans:
        if planned._ledger._in_memory:
            continue
        left = planned.to_dict()["left"]
        if "refused" in left:
            return float("inf")
        paid = [
            (float(left["before"][name]) - float(left["after"][name])) / float(left["before"][name])
            for name in left["before"]
            if float(left["before"][name]) > 0
        ]
        total += times * max(paid, default=0.0)
    return total
