"""Simulations of jobs: every setting, all parties on this machine."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _privet
from ._ledger import Ledger, default
from ._show import Said, frame


class Simulation(Said):
    """How good models were on rows that were set aside, beside baselines."""

    def to_frame(self) -> Any:
        """A line for each method and metric."""
        figures = self.to_dict()["figures"]
        names = ["method", "metric", "mean", "sd", "runs"]
        return frame({name: [figure[name] for figure in figures] for name in names})


def simulate(
    job: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    parties: int = 2,
    test: int = 30,
    seed: int = 0,
    runs: int = 1,
    not_protected: bool = False,
    ledger: Ledger | None = None,
) -> Simulation:
    """Trains by a job (any setting) and judges on rows that are set aside, as ``privet simulate`` does.

    Figures reveal something about rows. Private rows are refused unless ``not_protected`` is said on your own terminal; the ledger records it.
    """
    own = default(ledger)._file("simulate")
    files = (os.fspath(job), None if data is None else os.fspath(data))
    text, found, _ = _privet.simulate(*files, parties, test, seed, runs, not_protected, own)
    return Simulation(text, json.loads(found))
