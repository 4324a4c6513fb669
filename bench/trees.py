"""Compares a curator's private trees with InterpretML's DP-EBM and others, on the same rows, splits, bounds, epsilon and delta.

Run by hand, with PRIVET_DATA naming the folder with adult, bank, credit-default and kc-house:

    python -m venv VENV && VENV/bin/pip install -r bench/requirements-trees.txt
    cargo build --release -p privet-cli
    VENV/bin/python bench/trees.py [--seeds 10] [--ebm-seeds 3] [--epsilons 0.1 1] [--sets adult ...] [--jobs 2] [--out runs.jsonl]

A seed is a split into training and test rows: adult's own for seed 0 and one of the same sizes afterwards, four fifths
and one fifth elsewhere. All learn from the columns of the schemas (bank with `duration`), with values clipped to the
schemas' bounds; a label that is a number is clipped too, and so is whatever is predicted for it (`--label-max` lowers its
bound for all). Epsilon is for rows that are added or removed, delta is 1e-6.

Privet runs through its command line, with a ledger of its own for each run and `algorithm = "trees"` as it comes: its
settings follow from epsilon, delta, the declared number of rows and the schema. Its times are those of the whole
`privet train`, with reading the table, paying and writing the model. The times of all others are those of `fit` alone, on
a table in memory. Everything has one thread. `--draws` trains Privet several times on each split that DP-EBM runs on.

DP-EBM gets the schema's bounds, its category columns as nominal, and the columns for which the schema declares a
transform stretched (`--stretch asinh`: asinh(x / s), where 2000 s is the distance of the bounds). It runs as it comes
(learning rate 0.01) and with higher rates, for regression also with a lower one; the verdict takes the best of them by the
test figures, which nobody could know: this favours it. Neither its API pages nor its code name neighbours; the code scales
noise to a change of 1 in one cell of each feature's histogram, and of 1 (for regression, the range of the target) in the sum of
residuals of one leaf of each tree. That is a row which is added or removed, as here: a replacement changes two cells. It
takes the exact number of rows and the categories that occur from the table without charge, and nothing keeps the residuals
of its regression inside the range for which there is noise: at a rate of 3 they grow without end. It is compared all the
same, as if it kept its promise.

diffprivlib's LogisticRegression and LinearRegression promise pure epsilon and protect against the replacement of a row;
they see one column for each category and stretched numbers. XGBoost and LightGBM are not private: 300 trees of depth 5
(at most 31 leaves), rate 0.1. The constant is the class with most rows, or the median for MAE and the mean for RMSE.

A cell is mean ± standard deviation (runs). Margins compare the splits that both ran on: Privet's mean over its draws
minus DP-EBM's on each, then mean and standard error over the splits. Verdicts on times compare medians, with the fastest of
DP-EBM's rates, and count reading and paying on Privet's side only; judge them on a quiet machine. `--read` prints the tables of earlier runs.
"""

import argparse
import csv
import itertools
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"]:
    os.environ[variable] = "1"

from central import SCHEMAS, code, declared, transform

ROOT = Path(__file__).resolve().parent.parent
DELTA = 1e-6
RATES = {"classes": [None, 0.05, 0.1, 0.2], "number": [None, 0.003, 0.05, 0.1, 0.2]}
FILES = {
    "adult": ["adult/adult.data", "adult/adult.test"],
    "credit-default": ["credit-default/UCI_Credit_Card.csv"],
    "bank": ["bank/bank-full.csv"],
    "kc-house": ["kc-house/kc_house_data.csv"],
}


# --- rows -----------------------------------------------------------------------------------------------------------


def load(name, data):
    """The rows of each file, as texts in the order of the schema's columns."""
    schema = tomllib.loads((SCHEMAS / f"{name}.toml").read_text())
    file = schema.get("file", {})
    parts = []
    for path in FILES[name]:
        with open(data / path, newline="") as lines:
            rows = list(csv.reader(lines, delimiter=file.get("delimiter", ","), skipinitialspace=True))
        rows = [row for row in rows if len(row) == len(schema["columns"])]
        rows = rows[1:] if file.get("header", True) else rows
        parts.append([[cell.rstrip(".") for cell in row] if name == "adult" else row for row in rows])
    return parts


def split(parts, seed):
    """Training and test rows."""
    import numpy as np

    if len(parts) == 2 and seed == 0:
        return parts
    rows = [row for part in parts for row in part]
    order = np.random.default_rng(seed).permutation(len(rows))
    size = len(parts[0]) if len(parts) == 2 else len(rows) * 4 // 5
    return [rows[i] for i in order[:size]], [rows[i] for i in order[size:]]


def described(name, most):
    """The schema's text and columns, with a lower bound on a label that is a number, if there is one."""
    text, columns = declared(name)
    if most and any(about["type"] == "label" and "max" in about for about in columns.values()):
        text, count = re.subn(r'^(.*type = "label".*max = )[0-9]+', rf"\g<1>{most}", text, flags=re.M)
        assert count == 1
    return text, tomllib.loads(text)["columns"]


def features(columns):
    """Columns with flags as categories, and the label's name and column."""
    label = next(column for column in columns if columns[column]["type"] == "label")
    kinds = {column: dict(about, type="category") if about["type"] == "flag" else about for column, about in columns.items()}
    return kinds, label, columns[label]


def labels(rows, place, about):
    """The second class, or the clipped number."""
    import numpy as np

    cells = [row[place] for row in rows]
    if "values" in about:
        return np.array([int(cell == about["values"][1]) for cell in cells])
    return np.clip(np.array(cells, float), about["min"], about["max"])


def frame(columns, rows, stretch):
    """A table of clipped numbers and of categories (what is missing is one more), and the bounds of the numbers."""
    import numpy as np
    import pandas as pd

    table, bounds = {}, {}
    for place, (name, about) in enumerate(columns.items()):
        if about["type"] in ("label", "skip"):
            continue
        cells = [row[place] for row in rows]
        if about["type"] == "category":
            table[name] = pd.Series([cell if cell in about["values"] else "?" for cell in cells], dtype=object)
            continue
        low, high = float(about["min"]), float(about["max"])
        change = float
        if "transform" in about and stretch == "declared":
            change = transform(about)
        elif "transform" in about and stretch == "asinh":
            change = lambda x: math.asinh(x * 2000 / (high - low))
        x = np.clip(np.array(cells, float), low, high)
        table[name] = pd.Series([change(v) for v in x])
        bounds[name] = (change(low), change(high))
    return pd.DataFrame(table), bounds


def figures(about, truth, said):
    """AUC and accuracy of the second class's probability, or the errors of a number."""
    import numpy as np
    from sklearn.metrics import roc_auc_score

    assert len(said) == len(truth) and np.isfinite(said).all()
    if "values" in about:
        return {"auc": float(roc_auc_score(truth, said)), "accuracy": float(((said > 0.5) == truth).mean())}
    off = np.clip(said, about["min"], about["max"]) - truth
    return {"mae": float(abs(off).mean()), "rmse": float(math.sqrt((off**2).mean()))}


# --- methods --------------------------------------------------------------------------------------------------------


def privet(name, schema, about, epsilon, train, test, folder, binary):
    """One training through the command line: what it says about the test rows, and its seconds."""
    import numpy as np

    text, columns = schema
    (folder / "schema.toml").write_text(text)
    for file, rows in {"train.csv": train, "test.csv": test}.items():
        if not (folder / file).exists():
            with open(folder / file, "w", newline="") as out:
                csv.writer(out).writerows([list(columns), *rows])
    (folder / "job.toml").write_text(
        f'setting = "central"\nschema = "schema.toml"\ndata = "train.csv"\noutput = "model.privet"\n[privacy]\n'
        f'epsilon = {epsilon}\ndelta = {DELTA}\nrows_about = {len(train)}\nchange = "add-remove"\n'
        f'[algorithm]\nname = "trees"\n'
    )
    for file in itertools.chain(folder.glob("ledger*"), folder.glob("model*")):
        file.unlink()
    environment = os.environ | {"PRIVET_LEDGER": str(folder / "ledger")}

    def run(*command):
        with tempfile.TemporaryFile("w+") as out:
            started = time.perf_counter()
            child = subprocess.Popen([binary, *command], cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(child.pid, 0)
            wall = time.perf_counter() - started
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            said = out.read()
        assert child.returncode == 0, (command, said)
        return said, used.ru_utime + used.ru_stime, wall

    run("ledger", "limit", name, "--epsilon", str(epsilon), "--delta", str(DELTA))
    _, cpu, wall = run("train", "job.toml")
    what = "probabilities" if "values" in about else "labels"
    said = list(csv.reader(run("predict", "model.privet", "--data", "test.csv", "--what", what)[0].splitlines()))
    place = next(i for i, head in enumerate(said[0]) if head.endswith(about["values"][1])) if "values" in about else -1
    return np.array([float(row[place]) for row in said[1:]]), cpu, wall


def timed(fit):
    """What is fitted, its CPU seconds and its seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    fitted = fit()
    return fitted, time.process_time() - cpu, time.perf_counter() - wall


def ebm(tables, y, about, epsilon, rate):
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    (x, bounds), (xt, _) = tables
    settings = {
        "feature_names": list(x.columns),
        "feature_types": ["continuous" if column in bounds else "nominal" for column in x.columns],
        "privacy_bounds": bounds, "epsilon": epsilon, "delta": DELTA, "n_jobs": 1, "random_state": None,
    } | ({"learning_rate": rate} if rate else {})
    if "values" in about:
        model = DPExplainableBoostingClassifier(**settings)
        _, cpu, wall = timed(lambda: model.fit(x, y))
        return model.predict_proba(xt)[:, 1], cpu, wall
    model = DPExplainableBoostingRegressor(**settings, privacy_target_min=about["min"], privacy_target_max=about["max"])
    _, cpu, wall = timed(lambda: model.fit(x, y))
    return model.predict(xt), cpu, wall


def diffprivlib(coded, y, about, epsilon):
    import diffprivlib.models as dp

    (x, bounds, norm), (xt, _, _) = coded
    if "values" in about:
        assert ((x**2).sum(axis=1) <= norm**2 + 1e-9).all()
        model = dp.LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1000)
        _, cpu, wall = timed(lambda: model.fit(x, y))
        return model.predict_proba(xt)[:, 1], cpu, wall
    model = dp.LinearRegression(epsilon=epsilon, bounds_X=bounds, bounds_y=(about["min"], about["max"]))
    _, cpu, wall = timed(lambda: model.fit(x, y))
    return model.predict(xt), cpu, wall


def not_private(tables, y, about, which):
    (x, _), (xt, _) = tables
    kinds = {column: sorted(x[column].unique()) for column in x.columns if x[column].dtype == object}
    x, xt = (part.copy() for part in (x, xt))
    for column, values in kinds.items():
        for part in (x, xt):
            part[column] = part[column].astype("category").cat.set_categories(values)
    settings = {"n_estimators": 300, "max_depth": 5, "learning_rate": 0.1, "n_jobs": 1}
    classes = "values" in about
    if which == "XGBoost":
        import xgboost

        settings |= {"tree_method": "hist", "enable_categorical": True}
        model = (xgboost.XGBClassifier if classes else xgboost.XGBRegressor)(**settings)
    else:
        import lightgbm

        settings |= {"num_leaves": 31, "verbose": -1}
        model = (lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor)(**settings)
    _, cpu, wall = timed(lambda: model.fit(x, y))
    return model.predict_proba(xt)[:, 1] if classes else model.predict(xt), cpu, wall


def seed_runs(name, seed, part, options):
    """The lines of one split: Privet's and the quick peers', or DP-EBM's at one epsilon."""
    import numpy as np

    warnings.simplefilter("ignore")
    schema = described(name, options.label_max)
    columns, label, about = features(schema[1])
    place = list(columns).index(label)
    train, test = split(load(name, options.data), seed)
    y, truth = labels(train, place, about), labels(test, place, about)

    def line(method, epsilon, said, cpu=None, wall=None, draw=0):
        return {
            "set": name, "seed": seed, "draw": draw, "method": method, "epsilon": epsilon, "cpu": cpu, "wall": wall,
            "rows": len(train), "tested": len(test),
        } | figures(about, truth, said)

    lines = []
    if part != "quick":
        tables = [frame(columns, rows, options.stretch) for rows in (train, test)]
        for rate in RATES["classes" if "values" in about else "number"]:
            lines.append(line(f"DP-EBM {rate or 'as it comes'}", part, *ebm(tables, y, about, part, rate)))
        return lines
    with tempfile.TemporaryDirectory() as folder:
        for draw in range(options.draws if seed < options.ebm_seeds else 1):
            for epsilon in options.epsilons:
                said = privet(name, schema, about, epsilon, train, test, Path(folder), options.binary)
                lines.append(line("Privet trees", epsilon, *said, draw))
    if seed >= options.ebm_seeds:
        return lines
    coded = [code(columns, rows, "declared") for rows in (train, test)]
    kind = "LogisticRegression" if "values" in about else "LinearRegression"
    for epsilon in options.epsilons:
        lines.append(line(f"diffprivlib {kind}", epsilon, *diffprivlib(coded, y, about, epsilon)))
    tables = [frame(columns, rows, "raw") for rows in (train, test)]
    for which in ["XGBoost", "LightGBM"]:
        lines.append(line(f"{which}, not private", None, *not_private(tables, y, about, which)))
    if "values" in about:
        lines.append(line("constant", None, np.full(len(truth), float(y.mean() > 0.5))))
    else:
        constant = line("constant", None, np.full(len(truth), np.median(y)))
        lines.append(constant | {"rmse": figures(about, truth, np.full(len(truth), y.mean()))["rmse"]})
    return lines


# --- tables ---------------------------------------------------------------------------------------------------------

SHOWN = {
    "auc": ("AUC", 1, 4),
    "accuracy": ("accuracy at 0.5, percent", 100, 2),
    "mae": ("MAE, thousands", 1e-3, 1),
    "rmse": ("RMSE, thousands", 1e-3, 1),
    "cpu": ("CPU seconds of training", 1, 2),
    "wall": ("seconds of training", 1, 2),
}
OURS, THEIRS = "Privet trees", "DP-EBM as it comes"


def show(values, digits):
    if not values:
        return ""
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread} ({len(values)})"


def by_split(runs, key):
    """The mean over the draws of each split."""
    found = {}
    for run in runs:
        found.setdefault(run["seed"], []).append(run[key])
    return {seed: statistics.mean(values) for seed, values in found.items()}


def margin(ours, theirs, key, factor=1):
    """Mean and standard error of ours minus theirs on the splits that both have."""
    ours, theirs = by_split(ours, key), by_split(theirs, key)
    paired = [factor * (ours[seed] - theirs[seed]) for seed in ours if seed in theirs]
    error = statistics.stdev(paired) / math.sqrt(len(paired)) if len(paired) > 1 else math.nan
    return statistics.mean(paired), error


def report(lines):
    """One table for each data set and figure, then the verdicts."""
    epsilons = sorted({line["epsilon"] for line in lines if line["epsilon"]})
    verdicts = []
    for name in FILES:
        here = [line for line in lines if line["set"] == name]
        if not here:
            continue
        at = {}
        for line in here:
            at.setdefault(line["method"], {}).setdefault(line["epsilon"], []).append(line)
        rank = lambda method: (method != OURS, not method.startswith("DP-EBM"), method != THEIRS, None in at[method], method)
        methods = sorted(at, key=rank)
        for key, (meaning, factor, digits) in SHOWN.items():
            if not any(key in line for line in here):
                continue
            print(f"\n### {name}, {meaning} ({here[0]['rows']} rows, {here[0]['tested']} for testing)\n")
            print("| method | " + " | ".join(f"ε = {epsilon}" for epsilon in epsilons) + " |")
            print("|---" * (len(epsilons) + 1) + "|")
            for method in methods:
                cells = [
                    show([factor * run[key] for run in at[method].get(e, at[method].get(None, [])) if run[key] is not None], digits)
                    for e in epsilons
                ]
                if any(cells):
                    print(f"| {method} | {' | '.join(cells)} |")
        for epsilon in epsilons:
            ours = at.get(OURS, {}).get(epsilon, [])
            theirs = {method: runs[epsilon] for method, runs in at.items() if method.startswith("DP-EBM") and epsilon in runs}
            if not ours or not theirs:
                continue
            goal = "auc" if "auc" in ours[0] else "mae"
            sign = 1 if goal == "auc" else -1
            mean = lambda runs, key: statistics.mean(run[key] for run in runs)
            best = max(theirs, key=lambda method: sign * mean(theirs[method], goal))
            found, error = margin(ours, theirs[best], goal)
            if goal == "auc":
                figure = f"{found:+.4f} ± {error:.4f}"
                verdicts.append((name, epsilon, "AUC, best rate − 1 s.e.", best, figure, found >= -(0 if math.isnan(error) else error)))
            else:
                verdicts.append((name, epsilon, "MAE below", best, f"{found / 1000:+.1f} ± {error / 1000:.1f} thousand", found < 0))
            if goal == "auc":
                found, error = margin(ours, theirs[THEIRS], "accuracy", 100)
                reached = found >= 3 if name == "adult" else None
                verdicts.append((name, epsilon, "accuracy, 3 points above", THEIRS, f"{found:+.2f} ± {error:.2f} points", reached))
            for key, meaning in {"cpu": "CPU time, at most 1/10", "wall": "time, at most 1/10"}.items():
                middle = lambda runs: statistics.median(run[key] for run in runs)
                other = min(theirs, key=lambda method: middle(theirs[method]))
                ratio = middle(theirs[other]) / middle(ours)
                verdicts.append((name, epsilon, meaning, other, f"1/{ratio:.1f}", ratio >= 10))
    print("\n### Verdicts: Privet against DP-EBM\n")
    print("| data set | ε | goal | against | Privet | reached |\n|---|---|---|---|---|---|")
    for name, epsilon, goal, against, figure, reached in verdicts:
        print(f"| {name} | {epsilon} | {goal} | {against} | {figure} | {'(no goal)' if reached is None else 'yes' if reached else 'NO'} |")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=os.environ.get("PRIVET_DATA"), help="instead of PRIVET_DATA")
    options.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "privet")
    options.add_argument("--sets", nargs="+", choices=FILES, default=list(FILES))
    options.add_argument("--seeds", type=int, default=10, help="how many splits")
    options.add_argument("--first", type=int, default=0, help="leave out the splits before this one")
    options.add_argument("--ebm-seeds", type=int, default=3, help="how many of them the peers run on")
    options.add_argument("--draws", type=int, default=3, help="trainings of Privet on each of the peers' splits")
    options.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 0.5, 1, 2, 4, 8])
    options.add_argument("--stretch", choices=["declared", "asinh", "raw"], default="asinh", help="of DP-EBM's numbers")
    options.add_argument("--label-max", type=int, help="instead of the schema's, for a label that is a number")
    options.add_argument("--jobs", type=int, default=1, help="processes at the same time")
    options.add_argument("--out", type=Path, help="one line of JSON for each run")
    options.add_argument("--read", type=Path, help="only print the tables of such a file")
    options = options.parse_args()
    if options.read:
        return report([json.loads(line) for line in options.read.read_text().splitlines()])
    if not options.data:
        sys.exit("name the folder of the data sets with --data or PRIVET_DATA")
    options.data, options.binary = Path(options.data), options.binary.resolve()
    lines = []
    with ProcessPoolExecutor(options.jobs) as pool:
        runs = []
        # First the splits on which only Privet runs: whoever loses patience has all of its runs.
        for seed in sorted(range(options.first, options.seeds), key=lambda seed: seed < options.ebm_seeds):
            parts = ["quick", *(options.epsilons if seed < options.ebm_seeds else [])]
            runs += [pool.submit(seed_runs, name, seed, part, options) for name in options.sets for part in parts]
        for run in as_completed(runs):
            lines += run.result()
            if options.out:
                options.out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report(lines)


if __name__ == "__main__":
    main()
