"""The tabular sets of the data folder: their files, public schemas and splits, for bench/suite.py.

Rows are texts in the order of the schema's columns. Bounds and categories come from the schemas in
crates/privet-research/reproduce/schemas, or from the descriptions of the data sets where there is none.
"""

import csv
import gzip
import io
import os
import re
import tomllib
from pathlib import Path

import packaged

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "crates" / "privet-research" / "reproduce" / "schemas"
# No set has more rows than this: of larger ones, a random part is used.
MOST = 50_000


def texts(path, delimiter=",", header=True):
    """The rows of a file."""
    raw = path.read_bytes()
    lines = io.StringIO((gzip.decompress(raw) if path.suffix == ".gz" else raw).decode())
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if row]
    return rows[1:] if header else rows


def schema_of(name):
    """A schema's text without what it says about the file."""
    return re.sub(r"\[file\]\n(?:.+\n)*", "", (SCHEMAS / f"{name}.toml").read_text())


def named(name, columns, label):
    """A schema of columns that all have the same description."""
    lines = [f'dataset = "{name}"', "", "[columns]", *(f"{column} = {about}" for column, about in columns), f"label = {label}"]
    return "\n".join(lines) + "\n"


def classes(values):
    return "{ type = \"label\", values = [" + ", ".join(f'"{value}"' for value in values) + "] }"


def adult(data):
    clean = lambda rows: [[cell.rstrip(".") for cell in row] for row in rows if len(row) == 15]
    return schema_of("adult"), [clean(texts(data / "adult" / f"adult.{part}", header=False)) for part in ("data", "test")]


def one(path, **how):
    """A set with a schema of its own, in one file."""
    return lambda data, name: (schema_of(name), [texts(data / path, **how)])


def gss(data, name):
    parts = [texts(data / "gss" / f"GSS_{rows}.csv") for rows in (15235, 5079)]
    return schema_of(name), parts


def gss_happiness(data, _):
    """The three answers about a marriage, where gss asks for one of them."""
    text, parts = gss(data, "gss")
    text = text.replace('["other", "veryhappy"]', '["nottoohappy", "prettyhappy", "veryhappy"]')
    return text.replace('dataset = "gss"', 'dataset = "gss-3"'), parts


def covtype(data, name):
    text, [rows] = one("covtype/covtype.data.gz", header=False)(data, "covtype")
    if name == "covtype":
        return text, [[row[:-1] + ["2" if row[-1] == "2" else "other"] for row in rows]]
    text = re.sub(r'(?m)^(\w+) = \{ type = "label".*$', r'\1 = ' + classes(range(1, 8)), text)
    return text.replace('dataset = "covtype"', 'dataset = "covtype-7"'), [rows]


def words(text):
    """The values of the first column that lists them, as the schema of sf-jobs says what a title counts as."""
    columns = tomllib.loads(text)["columns"]
    return columns["JobTitle"]["values"]


def sf_jobs(data, name):
    text, [rows] = one("sf-salaries/Salaries.csv.gz")(data, name)
    known = words(text)
    for row in rows:
        title = row[1].upper()
        row[1] = next((word for word in known if word in title), "")
    return text, [rows]


def wdbc(data, _):
    rows = texts(data / "breast-cancer-wdbc" / "breast_cancer.csv")
    # Round numbers by what is measured: radius, texture, perimeter, area and six ratios; mean, error and worst.
    most = [30, 40, 200, 2500, 0.2, 0.4, 0.5, 0.25, 0.4, 0.1, 3, 5, 25, 550, 0.04, 0.15, 0.4, 0.06, 0.08, 0.03, 40, 50, 260, 4500, 0.25, 1.2, 1.3, 0.3, 0.7, 0.25]
    columns = [(f"m{i:02}", f'{{ type = "number", min = 0, max = {top} }}') for i, top in enumerate(most)]
    return named("breast-cancer", columns, classes(["0", "1"])), [rows]


def digits(folder):
    def read(data, name):
        import numpy as np

        parts = []
        for part, count in (("train", 60_000), ("t10k", 10_000)):
            images = gzip.decompress((data / folder / f"{part}-images-idx3-ubyte.gz").read_bytes())[16:]
            labels = gzip.decompress((data / folder / f"{part}-labels-idx1-ubyte.gz").read_bytes())[8:]
            squares = np.frombuffer(images, np.uint8).reshape(count, 7, 4, 7, 4).mean(axis=(2, 4)).round().astype(int)
            parts.append([[*map(str, row), str(label)] for row, label in zip(squares.reshape(count, 49).tolist(), labels)])
        columns = [(f"p{i:02}", '{ type = "integer", min = 0, max = 255 }') for i in range(49)]
        return named(name, columns, classes(range(10))), parts

    return read


def synthetic(data, name):
    rows = texts(data / "synthetic-19" / "first-2000.csv", header=False)
    columns = [(f"x{i:02}", '{ type = "number", min = -20, max = 20 }') for i in range(20)]
    return named(name, columns, classes(["0", "1"])), [[row[:20] + [str(int(float(row[20])))] for row in rows]]


# The task of each set, its source (sets of one source are never on both sides of a choice) and how it is read. `fixed` keeps the data set's own split.
SETS = {
    "adult": ("binary", "adult", lambda data, name: adult(data)),
    "bank": ("binary", "bank", one("bank/bank-full.csv", delimiter=";")),
    "credit-default": ("binary", "credit-default", one("credit-default/UCI_Credit_Card.csv")),
    "sepsis": ("binary", "sepsis", one("sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv")),
    "gss": ("binary", "gss", gss),
    "gss-films": ("binary", "gss", gss),
    "covtype": ("binary", "covtype", covtype),
    "ionosphere": ("binary", "ionosphere", one("ionosphere/ionosphere.data", header=False)),
    "breast-cancer": ("binary", "breast-cancer", wdbc),
    "synthetic-19": ("binary", "synthetic-19", synthetic),
    "kc-house": ("number", "kc-house", one("kc-house/kc_house_data.csv")),
    "powerplant": ("number", "powerplant", one("powerplant/powerplant.csv")),
    "casp": ("number", "casp", one("casp/CASP.csv")),
    "sf-jobs": ("number", "sf-salaries", sf_jobs),
    "pendigits": ("classes", "pendigits", lambda data, name: (schema_of(name), [texts(data / "pendigits" / f"pendigits.{part}", header=False) for part in ("tra", "tes")])),
    "gss-3": ("classes", "gss", gss_happiness),
    "covtype-7": ("classes", "covtype", covtype),
    "mnist-7": ("classes", "mnist", digits("mnist")),
    "fashion-7": ("classes", "fashion-mnist", digits("fashion-mnist")),
}
FIXED = {"pendigits", "mnist-7", "fashion-7"}
# Tables of packages, in a folder that PRIVET_PACKAGES names: no rule is chosen on them.
JUDGED = packaged.SETS
SETS |= JUDGED


def known():
    """The sets whose files can be there."""
    return [name for name in SETS if name not in JUDGED or "PRIVET_PACKAGES" in os.environ]


# Prices and pay, whose errors grow with their size: public knowledge about what is measured.
TRANSFORMED = {"kc-house": ("log1p", 100_000), "sf-jobs": ("log1p", 10_000)}


def load(name, data):
    """The schema's text, and the parts of the set: one, or its own training and test rows."""
    text, parts = SETS[name][2](Path(os.environ["PRIVET_PACKAGES"] if name in JUDGED else data), name)
    width = len(tomllib.loads(text)["columns"])
    return text, [[row for row in part if len(row) == width] for part in parts]


def split(name, parts, seed):
    """Training and test rows: four fifths and one fifth, or the data set's own (adult and gss for seed 0, FIXED for all)."""
    import numpy as np

    draw = np.random.default_rng(seed)
    rows = [row for part in parts for row in part]
    if len(parts) == 2 and (name in FIXED or seed == 0) and len(rows) <= MOST:
        return parts
    if len(parts) == 2 and name in FIXED:
        return [[part[i] for i in draw.permutation(len(part))[:most]] for part, most in zip(parts, (MOST * 4 // 5, MOST // 5))]
    order = draw.permutation(len(rows))[:MOST]
    size = len(parts[0]) if len(parts) == 2 and len(rows) <= MOST else len(order) * 4 // 5
    return [rows[i] for i in order[:size]], [rows[i] for i in order[size:]]
