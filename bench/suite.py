"""Every tabular set of the data folder, against DP-EBM, diffprivlib, XGBoost and a constant, on the same rows, splits and bounds.

Run by hand, with PRIVET_DATA naming the data folder:

    python -m venv VENV && VENV/bin/pip install -r bench/requirements-trees.txt
    cargo build --release -p privet-cli
    VENV/bin/python bench/suite.py --quick --out runs.jsonl            # at most half an hour on one core
    VENV/bin/python bench/suite.py --out runs.jsonl                    # all of it; says how many hours remain
    VENV/bin/python bench/suite.py --read runs.jsonl --docs docs/suite.md

    VENV/bin/python bench/suite.py --only peers --out peers.jsonl      # once, and then for each version of Privet:
    VENV/bin/python bench/suite.py --only privet --out privet.jsonl
    VENV/bin/python bench/suite.py --read peers.jsonl privet.jsonl --docs docs/suite.md

Runs of the others are kept in bench/runs/peers.jsonl.gz, as far as they were made; `--only peers --known bench/runs/peers.jsonl.gz` goes on from there.

A cell is a set (`bench/sets.py`), an epsilon of .1, .5, 1, 4 and 8, and pure or with a delta of 1e-6; a run is a method on one split of it. Each run is one
line of `--out`, written when it ends: the same command goes on where it was stopped, and skips what is there. At most 50,000 rows of a set are used. Splits
are those of `sets.split`: of pendigits, mnist-7 and fashion-7 the data set's own, so that their splits differ in noise only.

Privet runs through its command line, with a ledger of its own for each run, under add/remove. `auto` and `trees` run as they come; labels that are
prices or pay have the transform that `sets.TRANSFORMED` declares. `--variants` also runs single settings of trees, and the other algorithms under pure epsilon: from these
public rules are chosen *leave-one-source-out*: for each source the rule that is best on all others is judged on it alone, and what was
lost against the best choice in hindsight is printed as regret. Sets of one source (two labels of one table) are never on both sides.

DP-EBM gets the schema's bounds (and numbers stretched as bench/trees.py says), promises (epsilon, delta) and runs at five learning rates; the best of
them by the test figures is compared, which nobody could know (with `--race`, the best of those that were run on all splits). It has no pure mode and no many classes. diffprivlib's LogisticRegression, GaussianNB and RandomForest
(LinearRegression for numbers) promise pure epsilon and are compared in both. The figure is AUC for two classes, accuracy for more, and the mean absolute error as a
share of the constant's for numbers. Differences are paired by split.
"""

import argparse
import csv
import gzip
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
import warnings
from pathlib import Path

for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"]:
    os.environ[variable] = "1"

import sets
import trees
from central import code

DELTA = 1e-6
EPSILONS = [0.1, 0.5, 1, 4, 8]
RATES = [None, 0.003, 0.05, 0.1, 0.2]
QUICK = {"sets": ["adult", "credit-default", "kc-house", "powerplant", "pendigits"], "epsilons": [1.0, 4.0], "splits": 2}
# Settings of which a public rule could choose, by what it would decide.
VARIANTS = {
    "splits": [{"splits": name} for name in ("one-feature", "mixed", "pairs")] + [{"splits": "random", "depth": 6}],
    "leaves": [{"leaves": leaves} for leaves in (8, 12, 24)],
    "bins": [{"bins": bins} for bins in ("public", "private-quantiles")],
}
OTHERS = ["select", "histogram-bayes", "trees"]
OURS = {True: "Privet auto", False: "Privet trees"}


def name_of(variant):
    return "trees, " + ", ".join(f"{key} = {value}" for key, value in variant.items())


# --- one run --------------------------------------------------------------------------------------------------------


class Split:
    """The rows of one split of a set, and what others are given of them."""

    def __init__(self, name, parts, text, seed):
        self.name, self.seed, self.text = name, seed, text
        self.train, self.test = sets.split(name, parts, seed)
        self.columns, self.label, self.about = trees.features(tomllib.loads(text)["columns"])
        self.place = list(self.columns).index(self.label)
        self.made = {}

    def kept(self, what, make):
        if what not in self.made:
            self.made[what] = make()
        return self.made[what]

    def labels(self, rows):
        import numpy as np

        if "values" not in self.about:
            return np.clip(np.array([float(row[self.place] or 0) for row in rows]), self.about["min"], self.about["max"])
        order = {value: i for i, value in enumerate(self.about["values"])}
        return np.array([order.get(row[self.place], 0) for row in rows])

    def y(self):
        return self.kept("y", lambda: (self.labels(self.train), self.labels(self.test)))

    def tables(self, stretch):
        return self.kept(stretch, lambda: [trees.frame(self.columns, rows, stretch) for rows in (self.train, self.test)])

    def coded(self):
        return self.kept("coded", lambda: [code(self.columns, rows, "declared") for rows in (self.train, self.test)])

    def figure(self, said):
        """AUC, accuracy or a share of the constant's error, with what else is known of a method's probabilities or numbers."""
        import numpy as np
        from sklearn.metrics import roc_auc_score

        y, truth = self.y()
        if "values" not in self.about:
            off = abs(np.clip(said, self.about["min"], self.about["max"]) - truth).mean()
            return {"figure": float(off / abs(np.median(y) - truth).mean()), "mae": float(off)}
        accuracy = float((said.argmax(axis=1) == truth).mean())
        loss = float(-np.log(np.maximum(said[np.arange(len(truth)), truth], 1e-15)).mean())
        if said.shape[1] > 2:
            return {"figure": accuracy, "log_loss": loss}
        return {"figure": float(roc_auc_score(truth, said[:, 1])), "accuracy": accuracy, "log_loss": loss}


def privet(split, epsilon, delta, algorithm, folder, binary):
    """What one training through the command line says about the test rows."""
    import numpy as np

    (folder / "schema.toml").write_text(split.text)
    for file, rows in {"train.csv": split.train, "test.csv": split.test}.items():
        with open(folder / file, "w", newline="") as out:
            csv.writer(out).writerows([list(split.columns), *rows])
    settings = dict(algorithm)
    if settings["name"] in ("trees", "auto") and split.name in sets.TRANSFORMED:
        kind, scale = sets.TRANSFORMED[split.name]
        settings |= {"name": "trees", "label_transform": kind, "label_scale": scale}
    privacy = {"epsilon": epsilon, "rows_about": len(split.train), "change": "add-remove"} | ({"delta": delta} if delta else {})
    lines = lambda pairs: "".join(f"{key} = {json.dumps(value)}\n" for key, value in pairs.items())
    job = {"setting": "central", "schema": "schema.toml", "data": "train.csv", "output": "model.privet"}
    (folder / "job.toml").write_text(f"{lines(job)}[algorithm]\n{lines(settings)}[privacy]\n{lines(privacy)}")
    environment = os.environ | {"PRIVET_LEDGER": str(folder / "ledger")}

    def run(*command):
        done = subprocess.run([binary, *command], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    dataset = tomllib.loads(split.text)["dataset"]
    run("ledger", "limit", dataset, "--epsilon", str(epsilon), *(["--delta", str(delta)] if delta else []))
    run("train", "job.toml")
    what = "probabilities" if "values" in split.about else "labels"
    said = list(csv.reader(run("predict", "model.privet", "--data", "test.csv", "--what", what).splitlines()))
    if "values" not in split.about:
        return np.array([float(row[-1]) for row in said[1:]])
    return np.array([[float(cell) for cell in row[-len(split.about["values"]) :]] for row in said[1:]])


def two(said):
    import numpy as np

    return np.column_stack([1 - said, said]) if said.ndim == 1 else said


def peer(split, method, epsilon, rate):
    import numpy as np

    y, truth = split.y()
    classes = "values" in split.about
    count = len(split.about["values"]) if classes else 0
    if method == "constant":
        return np.tile(np.bincount(y, minlength=count) / len(y), (len(truth), 1)) if classes else np.full(len(truth), np.median(y))
    if method == "XGBoost":
        if count > 2:
            import xgboost

            (x, _), (xt, _) = split.tables("raw")
            coded = [part.apply(lambda column: column.astype("category").cat.codes if column.dtype == object else column) for part in (x, xt)]
            model = xgboost.XGBClassifier(n_estimators=100, max_depth=5, learning_rate=0.1, n_jobs=1, tree_method="hist").fit(coded[0], y)
            return model.predict_proba(coded[1])
        return two(trees.not_private(split.tables("raw"), y, split.about, "XGBoost")[0]) if classes else trees.not_private(split.tables("raw"), y, split.about, "XGBoost")[0]
    if method.startswith("DP-EBM"):
        said = trees.ebm(split.tables("asinh"), y, split.about, epsilon, rate)[0]
        return two(said) if classes else said
    import diffprivlib.models as dp

    (x, bounds, norm), (xt, _, _) = split.coded()
    model = {
        "diffprivlib LogisticRegression": lambda: dp.LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1000),
        "diffprivlib GaussianNB": lambda: dp.GaussianNB(epsilon=epsilon, bounds=bounds),
        "diffprivlib RandomForest": lambda: dp.RandomForestClassifier(epsilon=epsilon, n_estimators=20, max_depth=8, bounds=bounds, classes=np.arange(count)),
        "diffprivlib LinearRegression": lambda: dp.LinearRegression(epsilon=epsilon, bounds_X=bounds, bounds_y=(split.about["min"], split.about["max"])),
    }[method]()
    fitted = model.fit(x, y)
    if not classes:
        return fitted.predict(xt)
    said = np.zeros((len(truth), count))
    said[:, np.asarray(fitted.classes_, int)] = fitted.predict_proba(xt)
    return np.nan_to_num(said, nan=1 / count)


def planned(options):
    """All runs, cheap ones first: set, split, epsilon, delta, method, and what it is given."""
    runs = []
    for name in options.sets:
        task = sets.SETS[name][0]
        for seed in range(options.splits):
            runs += [(name, seed, None, None, method, None) for method in ("constant", "XGBoost")]
            for epsilon in options.epsilons:
                kinds = {"number": ["LinearRegression"], "binary": ["LogisticRegression", "GaussianNB", "RandomForest"]}
                for kind in kinds.get(task, kinds["binary"]):
                    runs.append((name, seed, epsilon, None, f"diffprivlib {kind}", None))
                runs.append((name, seed, epsilon, DELTA, "Privet trees", {"name": "trees"}))
                runs.append((name, seed, epsilon, None, "Privet auto", {"name": "auto"}))
                if options.variants:
                    for variant in [variant for group in VARIANTS.values() for variant in group]:
                        runs.append((name, seed, epsilon, DELTA, name_of(variant), {"name": "trees"} | variant))
                    if task == "binary":
                        runs += [(name, seed, epsilon, None, f"Privet {other}", {"name": other}) for other in OTHERS]
                if task != "classes" and seed < options.ebm_splits:
                    runs += [(name, seed, epsilon, DELTA, f"DP-EBM {rate or 'as it comes'}", rate) for rate in RATES]
    slow = lambda run: (run[1], run[4].startswith("DP-EBM"))
    own = lambda run: run[4].startswith(("Privet", "trees"))
    return sorted((run for run in runs if options.only is None or own(run) == (options.only == "privet")), key=slow)


def key(run):
    name, seed, epsilon, delta, method, _ = run
    return (name, seed, epsilon, delta, method)


def lost(lines):
    """The rates of DP-EBM that are worse than the best of their cell by more than four standard errors, on four splits or more."""
    found, dropped = {}, set()
    for line in lines:
        if line["method"].startswith("DP-EBM") and "figure" in line:
            found.setdefault((line["set"], line["epsilon"]), {}).setdefault(line["method"], {})[line["seed"]] = line["figure"]
    for (name, epsilon), rates in found.items():
        sign = -1 if sets.SETS[name][0] == "number" else 1
        best = max(full(rates), key=lambda rate: sign * statistics.mean(rates[rate].values()))
        for rate in rates:
            mean, error, count = paired(rates[best], rates[rate], sign) or (0, 0, 0)
            if count >= 4 and mean > 4 * error:
                dropped.add((name, epsilon, rate))
    return dropped


def full(found):
    """The methods that ran on most splits: means over different splits are not compared."""
    most = max(map(len, found.values()), default=0)
    return [method for method in found if len(found[method]) == most]


def go(options):
    """Makes the runs that are not there yet; how many were left when time ran out."""
    warnings.simplefilter("ignore")
    lines = [line for path in [options.out, *options.known] if path.exists() for line in read(path)]
    done = {(line["set"], line["seed"], line["epsilon"], line["delta"], line["method"]) for line in lines}
    seconds = {}
    for line in lines:
        seconds.setdefault((line["set"], line["method"]), []).append(line["seconds"])
    dropped = lost(lines) if options.race else set()
    runs = [run for run in planned(options) if key(run) not in done and (run[0], run[2], run[4]) not in dropped]
    started, parts, split = time.monotonic(), {}, None
    for number, run in enumerate(runs):
        usual = statistics.median([statistics.median(all) for all in seconds.values()]) if seconds else 10
        left = sum(statistics.median(seconds.get((other[0], other[4]), [usual])) for other in runs[number:])
        print(f"\r{number} of {len(runs)} runs, about {left / 3600:.1f} hours left: {key(run)}", end="   ", file=sys.stderr, flush=True)
        if options.minutes and time.monotonic() - started > 60 * options.minutes:
            return len(runs) - number
        name, seed, epsilon, delta, method, given = run
        if name not in parts:
            parts = {name: sets.load(name, options.data)}
        if split is None or (split.name, split.seed) != (name, seed):
            split = Split(name, parts[name][1], parts[name][0], seed)
        began = time.monotonic()
        try:
            if method.startswith(("Privet", "trees")):
                with tempfile.TemporaryDirectory() as folder:
                    said = privet(split, epsilon, delta, given, Path(folder), options.binary)
                said = two(said) if "values" in split.about else said
            else:
                said = peer(split, method, epsilon, given)
            found = split.figure(said)
        except Exception as why:
            found = {"failed": f"{type(why).__name__}: {why}"[:300]}
        line = {"set": name, "seed": seed, "epsilon": epsilon, "delta": delta, "method": method, "rows": len(split.train), "seconds": time.monotonic() - began} | found
        seconds.setdefault((name, method), []).append(line["seconds"])
        with open(options.out, "a") as out:
            out.write(json.dumps(line) + "\n")
    print(file=sys.stderr)
    return 0


# --- tables ---------------------------------------------------------------------------------------------------------


def read(path):
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [json.loads(line) for line in text.splitlines()]


def by_split(lines, name, epsilon, delta, method, what="figure"):
    """The figure of each split."""
    at = lambda line: (line["set"], line["method"]) == (name, method) and line["epsilon"] in (epsilon, None) and (line["delta"] == delta or line["epsilon"] is None or method.startswith("diffprivlib"))
    return {line["seed"]: line[what] for line in lines if what in line and at(line)}


def shown(values):
    if not values:
        return "–"
    spread = f" ({statistics.stdev(values) / math.sqrt(len(values)):.4f})" if len(values) > 1 else ""
    return f"{statistics.mean(values):.4f}{spread}"


def paired(ours, theirs, sign):
    """Mean and standard error of how much better ours is, on the splits that both have."""
    off = [sign * (ours[seed] - theirs[seed]) for seed in ours if seed in theirs]
    error = statistics.stdev(off) / math.sqrt(len(off)) if len(off) > 1 else math.nan
    return (statistics.mean(off), error, len(off)) if off else None


def rivals(name, delta):
    """What Privet is compared with: DP-EBM at all rates where it has such a mode, else diffprivlib."""
    task = sets.SETS[name][0]
    if delta and task != "classes":
        return [f"DP-EBM {rate or 'as it comes'}" for rate in RATES]
    return [f"diffprivlib {kind}" for kind in (["LinearRegression"] if task == "number" else ["LogisticRegression", "GaussianNB", "RandomForest"])]


def against(lines, name, epsilon, delta, methods, ours=None):
    """How much better ours is than the best of these methods in a cell: mean, standard error, splits, and which method that is."""
    sign = -1 if sets.SETS[name][0] == "number" else 1
    own = by_split(lines, name, epsilon, delta, ours or OURS[delta is None])
    found = {method: by_split(lines, name, epsilon, delta, method) for method in methods}
    if not own or not any(found.values()):
        return None
    best = max(full(found), key=lambda method: sign * statistics.mean(found[method].values()))
    margin = paired(own, found[best], sign)
    return margin and (*margin, best)


def verdict(lines, out):
    """Every cell at a glance, apart for tables that no rule was chosen on."""
    out.append("\n## At a glance\n\nSets of the data folder, of which some were used to choose public rules, and tables of packages, on which no rule was chosen. A cell is a set at one ε. A rival is the best by its own test figures.\n")
    out.append("| | cells | mean difference | below zero | below by more than the standard errors that are named |\n| --- | --- | --- | --- | --- |")
    for judged in (False, True):
        names = [name for name in sets.SETS if (name in sets.JUDGED) == judged and any(line["set"] == name for line in lines)]
        where = "packages" if judged else "data folder"
        for title, tasks, delta, methods, most in (
            ("δ, two classes and numbers, less DP-EBM at its best of five rates", ("binary", "number"), DELTA, None, 3),
            ("δ, many classes, less diffprivlib", ("classes",), DELTA, None, 2),
            ("δ, many classes, less the constant", ("classes",), DELTA, ["constant"], 2),
            ("pure ε, many classes, less diffprivlib", ("classes",), None, None, 2),
            ("pure ε, many classes, less the constant", ("classes",), None, ["constant"], 2),
            ("pure ε, two classes, less the constant", ("binary",), None, ["constant"], 2),
            ("pure ε, numbers, less the constant", ("number",), None, ["constant"], 2),
        ):
            cells = [(name, epsilon, against(lines, name, epsilon, delta, methods or rivals(name, delta))) for name in names if sets.SETS[name][0] in tasks for epsilon in EPSILONS]
            cells = [(name, epsilon, *found) for name, epsilon, found in cells if found and found[2] > 1]
            if not cells:
                continue
            worse = [f"{name} at {epsilon:g}: {mean:+.4f} ({error:.4f}, {count})" for name, epsilon, mean, error, count, _ in cells if mean < -most * error and mean < 0]
            mean, below = statistics.mean(cell[2] for cell in cells), sum(cell[2] < 0 for cell in cells)
            out.append(f"| {title}; {where} | {len(cells)} | {mean:+.4f} | {below} | {most}: {'; '.join(worse) or 'none'} |")


def table(lines, name, delta, out):
    here = [line for line in lines if line["set"] == name]
    epsilons = sorted({line["epsilon"] for line in here if line["epsilon"]})
    ours = OURS[delta is None]
    methods = sorted({line["method"] for line in here if not line["method"].startswith(("Privet", "trees,"))})
    methods = [method for method in methods if delta or not method.startswith("DP-EBM")]
    out.append(f"\n### {name}, {'δ = 1e-6' if delta else 'pure ε'} ({here[0]['rows']} rows)\n")
    out.append("| method | " + " | ".join(f"ε = {epsilon:g}" for epsilon in epsilons) + " |\n" + "| --- " * (len(epsilons) + 1) + "|")
    for method in [ours, *methods]:
        out.append(f"| {method} | " + " | ".join(shown(list(by_split(lines, name, e, delta, method).values())) for e in epsilons) + " |")
    cells = []
    for epsilon in epsilons:
        found = against(lines, name, epsilon, delta, rivals(name, delta))
        if found is None:
            cells.append("–")
            continue
        mean, error, count, best = found
        cells.append(f"{mean:+.4f} ({'one split' if count == 1 else f'{error:.4f}, {count} splits'}) {best.split(' ', 1)[1]}")
    out.append("| better than the best rival by | " + " | ".join(cells) + " |")


def left_out(lines, delta, choices, tasks, out):
    """Chooses (below, gate, from there on) on all other sources, and judges it on each source alone."""
    strength = lambda line, columns: line["rows"] * line["epsilon"] / (columns + 4)
    found, best = {}, {}
    for line in lines:
        if line["method"] not in choices or line["delta"] != delta or "figure" not in line or sets.SETS[line["set"]][0] not in tasks:
            continue
        cell = (line["set"], line["epsilon"], line["rows"])
        found.setdefault(cell, {}).setdefault(line["method"], []).append(line["figure"])
    cells = {cell: {method: statistics.mean(all) for method, all in own.items()} for cell, own in found.items() if len(own) == len(choices)}
    if len({sets.SETS[cell[0]][1] for cell in cells}) < 3:
        out.append(f"\n{' / '.join(choices)}: fewer than three sources ran all of them; nothing can be left out.")
        return
    worth = lambda cell, method: (-1 if sets.SETS[cell[0]][0] == "number" else 1) * cells[cell][method]
    width = {cell[0]: None for cell in cells}
    for name in width:
        width[name] = sum(about["type"] not in ("label", "skip", "id") for about in tomllib.loads(sets.load(name, options_data)[0])["columns"].values())
    rules = [(low, gate, high) for low in choices for high in choices for gate in (30, 45, 100, 200, 400, 1000, 2000, 4000)]
    pick = lambda rule, cell: rule[0] if cell[2] * cell[1] / (width[cell[0]] + 4) < rule[1] else rule[2]
    out.append(f"\n### Left out in turn: {' / '.join(choices)} ({'δ = 1e-6' if delta else 'pure ε'}; {', '.join(tasks)})\n")
    out.append("| source left out | chosen on the others (below, gate, above) | its regret | regret of the best single choice |\n| --- | --- | --- | --- |")
    for source in sorted({sets.SETS[cell[0]][1] for cell in cells}):
        inside = [cell for cell in cells if sets.SETS[cell[0]][1] == source]
        others = [cell for cell in cells if cell not in inside]
        rule = max(rules, key=lambda rule: sum(worth(cell, pick(rule, cell)) for cell in others))
        top = [max(worth(cell, method) for method in choices) for cell in inside]
        regret = statistics.mean(top[i] - worth(cell, pick(rule, cell)) for i, cell in enumerate(inside))
        single = min(statistics.mean(top[i] - worth(cell, method) for i, cell in enumerate(inside)) for method in choices)
        out.append(f"| {source} | {rule[0]}, {rule[1]}, {rule[2]} | {regret:.4f} | {single:.4f} |")


options_data = None


def report(lines, whole):
    out = ["# The suite", "", "Made by `bench/suite.py`, which says what was compared and how. AUC for two classes, accuracy for more, for numbers the mean absolute error as a share of the constant's; in brackets standard errors over splits. "
           "Public rules were chosen before this table on inner splits of some of these sets (decisions 0013, 0043, 0044): what a rule chosen without a source gives on it is in the last tables, where they could be made. "
           + whole]
    failed = [line for line in lines if "failed" in line]
    verdict(lines, out)
    for delta in (DELTA, None):
        for name in sets.SETS:
            if any(line["set"] == name and line["method"] == OURS[delta is None] for line in lines):
                table(lines, name, delta, out)
    for group, variants in VARIANTS.items():
        names = [name_of(variant) for variant in variants]
        if any(line["method"] in names for line in lines):
            for tasks in (["binary"], ["number"], ["classes"]):
                left_out(lines, DELTA, names, tasks, out)
    others = [f"Privet {other}" for other in OTHERS]
    if any(line["method"] in others for line in lines):
        left_out(lines, None, others, ["binary"], out)
    if failed:
        out.append(f"\n{len(failed)} runs failed: " + "; ".join(sorted({f"{line['set']} {line['method']}: {line['failed'][:80]}" for line in failed})[:20]))
    return "\n".join(out) + "\n"


def main():
    global options_data
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=os.environ.get("PRIVET_DATA"), help="instead of PRIVET_DATA")
    options.add_argument("--binary", type=Path, default=sets.ROOT / "target" / "release" / "privet")
    options.add_argument("--out", type=Path, help="one line of JSON for each run; runs that are there are not made again")
    options.add_argument("--quick", action="store_true", help="five sets, two epsilons, two splits, and an end after 30 minutes")
    options.add_argument("--sets", nargs="+", choices=sets.SETS, default=sets.known(), help="instead of every set of the data folder, and every table of packages if PRIVET_PACKAGES names their folder")
    options.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    options.add_argument("--splits", type=int, default=20)
    options.add_argument("--ebm-splits", type=int, default=None, help="how many of them DP-EBM runs on; all if not given")
    options.add_argument("--race", action="store_true", help="leave out rates of DP-EBM that earlier splits (four or more) show to be worse than the best by over four standard errors")
    options.add_argument("--variants", action="store_true", help="also what public rules choose among")
    options.add_argument("--minutes", type=float, help="stop after so many; the next run goes on")
    options.add_argument("--only", choices=["privet", "peers"], help="only Privet's runs, or only the others': these stay right when Privet changes")
    options.add_argument("--known", type=Path, nargs="+", default=[], help="runs in these files are not made again")
    options.add_argument("--read", type=Path, nargs="+", help="only print the tables of such files")
    options.add_argument("--docs", type=Path, help="write the tables here instead of printing them")
    options = options.parse_args()
    if options.quick:
        options.sets, options.epsilons, options.splits = QUICK["sets"], QUICK["epsilons"], QUICK["splits"]
        options.minutes = min(options.minutes or 30, 30)
    options.ebm_splits = options.splits if options.ebm_splits is None else options.ebm_splits
    if options.data is None or not (options.read or options.out):
        sys.exit("suite.py: name the data folder by --data or PRIVET_DATA, and a file of runs by --out or --read")
    options.binary, options_data = options.binary.resolve(), options.data
    if not options.read:
        go(options)
    lines = [line for path in options.read or [options.out] for line in read(path)]
    hours = sum(line["seconds"] for line in lines) / 3600
    everything = argparse.Namespace(sets=sets.known(), epsilons=EPSILONS, splits=20, ebm_splits=20, variants=True, only=None)
    wanted = {key(run) for run in planned(everything)}
    made = {(line["set"], line["seed"], line["epsilon"], line["delta"], line["method"]) for line in lines} & wanted
    whole = f"This is {len(made)} of the {len(wanted)} runs of the whole suite ({hours:.1f} hours of one core; at this pace the whole takes about {hours / max(len(lines), 1) * len(wanted):.0f})"
    whole += "." if len(made) == len(wanted) else ": what is not in a table was not run, and no verdict follows from single splits."
    text = report(lines, whole)
    options.docs.write_text(text) if options.docs else print(text)


if __name__ == "__main__":
    main()
