"""One table in every form is one table: same bins, same fingerprint, same model at equal draws. Nothing in it decides about an exception."""

import sys

import numpy as np
import pytest

import privet
from conftest import columns

SPENT = dict(epsilon=1, delta=1e-6, rows_about=2000)


def seeded(rows, schema):
    model = privet.train(rows, schema, ledger=privet.Ledger.unrecorded(), seed=11, **SPENT)
    return model._own.ensemble()


def forms(people):
    """The table in every form that libraries here can give it."""
    found = {"dictionary": people}
    try:
        import pandas

        found["pandas"] = pandas.DataFrame(people)
        found["pandas categories"] = found["pandas"].astype({"job": "category"})
        found["pandas with an index"] = found["pandas"].set_index(np.arange(len(people["age"])) * 3)
    except ImportError:
        pass
    try:
        import pyarrow

        found["pyarrow"] = pyarrow.table({name: pyarrow.array(cells, from_pandas=True) for name, cells in people.items()})
    except ImportError:
        pass
    try:
        import polars

        found["polars"] = polars.DataFrame({name: list(cells) if cells.dtype == object else cells for name, cells in people.items()})
    except ImportError:
        pass
    return found


def test_every_form_gives_the_same_model(people, schema):
    all_forms = forms(people)
    wanted = seeded(people, schema)
    for name, form in all_forms.items():
        assert seeded(form, schema) == wanted, name


def test_pandas_without_pyarrow_is_the_same(people, schema, monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(people)
    wanted = seeded(people, schema)

    def refuse(self, requested_schema=None):
        raise ImportError("pyarrow is not here")

    monkeypatch.setattr(pandas.DataFrame, "__arrow_c_stream__", refuse, raising=False)
    for form in [frame, frame.astype({"job": "category"})]:
        assert privet._rows.rows(form).address("age") is None
        assert seeded(form, schema) == wanted


def test_every_form_is_recognised(people, schema, ledger, tmp_path):
    privet.train(people, schema, ledger=ledger, epsilon=0.1, rows_about=2000)
    for number, (name, form) in enumerate(forms(people).items()):
        other = privet.Schema(schema.to_toml().replace('"people"', f'"copy-{number}"'))
        ledger.limit(other, epsilon=4, delta=1e-6)
        with pytest.raises(privet.BudgetError, match="people"):
            privet.train(form, other, ledger=ledger, epsilon=0.1, rows_about=2000)


def test_files_are_the_same_table(people, schema, ledger, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(people)
    frame.to_csv(tmp_path / "people.csv", index=False)
    files = ["people.csv"]
    if "pyarrow" in sys.modules or pytest.importorskip("pyarrow"):
        frame.to_parquet(tmp_path / "people.parquet")
        files.append("people.parquet")
    privet.train(frame, schema, ledger=ledger, epsilon=0.1, rows_about=2000)
    for number, file in enumerate(files):
        other = privet.Schema(schema.to_toml().replace('"people"', f'"file-{number}"'))
        ledger.limit(other, epsilon=4)
        (tmp_path / "schema.toml").write_text(other.to_toml())
        (tmp_path / "job.toml").write_text(
            f'setting = "central"\nschema = "schema.toml"\ndata = "{file}"\noutput = "m{number}.privet"\n'
            '[algorithm]\nname = "trees"\n[privacy]\nepsilon = 0.1\nrows_about = 2000\n'
        )
        from conftest import command

        refused = command("train", "job.toml")
        assert refused.returncode == 3 and "people" in refused.stderr, refused.stderr


def test_arrow_is_not_copied():
    pyarrow = pytest.importorskip("pyarrow")
    age = np.arange(1000.0)
    table = pyarrow.table({"age": pyarrow.array(age)})
    assert privet._rows.rows(table).address("age") == age.ctypes.data
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": age}, copy=False)
    assert privet._rows.rows(frame).address("age") == frame["age"].to_numpy().ctypes.data
    polars = pytest.importorskip("polars")
    series = polars.DataFrame({"age": age})
    held = series["age"].to_numpy(allow_copy=False)
    assert privet._rows.rows(series).address("age") == held.ctypes.data


@pytest.mark.parametrize("what", ["nan", "infinite", "one class", "no rows", "undeclared", "mixed"])
def test_what_cells_hold_is_no_error(people, schema, what):
    rows = {name: cells.copy() for name, cells in people.items()}
    if what == "nan":
        rows["age"][:] = np.nan
        rows["ill"][:] = None
    elif what == "infinite":
        rows["age"][::2] = np.inf
        rows["gain"][:] = -np.inf
    elif what == "one class":
        rows["ill"][:] = "yes"
    elif what == "no rows":
        rows = {name: cells[:0] for name, cells in rows.items()}
    elif what == "undeclared":
        rows["job"][:] = "astronaut"
        rows["ill"][:] = "perhaps"
    elif what == "mixed":
        rows["job"][::3] = 7
        rows["job"][1::3] = 2.5
        rows["ill"][::5] = True
    for form in forms(rows).values() if what not in ("mixed", "no rows") else [rows, *pandas_only(rows)]:
        model = privet.train(form, schema, ledger=privet.Ledger.unrecorded(), **SPENT)
        assert np.all(np.isfinite(model.scores(form)))


def pandas_only(rows):
    try:
        import pandas
    except ImportError:
        return []
    return [pandas.DataFrame(rows)]


def test_columns_that_are_missing_are_named(people, schema, scratch):
    del people["age"]
    with pytest.raises(privet.DeclarationError, match="age"):
        privet.train(people, schema, ledger=scratch, **SPENT)
