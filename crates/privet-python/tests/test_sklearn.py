"""The estimators as scikit-learn uses them."""

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

import privet  # noqa: E402
from privet.sklearn import PrivetClassifier, PrivetRegressor, cost  # noqa: E402

# What our law on private rows forbids: an exception that depends on what cells hold, or on how many rows there are.
LAW = {
    "check_estimators_empty_data_messages": "a table without rows is no error",
    "check_supervised_y_no_nan": "a label that is not a number is no error",
}
CLASSES = {"check_classifiers_regression_target": "what labels look like is no error"}


class Told(PrivetClassifier):
    """Declared anew for each check by somebody who knows which classes there are, and that there are at least two."""

    def _classes(self, y):
        known = np.unique(y)
        return known if len(known) > 1 else np.unique([known[0] if len(known) else 0, 1, 2])


def failures(estimator, expected):
    """The checks that fail without being expected to, and those that are expected to and pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=expected)
    failed = {own["check_name"]: own["exception"] for own in found if own["status"] == "failed"}
    passed = {own["check_name"] for own in found if own["status"] == "passed"}
    xfailed = {own["check_name"] for own in found if own["status"] == "xfail"}
    assert len(passed) > 30
    return failed, set(expected) - xfailed


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("estimator", [PrivetClassifier, PrivetRegressor])
def test_every_check_passes_where_bounds_come_from_data(estimator, seed):
    # Without a seed there is so little noise that two fits on a few rows agree; the certificate is void in any case.
    epsilon = 200 if seed is None else 5
    failed, _ = failures(estimator(declare="from-data", delta=1e-6, epsilon=epsilon, trees=60, random_state=seed), {})
    assert not failed


DECLARED = dict(epsilon=5, delta=1e-6, trees=60, bounds=(-10, 10), rows_about=1000, dataset="d", random_state=0)


def test_the_regressor_passes_all_but_what_the_law_forbids():
    failed, passed = failures(PrivetRegressor(target=(-1e3, 1e3), ledger=_Endless(), **DECLARED), LAW)
    assert not failed and not passed


def test_the_classifier_passes_all_but_what_the_law_forbids():
    failed, passed = failures(Told(ledger=_Endless(), **DECLARED), {**LAW, **CLASSES})
    assert not failed and not passed


class _Endless(privet.Ledger):
    """Every process has a budget of its own: for checks only."""

    def __init__(self):
        self._own = privet.Ledger.unrecorded()._own

    def __reduce__(self):
        return _Endless, ()


def test_a_clone_shares_the_ledger(schema, ledger, people):
    model = PrivetClassifier(epsilon=0.5, delta=1e-6, schema=schema, ledger=ledger, rows_about=2000)
    twin = clone(model)
    assert twin.ledger is ledger and twin.schema == schema
    X, y = features(people)
    model.fit(X, y)
    twin.fit(X, y)
    assert ledger.remaining("people").payments == 2
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.ledger.path == ledger.path and not again.certificate_.is_void
    assert set(model.classes_) == {"no", "yes"}
    model.save("model.privet")
    assert privet.load("model.privet").schema.dataset == "people"


def features(people):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(people)
    return frame.drop(columns="ill"), frame["ill"]


def test_what_is_missing_is_named_with_the_line_to_write(people):
    X, y = features(people)
    scratch = privet.Ledger.unrecorded()
    with pytest.raises(privet.DeclarationError, match="classes="):
        PrivetClassifier(ledger=scratch).fit(X, y)
    with pytest.raises(privet.DeclarationError, match="bounds="):
        PrivetClassifier(ledger=scratch, classes=["no", "yes"]).fit(X, y)
    with pytest.raises(privet.DeclarationError, match="target="):
        PrivetRegressor(ledger=scratch).fit(X, np.zeros(len(X)))
    with pytest.raises(privet.DeclarationError, match="rows_about"):
        PrivetRegressor(ledger=scratch, bounds=(0, 1), target=(0, 1)).fit(np.zeros((4, 2)), np.zeros(4))
    with pytest.raises(privet.DeclarationError, match="dataset="):
        PrivetRegressor(bounds=(0, 1), target=(0, 1), rows_about=4000).fit(np.zeros((4, 2)), np.zeros(4))


def test_from_data_voids(people):
    X, y = features(people)
    model = PrivetClassifier(epsilon=2, declare="from-data").fit(X, y)
    assert model.certificate_.is_void and model.score(X, y) > 0.6
    assert "from-data" in str(model.certificate_)


def test_pipelines_and_outputs(people, schema):
    X, y = features(people)
    scratch = privet.Ledger.unrecorded()
    model = PrivetClassifier(epsilon=1, delta=1e-6, schema=schema, ledger=scratch, rows_about=2000)
    pipe = make_pipeline(FunctionTransformer(lambda frame: frame).set_output(transform="pandas"), model)
    assert pipe.fit(X, y).predict_proba(X).shape == (2000, 2)
    about = pipe[-1].explain()
    assert np.max(np.abs(about.row(X)["score"] - pipe[-1].decision_function(X))) < 1e-5


@pytest.mark.parametrize("what", ["nan", "infinite", "one class", "no rows"])
def test_cells_decide_about_no_exception(what):
    X, y = np.random.default_rng(0).normal(size=(300, 3)), np.arange(300) % 2
    if what == "nan":
        X[:] = np.nan
    elif what == "infinite":
        X[::2] = np.inf
    elif what == "one class":
        y[:] = 1
    else:
        X, y = X[:0], y[:0]
    model = PrivetClassifier(bounds=(-3, 3), classes=[0, 1], rows_about=1000, ledger=privet.Ledger.unrecorded())
    assert set(model.fit(X, y).classes_) == {0, 1}


def test_a_search_says_before_what_it_costs(schema, ledger, people):
    model = PrivetClassifier(epsilon=0.5, delta=1e-6, schema=schema, ledger=ledger, rows_about=2000)
    large = GridSearchCV(model, {"trees": [50, 100], "epsilon": [0.5, 1.0]}, cv=5)
    said = cost(large)
    assert (said.fits, said.fits_in_budget) == (21, False) and "more than is left" in said.words
    assert "error_score" in said.words
    small = GridSearchCV(model.set_params(epsilon=0.2), {"trees": [50, 100]}, cv=2, error_score="raise")
    said = cost(small)
    assert (said.fits, said.fits_in_budget) == (5, True) and "error_score" not in said.words
    X, y = features(people)
    small.fit(X, y)
    assert ledger.remaining("people").payments == 5
