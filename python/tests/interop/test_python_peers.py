"""bench/baselines/python_peers.py at small sizes, with whatever it compares with here."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch")
SCRIPT = pathlib.Path(__file__).parents[3] / "bench/baselines/python_peers.py"


def test_every_case_has_a_row_of_holotone_within_its_error(tmp_path):
    environment = os.environ | {"OMP_WAIT_POLICY": "passive", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, SCRIPT, "--small", "--rounds", "1", "--out", tmp_path / "peers.json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "peers.json").read_text())["rows"]
    mine = {row["case"]: row for row in rows if row["package"] == "holotone"}
    assert {case.split()[0] for case in mine} == {"propagate", "spots", "nufft"}
    assert all(row["ms"] > 0 for row in mine.values())
    assert mine["propagate 64"]["error"] < 1e-6
    for tolerance in ("0.0001", "1e-05"):
        # 64 samples of an error that is the tolerance in the mean over all.
        assert max(mine[f"nufft type {kind} {tolerance}"]["error"] for kind in (1, 2)) < 1.5 * float(tolerance)
    called = {row["package"] for row in rows if row["case"] == "call" and row.get("us", 0) > 0}
    assert called >= {"Python, numpy", "Python, torch"}
    assert not [row for row in rows if row.get("skipped", "").startswith("failed")]
