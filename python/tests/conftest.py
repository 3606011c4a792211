"""What the tests share: devices, arrays on them, programs in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap

# Threads that wait do not spin: tests share the machine. Read when OpenMP starts.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np  # noqa: E402
import pytest  # noqa: E402

try:  # before a window: Mesa's software renderer loads another LLVM than the one in Triton, which then crashes
    import triton  # noqa: E402, F401
except ImportError:
    pass

import holotone as ht  # noqa: E402

PITCH_M, WAVELENGTH_M = 8e-6, 532e-9
GRID = {"pitch_m": PITCH_M, "wavelength_m": WAVELENGTH_M}

# Every device of this machine; without a GPU its cases are listed as skipped.
DEVICES = list(ht.devices())
if not any(name.startswith("cuda") for name in DEVICES):
    DEVICES.append(pytest.param("cuda:0", marks=pytest.mark.skip(reason="no CUDA device")))


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def noise(rng, *shape, dtype="complex64"):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def on(array, device):
    """The array on a device: of NumPy on the CPU, of PyTorch on CUDA, of Holotone on OpenCL and without PyTorch."""
    if device == "cpu":
        return array
    if device.startswith("cuda"):
        try:
            import torch

            return torch.from_numpy(array).to(device)
        except ImportError:
            pass
    return ht.copy_of(array, device=device)


def host(array):
    """An array of any package in host memory."""
    if isinstance(array, ht.Field):
        array = array.values
    if isinstance(array, ht.Array):
        return array.numpy()
    return array.detach().cpu().numpy() if hasattr(array, "detach") else np.asarray(array)


def relative_error(found, expected):
    """Relative l2 error, in float64."""
    found, expected = host(found), np.asarray(expected)
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def check(found, expected, tolerance):
    """Asserts a relative l2 error and prints the slack (pytest -s)."""
    error = relative_error(found, expected)
    print(f"error {error:.2e} of {tolerance:.2e}")
    assert error <= tolerance


def run_python(program, *, seconds=20.0):
    """Runs a program in a process of its own, as it may hang or crash. Returns its output, at most `seconds` later."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with tempfile.TemporaryFile("w+") as out:  # children of the program may outlive it: no pipes to wait for
        process = subprocess.Popen(
            # Python 3.12 warns of every fork of a process with threads.
            [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", textwrap.dedent(PREAMBLE) + textwrap.dedent(program)],
            stdout=out, stderr=subprocess.STDOUT, env=environment,
        )
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            status = f"still running after {seconds} s"
        out.seek(0)
        text = out.read()
    assert status == 0, f"status {status}: {text[-2000:]}"
    return text.strip()


PREAMBLE = """
    import gc, os, signal, sys, threading, time
    import numpy as np
    import holotone as ht

    GRID = {"pitch_m": 8e-6, "wavelength_m": 532e-9}
    rng = np.random.default_rng(1)

    def noise(*shape):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype("complex64")
"""
