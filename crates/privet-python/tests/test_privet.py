"""Schemas, ledgers, plans, models and explanations, as notebooks use them."""

import copy
import json
import pickle

import numpy as np
import pytest

import privet
from conftest import KINDS, PUBLIC, columns, command

SPENT = dict(epsilon=1, delta=1e-6, rows_about=2000)


def test_a_schema_never_reads_a_cell():
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame({"job": pandas.Categorical(jobs), "age": ages}) for jobs, ages in [(["a", "b"], [1.0, 2.0]), ([None] * 3, [np.nan] * 3)]]
    for frame in frames:
        with pytest.raises(privet.DeclarationError, match="(?s)bounds are missing for 'age'.*values are missing for 'job'"):
            privet.Schema.of(frame, dataset="d")
    one, two = (privet.Schema.of(frame, dataset="d", bounds={"age": (0, 9)}, values={"job": ["a", "c"]}) for frame in frames)
    assert one == two
    with pytest.raises(privet.DeclarationError, match="no such column"):
        privet.Schema.of({"age": "float"}, dataset="d", bounds={"agee": (0, 1)})
    with pytest.raises(ValueError):
        privet.Schema("no toml")


def test_a_schema_from_types_is_the_one_that_is_written(schema):
    assert schema == privet.Schema(schema.to_toml())
    assert schema == pickle.loads(pickle.dumps(schema)) == copy.deepcopy(schema)
    assert schema.classes == ["no", "yes"] and "job" in schema.features
    assert "people" in str(schema) and "<pre" in schema._repr_html_()


def test_weights_of_rows_are_declared_with_their_largest(people):
    declared = dict(dataset="d", label="ill", values={"ill": ["no", "yes"]})
    kinds = {"ill": "str", "x": "float", "w": "float"}
    with pytest.raises(privet.DeclarationError, match="bounds are missing for 'w'"):
        privet.Schema.of(kinds, bounds={"x": (0, 1)}, weight="w", **declared)
    with pytest.raises(privet.DeclarationError, match="begin at 0"):
        privet.Schema.of(kinds, bounds={"x": (0, 1), "w": (1, 5)}, weight="w", **declared)
    for own in ["bool", "str"]:
        with pytest.raises(privet.DeclarationError, match="bounds are missing for 'w'"):
            privet.Schema.of(kinds | {"w": own}, bounds={"x": (0, 1)}, weight="w", **declared)
    both = {"x": (0, 1), "w": (0, 5)}
    for twice in [{"skip": ["w"]}, {"unit": "w"}, {"label": "w"}, {"values": declared["values"] | {"w": ["1"]}}]:
        with pytest.raises(privet.DeclarationError, match="cannot be named in"):
            privet.Schema.of(kinds, bounds=both, weight="w", **(declared | twice))
    schema = privet.Schema.of(kinds, bounds=both, weight="w", **declared)
    assert "w = { type = \"weight\", max = 5" in schema.to_toml() and schema.features == ["x"]
    # Two groups that say the opposite: the heavier one is heard, and predicting needs no weights.
    pandas = pytest.importorskip("pandas")
    x = np.tile([0.1, 0.9], 2000)
    heavy = np.arange(4000) % 4 < 2
    ill = np.where((x > 0.5) == heavy, "yes", "no")
    frame = pandas.DataFrame({"x": x, "w": np.where(heavy, 5.0, 0.1), "ill": ill})
    privet.Ledger().limit(schema, epsilon=4, delta=1e-6)
    model = privet.train(frame, schema, algorithm="trees", epsilon=4, delta=1e-6, rows_about=4000)
    assert list(model.predict(pandas.DataFrame({"x": [0.1, 0.9]}))) == ["no", "yes"]


def test_without_a_budget_nothing_is_read(schema, people):
    with pytest.raises(privet.BudgetError, match="ledger.limit"):
        privet.train(people, schema, **SPENT)
    privet.Ledger().limit(schema, epsilon=0.5)
    with pytest.raises(privet.BudgetError):
        privet.train(people, schema, **SPENT)


def test_a_refusal_says_what_is_needed_and_left(schema, people, ledger):
    model = privet.train(people, schema, ledger=ledger, **{**SPENT, "epsilon": 3.5})
    before = ledger.remaining("people")
    with pytest.raises(privet.BudgetError) as refused:
        privet.train(people, schema, ledger=ledger, **{**SPENT, "epsilon": 3.5})
    assert refused.value.needed > refused.value.left == pytest.approx(before.epsilon)
    assert ledger.remaining(schema) == before and before.payments == 1
    again = pickle.loads(pickle.dumps(refused.value))
    assert (str(again), again.needed) == (str(refused.value), refused.value.needed)
    assert not model.certificate.is_void and "people" in str(model.certificate)


def test_the_command_and_python_write_one_chain(schema, people, ledger, tmp_path):
    model = privet.train(people, schema, ledger=ledger, **SPENT)
    model.save("model.privet")
    (tmp_path / "schema.toml").write_text(schema.to_toml())
    lines = [",".join(people)] + [",".join("" if x != x else str(x) for x in row) for row in zip(*people.values())]
    (tmp_path / "people.csv").write_text("\n".join(lines).replace("True", "true").replace("False", "false") + "\n")
    (tmp_path / "job.toml").write_text(
        'setting = "central"\nschema = "schema.toml"\ndata = "people.csv"\noutput = "second.privet"\n'
        '[algorithm]\nname = "auto"\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\nrows_about = 2000\n'
    )
    plan = command("--json", "plan", "job.toml")
    assert plan.returncode == 0, plan.stderr
    mine, theirs = privet.plan(schema, ledger=ledger, **SPENT).to_dict(), json.loads(plan.stdout)
    assert {**theirs, "data": None, "output": None} == mine
    train = command("train", "job.toml")
    assert train.returncode == 0, train.stderr
    assert ledger.remaining("people").payments == 2
    verified = ledger.verify(against=["model.privet", "second.privet"])
    assert all(check["verified"] for check in verified.to_dict()["against"])
    inspected = command("--json", "inspect", "model.privet")
    assert json.loads(inspected.stdout)["version"] == privet.__version__ == model.version
    # The same rows in memory under a new name are known.
    other = privet.Schema(schema.to_toml().replace('"people"', '"strangers"'))
    ledger.limit(other, epsilon=4, delta=1e-6)
    with pytest.raises(privet.BudgetError, match="people"):
        privet.train(people, other, ledger=ledger, **SPENT)


def test_plans_say_the_same_as_data(schema, ledger):
    plan = privet.plan(schema, ledger=ledger, **SPENT)
    assert plan.price == (1.0, 1e-6) and plan.trees > 10
    assert "WHO IS PROTECTED" in str(plan) and "<pre" in plan._repr_html_()
    assert plan.noise and plan.not_protected
    with pytest.raises(privet.DeclarationError, match="rows_about"):
        privet.plan(schema, epsilon=1)
    with pytest.raises(privet.ParameterError, match="jungle"):
        privet.plan(schema, epsilon=1, rows_about=2000, algorithm="jungle")
    with pytest.raises(privet.ParameterError):
        privet.plan(schema, epsilon=1, rows_about=2000, tres=7)


def test_models_predict_save_and_pickle(schema, people, scratch, tmp_path):
    model = privet.train(people, schema, ledger=scratch, **SPENT)
    labels = model.predict(people)
    assert set(labels) <= {"no", "yes"} and np.mean(labels == people["ill"]) > 0.6
    probabilities = model.predict_proba(people)
    assert probabilities.shape == (2000, 2) and np.allclose(probabilities.sum(1), 1)
    assert np.array_equal(probabilities[:, 1] > 0.5, model.scores(people) > 0)
    model.save("model.privet")
    with pytest.raises(privet.ParameterError, match="overwrite=True"):
        model.save("model.privet")
    model.save("model.privet", overwrite=True)
    for again in [privet.load("model.privet"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]:
        assert np.array_equal(again.scores(people), model.scores(people))
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(privet.ParameterError, match="no model"):
        model.save("notes.txt", overwrite=True)
    model.export("model.onnx")
    assert (tmp_path / "model.onnx.features.json").exists()
    with pytest.raises(privet.ParameterError, match="must end in"):
        model.export("model.txt")
    assert model.certificate.to_dict()["recorded"] is False


def test_explanations_add_up(schema, people, scratch):
    model = privet.train(people, schema, ledger=scratch, **SPENT)
    about = model.explain()
    rows = about.row(people)
    assert np.max(np.abs(np.asarray(rows["score"]) - model.scores(people))) < 1e-5
    age = about["age"].to_frame()
    assert list(age)[-2:] == ["value", "noise"] and len(age["value"]) > 2
    assert "<svg" in about["age"]._repr_html_() and "<svg" in about._repr_html_()
    assert "<script" not in about._repr_html_() and "url(" not in about._repr_html_()
    importance = about.importance()
    assert list(importance["name"])[0] in ("age", "hours", "job")
    with pytest.raises(KeyError, match="age"):
        about["nothing"]
    random = privet.train(people, schema, ledger=scratch, splits="random", algorithm="trees", **SPENT)
    with pytest.raises(privet.ParameterError, match="column by column"):
        random.explain()


def test_the_page_is_the_commands(schema, people, ledger):
    model = privet.train(people, schema, ledger=ledger, **SPENT)
    model.save("model.privet")
    model.explain().save("mine.html", ledger=ledger)
    written = command("inspect", "model.privet", "--report", "theirs.html")
    assert written.returncode == 0, written.stderr
    with open("mine.html", "rb") as mine, open("theirs.html", "rb") as theirs:
        assert mine.read() == theirs.read()


def test_evaluations_are_paid_for(schema, people, ledger):
    model = privet.train(people, schema, ledger=ledger, epsilon=1, delta=1e-6, rows_about=2000)
    with pytest.raises(privet.ParameterError):
        model.evaluate(people, ledger=ledger)
    fresh = columns(1000, seed=9)
    test_schema = privet.Schema(schema.to_toml().replace('"people"', '"others"'))
    with pytest.raises(privet.BudgetError):
        model.evaluate(fresh, spend=0.5, schema=test_schema, ledger=ledger)
    ledger.limit(test_schema, epsilon=1)
    report = model.evaluate(fresh, spend=0.5, schema=test_schema, ledger=ledger)
    assert report.to_dict()["report"] and "accuracy" in repr(report)
    assert ledger.remaining("others").epsilon == pytest.approx(0.5)


def test_columns_leave_changed_once(schema, people, ledger):
    features = privet.Schema.of(
        {name: KINDS[name] for name in ("age", "job")}, dataset="shop", bounds={"age": (17, 90)}, values={"job": PUBLIC["values"]["job"]}
    )
    shop = {"age": people["age"], "job": people["job"]}
    with pytest.raises(privet.BudgetError):
        privet.desensitise(shop, schema=features, epsilon=4, ledger=ledger)
    ledger.limit(features, epsilon=0, replace=True)
    changed = privet.desensitise(shop, schema=features, epsilon=4, ledger=ledger)
    again = privet.desensitise(shop, schema=features, epsilon=4, ledger=ledger)
    assert changed.frame == again.frame and len(changed.frame["job"]) == 2000
    assert "distance" in str(changed.certificate)


def test_simulations_stand_beside_baselines(tmp_path, schema, people):
    public = schema.to_toml().replace("private = true", "private = false")
    (tmp_path / "schema.toml").write_text(public)
    lines = [",".join(people)] + [",".join("" if x != x else str(x) for x in row) for row in zip(*people.values())]
    (tmp_path / "people.csv").write_text("\n".join(lines).replace("True", "true").replace("False", "false") + "\n")
    (tmp_path / "job.toml").write_text(
        'setting = "plain"\nschema = "schema.toml"\ndata = "people.csv"\noutput = "model.privet"\n[algorithm]\nname = "stumps"\nrounds = 20\n'
    )
    run = privet.simulate("job.toml", runs=1)
    methods = {figure["method"] for figure in run.to_dict()["figures"]}
    assert {"together", "alone", "constant"} <= methods
    assert set(run.to_frame()["method"]) == methods


def test_ledgers_are_shared_and_the_ones_in_memory_stay_here(schema, people, ledger):
    assert copy.deepcopy(ledger) is ledger and copy.copy(ledger) is ledger
    assert pickle.loads(pickle.dumps(ledger)).path == ledger.path
    assert "people" in ledger._repr_html_()
    with privet.Ledger.unrecorded(epsilon=1.5) as scratch:
        privet.train(people, schema, ledger=scratch, epsilon=1, rows_about=2000)
        assert scratch.remaining("people").epsilon == pytest.approx(0.5)
        with pytest.raises(privet.BudgetError):
            privet.train(people, schema, ledger=scratch, epsilon=1, rows_about=2000)
        with pytest.raises(privet.LedgerError, match="another process"):
            pickle.dumps(scratch)
        with pytest.raises(privet.LedgerError, match="lasts"):
            scratch.verify()


def test_a_seed_voids(schema, people, scratch):
    one, two = (privet.train(people, schema, ledger=scratch, seed=7, **SPENT) for _ in range(2))
    assert one.certificate.is_void and one._own.ensemble() == two._own.ensemble()
    other = privet.train(people, schema, ledger=scratch, seed=8, **SPENT)
    assert other._own.ensemble() != one._own.ensemble()


def test_the_command_is_in_the_package():
    assert command("--help").returncode == 0
    assert command("train").returncode == 2


def test_the_command_says_what_the_package_does_without():
    ended = command("reproduce", "plain")
    assert ended.returncode == 2 and "cargo install" in ended.stderr
