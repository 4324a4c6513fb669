"""What scikit-learn reaches where `privet reproduce plain` is compared: run by hand, with PRIVET_DATA set.

    pip install scikit-learn==1.9.1 pandas && PRIVET_DATA=… python bench/plain.py

Prints the lines of crates/privet-research/reproduce/expected/plain.json. The preparation is the schemas': numbers scaled to
[-1, 1] by public bounds, one column a category.
"""

import os

import numpy as np
import pandas as pd
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestCentroid
from sklearn.tree import DecisionTreeClassifier

DATA = os.environ["PRIVET_DATA"]


def scale(x, low, high):
    return 2 * (np.clip(x, low, high) - low) / (high - low) - 1


def adult():
    names = ["age", "workclass", "fnlwgt", "education", "education-num", "marital", "occupation", "relationship",
             "race", "sex", "gain", "loss", "hours", "country", "income"]
    read = lambda f: pd.read_csv(f"{DATA}/adult/{f}", names=names, skipinitialspace=True, comment="|")
    train, test = read("adult.data"), read("adult.test")
    y = [t.income.str.startswith(">").astype(int).to_numpy() for t in (train, test)]
    both = pd.concat([train, test])
    numbers = np.column_stack([
        scale(both.age, 17, 90), scale(both.fnlwgt, 0, 1.5e6), scale(both["education-num"], 1, 16),
        scale(np.log1p(both.gain), 0, np.log1p(99999)), scale(np.log1p(both.loss), 0, np.log1p(5000)),
        scale(both.hours, 1, 99)])
    codes = pd.get_dummies(both[["workclass", "education", "marital", "occupation", "relationship", "race", "sex", "country"]])
    x = np.hstack([numbers, codes.to_numpy(float)])
    a, b = x[: len(train)], x[len(train):]
    logistic = LogisticRegression(C=1.0, max_iter=5000).fit(a, y[0])
    stumps = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=100).fit(a, y[0])
    for name, m, s in [("logistic", logistic, logistic.predict_proba(b)[:, 1]), ("stumps", stumps, stumps.decision_function(b))]:
        print("adult", name, "accuracy", m.score(b, y[1]), "AUC", roc_auc_score(y[1], s))
    print("adult constant accuracy", 1 - y[1].mean())


def ionosphere():
    t = pd.read_csv(f"{DATA}/ionosphere/ionosphere.data", header=None)
    x, y = t.iloc[:, :34].to_numpy(float), (t[34] == "g").to_numpy(int)
    found = {"logistic": [], "centroid": [], "stumps": [], "constant": []}
    for seed in range(200):
        a, b, u, v = train_test_split(x, y, test_size=0.2, random_state=seed)
        found["logistic"].append(LogisticRegression(max_iter=5000).fit(a, u).score(b, v))
        found["centroid"].append(NearestCentroid().fit(a, u).score(b, v))
        found["stumps"].append(AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=50).fit(a, u).score(b, v))
        found["constant"].append((v == round(u.mean())).mean())
    for name, values in found.items():
        print("ionosphere", name, "accuracy", np.mean(values), np.std(values))


def pendigits():
    read = lambda f: np.loadtxt(f"{DATA}/pendigits/{f}", delimiter=",")
    a, b = read("pendigits.tra"), read("pendigits.tes")
    x = [scale(t[:, :16], 0, 100) for t in (a, b)]
    model = LogisticRegression(max_iter=20000).fit(x[0], a[:, 16])
    print("pendigits logistic accuracy", model.score(x[1], b[:, 16]))
    counts = np.bincount(a[:, 16].astype(int))
    print("pendigits constant accuracy", (b[:, 16] == counts.argmax()).mean())


def powerplant():
    t = pd.read_csv(f"{DATA}/powerplant/powerplant.csv").to_numpy()
    bounds = [(0, 40), (20, 90), (990, 1040), (0, 105)]
    x = np.column_stack([scale(t[:, i], *bounds[i]) for i in range(4)])
    found = {"ridge": [], "constant": []}
    for seed in range(50):
        a, b, u, v = train_test_split(x, t[:, 4], test_size=0.2, random_state=seed)
        found["ridge"].append(np.sqrt(np.mean((Ridge(alpha=1.0).fit(a, u).predict(b) - v) ** 2)))
        found["constant"].append(np.sqrt(np.mean((u.mean() - v) ** 2)))
    for name, values in found.items():
        print("powerplant", name, "RMSE", np.mean(values), np.std(values))


for experiment in (adult, ionosphere, pendigits, powerplant):
    experiment()
