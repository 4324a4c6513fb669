"""Parties as real processes on loopback, each with its own table, ledger and key."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import privet

SCHEMA = """
dataset = "loans"
[columns]
income = { type = "number", min = 0, max = 120 }
home = { type = "category", values = ["rents", "owns"] }
repaid = { type = "label", values = ["no", "yes"] }
"""
PARTY = """
    import signal, sys, privet
    # Where tests run in the background, programs begin with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    name, bind = sys.argv[1], sys.argv[2] or None
    party = privet.party("job.toml", name=name, bind=bind, keys=privet.Keys("keys-" + name), ledger=privet.Ledger(name + ".db"), out=name + ".privet")
    print("ready", flush=True)
    run = party.run(yes=True)
    print(len(run.transcript["signatures"]), run.model is not None, flush=True)
"""


@pytest.fixture
def site(tmp_path):
    """Two banks or more, with a port that nobody listens at: the names of the banks come, the port goes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def made(*names, patience=60):
        (tmp_path / "schema.toml").write_text(SCHEMA)
        first, *others = names
        job = 'setting = "secure"\nschema = "schema.toml"\noutput = "model.privet"\n[algorithm]\nname = "maboost"\nrounds = 3\n'
        job += f'[initiator]\nname = "{first}"\ndata = "{first}.csv"\n'
        head = "[responder]" if len(others) == 1 else "[[responder]]"
        job += "".join(f'{head}\nname = "{name}"\ndata = "{name}.csv"\n' for name in others)
        job += f'[network]\nlistens = "{first}"\naddress = "127.0.0.1:{port}"\npatience = {patience}\ndeadline = 120\n'
        (tmp_path / "job.toml").write_text(job)
        keys = {name: privet.Keys(f"keys-{name}") for name in names}
        fingerprints = {name: own.init() for name, own in keys.items()}
        rng = np.random.default_rng(3)
        for name in names:
            for other in names:
                if other != name:
                    keys[name].trust(other, fingerprints[other])
            income = rng.uniform(0, 120, 60).round(1)
            cells = [f"{x},{rng.choice(['rents', 'owns'])},{'yes' if x > 50 else 'no'}" for x in income]
            (tmp_path / f"{name}.csv").write_text("income,home,repaid\n" + "\n".join(cells) + "\n")
            schema = privet.Schema.of({"income": "float"}, dataset=f"loans-{name}", bounds={"income": (0, 120)})
            privet.Ledger(f"{name}.db").limit(schema, epsilon=0, replace=True)
        return f"127.0.0.1:{port}"

    return made


def party(name, **given):
    return privet.party("job.toml", name=name, keys=privet.Keys(f"keys-{name}"), ledger=privet.Ledger(f"{name}.db"), **given)


def start(name, bind=""):
    code = [sys.executable, "-c", textwrap.dedent(PARTY), name, bind]
    return subprocess.Popen(code, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_three_processes_train_one_model(site):
    bind = site("north", "south", "west")
    running = {name: start(name, bind if name == "north" else "") for name in ["north", "south", "west"]}
    for name, process in running.items():
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert out.split()[1:] == ["3", "True"], out
    models = [privet.load(f"{name}.privet") for name in running]
    scores = [model.scores({"income": [10.0, 100.0], "home": ["owns", "rents"]}) for model in models]
    assert np.array_equal(scores[0], scores[1]) and np.array_equal(scores[0], scores[2])
    assert scores[0][0] < scores[0][1]
    privet.Ledger("north.db").verify(against="north.privet")


def test_a_party_says_before_what_it_accepts(site):
    site("north", "south")
    north = party("north")
    assert "WHO LEARNS WHAT" in repr(north) and "<pre" in north._repr_html_()
    assert north.plan().to_dict()["role"] == "initiator"
    with pytest.raises(privet.ParameterError, match="WHO LEARNS WHAT"):
        north.run()
    north.sign("accepted.json")
    assert os.path.exists("accepted.json")
    with pytest.raises(privet.ParameterError, match="no such party"):
        privet.party("job.toml", name="east", keys=privet.Keys("keys-north"), ledger=privet.Ledger("north.db")).plan()
    assert "no key" in repr(party("west"))
    with pytest.raises(privet.ParameterError, match="bind"):
        party("north", bind="somewhere")


def test_a_peer_that_does_not_come_is_named(site):
    bind = site("north", "south", patience=1)
    with pytest.raises(privet.PeerError) as raised:
        party("north", bind=bind).run(yes=True)
    assert raised.value.parties == ("south",)


def test_others_work_while_a_party_waits_and_can_stop_it(site):
    bind = site("north", "south")
    north, ended = party("north", bind=bind), []

    def run():
        try:
            north.run(yes=True)
        except privet.PrivetError as e:
            ended.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    counted = 0
    until = time.monotonic() + 1
    while time.monotonic() < until:
        counted += 1
    assert thread.is_alive() and counted > 1000
    north.stop()
    thread.join(timeout=30)
    assert not thread.is_alive() and "stopped" in str(ended[0])
    # What one thread stopped does not stop the next run.
    job = Path("job.toml")
    job.write_text(job.read_text().replace("patience = 60", "patience = 1"))
    with pytest.raises(privet.PeerError):
        north.run(yes=True)


def test_an_interrupt_stops_a_party(site):
    bind = site("north", "south")
    process = start("north", bind)
    assert process.stdout.readline().strip() == "ready"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode != 0 and "KeyboardInterrupt" in err
