"""Several processes pay from one ledger; a killed one has paid."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import privet

FIT = """
    import signal, sys, numpy as np, privet
    # Where tests run in the background, programs begin with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from conftest import columns
    schema = privet.Schema.read(sys.argv[1])
    print("ready", flush=True)
    model = privet.train(columns(int(sys.argv[2])), schema, epsilon=0.5, delta=1e-6, rows_about=2000, **eval(sys.argv[3]))
    model.save(sys.argv[4])
    print("done", flush=True)
"""


def start(schema, rows, out, **parameters):
    code = textwrap.dedent(FIT)
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    arguments = [sys.executable, "-c", code, schema, str(rows), repr(parameters), out]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def test_four_processes_that_fit_at_once_all_pay_and_all_finish(schema, ledger, tmp_path):
    (tmp_path / "schema.toml").write_text(schema.to_toml())
    running = [start("schema.toml", 2000, f"model{i}.privet") for i in range(4)]
    for process in running:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0 and "done" in out, err
    assert ledger.remaining("people").payments == 4
    ledger.verify(against=[f"model{i}.privet" for i in range(4)])


def test_a_kill_in_the_middle_of_a_fit_stays_paid(schema, ledger, tmp_path):
    (tmp_path / "schema.toml").write_text(schema.to_toml())
    before = ledger.remaining("people")
    process = start("schema.toml", 20_000, "model.privet", algorithm="trees", trees=3000)
    deadline = time.time() + 120
    while ledger.remaining("people").payments == before.payments:
        assert process.poll() is None and time.time() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not os.path.exists("model.privet")
    after = ledger.remaining("people")
    assert after.epsilon < before.epsilon and after.payments == 1
    ledger.verify()


def test_an_interrupt_stops_a_fit(schema, ledger, tmp_path):
    (tmp_path / "schema.toml").write_text(schema.to_toml())
    process = start("schema.toml", 20_000, "model.privet", algorithm="trees", trees=3000)
    while ledger.remaining("people").payments == 0:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode != 0 and "KeyboardInterrupt" in err
    assert not os.path.exists("model.privet") and privet.Ledger().remaining("people").payments == 1
