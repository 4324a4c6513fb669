"""Privet, InterpretML's DP-EBM and XGBoost on one pandas frame in one process; and what the Python package costs beside the command.

Run by hand:

    python -m venv VENV && VENV/bin/pip install -r bench/requirements-python.txt
    VENV/bin/pip install . && VENV/bin/python bench/python.py [--rows 1000000] [--turns 5] [--only import,bins,...]

Rows are made up: 29 numbers, of which five matter, and two classes. All get the same rows, bounds, ε = 1 and δ = 1e-8; XGBoost is not private.
AUC is on 100,000 rows that nobody learnt from, beside one half, which a constant scores. Times are medians over turns that alternate between the
sides; ratios are what counts, and machines differ. Everything has as many threads as it takes by itself.

    import   a new process with `import privet`, minus one without, and the size of the extension
    bins     a frame into bins, and the same rows from a Parquet file into bins
    fit      training from the frame, and `privet train` on the same rows in a Parquet file
    predict  probabilities of all rows, by Privet and by XGBoost's DMatrix-free prediction
    peers    fit times and AUC of all
    bands    the bands of shapes beside the deviation of 40 refits on the same rows, and how far shapes, pairs and base are from the scores
"""

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import privet
from privet._rows import rows as as_rows

COLUMNS = 29
SPENT = dict(epsilon=1.0, delta=1e-8)


def made(rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, COLUMNS)), columns=[f"x{i}" for i in range(COLUMNS)])
    z = np.sin(2 * frame.x0) + frame.x1 - 0.5 * frame.x2**2 + 0.7 * frame.x3 * (frame.x4 > 0) + 0.2
    frame["y"] = np.where(rng.random(rows) < 1 / (1 + np.exp(-z)), "yes", "no")
    return frame


def turns(count, **sides):
    """The median seconds of each side, in alternating turns."""
    times = {name: [] for name in sides}
    for turn in range(count):
        names = list(sides)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            begin = time.perf_counter()
            sides[name]()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(own) for name, own in times.items()}


def auc(labels, scores):
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    positive = labels == "yes"
    n = positive.sum()
    return (ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(labels) - n))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", default="import,bins,fit,predict,peers,bands")
    given = parser.parse_args()
    wanted = given.only.split(",")
    schema = privet.Schema.of(
        {f"x{i}": "float" for i in range(COLUMNS)} | {"y": "str"},
        dataset="made",
        label="y",
        bounds={f"x{i}": (-5, 5) for i in range(COLUMNS)},
        values={"y": ["no", "yes"]},
    )
    if "import" in wanted:
        run = lambda code: subprocess.run([sys.executable, "-c", code], check=True)  # noqa: E731
        found = turns(given.turns, privet=lambda: run("import numpy, privet"), nothing=lambda: run("import numpy"))
        begun = os.times()
        for _ in range(given.turns):
            run("import numpy, privet")
        middle = os.times()
        for _ in range(given.turns):
            run("import numpy")
        ended = os.times()
        used = [(b.children_user + b.children_system - a.children_user - a.children_system) / given.turns for a, b in [(begun, middle), (middle, ended)]]
        print(f"import privet: {found['privet'] - found['nothing']:.3f} s besides numpy, {used[0] - used[1]:.3f} s of CPU")
        extension = Path(importlib.util.find_spec("privet._privet").origin)
        print(f"the extension: {extension.stat().st_size / 1e6:.1f} MB")
    if "bands" in wanted:
        bands()
    if set(wanted) <= {"import", "bands"}:
        return
    frame, test = made(given.rows, 1), made(100_000, 2)
    ledger = privet.Ledger.unrecorded()
    plan = privet.plan(schema, rows_about=given.rows, ledger=ledger, algorithm="trees", **SPENT)
    with tempfile.TemporaryDirectory() as folder:
        parquet = Path(folder) / "rows.parquet"
        frame.to_parquet(parquet, index=False)
        if "bins" in wanted:
            found = turns(
                given.turns, frame=lambda: plan._own.read(as_rows(frame)), parquet=lambda: plan._own.read_file(str(parquet))
            )
            print(f"into bins: a frame {found['frame']:.3f} s, Parquet {found['parquet']:.3f} s, ratio {found['frame'] / found['parquet']:.2f}")
        if "fit" in wanted:
            fits(folder, frame, schema, parquet, given)
    if "predict" in wanted:
        predictions(frame, schema, plan, given)
    if "peers" in wanted:
        peers(frame, test, schema, ledger, plan)


def bands(refits=40, rows=10_000):
    """Seeded refits on the same rows, so that only coins differ. The ratio is of the band's root mean square to the deviation, at 32 points of each shape."""
    rng = np.random.default_rng(5)
    frame = {f"x{i}": rng.uniform(0, 1, rows) for i in range(6)} | {"skew": rng.exponential(0.12, rows).clip(0, 1)}
    z = 2 * np.sin(6 * frame["x0"]) + 3 * (frame["x1"] - 0.5) + 1.5 * (frame["x2"] > 0.6) - 0.75
    names = list(frame)
    frame["y"] = np.where(rng.random(rows) < 1 / (1 + np.exp(-z)), "b", "a").astype(object)
    columns = "".join(f"{name} = {{ type = \"number\", min = 0, max = 1, bins = 32 }}\n" for name in names)
    schema = privet.Schema(f'dataset = "d"\n[columns]\n{columns}y = {{ type = "label", values = ["a", "b"] }}\n')
    points = (np.arange(32) + 0.5) / 32
    for splits in ["one-feature", None]:
        values, noise, furthest = [], [], 0.0
        for seed in range(refits):
            given = {} if splits is None else {"splits": splits}
            model = privet.train(
                frame, schema, epsilon=1, delta=1e-6, rows_about=rows, ledger=privet.Ledger.unrecorded(), algorithm="trees", seed=seed, **given
            )
            about = model.explain()
            furthest = max(furthest, np.max(np.abs(about.row(frame)["score"] - model.scores(frame))))
            if splits is not None:
                value, band = zip(*(at_points(about[name], points) for name in names))
                values.append(value)
                noise.append(band)
        print(f"{splits or 'default'} splits: shapes, pairs and base are the score to {furthest:.1e} in {refits} models of {rows} rows")
        if splits is not None:
            ratio = np.sqrt(np.mean(np.square(noise), axis=0)) / np.std(values, axis=0, ddof=1)
            print(f"the band over the deviation of {refits} refits: median {np.median(ratio):.3f}, by column {np.round(np.median(ratio, axis=1), 2)}")


def at_points(term, points):
    """Value and noise of a shape at points."""
    found = term._data
    low = np.array([segment["between"]["low"] for segment in found["columns"][0]["segments"] if "between" in segment])
    place = np.searchsorted(low, points, side="right") - 1
    return np.array(found["values"])[place], np.array(found["noise"])[place]


def boosters(frame, schema, plan, rows):
    """Privet's trees and as many of XGBoost's, on the first rows."""
    import xgboost

    part = frame.head(rows)
    model = privet.train(
        part, schema, rows_about=rows, ledger=privet.Ledger.unrecorded(), algorithm="trees", trees=plan.trees, **SPENT
    )
    booster = xgboost.XGBClassifier(n_estimators=plan.trees, max_depth=3, tree_method="hist")
    booster.fit(part.drop(columns="y"), (part.y == "yes").astype(int))
    return model, booster


def predictions(frame, schema, plan, given):
    """How fast all rows are predicted; how good they are is no matter here, so that both learn from few rows."""
    model, booster = boosters(frame, schema, plan, min(50_000, given.rows))
    features = frame.drop(columns="y")
    found = turns(given.turns, privet=lambda: model.predict_proba(features), xgboost=lambda: booster.predict_proba(features))
    speed = {name: given.rows / seconds / 1e6 for name, seconds in found.items()}
    print(
        f"predictions of {plan.trees} trees each: Privet {speed['privet']:.2f}, XGBoost {speed['xgboost']:.2f} million rows/s, "
        f"ratio {speed['privet'] / speed['xgboost']:.2f}"
    )


def peers(frame, test, schema, ledger, plan):
    """Fit times and AUC on rows that nobody learnt from."""
    import xgboost

    features, labels = frame.drop(columns="y"), (frame.y == "yes").to_numpy().astype(int)
    unseen = test.drop(columns="y")
    print(f"{'':>12} {'fit':>9} {'AUC':>7}")
    begin = time.perf_counter()
    model = privet.train(frame, schema, rows_about=len(frame), ledger=ledger, algorithm="trees", **SPENT)
    seconds = time.perf_counter() - begin
    print(f"{'Privet':>12} {seconds:>7.2f} s {auc(test.y, model.scores(unseen)):>7.4f}   ε = 1, δ = 1e-8")
    ebm(frame, labels, unseen, test)
    booster = xgboost.XGBClassifier(n_estimators=plan.trees, max_depth=3, tree_method="hist")
    begin = time.perf_counter()
    booster.fit(features, labels)
    seconds = time.perf_counter() - begin
    print(f"{'XGBoost':>12} {seconds:>7.2f} s {auc(test.y, booster.predict_proba(unseen)[:, 1]):>7.4f}   not private")
    print(f"{'constant':>12} {'':>9} {0.5:>7.4f}")


def ebm(frame, labels, unseen, test):
    try:
        from interpret.privacy import DPExplainableBoostingClassifier
    except ImportError:
        print(f"{'DP-EBM':>12}   is not installed")
        return
    features = frame.drop(columns="y")
    # Types and bounds are declared: otherwise they would be taken from rows.
    declared = {"feature_types": ["continuous"] * COLUMNS, "privacy_bounds": {i: (-5, 5) for i in range(COLUMNS)}}
    peer = DPExplainableBoostingClassifier(**SPENT, **declared)
    begin = time.perf_counter()
    peer.fit(features.to_numpy(), labels)
    seconds = time.perf_counter() - begin
    print(f"{'DP-EBM':>12} {seconds:>7.2f} s {auc(test.y, peer.predict_proba(unseen.to_numpy())[:, 1]):>7.4f}   ε = 1, δ = 1e-8")


def fits(folder, frame, schema, parquet, given):
    """Training from a frame, beside the command on the same rows in a file; each pays from a ledger that lasts."""
    (Path(folder) / "schema.toml").write_text(schema.to_toml())
    (Path(folder) / "job.toml").write_text(
        f'setting = "central"\nschema = "schema.toml"\ndata = "{parquet.name}"\noutput = "model.privet"\n[algorithm]\nname = "trees"\n'
        f"[privacy]\nepsilon = 1.0\ndelta = 1e-8\nrows_about = {given.rows}\n"
    )
    os.environ["PRIVET_LEDGER"] = str(Path(folder) / "ledger.db")
    ledger = privet.Ledger()
    ledger.limit(schema, epsilon=20, delta=1e-8)
    command = [sys.executable, "-c", "from privet._command import main; main()", "train", "job.toml", "--overwrite"]
    found = turns(
        given.turns,
        frame=lambda: privet.train(frame, schema, rows_about=given.rows, ledger=ledger, algorithm="trees", **SPENT),
        command=lambda: subprocess.run(command, cwd=folder, check=True, capture_output=True),
    )
    print(f"fit: from a frame {found['frame']:.2f} s, the command {found['command']:.2f} s, ratio {found['frame'] / found['command']:.2f}")


if __name__ == "__main__":
    main()
