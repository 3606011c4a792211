"""finufft: types 1 and 2 of both packages.

Its points are in radians, its modes rise from -n/2 (modeord 0, its default), its first coordinate belongs to the first
axis: (y, x) for modes of shape (ny, nx). NufftPlan has points in periods, component 0 on the last axis.
"""

import numpy
import pytest

import holotone as ht

finufft = pytest.importorskip("finufft")

POINTS = 20_000
SHAPES = [(48, 65), (17, 24, 30)]


def make(shape, dtype, seed=1):
    random = numpy.random.default_rng(seed)
    real = numpy.float32 if dtype == "float32" else numpy.float64
    value = numpy.complex64 if dtype == "float32" else numpy.complex128
    points = (random.random((POINTS, len(shape))) - 0.5).astype(real)
    strengths = (random.standard_normal(POINTS) + 1j * random.standard_normal(POINTS)).astype(value)
    modes = (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(value)
    return points, strengths, modes


def theirs(kind, shape, points, values):
    """In float64 at 1e-12: the reference of both."""
    plan = finufft.Plan(kind, shape, 1, 1e-12, -1 if kind == 1 else 1, dtype="complex128")
    angles = 2 * numpy.pi * points.astype(numpy.float64)
    plan.setpts(*(numpy.ascontiguousarray(angles[:, axis]) for axis in reversed(range(len(shape)))))
    return plan.execute(values.astype(numpy.complex128))


def relative_error(got, expected):
    return numpy.linalg.norm(got - expected) / numpy.linalg.norm(expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-3), ("float32", 1e-5), ("float64", 1e-9)])
def test_both_types_hold_the_tolerance(shape, dtype, tolerance):
    points, strengths, modes = make(shape, dtype)
    plan = ht.NufftPlan(shape, tolerance=tolerance, dtype=dtype)
    plan.set_points(points)
    assert relative_error(plan.type1(strengths), theirs(1, shape, points, strengths)) < tolerance
    assert relative_error(plan.type2(modes), theirs(2, shape, points, modes)) < tolerance


def test_their_type_1_is_undone_by_our_adjoint():
    # <type1 c, F> = <c, type2 F>, one side computed by each package.
    shape = SHAPES[0]
    points, strengths, modes = make(shape, "float64")
    plan = ht.NufftPlan(shape, tolerance=1e-10, dtype="float64")
    plan.set_points(points)
    left = numpy.vdot(modes, theirs(1, shape, points, strengths))
    right = numpy.vdot(plan.type2(modes), strengths)
    assert abs(left - right) < 1e-9 * abs(left)
