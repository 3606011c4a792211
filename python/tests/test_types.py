"""What type checkers know of the package: arguments, and the packages and elements of results."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import holotone as ht

PACKAGE = pathlib.Path(ht.__file__).parent
STUB = PACKAGE / "_holotone.pyi"


def mypy(*arguments):
    pytest.importorskip("mypy")
    environment = dict(os.environ)
    if PACKAGE.parent.name != "site-packages":  # of a build
        environment["MYPYPATH"] = str(PACKAGE.parent)
    with tempfile.TemporaryDirectory() as folder:  # modules beside an installed package would hide the library's
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--no-incremental", "--ignore-missing-imports", *arguments],
            capture_output=True, text=True, cwd=folder, env=environment,
        )


def test_mypy_of_the_package():
    result = mypy("--python-version", "3.10", "-p", "holotone")
    assert result.returncode == 0, result.stdout[-3000:]


# Tensor is as PyTorch's, which the tests do without.
GIVEN = """
import numpy as np
from typing import Any, assert_type
from numpy.typing import NDArray

import holotone as ht
from holotone import gradients


class Tensor:
    def __dlpack__(self, *, stream: Any = None) -> Any: ...
    def detach(self) -> Any: ...


device: str
own: ht.Array
tensor: Tensor
real = np.zeros((4, 5), np.float32)
light = np.zeros((4, 5), np.complex64)
double = np.zeros((4, 5), np.complex128)
plan: ht.PropagationPlan
reconstruction: ht.ReconstructionPlan
eye: ht.EyePlan
layers: ht.LayerPlan
dots: ht.ElectrostaticPlan
stereogram: ht.StereogramPlan
renderer: ht.SmoeRenderer
view: ht.SmoeView
encoder: ht.EncodePlan
retrieval: ht.PhaseRetrievalPlan
nufft: ht.NufftPlan
some: ht.Field
field = ht.read_field("field.npy", wavelength_m=5e-7, pitch_m=8e-6)
of_numpy = ht.Field(light, wavelength_m=5e-7, pitch_m=8e-6)
of_tensor = ht.Field(tensor, wavelength_m=5e-7, pitch_m=8e-6)
"""
# Types of results by calls. "|" stands for "NDArray[...] | ht.Array".
KNOWN = {
    # The package of the argument.
    "plan.execute(light, 0.1)": "NDArray[np.complex64]",
    "plan.execute(tensor, 0.1)": "Tensor",
    "plan.execute(own, 0.1)": "ht.Array",
    "plan.execute(tensor, 0.1, out=tensor)": "Tensor",
    "plan.execute_intensity(light, 0.1)": "NDArray[np.float32]",
    "plan.execute_intensity(tensor, 0.1)": "Tensor",
    "encoder.execute(light)": "NDArray[np.uint16]",
    "retrieval.gradient(np.zeros((1, 4, 5), np.float32))": "tuple[float, NDArray[np.float32]]",
    "retrieval.gradient(tensor)": "tuple[float, Tensor]",
    "eye.adjoint(0.1, light)": "NDArray[np.complex64]",
    "gradients.propagate_vjp(own, 0.1)": "ht.Array",
    "gradients.propagate_vjp(tensor, 0.1)": "Tensor",
    "gradients.point_cloud_field_vjp(light, tensor, own)": "tuple[Tensor | None, ht.Array, ht.Array]",
    "gradients.encode_phase_vjp(tensor, tensor)": "Tensor",
    "gradients.eye_look_field_vjp(own, 0.1, eye)": "ht.Array",
    "gradients.nufft_type2_vjp(tensor, tensor, nufft)": "tuple[Any, Tensor]",
    # Without such an argument the plan's device decides, or `out`.
    "plan.execute(0.1)": "| np.complex64",
    "plan.execute(0.1, out=light)": "NDArray[np.complex64]",
    "plan.execute(0.1, out=tensor)": "Tensor",
    "plan.execute_intensity(0.1)": "| np.float32",
    "reconstruction.execute(0.1)": "| np.float32",
    "reconstruction.execute(0.1, out=own)": "ht.Array",
    "eye.look(0.1)": "| np.float32",
    "eye.look_field(0.1)": "| np.complex64",
    "layers.execute()": "| np.complex64",
    "dots.positions()": "| np.float32",
    "stereogram.execute(None, 0)[1]": "| np.complex64",
    "renderer.render(view)": "| np.float32",
    "renderer.render([view], bits=10)": "| np.uint16",
    "retrieval.light(real)": "| np.float32",
    # The argument `device`.
    "ht.tone_map(real)": "NDArray[np.uint8]",
    "ht.tone_map(tensor, device=device)": "| np.uint8",
    "ht.point_cloud_field(real, real.ravel()).values": "NDArray[np.complex64]",
    'ht.point_cloud_field(real, real.ravel(), device="cuda:0").values': "| np.complex64",
    # Fields know the package of their values.
    "field.values": "NDArray[np.complex64]",
    "of_tensor.values": "Tensor",
    "ht.propagate(field, 0.1)": "ht.Field[NDArray[np.complex64]]",
    "ht.propagate(of_tensor, 0.1)": "ht.Field[Tensor]",
    "plan.execute(field, 0.1)": "NDArray[np.complex64]",
    "plan.execute(of_numpy, 0.1)": "NDArray[np.complex64]",
    "plan.execute_intensity(of_numpy, 0.1)": "NDArray[np.float32]",
    "plan.execute_intensity(of_tensor, 0.1)": "Tensor",
    "plan.execute(some, 0.1)": "Any",
    # Transforms of both precisions.
    "nufft.type1(light.ravel())": "NDArray[np.complex64]",
    "nufft.type1(np.ones(3))": "NDArray[np.complex128]",
    "nufft.type1(tensor)": "Tensor",
    "nufft.type2(light)": "NDArray[np.complex64]",
    "nufft.type2(light, real=True)": "NDArray[np.float32]",
    "nufft.type2(tensor, gradient=True)": "tuple[Tensor, Tensor]",
    "nufft.type2(double, gradient=True)": "tuple[NDArray[np.complex128], NDArray[np.complex128]]",
    # Values, and copies that NumPy holds.
    "ht.encode(field, bits=8)": "NDArray[np.uint16]",
    "ht.to_float(own)": "NDArray[np.float32]",
    "ht.to_linear(own)": "NDArray[np.float32]",
    "ht.Dots().position": "NDArray[np.float32]",
    "ht.monitors()": "list[ht.Monitor]",
    "ht.shift_factors(8, 0.5)": "list[complex]",
    'ht.copy_of(light, device="cuda:0")': "ht.Array",
}


def test_mypy_knows_the_types_of_results(tmp_path):
    program = tmp_path / "program.py"
    types = (re.sub(r"^\| (.*)", r"NDArray[\1] | ht.Array", of) for of in KNOWN.values())
    program.write_text(GIVEN + "".join(f"assert_type({call}, {of})\n" for call, of in zip(KNOWN, types)))
    result = mypy("--python-version", "3.12", str(program))
    assert result.returncode == 0, result.stdout


def test_no_result_of_the_stub_is_any():
    """Nor an object; but NDArray[Any] stands for elements of any type."""
    results = re.findall(r"\n *def ([a-z]\w*)\(.*\) -> (.*?):(?: \.\.\.)?(?=\n)", STUB.read_text())
    assert len(results) > 1000
    loose = re.compile(r"\b(?:Any|object)\b")
    assert [one for one in results if loose.search(one[1].replace("NDArray[Any]", ""))] == []


def test_the_types_are_there_when_the_program_runs():
    from holotone import _types

    assert _types.ArrayOf[np.float32] and _types.NumbersLike


def test_mypy_of_a_program(tmp_path):
    """The types that a program sees: a right call passes, a misspelt argument, enum or result does not."""
    program = tmp_path / "program.py"
    program.write_text("""
import holotone as ht

plan = ht.PropagationPlan(shape=(4, 5), pitch_m=8e-6, wavelength_m=5e-7, method="fresnel")
count: int = plan.workspace_bytes()
field: ht.Field
codes = ht.encode(field, encoding="phase", bits=8)  # shape, pitch and wavelength are those of the field
with ht.PanelWindow(monitor="2", safe=ht.SafePattern(period_px=8), clock=lambda: 0.0) as window:
    shown_s: float = window.show(codes.astype("uint8"))
    refresh_hz: float = window.monitor().refresh_hz
""")
    result = mypy(str(program))
    assert result.returncode == 0, result.stdout
    for wrong in (
        'ht.PropagationPlan(shape=(4, 5), pitch_m=1e-6, wavelength_m=5e-7, method="fresnell")',
        "ht.PropagationPlan(shape=(4, 5), pich_m=1e-6, wavelength_m=5e-7)",
        "count: str = plan.workspace_bytes()",
        "ht.PropagationPlan(shape=(4, 5), wavelength_m=5e-7)",
        "ht.PhaseRetrievalPlan(shape=(4, 5), pitch_m=1e-6, wavelength_m=5e-7).optimize(1, camera=lambda phase: phase)",
        "plan.execute([[1, 2]], 0.1)",
        "plan.execute(np.zeros((4, 5)), 0.1)  # float64",
        "plan.execute_intensity(np.zeros((4, 5), np.complex64), 0.1).no_such_method()",
        "ht.point_cloud_field('points', np.ones(3, np.float32))",
        "ht.PanelWindow(monitor=2)",
        "ht.PanelWindow().show('codes')",
    ):
        program.write_text("import numpy as np\nimport holotone as ht\nplan: ht.PropagationPlan\n" + wrong + "\n")
        assert mypy(str(program)).returncode == 1, wrong
