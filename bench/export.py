"""Exported models in the programs they were exported to: do raw rows get the same scores?

    python -m pip install -r bench/requirements-export.txt
    python bench/export.py --privet target/release/privet [--algorithms stumps,trees] [--rows 10000]

Tables of numbers, whole numbers, categories, ordinals and flags are generated, with missing cells and undeclared values:
two classes, four classes, and a number. A model is trained on half of the rows; the other half is predicted by `privet
predict` and by each program, from the raw cells, by the side file alone. Printed is the largest absolute difference of
scores (before they become probabilities; numbers are kept between the label's bounds on both sides), the same divided by
the largest score or one, whichever is more, and the largest absolute difference of probabilities. The exit code is 1 if
one of the last two is above 1e-6.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import xgboost

LIMIT = 1e-6
REGIONS = ["north", "east", "south", "west", "centre", "coast", "hills", "lakes", "isles", "abroad"]
COLUMNS = """
age = { type = "integer", min = 0, max = 120, private = false }
income = { type = "number", min = 1, max = 1000000, transform = "log", bins = 64, private = false }
pressure = { type = "number", min = 60, max = 240, fill = 120, private = false }
region = { type = "category", values = %s, private = false }
job = { type = "category", values = ["none", "office", "field", "sea"], fill = "none", private = false }
health = { type = "ordinal", values = ["poor", "fair", "good", "best"], private = false }
smoker = { type = "flag", private = false }
""" % json.dumps(REGIONS)
LABELS = {
    "binary": 'label = { type = "label", values = ["no", "yes"], private = false }',
    "classes": 'label = { type = "label", values = ["a", "b", "c", "d"], private = false }',
    "number": 'label = { type = "label", min = -40, max = 60, private = false }',
}


def table(kind, rows, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 130, rows)
    income = np.exp(rng.normal(9, 2, rows))
    pressure = rng.normal(130, 25, rows).round(1)
    region = rng.choice(REGIONS + ["mars"], rows)
    job = rng.choice(["none", "office", "field", "sea", "moon"], rows)
    health = rng.choice(["poor", "fair", "good", "best", "unclear"], rows)
    smoker = rng.choice(["yes", "no", "true", "0", "maybe"], rows)
    effect = dict(zip(REGIONS, np.sin(np.arange(10) * 2.4)))
    signal = age / 40 + np.log(income) / 4 + (pressure > 140) - 3.5
    signal += [effect.get(r, 0.4) for r in region] + np.where(job == "sea", 1.0, 0.0)
    signal += [{"poor": 1, "best": -1}.get(h, 0) for h in health] + np.isin(smoker, ["yes", "true"]) * 0.7
    signal = signal + rng.normal(0, 0.5, rows)
    if kind == "binary":
        label = np.where(signal > 0.5, "yes", "no")
    elif kind == "classes":
        label = np.array(list("abcd"))[np.digitize(signal, [-0.5, 0.7, 2.0])]
    else:
        label = (signal * 10).round(3)
    frame = pd.DataFrame(
        {"age": age, "income": income, "pressure": pressure, "region": region, "job": job, "health": health,
         "smoker": smoker}
    ).astype(object)
    for column in frame:
        frame.loc[rng.random(rows) < 0.08, column] = rng.choice(["", "?", "NA"])
    frame["label"] = label
    return frame.astype(str)


def coded(raw, side):
    """The numbers that a program is given for raw cells, by the side file."""
    missing, columns = set(side["missing"]), []
    for feature in side["features"]:
        cells = raw[feature["column"]].str.strip()
        if "codes" in feature:
            known = cells.map(feature["codes"])
            other = np.where(cells.isin(missing), np.nan, feature["undeclared"])
            columns.append(np.where(known.isna(), other, known).astype(np.float32))
        else:
            columns.append(pd.to_numeric(cells.where(~cells.isin(missing)), errors="coerce").to_numpy(np.float32))
    return np.column_stack(columns).astype(np.float32)


def by_xgboost(file, side, numbers):
    booster = xgboost.Booster(model_file=str(file))
    rows = xgboost.DMatrix(numbers, feature_names=[feature["column"] for feature in side["features"]])
    scores = booster.predict(rows, output_margin=True).astype(np.float64)
    answers = booster.predict(rows).astype(np.float64)
    scores = scores.reshape(len(numbers), -1)
    if "bounds" in side["scores"]:
        return np.clip(scores, *side["scores"]["bounds"]), None
    return scores, np.column_stack([1 - answers, answers]) if answers.ndim == 1 else answers


def by_onnx(file, side, numbers):
    session = onnxruntime.InferenceSession(str(file))
    answers = session.run(None, {"features": numbers})
    scores = answers[0].astype(np.float64)
    return scores, answers[1].astype(np.float64) if len(answers) > 1 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--privet", default="target/release/privet")
    parser.add_argument("--algorithms", default="stumps,trees")
    parser.add_argument("--rows", type=int, default=10_000)
    arguments = parser.parse_args()
    privet = Path(arguments.privet).resolve()
    worst = 0.0
    print(f"{'model':<17} {'format':<13} {'scores':>9} {'relative':>9} {'probab.':>9}   largest score")
    for algorithm in arguments.algorithms.split(","):
        for kind, label in LABELS.items():
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)

                def run(*words):
                    done = subprocess.run([privet, *words], cwd=folder, capture_output=True, text=True)
                    if done.returncode:
                        sys.exit(f"privet {' '.join(words)}\n{done.stderr}")

                rows = table(kind, 2 * arguments.rows, 5)
                rows[: arguments.rows].to_csv(folder / "train.csv", index=False)
                raw = rows[arguments.rows :].drop(columns="label")
                raw.to_csv(folder / "new.csv", index=False)
                (folder / "schema.toml").write_text(
                    'dataset = "made-up"\n\n[columns]' + COLUMNS + label + "\n"
                )
                (folder / "job.toml").write_text(
                    'setting = "plain"\nschema = "schema.toml"\ndata = "train.csv"\noutput = "m.privet"\n\n'
                    f'[algorithm]\nname = "{algorithm}"\nrounds = 100\n'
                )
                run("train", "job.toml")
                run("predict", "m.privet", "--data", "new.csv", "--what", "scores", "--out", "s.csv")
                own = pd.read_csv(folder / "s.csv").to_numpy()
                chances = None
                if kind != "number":
                    run("predict", "m.privet", "--data", "new.csv", "--what", "probabilities", "--out", "p.csv")
                    chances = pd.read_csv(folder / "p.csv").to_numpy()
                for form, name, by in [
                    ("xgboost-json", "m.json", by_xgboost),
                    ("xgboost-ubj", "m.ubj", by_xgboost),
                    ("onnx", "m.onnx", by_onnx),
                ]:
                    run("export", "m.privet", "--format", form, "--out", name)
                    side = json.loads((folder / f"{name}.features.json").read_text())
                    scores, probabilities = by(folder / name, side, coded(raw, side))
                    scores = scores / side["scores"]["times"]
                    apart = np.abs(scores - own).max()
                    largest = np.abs(own).max()
                    relative = apart / max(1.0, largest)
                    far = 0.0 if chances is None else np.abs(probabilities - chances).max()
                    worst = max(worst, relative, far)
                    model = f"{algorithm}, {kind}"
                    print(f"{model:<17} {form:<13} {apart:9.1e} {relative:9.1e} {far:9.1e}   {largest:.3f}")
    print(f"largest: {worst:.1e}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
