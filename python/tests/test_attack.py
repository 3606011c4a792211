"""Wrong buffers, capsules and objects for every argument of every function, and every member of every class.

Each is refused by an ArgumentError that names it, or taken; none ends the process. attack.py runs in processes of its
own: what it was about to do when it died is the failure's name.
"""

import collections
import os
import pathlib
import subprocess
import sys

import attack
import pytest

FUNCTIONS = sorted({name for name, _ in attack.FUNCTIONS})
MEMBERS = [f"members of {name}" for name in sorted(attack.CLASSES)]
# Some of a hundred a process: a process takes longer to start than a function to attack.
BATCH = 40


def attacked(names):
    """What the attack prints for each name, and what it was doing when it died."""
    left, printed, deaths = list(names), [], []
    while left:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        program = [sys.executable, "-X", "faulthandler", "-W", "ignore", str(pathlib.Path(attack.__file__)), *left]
        process = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=500, errors="replace")
        lines = process.stdout.splitlines()
        printed += lines
        if process.returncode == 0:
            break
        done = [line.removeprefix("DONE ") for line in lines if line.startswith("DONE ")]
        deaths.append(f"status {process.returncode} in {lines[-1] if lines else 'nothing'}: {process.stderr[-300:]}")
        left = left[len(done) + 1 :]
    return printed, deaths


BATCHES = [FUNCTIONS[i : i + BATCH] for i in range(0, len(FUNCTIONS), BATCH)]
BATCHES += [MEMBERS[i : i + BATCH] for i in range(0, len(MEMBERS), BATCH)]


@pytest.mark.parametrize("names", BATCHES, ids=lambda names: f"{names[0]} to {names[-1]}".replace("members of ", "."))
def test_wrong_values(names):
    printed, deaths = attacked(names)
    wrong = [line.removeprefix("WRONG ") for line in printed if line.startswith("WRONG ")]
    skipped = [line for line in printed if line.startswith("SKIPPED ")]
    print(*skipped, sep="\n")
    assert not deaths, "\n".join(deaths)
    assert not wrong, "\n".join(wrong[:60])
    assert len(skipped) <= len(names) // 4, "\n".join(skipped)
    assert len(printed) > 20 * len(names), collections.Counter(line[:20] for line in printed).max_common(3)
