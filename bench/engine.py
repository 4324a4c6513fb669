"""Compares the tree engine with XGBoost hist, LightGBM, CatBoost and scikit-learn's HistGradientBoosting.

Run by hand on a quiet machine:

    python -m venv VENV && VENV/bin/pip install -r bench/requirements-engine.txt
    cargo build --release -p privet --example engine
    VENV/bin/python bench/engine.py [--data DIR] [--repeats 5] [--problems generated covtype ...] [--json]

Every engine runs in a process of its own, the engines take turns, and the table has medians. All get the same rows, 2
threads, 255 bins, 100 trees of depth 6 (at most 64 leaves) and rate 0.1. Fit times include binning. Privet is given
its cut points, as a schema would give them; how long the script took to compute them is printed beside the table. Peak memory is
that of the whole process with its data; the interpreter of the peers is part of theirs, and `base MB` says how much it and
the data take before anything is fitted. Prediction starts from raw numbers; its best of three calls counts.
"""

import argparse
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRIVET = ROOT / "target" / "release" / "examples" / "engine"
ENGINES = ["privet", "privet-floats", "xgboost", "lightgbm", "catboost", "sklearn"]
ROUNDS, DEPTH, RATE, BINS, THREADS = 100, 6, 0.1, 255, 2


# --- problems -------------------------------------------------------------------------------------------------------


def generated():
    """500,000 x 28 for training, 100,000 for testing, binary."""
    import numpy as np

    rng = np.random.default_rng(7)
    x = rng.standard_normal((600_000, 28)).astype(np.float32)
    z = x[:, 0] + 0.7 * x[:, 1] * x[:, 2] + np.sin(2 * x[:, 3]) + 0.5 * (x[:, 4] > 0.5) * x[:, 5]
    z = z - 0.4 * x[:, 6] ** 2 + 0.3 * np.abs(x[:, 7]) * x[:, 8]
    y = (rng.random(len(z)) < 1 / (1 + np.exp(-z))).astype(np.float32)
    return x[:500_000], y[:500_000], x[500_000:], y[500_000:], 2, []


def covtype(data, classes):
    """581,012 x 54, every fifth row for testing; the second class against the rest, or all seven."""
    import numpy as np

    with gzip.open(data / "covtype" / "covtype.data.gz", "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.float32)
    x, label = np.ascontiguousarray(table[:, :-1]), table[:, -1]
    y = (label == 2).astype(np.float32) if classes == 2 else label - 1
    test = np.arange(len(y)) % 5 == 0
    return x[~test], y[~test], x[test], y[test], classes, []


def adult(data):
    """Its own split; texts are categories, numbered in order of first appearance."""
    import numpy as np

    names = ["adult.data", "adult.test"]
    parts = []
    for name in names:
        lines = (data / "adult" / name).read_text().splitlines()
        parts.append([line.rstrip(".").split(", ") for line in lines if line.count(", ") == 14])
    texts = [1, 3, 5, 6, 7, 8, 9, 13]
    numbers = {column: {} for column in texts}
    tables = []
    for rows in parts:
        x = np.empty((len(rows), 14), np.float32)
        for i, row in enumerate(rows):
            for j in range(14):
                if j not in numbers:
                    x[i, j] = float(row[j])
                elif row[j] == "?":
                    x[i, j] = np.nan
                else:
                    x[i, j] = numbers[j].setdefault(row[j], len(numbers[j]))
        y = np.array([row[14] == ">50K" for row in rows], np.float32)
        tables += [x, y]
    return (*tables, 2, texts)


PROBLEMS = {
    "generated": lambda data: generated(),
    "covtype": lambda data: covtype(data, 2),
    "covtype-7": lambda data: covtype(data, 7),
    "adult": adult,
}


def write(folder, problem, data):
    """Writes the two files of a problem; says how long the cut points took."""
    import numpy as np

    x, y, xt, yt, classes, texts = PROBLEMS[problem](data)
    start = time.perf_counter()
    features = []
    for j in range(x.shape[1]):
        column = x[:, j]
        if j in texts:
            features.append({"categories": int(np.nanmax(np.r_[column, xt[:, j]])) + 1})
            continue
        values = np.unique(column)
        if len(values) <= BINS:
            cuts = ((values[1:].astype(float) + values[:-1]) / 2).astype(np.float32)
        else:
            cuts = np.quantile(column, np.arange(1, BINS) / BINS).astype(np.float32)
        features.append({"cuts": [float(cut) for cut in np.unique(cuts)] or [0.0]})
    took = time.perf_counter() - start
    for name, (x, y) in {"train": (x, y), "test": (xt, yt)}.items():
        with open(folder / f"{problem}.{name}", "wb") as out:
            head = {"rows": len(y), "classes": classes, "features": features}
            out.write(json.dumps(head).encode() + b"\n" + np.ascontiguousarray(x).tobytes())
            out.write(y.astype(np.float32).tobytes())
    return took


def read(path):
    import numpy as np

    with open(path, "rb") as file:
        head = json.loads(file.readline())
        numbers = np.fromfile(file, np.float32)
    count = head["rows"] * len(head["features"])
    texts = [j for j, feature in enumerate(head["features"]) if "categories" in feature]
    return numbers[:count].reshape(head["rows"], -1), numbers[count:], head["classes"], texts


# --- engines --------------------------------------------------------------------------------------------------------


def peer(name, texts, classes):
    """A fitting function and a function that makes a scoring function of what it returns."""
    import numpy as np

    if name == "xgboost":
        import xgboost

        def fit(x, y):
            kinds = ["c" if j in texts else "q" for j in range(x.shape[1])]
            rows = xgboost.QuantileDMatrix(
                x, y, max_bin=BINS, nthread=THREADS, feature_types=kinds, enable_categorical=True
            )
            settings = {"max_depth": DEPTH, "eta": RATE, "max_bin": BINS, "nthread": THREADS, "tree_method": "hist"}
            settings["objective"] = "binary:logistic" if classes == 2 else "multi:softprob"
            if classes > 2:
                settings["num_class"] = classes
            if texts:
                settings["max_cat_to_onehot"] = 1
            return xgboost.train(settings, rows, ROUNDS)

        if texts:
            kinds = ["c" if j in texts else "q" for j in range(len(texts) + 6)]
            return fit, lambda m: lambda x: m.predict(
                xgboost.DMatrix(x, feature_types=kinds, enable_categorical=True, nthread=THREADS)
            )
        return fit, lambda m: m.inplace_predict
    if name == "lightgbm":
        import lightgbm

        def fit(x, y):
            settings = {
                "max_depth": DEPTH,
                "num_leaves": 2**DEPTH,
                "learning_rate": RATE,
                "max_bin": BINS,
                "num_threads": THREADS,
                "objective": "binary" if classes == 2 else "multiclass",
                "num_class": 1 if classes == 2 else classes,
                "verbose": -1,
            }
            rows = lightgbm.Dataset(x, y, categorical_feature=texts or "auto", params=settings)
            return lightgbm.train(settings, rows, ROUNDS)

        return fit, lambda m: lambda x: m.predict(x, num_threads=THREADS)
    if name == "catboost":
        import catboost

        def fit(x, y):
            x = cat_frame(x, texts)
            model = catboost.CatBoostClassifier(
                iterations=ROUNDS, depth=DEPTH, learning_rate=RATE, border_count=BINS - 1, thread_count=THREADS,
                verbose=False, allow_writing_files=False, cat_features=texts or None,
                loss_function="Logloss" if classes == 2 else "MultiClass",
            )
            return model.fit(x, y)

        kind = "Probability"
        return fit, lambda m: lambda x: m.predict(cat_frame(x, texts), prediction_type=kind, thread_count=THREADS)
    from sklearn.ensemble import HistGradientBoostingClassifier

    def fit(x, y):
        model = HistGradientBoostingClassifier(
            max_iter=ROUNDS, max_depth=DEPTH, max_leaf_nodes=2**DEPTH, learning_rate=RATE, max_bins=BINS,
            early_stopping=False, categorical_features=texts or None,
        )
        return model.fit(x, y)

    return fit, lambda m: m.predict_proba


def cat_frame(x, texts):
    if not texts:
        return x
    import pandas

    frame = pandas.DataFrame(x)
    for j in texts:
        frame[j] = frame[j].fillna(-1).astype(int).astype(str)
    return frame


def processor():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def run_peer(name, folder, problem):
    """In a process of its own: fits, scores, prints one line."""
    import numpy as np

    x, y, classes, texts = read(folder / f"{problem}.train")
    xt, _, _, _ = read(folder / f"{problem}.test")
    fit, scorer = peer(name, texts, classes)
    base = peak()
    start, cpu = time.perf_counter(), processor()
    model = fit(x, y)
    took, cpu = time.perf_counter() - start, processor() - cpu
    score = scorer(model)
    best = min(timed(score, xt) for _ in range(3))
    scores = np.asarray(score(xt), np.float32)
    if classes == 2 and scores.ndim == 2:
        scores = scores[:, 1]
    scores.tofile(folder / "scores")
    print(json.dumps({"fit": took, "cpu": cpu, "predict": best, "base": base, "peak": peak()}))


def peak():
    """The most memory that this process has had, in MB. (What wait4 says includes the parent's before the start.)"""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def timed(score, x):
    start = time.perf_counter()
    score(x)
    return time.perf_counter() - start


def run(name, folder, problem):
    """Runs an engine once: its times, its peak memory and its quality."""
    import numpy as np
    from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

    if name.startswith("privet"):
        files = [str(folder / f"{problem}.train"), str(folder / f"{problem}.test"), str(folder / "scores")]
        command = [str(PRIVET), *files, f"rounds={ROUNDS}", f"depth={DEPTH}", f"rate={RATE}"]
        command += ["floats=1"] if name == "privet-floats" else []
    else:
        command = [sys.executable, __file__, "--peer", name, "--folder", str(folder), "--problems", problem]
    environment = os.environ | {
        "OMP_WAIT_POLICY": "passive",
        "OMP_NUM_THREADS": str(THREADS),
        "RAYON_NUM_THREADS": str(THREADS),
    }
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    printed, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{name} failed on {problem}: {' '.join(command)}")
    result = json.loads(printed.splitlines()[-1])
    _, y, classes, _ = read(folder / f"{problem}.test")
    scores = np.fromfile(folder / "scores", np.float32).astype(float)
    result["rate"] = len(y) / result["predict"]
    if classes == 2:
        if name.startswith("privet"):
            scores = 1 / (1 + np.exp(-scores))
        result["auc"] = roc_auc_score(y, scores)
        result["log_loss"] = log_loss(y, scores)
        result["accuracy"] = accuracy_score(y, scores > 0.5)
    else:
        result["accuracy"] = accuracy_score(y, scores.reshape(len(y), -1).argmax(axis=1))
    return result


def scaling(folder, repeats):
    """Privet alone, over three numbers each of rows, columns and trees: the CPU time of a fit, in all and for each cell."""
    import numpy as np

    x, y, *_ = generated()
    sizes = [(125_000, 28, 100), (250_000, 28, 100), (500_000, 28, 100)]
    sizes += [(500_000, 7, 100), (500_000, 14, 100), (500_000, 28, 50), (500_000, 28, 200)]
    print("\n### Privet over sizes\n\n| rows | columns | trees | fit s | CPU s | CPU ns for each row, column and tree |")
    print("|---|---|---|---|---|---|")
    for rows, columns, trees in sizes:
        part = np.ascontiguousarray(x[:rows, :columns])
        cuts = [np.unique(np.quantile(column, np.arange(1, BINS) / BINS).astype(np.float32)) for column in part.T]
        features = [{"cuts": [float(cut) for cut in column]} for column in cuts]
        head = json.dumps({"rows": rows, "classes": 2, "features": features}).encode()
        (folder / "sizes").write_bytes(head + b"\n" + part.tobytes() + y[:rows].tobytes())
        command = [PRIVET, folder / "sizes", folder / "sizes", folder / "scores", f"rounds={trees}"]
        runs = [json.loads(subprocess.check_output(command)) for _ in range(repeats)]
        fit, cpu = (statistics.median(run[key] for run in runs) for key in ["fit", "cpu"])
        print(f"| {rows} | {columns} | {trees} | {fit:.2f} | {cpu:.2f} | {cpu / (rows * columns * trees) * 1e9:.2f} |")


def report(problem, results, cuts):
    """One table: medians, and ratios to the best peer."""
    middle = {
        name: {key: statistics.median(run[key] for run in runs if key in run) for key in runs[0]}
        for name, runs in results.items()
    }
    peers = {name: row for name, row in middle.items() if not name.startswith("privet")}
    best_fit = min(row["fit"] for row in peers.values())
    best_peak = min(row["peak"] for row in peers.values())
    best_rate = max(row["rate"] for row in peers.values())
    print(f"\n### {problem} (cut points took {cuts:.2f} s in the script)\n")
    print("| engine | fit s (range) | to best | CPU s | predict M rows/s | to best | peak MB | to best | base MB | AUC | log loss | accuracy |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name, row in middle.items():
        fits = [run["fit"] for run in results[name]]
        show = lambda key, form: format(row[key], form) if key in row else "-"
        print(
            f"| {name} | {row['fit']:.2f} ({min(fits):.2f} to {max(fits):.2f}) | {row['fit'] / best_fit:.2f} "
            f"| {show('cpu', '.1f')} | {row['rate'] / 1e6:.2f} | {row['rate'] / best_rate:.2f} | {row['peak']:.0f} "
            f"| {row['peak'] / best_peak:.2f} | {show('base', '.0f')} | {show('auc', '.4f')} | {show('log_loss', '.4f')} "
            f"| {show('accuracy', '.4f')} |"
        )


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path(os.environ.get("PRIVET_DATA", ROOT.parent / "shared" / "data")))
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    options.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    options.add_argument("--json", action="store_true", help="one line for each run as well")
    options.add_argument("--scaling", action="store_true", help="only Privet, over several sizes")
    options.add_argument("--peer", help=argparse.SUPPRESS)
    options.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.peer:
        run_peer(chosen.peer, chosen.folder, chosen.problems[0])
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        if chosen.scaling:
            scaling(folder, chosen.repeats)
            return
        for problem in chosen.problems:
            cuts = write(folder, problem, chosen.data)
            results = {name: [] for name in chosen.engines}
            for _ in range(chosen.repeats):
                for name in chosen.engines:
                    results[name].append(run(name, folder, problem))
                    if chosen.json:
                        print(json.dumps({"problem": problem, "engine": name, **results[name][-1]}), flush=True)
            report(problem, results, cuts)


if __name__ == "__main__":
    main()
