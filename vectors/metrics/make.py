"""Writes the vectors that crates/privet/tests/all/metrics.rs checks the figures of an evaluation against.

Values and the constant's values come from scikit-learn. Standard errors do not: DeLong's is computed here pair by pair from
its definition, the others by leaving out one row at a time (the infinitesimal jackknife in its plainest form), so that no
formula is shared with the library. Scores are rounded to 32 bits before anything is computed. Run it in an environment
made from requirements.txt, in this folder: `python make.py`. The output is committed.
"""

import json

import numpy as np
from scipy import stats
from sklearn import dummy, metrics


def write(name, note, rows):
    with open(f"{name}.json", "w") as out:
        out.write('{\n"made_with": "scikit-learn 1.9.1, scipy 1.17.1, numpy 2.4.6",\n')
        out.write(f'"note": {json.dumps(note)},\n"rows": [\n')
        out.write(",\n".join(json.dumps(row) for row in rows))
        out.write("\n]}\n")
    print(name, len(rows))


def jackknife(figure, n):
    """The standard error of a figure of n rows, from the n figures without one row each."""
    without = np.array([figure(np.arange(n) != i) for i in range(n)])
    return float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2)))


def delong(y, score):
    """The standard error of the area under the curve, from all pairs of a positive and a negative row."""
    above, below = score[y == 1], score[y == 0]
    wins = (above[:, None] > below[None, :]) + 0.5 * (above[:, None] == below[None, :])
    by_positive, by_negative = wins.mean(axis=1), wins.mean(axis=0)
    return float(np.sqrt(by_positive.var(ddof=1) / len(above) + by_negative.var(ddof=1) / len(below)))


def wilson(right, n):
    low, high = stats.binomtest(int(right), int(n)).proportion_ci(0.95, method="wilson")
    return [float(low), float(high)]


def log_loss(y, p, classes):
    return metrics.log_loss(y, p.astype(np.float64), labels=range(classes))


def binary():
    rng = np.random.default_rng(1)
    rows = []
    for n, places, base, skill in [(10, 1, 0.5, 0.0), (40, 1, 0.3, 0.7), (100, 2, 0.1, 1.0), (200, 6, 0.6, 0.3),
                                   (60, 6, 0.5, -1.0), (300, 2, 0.5, 1.6)]:
        y = (rng.random(n) < base).astype(int)
        y[:4] = [0, 1, 0, 1]
        z = skill * (2 * y - 1) + rng.normal(size=n) + np.log(base / (1 - base))
        # A multiple of a power of two, so that both probabilities are exact in 32 bits and add up to one.
        grid = 2.0 ** np.ceil(places * np.log2(10))
        p = np.clip(np.round(grid / (1 + np.exp(-z))), 1, grid - 1) / grid
        both = np.stack([1 - p, p], axis=1).astype(np.float32)
        guess = (p > 0.5).astype(int)
        loss = -np.log(np.where(y == 1, p, 1 - p))
        constant = dummy.DummyClassifier(strategy="prior").fit(np.zeros((n, 1)), y)
        rows.append({
            "labels": y.tolist(), "probabilities": both.ravel().tolist(),
            "accuracy": metrics.accuracy_score(y, guess), "accuracy_interval": wilson((y == guess).sum(), n),
            "auc": metrics.roc_auc_score(y, p), "auc_error": delong(y, p),
            "log_loss": log_loss(y, both, 2), "log_loss_error": float(loss.std(ddof=1) / np.sqrt(n)),
            "f1": metrics.f1_score(y, guess),
            "f1_union_interval": wilson(((y == 1) & (guess == 1)).sum(), ((y == 1) | (guess == 1)).sum()),
            "constant": {
                "accuracy": constant.score(np.zeros((n, 1)), y),
                "log_loss": log_loss(y, constant.predict_proba(np.zeros((n, 1))), 2),
                "f1": metrics.f1_score(y, np.ones(n, int)),
            },
        })
    write("binary", "two classes; probabilities row by row; the interval of F1 is that of the rows right among those "
          "that are or are called positive", rows)


def classes():
    rng = np.random.default_rng(2)
    rows = []
    for n, k, skill in [(60, 3, 1.0), (250, 4, 2.0), (300, 6, 0.2)]:
        y = rng.integers(0, k, n)
        y[:k] = range(k)
        z = rng.normal(size=(n, k))
        z[np.arange(n), y] += skill
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        p = np.clip(np.round(p * 4096), 1, None)
        p[:, -1] = 0
        p[:, -1] = np.maximum(4096 - p.sum(axis=1), 1)
        p[:, 0] += 4096 - p.sum(axis=1)
        p = p / 4096
        guess = p.argmax(axis=1)
        loss = -np.log(p[np.arange(n), y])
        constant = dummy.DummyClassifier(strategy="prior").fit(np.zeros((n, 1)), y)
        best = max(metrics.f1_score(y, np.full(n, c), average="macro", zero_division=0) for c in range(k))
        macro = lambda keep: metrics.f1_score(y[keep], guess[keep], average="macro")
        area = lambda keep: metrics.roc_auc_score(y[keep], p[keep], multi_class="ovr")
        everybody = np.ones(n, bool)
        rows.append({
            "classes": k, "labels": y.tolist(), "probabilities": p.ravel().tolist(),
            "accuracy": metrics.accuracy_score(y, guess), "accuracy_interval": wilson((y == guess).sum(), n),
            "auc": area(everybody), "auc_error": jackknife(area, n),
            "log_loss": log_loss(y, p, k), "log_loss_error": float(loss.std(ddof=1) / np.sqrt(n)),
            "macro_f1": macro(everybody), "macro_f1_error": jackknife(macro, n),
            "constant": {
                "accuracy": constant.score(np.zeros((n, 1)), y),
                "log_loss": log_loss(y, constant.predict_proba(np.zeros((n, 1))), k),
                "macro_f1": best,
            },
        })
    write("classes", "several classes; probabilities row by row; errors of AUC and macro F1 by leaving out rows", rows)


def numbers():
    rng = np.random.default_rng(3)
    rows = []
    for n, noise, shift in [(400, 0.5, 0.0), (300, 2.0, 10.0), (200, 0.01, -1e4), (101, 5.0, 0.0)]:
        y = (rng.normal(size=n) + shift).astype(np.float32).astype(np.float64)
        value = (y + noise * rng.standard_t(8, n)).astype(np.float32).astype(np.float64)
        everybody = np.ones(n, bool)
        figures = {
            "mae": lambda keep: metrics.mean_absolute_error(y[keep], value[keep]),
            "rmse": lambda keep: metrics.root_mean_squared_error(y[keep], value[keep]),
            "r2": lambda keep: metrics.r2_score(y[keep], value[keep]),
        }
        row = {"labels": y.tolist(), "values": value.tolist()}
        for name, figure in figures.items():
            row[name] = float(figure(everybody))
            row[f"{name}_error"] = jackknife(figure, n)
        row["constant"] = {
            "mae": metrics.mean_absolute_error(y, np.full(n, np.median(y))),
            "rmse": metrics.root_mean_squared_error(y, np.full(n, y.mean())),
        }
        rows.append(row)
    write("numbers", "numbers; errors by leaving out rows", rows)


if __name__ == "__main__":
    binary()
    classes()
    numbers()
