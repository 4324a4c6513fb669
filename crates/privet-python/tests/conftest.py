"""Rows, schemas and ledgers for tests."""

import os

import numpy as np
import pytest

import privet


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """No test touches the ledger of whoever runs it."""
    monkeypatch.setenv("PRIVET_LEDGER", str(tmp_path / "ledger.db"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def columns(rows=2000, seed=5):
    """People: two numbers, a whole one, a category, a flag and a label."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(17, 90, rows).round(3)
    hours = rng.integers(0, 100, rows)
    gain = np.where(rng.random(rows) < 0.1, np.nan, rng.exponential(3000, rows).round(2))
    job = np.array(["nurse", "clerk", "cook"], dtype=object)[rng.integers(0, 3, rows)]
    smokes = rng.random(rows) < 0.3
    z = 0.06 * (age - 45) + 0.03 * (hours - 40) + (job == "clerk") - smokes
    ill = np.where(rng.random(rows) < 1 / (1 + np.exp(-z)), "yes", "no").astype(object)
    return {"age": age, "hours": hours, "gain": gain, "job": job, "smokes": smokes, "ill": ill}


KINDS = {"age": "float", "hours": "int", "gain": "float", "job": "str", "smokes": "bool", "ill": "str"}
PUBLIC = dict(
    bounds={"age": (17, 90), "hours": (0, 100), "gain": (0, 100_000)},
    values={"job": ["nurse", "clerk", "cook"], "ill": ["no", "yes"]},
)


@pytest.fixture
def schema():
    return privet.Schema.of(KINDS, dataset="people", label="ill", **PUBLIC)


@pytest.fixture
def people():
    return columns()


@pytest.fixture
def ledger(schema):
    ledger = privet.Ledger()
    ledger.limit(schema, epsilon=4, delta=1e-6)
    return ledger


@pytest.fixture
def scratch():
    return privet.Ledger.unrecorded()


def command(*arguments):
    """Runs the command of this very package."""
    import subprocess
    import sys

    run = [sys.executable, "-c", "from privet._command import main; main()", *map(str, arguments)]
    return subprocess.run(run, capture_output=True, text=True, env=dict(os.environ))
