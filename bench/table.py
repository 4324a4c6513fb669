"""A table of 1,000,000 rows and 30 columns into bins, beside polars merely reading it.

    python -m venv VENV && VENV/bin/pip install -r bench/requirements.txt
    VENV/bin/python bench/table.py [--rows 1000000] [--repeats 7] [--threads 2] [--folder FOLDER]

Every reader is a process of its own and takes turns with the others; what is compared is the time from open file to
table, as each reports it, and the most memory that its process ever held. Medians, and their ratios.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = 30
POLARS = """
import json, resource, sys, time
import polars as pl
path = sys.argv[1]
started = time.perf_counter()
frame = pl.read_parquet(path) if path.endswith(".parquet") else pl.read_csv(path)
took = time.perf_counter() - started
assert frame.width == 30
peak = next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM")) / 1024
cpu = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
print(json.dumps({"seconds": took, "cpu": cpu, "peak": peak, "rows": frame.height}))
"""


def generate(folder: Path, rows: int) -> tuple[Path, Path]:
    """Numbers with 6 to 8 digits, the same on every machine."""
    import numpy as np
    import polars as pl

    csv, parquet = folder / f"table-{rows}.csv", folder / f"table-{rows}.parquet"
    if csv.exists() and parquet.exists():
        return csv, parquet
    dice = np.random.Generator(np.random.PCG64(19))
    columns = {}
    for i in range(COLUMNS - 1):
        scale = [1.0, 10.0, 1000.0][i % 3]
        digits = [6, 5, 3][i % 3]
        columns[f"x{i}"] = np.round(dice.normal(size=rows) * scale, digits)
    columns["y"] = (dice.random(rows) < 0.5).astype(np.int64)
    frame = pl.DataFrame(columns)
    frame.write_csv(csv)
    frame.write_parquet(parquet, compression="zstd", row_group_size=131_072)
    return csv, parquet


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "privet-bench")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    csv, parquet = generate(arguments.folder, arguments.rows)

    built = subprocess.run(
        ["cargo", "bench", "-q", "--locked", "-p", "privet-node", "--features", "parquet", "--bench", "table", "--no-run",
         "--message-format=json"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
    )
    artefacts = (json.loads(line) for line in built.stdout.splitlines() if line.startswith("{"))
    ours = next(a["executable"] for a in artefacts if a.get("executable") and a["target"]["name"] == "table")

    threads = str(arguments.threads)
    environment = os.environ | {"RAYON_NUM_THREADS": threads, "POLARS_MAX_THREADS": threads}
    readers = {
        "privet, CSV into bins": [ours, "--file", str(csv)],
        "polars, CSV read only": [sys.executable, "-c", POLARS, str(csv)],
        "privet, Parquet into bins": [ours, "--file", str(parquet)],
        "polars, Parquet read only": [sys.executable, "-c", POLARS, str(parquet)],
    }
    runs = {name: [] for name in readers}
    for repeat in range(arguments.repeats + 1):
        names = list(readers) if repeat % 2 else list(reversed(readers))
        for name in names:
            out = subprocess.run(readers[name], env=environment, check=True, stdout=subprocess.PIPE, text=True)
            run = json.loads(out.stdout.splitlines()[-1])
            assert run["rows"] == arguments.rows, run
            # The first round warms the page cache.
            if repeat:
                runs[name].append(run)
    print(f"{arguments.rows} rows, {COLUMNS} columns, {csv.stat().st_size / 1e6:.0f} MB of CSV, "
          f"{parquet.stat().st_size / 1e6:.0f} MB of Parquet, {threads} threads, {arguments.repeats} repeats")
    print(f"{'':28}{'median s':>10}{'best s':>10}{'worst s':>10}{'CPU s':>10}{'peak MB':>10}")
    median = {}
    for name, all_runs in runs.items():
        seconds = [run["seconds"] for run in all_runs]
        median[name] = (statistics.median(seconds), statistics.median(run["peak"] for run in all_runs))
        cpu = statistics.median(run["cpu"] for run in all_runs)
        print(f"{name:28}{median[name][0]:>10.3f}{min(seconds):>10.3f}{max(seconds):>10.3f}{cpu:>10.2f}{median[name][1]:>10.0f}")
    ours_csv, theirs_csv, ours_parquet, theirs_parquet = (median[name] for name in readers)
    print(f"CSV:     {theirs_csv[0] / ours_csv[0]:.2f} x as fast as polars, {ours_csv[1] / theirs_csv[1]:.2f} of its memory")
    print(f"Parquet: {theirs_parquet[0] / ours_parquet[0]:.2f} x as fast as polars, "
          f"{ours_parquet[1] / theirs_parquet[1]:.2f} of its memory; {ours_csv[0] / ours_parquet[0]:.2f} x as fast as our CSV")


if __name__ == "__main__":
    main()
