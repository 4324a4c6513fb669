"""Writes the vectors that crates/privet/tests/all/learners checks linear learners against.

The other side is scikit-learn: LogisticRegression and Ridge on the columns that Privet makes of a row (the number itself and
"it is missing", one column for each slot of a category), with the same ridge and weights. Numbers are eighths, so that both
sides see the same ones. Run it in an environment made from requirements.txt, in this folder: `python make.py`. The
output is committed.
"""

import json

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression, Ridge

VALUES = ["red", "green", "blue"]  # two more slots: undeclared, missing
rng = np.random.default_rng(20)


def sample(rows):
    x = [None if rng.random() < 0.1 else int(rng.integers(-8, 9)) / 8 for _ in range(rows)]
    y = [int(rng.integers(-8, 9)) / 8 for _ in range(rows)]
    colour = [int(rng.integers(0, 5)) for _ in range(rows)]
    weights = [int(rng.integers(1, 9)) / 4 for _ in range(rows)]
    return x, y, colour, weights


def columns(x, y, colour):
    def number(values):
        return [[0.0 if v is None else v for v in values], [float(v is None) for v in values]]

    slots = [[float(c == slot) for c in colour] for slot in range(5)]
    return np.array(number(x) + number(y) + slots).T


def signal(x, y, colour):
    return np.array([2 * (a or 0.5) - b + [0.5, -1, 0, 1, 0][c] for a, b, c in zip(x, y, colour)])


def case(kind, classes, l2, rows):
    x, y, colour, weights = sample(rows)
    design = columns(x, y, colour)
    noisy = signal(x, y, colour) + rng.normal(size=rows)
    row = {"kind": kind, "classes": classes, "l2": l2, "x": x, "y": y, "colour": colour, "weights": weights}
    if kind == "number":
        labels = [round(float(v) * 8) / 8 for v in noisy]
        fitted = Ridge(alpha=l2, solver="cholesky", tol=1e-14).fit(design, labels, sample_weight=weights)
        scores = fitted.predict(design)[:, None]
    else:
        labels = [int(v) for v in np.digitize(noisy, [0] if classes == 2 else [-1, 1])]
        fitted = LogisticRegression(C=1 / l2, solver="newton-cholesky", tol=1e-13, max_iter=1000)
        fitted.fit(design, labels, sample_weight=weights)
        scores = fitted.decision_function(design).reshape(rows, -1)
        if classes > 2:  # the intercepts' common part is free
            scores = scores - scores.mean(axis=1, keepdims=True)
    return row | {"labels": labels, "scores": [[float(s) for s in line] for line in scores]}


cases = [
    case("class", 2, 1.0, 40),
    case("class", 2, 0.01, 60),
    case("class", 3, 1.0, 60),
    case("class", 3, 0.1, 60),
    case("number", 0, 1.0, 40),
    case("number", 0, 0.001, 60),
]
note = "scores of the rows; for three classes less their mean"
with open("scores.json", "w") as out:
    head = {"made_with": f"scikit-learn {sklearn.__version__}, numpy {np.__version__}", "note": note}
    out.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in head.items()) + ',\n"rows": [\n')
    out.write(",\n".join(json.dumps(row) for row in cases) + "\n]\n}\n")
