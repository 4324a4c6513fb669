"""Compares OpBoost from end to end with XGBoost hist on the mapped plain data: the shape of the paper's Table 3.

Run by hand on a quiet machine:

    python -m venv VENV && VENV/bin/pip install -r bench/requirements-engine.txt
    cargo build --release -p privet-research --example vertical
    VENV/bin/python bench/vertical.py [--rows 293600] [--repeats 3]

A generated table of 293,600 rows and 300 columns: 38 numbers of ten slots, and 262 flags of 52 categories. Privet draws every value
(clamped geometric noise, symmetric unary codes), packs, sends, checks and unpacks them, and trains 80 trees of depth 3 at 0.1. XGBoost
is given the slots and flags as they are, as single-precision numbers in memory, and trains as many trees of the same shape: its time
includes binning, and nothing is drawn or sent. Both have 2 threads and processes of their own, and take turns.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRIVET = ROOT / "target" / "release" / "examples" / "vertical"
THREADS = 2


def xgboost_once(path):
    """In a process of its own: trains, prints one line."""
    import numpy as np
    import xgboost

    with open(path, "rb") as file:
        head = json.loads(file.readline())
        rows, columns = head["rows"], head["columns"]
        x = np.frombuffer(file.read(rows * columns), np.uint8).reshape(rows, columns).astype(np.float32)
        y = np.frombuffer(file.read(), np.float32)
    start = time.perf_counter()
    matrix = xgboost.QuantileDMatrix(x, y, max_bin=16, nthread=THREADS)
    settings = {"max_depth": 3, "eta": 0.1, "max_bin": 16, "nthread": THREADS, "tree_method": "hist", "lambda": 1}
    xgboost.train(settings, matrix, 80)
    print(json.dumps({"seconds": time.perf_counter() - start}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=293_600)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer:
        return xgboost_once(given.peer)
    environment = dict(os.environ, RAYON_NUM_THREADS=str(THREADS), OMP_NUM_THREADS=str(THREADS), OMP_WAIT_POLICY="passive")

    def once(command):
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return json.loads(done.stdout)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        subprocess.run([PRIVET, "make", path, str(given.rows)], check=True)
        ours, theirs = [], []
        for _ in range(given.repeats):
            ours.append(once([PRIVET, "run", str(given.rows)]))
            theirs.append(once([sys.executable, __file__, "--peer", str(path)]))
    seconds = [statistics.median(run["seconds"] for run in runs) for runs in (ours, theirs)]
    told, asked = ours[0]["told"], ours[0]["asked"]
    ranks = given.rows * 300 * 4
    print(f"privet, from end to end  {seconds[0]:8.2f} s   {ours[0]['peak']} MB at most")
    print(f"XGBoost hist, plain      {seconds[1]:8.2f} s")
    print(f"ratio                    {seconds[0] / seconds[1]:8.2f}")
    print(f"bytes to the label holder {told}, {told / ranks:.4f} of 32-bit ranks ({ranks}); back {asked}")


if __name__ == "__main__":
    main()
