"""Compares a curator's private classifiers with diffprivlib's, on the same rows, splits, bounds and epsilon.

Run by hand, with PRIVET_DATA naming the folder with adult, bank and credit-default:

    python -m venv VENV && VENV/bin/pip install -r bench/requirements-central.txt
    cargo build --release -p privet-cli
    VENV/bin/python bench/central.py [--seeds 10] [--epsilons 0.04 0.16] [--sets adult ...] [--jobs 2] [--out runs.jsonl]

Each seed picks a random balanced subset and a tenth of it for testing. Privet runs through its command line, with a
ledger of its own for each run, once with every column private and once with some columns and the label public. The
peers know no public columns: theirs are the same runs in both cases. Each is tried in two codings: `codes` (a category
is its place in the alphabet, numbers are scaled by the public bounds) and `declared` (numbers transformed as the schema
says, one column for each category). A person is protected against the replacement of a row; diffprivlib's forest counts
disjoint leaves, of which a replacement touches two, and gets half of epsilon. (Its naive Bayes does the same with
classes and is given all of epsilon here, which favours it.) Balanced rows come from the true labels, for all alike: this
compares accuracies, and balancing is not part of any promise. Figures are accuracies in percent, mean and standard
deviation over the seeds; the margin is that of `auto` over the peer line with the highest mean, with its standard error
over the seeds. `--read` prints the tables of earlier runs.
"""

import argparse
import csv
import json
import math
import os
import re
import statistics
import subprocess
import tempfile
import time
import tomllib
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRIVET = ROOT / "target" / "release" / "privet"
SCHEMAS = ROOT / "crates" / "privet-research" / "reproduce" / "schemas"
SETS = {
    "adult": ["workclass", "fnlwgt", "race", "sex", "native-country"],
    "bank": ["campaign", "pdays", "poutcome"],
    "credit-default": ["LIMIT_BAL", "SEX"],
}
FILES = {
    "adult": ["adult/adult.data", "adult/adult.test"],
    "bank": ["bank/bank-full.csv"],
    "credit-default": ["credit-default/UCI_Credit_Card.csv"],
}
# Columns in which cells are missing: public knowledge, from the descriptions of the data sets.
MISSING = {"workclass", "occupation", "native-country"}
OURS = ["auto", "select", "histogram-bayes", "moment-select", "objective"]
CASES = {"partial": "some columns and the label public", "full": "everything private"}


# --- rows -----------------------------------------------------------------------------------------------------------


def declared(name):
    """A schema's text without what it says about the file, and its columns without those to be skipped."""
    text = re.sub(r"\[file\]\n(?:.+\n)*", "", (SCHEMAS / f"{name}.toml").read_text())
    return text, tomllib.loads(text)["columns"]


def load(name, data):
    """All rows, as texts, in the order of the schema's columns."""
    _, columns = declared(name)
    rows = []
    for file in FILES[name]:
        with open(data / file, newline="") as lines:
            if name == "adult":
                rows += [row for row in csv.reader(lines, skipinitialspace=True) if len(row) == len(columns)]
            else:
                rows += list(csv.reader(lines, delimiter=";" if name == "bank" else ","))[1:]
    return [[cell.rstrip(".") if name == "adult" else cell for cell in row] for row in rows]


def split(rows, place, values, seed):
    """A random balanced subset in random order, a tenth of it for testing."""
    import numpy as np

    dice = np.random.default_rng(seed)
    classes = [[row for row in rows if row[place] == value] for value in values]
    least = min(len(part) for part in classes)
    picked = [part[i] for part in classes for i in dice.choice(len(part), least, replace=False)]
    picked = [picked[i] for i in dice.permutation(len(picked))]
    return picked[len(picked) // 10 :], picked[: len(picked) // 10]


def transform(column):
    """How a number is stretched, as the schema declares it."""
    scale = column.get("scale")
    return {
        None: float,
        "log": math.log,
        "log1p": math.log1p if scale is None else lambda x: math.copysign(math.log1p(abs(x) / scale), x),
        "asinh": lambda x: math.asinh(x / (scale or 1)),
    }[column.get("transform")]


def code(columns, rows, how, only=None):
    """Numbers from -1 to 1 (and 0 or 1 for each category), their bounds, and the largest norm of a row."""
    import numpy as np

    parts, lows, most = [], [], 0
    for place, (name, column) in enumerate(columns.items()):
        if column["type"] in ("label", "skip") or (only and name not in only):
            continue
        cells = [row[place] for row in rows]
        most += 1
        if column["type"] == "category":
            # What is missing comes first in the alphabet, or has no column.
            order = {value: i + 1 for i, value in enumerate(sorted(column["values"]))}
            codes = np.array([order.get(cell, 0) for cell in cells])
            if how == "codes":
                first = 0 if name in MISSING else 1
                parts.append((2 * (codes - first) / (len(order) - first) - 1)[:, None])
                lows.append(-1)
            else:
                parts.append((codes[:, None] == np.arange(1, len(order) + 1)).astype(float))
                lows += [0] * len(order)
            continue
        change = transform(column) if how == "declared" else float
        low, high = change(column["min"]), change(column["max"])
        x = [change(min(max(float(cell), column["min"]), column["max"])) for cell in cells]
        parts.append((2 * (np.array(x) - low) / (high - low) - 1)[:, None])
        lows.append(-1)
    return np.hstack(parts), (np.array(lows, float), np.ones(len(lows))), math.sqrt(most)



# --- one seed -------------------------------------------------------------------------------------------------------


def peers(columns, train, test, labels, epsilons, depths, seed):
    """diffprivlib's classifiers, and what is reached without noise."""
    import diffprivlib.models as dp
    from sklearn.linear_model import LogisticRegression

    warnings.simplefilter("ignore")
    y, yt = labels
    for how in ["codes", "declared"]:
        (x, bounds, norm), (xt, _, _) = code(columns, train, how), code(columns, test, how)
        assert (abs(x) <= 1).all() and ((x**2).sum(axis=1) <= norm**2 + 1e-9).all()
        plain = LogisticRegression(max_iter=2000).fit(x, y)
        yield "not private", f"logistic, {how}", None, plain.score(xt, yt), None
        for epsilon in epsilons:
            forest = {"epsilon": epsilon / 2, "n_estimators": 10, "classes": [0, 1], "bounds": bounds}
            models = {
                "LogisticRegression": dp.LogisticRegression(
                    epsilon=epsilon, data_norm=norm, max_iter=1000, random_state=seed
                ),
                "GaussianNB": dp.GaussianNB(epsilon=epsilon, bounds=bounds, random_state=seed),
            }
            for depth in depths:
                deep = dp.RandomForestClassifier(**forest, max_depth=depth, random_state=seed)
                models[f"RandomForest {depth} deep"] = deep
            for name, model in models.items():
                started = time.perf_counter()
                hit = float((model.fit(x, y).predict(xt) == yt).mean())
                yield "peer", f"diffprivlib {name}, {how}", epsilon, hit, time.perf_counter() - started


def privet(name, case, algorithm, epsilon, train, test, folder):
    """One training through the command line: its hits on the test rows, and its seconds."""
    text, columns = declared(name)
    label = next(column for column in columns if columns[column]["type"] == "label")
    public = [*SETS[name], label] if case == "partial" else []
    for column in public:
        text, count = re.subn(rf'^("?{re.escape(column)}"? = .*) \}}$', r"\1, private = false }", text, flags=re.M)
        assert count == 1, column
    (folder / "schema.toml").write_text(text)
    for file, rows in {"train.csv": train, "test.csv": test}.items():
        if not (folder / file).exists():
            with open(folder / file, "w", newline="") as out:
                csv.writer(out).writerows([list(columns), *rows])
    change = 'change = "replace"' if case == "full" else ""
    (folder / "job.toml").write_text(
        f'setting = "central"\nschema = "schema.toml"\ndata = "train.csv"\noutput = "model.privet"\n'
        f'[privacy]\nepsilon = {epsilon}\nrows_about = {len(train)}\n{change}\n[algorithm]\nname = "{algorithm}"\n'
    )
    for file in folder.glob("ledger*"):
        file.unlink()
    environment = os.environ | {"PRIVET_LEDGER": str(folder / "ledger"), "RAYON_NUM_THREADS": "1"}
    run = lambda *command: subprocess.run(
        [PRIVET, *command], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ).stdout
    secret = [column for column in columns if columns[column]["type"] != "skip" and column not in public]
    relation = ["replace"] if case == "full" else ["replace-private", "--columns", ",".join(secret)]
    run("ledger", "limit", name, "--epsilon", str(epsilon), "--change", *relation)
    started = time.perf_counter()
    run("train", "job.toml", "--overwrite")
    took = time.perf_counter() - started
    said = [row[0] for row in csv.reader(run("predict", "model.privet", "--data", "test.csv", "--what", "labels").splitlines())]
    truth = [row[list(columns).index(label)] for row in test]
    assert len(said) == len(truth) + 1, (len(said), len(truth))
    return sum(a == b for a, b in zip(said[1:], truth)) / len(truth), took


def seed_runs(name, seed, data, epsilons, depths):
    """All lines of one seed, in alternating order."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    _, columns = declared(name)
    label = next(column for column in columns if columns[column]["type"] == "label")
    place, values = list(columns).index(label), columns[label]["values"]
    train, test = split(load(name, data), place, values, seed)
    labels = [np.array([int(row[place] == values[1]) for row in part]) for part in (train, test)]
    line = lambda case, kind, method, epsilon, hit, took: {
        "set": name, "seed": seed, "case": case, "kind": kind, "method": method, "epsilon": epsilon,
        "accuracy": 100 * hit, "seconds": took, "rows": len(train),
    }
    lines = []

    def ours():
        with tempfile.TemporaryDirectory() as folder:
            for case in CASES:
                for epsilon in epsilons:
                    for algorithm in OURS:
                        found = privet(name, case, algorithm, epsilon, train, test, Path(folder))
                        lines.append(line(case, "privet", f"privet {algorithm}", epsilon, *found))

    def theirs():
        for kind, method, epsilon, hit, took in peers(columns, train, test, labels, epsilons, depths, seed):
            lines.extend(line(case, kind, method, epsilon, hit, took) for case in CASES)
        for how in ["codes", "declared"]:
            (x, _, _), (xt, _, _) = (code(columns, rows, how, SETS[name]) for rows in (train, test))
            hit = LogisticRegression(max_iter=2000).fit(x, labels[0]).score(xt, labels[1])
            lines.append(line("partial", "not private", f"logistic on public columns, {how}", None, hit, None))
        most = int(labels[0].mean() >= 0.5)
        lines.extend(line(case, "not private", "constant", None, (labels[1] == most).mean(), None) for case in CASES)

    for part in [ours, theirs] if seed % 2 else [theirs, ours]:
        part()
    return lines


# --- tables ---------------------------------------------------------------------------------------------------------


def report(lines, goal):
    """One table for each data set and case, then the margins."""
    margins = []
    epsilons = sorted({line["epsilon"] for line in lines if line["epsilon"]})
    for name in dict.fromkeys(line["set"] for line in lines):
        for case, meaning in CASES.items():
            here = [line for line in lines if (line["set"], line["case"]) == (name, case)]
            at = {}
            for line in here:
                at.setdefault((line["kind"], line["method"]), {}).setdefault(line["epsilon"], {})[line["seed"]] = line
            seeds = len({line["seed"] for line in here})
            print(f"\n### {name}, {meaning} ({here[0]['rows']} rows, {seeds} seeds)\n")
            print("| method | " + " | ".join(f"ε = {epsilon}" for epsilon in epsilons) + " | s |")
            print("|---" * (len(epsilons) + 2) + "|")
            for kind in ["privet", "peer", "not private"]:
                for (_, method), found in sorted(item for item in at.items() if item[0][0] == kind):
                    cells = [show([run["accuracy"] for run in found.get(e, found.get(None, {})).values()]) for e in epsilons]
                    took = [run["seconds"] for runs in found.values() for run in runs.values() if run["seconds"]]
                    took = f"{statistics.median(took):.2f}" if took else "-"
                    print(f"| {method} | {' | '.join(cells)} | {took} |")
            for epsilon in epsilons:
                auto = at["privet", "privet auto"][epsilon]
                theirs = {method: found[epsilon] for (kind, method), found in at.items() if kind == "peer"}
                mean = lambda runs: statistics.mean(run["accuracy"] for run in runs.values())
                best = max(theirs, key=lambda method: mean(theirs[method]))
                paired = [auto[seed]["accuracy"] - theirs[best][seed]["accuracy"] for seed in auto]
                error = statistics.stdev(paired) / math.sqrt(len(paired)) if len(paired) > 1 else math.nan
                margins.append((name, case, epsilon, mean(auto), best, mean(theirs[best]), statistics.mean(paired), error))
    print(f"\n### auto over the best peer line (goal: {goal} points)\n")
    print("| data set | case | ε | auto | best peer line | its accuracy | margin | reached |\n|---|---|---|---|---|---|---|---|")
    for name, case, epsilon, auto, best, theirs, margin, error in margins:
        reached = "yes" if margin >= goal else "no"
        print(f"| {name} | {case} | {epsilon} | {auto:.1f} | {best} | {theirs:.1f} | {margin:+.1f} ± {error:.1f} | {reached} |")


def show(values):
    spread = statistics.stdev(values) if len(values) > 1 else math.nan
    return f"{statistics.mean(values):.1f} ± {spread:.1f}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=os.environ.get("PRIVET_DATA"), help="instead of PRIVET_DATA")
    options.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--epsilons", nargs="+", type=float, default=[0.04, 0.16])
    options.add_argument("--depths", nargs="+", type=int, default=[5, 8], help="of diffprivlib's forest; 5 is its own default")
    options.add_argument("--jobs", type=int, default=1, help="seeds at the same time")
    options.add_argument("--goal", type=float, default=3.0)
    options.add_argument("--out", type=Path, help="one line of JSON for each run")
    options.add_argument("--read", type=Path, help="only print the tables of such a file")
    arguments = options.parse_args()
    if arguments.read:
        return report([json.loads(line) for line in arguments.read.read_text().splitlines()], arguments.goal)
    if not arguments.data:
        options.error("name the folder of the data sets with --data or PRIVET_DATA")
    lines = []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        tasks = [(name, seed) for seed in range(arguments.seeds) for name in arguments.sets]
        given = (Path(arguments.data), arguments.epsilons, arguments.depths)
        runs = [pool.submit(seed_runs, name, seed, *given) for name, seed in tasks]
        for run in runs:
            lines += run.result()
            if arguments.out:
                arguments.out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report(lines, arguments.goal)


if __name__ == "__main__":
    main()
