"""One party of a run over a network, and the keys by which parties know each other."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import _privet
from ._ledger import Ledger, default
from ._model import Model, load
from ._show import Said
from .errors import PrivetError

_Path = str | os.PathLike[str]


class Keys:
    """The key of this party, and those of others that it trusts: in the command's folder unless another one is named.

    >>> import privet, tempfile
    >>> north, south = privet.Keys(tempfile.mkdtemp() + "/north"), privet.Keys(tempfile.mkdtemp() + "/south")
    >>> fingerprint = north.init()          # once; told to others by a way that they trust, such as a call
    >>> _ = south.init()
    >>> south.trust("north", fingerprint, until="2099-12-31")
    >>> [(party["name"], party["until"]) for party in south.show().to_dict()["trusted"]]
    [('north', '2099-12-31')]
    """

    def __init__(self, path: _Path | None = None) -> None:
        self._own = _privet.Keys(None if path is None else os.fspath(path))

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self._own.path)

    def init(self) -> str:
        """Draws the key of this party: its fingerprint, which the others need."""
        return json.loads(self._own.init()[1])["fingerprint"]

    @property
    def fingerprint(self) -> str:
        """The fingerprint of this party's key."""
        return self.show().to_dict()["fingerprint"]

    def show(self) -> Said:
        """The fingerprint of this party, and whom it trusts."""
        text, data, _ = self._own.show()
        return Said(text, json.loads(data))

    def trust(self, name: str, fingerprint: str, *, until: str | None = None) -> None:
        """Trusts the key with this fingerprint under a party's name in jobs, perhaps until a day such as 2027-12-31."""
        self._own.trust(name, fingerprint, until)

    def revoke(self, name: str) -> None:
        """Trusts a party no more."""
        self._own.revoke(name)

    def __repr__(self) -> str:
        return f"<privet.Keys {str(self.path)!r}>"


class PartyRun(Said):
    """What one party has of a run that is over."""

    @property
    def model(self) -> Model | None:
        """The model, if this party gets one."""
        file = self._data.get("model")
        return None if file is None else load(file)

    @property
    def certificate(self) -> dict[str, Any]:
        """What the run guarantees the people in this party's rows."""
        return self._data["certificate"]

    @property
    def transcript(self) -> dict[str, Any]:
        """Who took part, what was sent and what this party spent and showed, item by item."""
        with open(self._data["transcript"], encoding="utf-8") as file:
            return json.load(file)


class Party:
    """One party of a job on a network. It prints as what it accepts: what all parties will learn, and what this one spends and shows."""

    def __init__(self, own: _privet.Party) -> None:
        self._own = own

    def plan(self) -> Said:
        """What all parties will learn, and what this one spends and shows. Nobody is called, and of rows nothing is read."""
        text, data, _ = self._own.plan()
        return Said(text, json.loads(data))

    def run(self, *, yes: bool = False, accepted: _Path | None = None) -> PartyRun:
        """Takes part until the run is over.

        The plan must be accepted: with ``yes=True``, or with ``accepted``, the file in which it was signed before. A run that was stopped or killed goes
        on when this is called again, and nothing is paid or drawn twice. Ctrl-C stops it, and so does ``stop`` from another thread.
        """
        text, data, _ = self._own.run(yes, None if accepted is None else os.fspath(accepted))
        return PartyRun(text, json.loads(data))

    def sign(self, path: _Path) -> Said:
        """Accepts the plan in a file, for ``run(accepted=...)``."""
        text, data, _ = self._own.sign(os.fspath(path))
        return Said(text, json.loads(data))

    def stop(self) -> None:
        """Ends the run that another thread is in, before its next step. There ``run`` raises a ``PrivetError``."""
        self._own.stop()

    def abandon(self) -> Said:
        """Gives up the run that is not over. What was spent stays spent."""
        text, data, _ = self._own.abandon()
        return Said(text, json.loads(data))

    def __repr__(self) -> str:
        try:
            return repr(self.plan())
        except PrivetError as e:
            return f"<privet.Party that cannot take part: {e}>"

    def _repr_html_(self) -> str:
        return self.plan()._repr_html_()


def party(
    job: _Path,
    *,
    role: str | None = None,
    name: str | None = None,
    out: _Path | None = None,
    overwrite: bool = False,
    not_protected: bool = False,
    id: str | None = None,
    bind: str | None = None,
    proxy: str | None = None,
    keys: Keys | None = None,
    ledger: Ledger | None = None,
) -> Party:
    """One party of a job with a section ``[network]``: what ``privet party`` does, from Python.

    All parties have the same job; each has its own table, ledger and key. A party is named by its role, or by its name in the job.
    If the job predicts, ``id`` is the column of the label holder's file that is written beside predictions.

    >>> import pathlib, privet, tempfile
    >>> here = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (here / "north.csv").write_text("age,ill\\n34,no\\n81,yes\\n")
    >>> _ = (here / "schema.toml").write_text('dataset = "stays"\\n[columns]\\nage = { type = "number", min = 0, max = 120 }\\n'
    ...     'ill = { type = "label", values = ["no", "yes"] }\\n')
    >>> _ = (here / "job.toml").write_text('setting = "secure"\\nschema = "schema.toml"\\noutput = "model.privet"\\n'
    ...     '[algorithm]\\nname = "maboost"\\nrounds = 3\\n[initiator]\\nname = "north"\\ndata = "north.csv"\\n'
    ...     '[responder]\\nname = "south"\\ndata = "south.csv"\\n[network]\\nlistens = "north"\\naddress = "127.0.0.1:7443"\\n')
    >>> ledger = privet.Ledger(here / "ledger.db")
    >>> _ = ledger.limit(privet.Schema.of({"age": "float"}, dataset="stays-north", bounds={"age": (0, 120)}), epsilon=0, replace=True)
    >>> keys = privet.Keys(here / "keys")
    >>> fingerprint = keys.init()
    >>> keys.trust("south", "ab" * 32)                 # as the other party says it
    >>> north = privet.party(here / "job.toml", name="north", keys=keys, ledger=ledger)
    >>> north                                          # nobody is called yet, and no row is read
    plan       ...
    party      north, initiator
    listens    north
    <BLANKLINE>
    WHO LEARNS WHAT
    ...
    WHAT THIS PARTY SPENDS AND SHOWS
    ...
    >>> done = north.run(yes=True)                     # doctest: +SKIP
    >>> done.model.predict(new_rows)                   # doctest: +SKIP

    What another party does wrong, or that it is not there, is a ``PeerError`` with ``parties``. ``examples/`` has jobs of all settings with parties.
    """
    folder = None if keys is None else os.fspath(keys.path)
    files = (os.fspath(job), role, name, None if out is None else os.fspath(out))
    own = _privet.Party(*files, overwrite, not_protected, id, bind, proxy, folder, default(ledger)._file("party"))
    return Party(own)
