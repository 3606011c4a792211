"""torchoptics: propagation of one field by both packages.

Its conventions: the phasor is exp(+ikz), as here. Its angular spectrum pads each side by asm_pad (default twice the
size, five times in all), has no band limit and keeps evanescent waves. Its direct integration (DIM) is the
Rayleigh-Sommerfeld sum without wrap-around. Lengths are in one unit; the first spacing belongs to the first axis.
"""

import numpy
import pytest

import holotone as ht

torch = pytest.importorskip("torch")
torchoptics = pytest.importorskip("torchoptics")

WAVELENGTH_M = 532e-9
PITCH_M = 8e-6


def beams(ny, nx):
    """Two Gaussian beams, one of them tilted, off the middle: no symmetry hides an exchanged or reversed axis."""
    y, x = (numpy.arange(n) - (n - 1) / 2 for n in (ny, nx))
    y, x = y[:, None], x[None, :]
    field = numpy.exp(-((x + 14) ** 2 + (y - 9) ** 2) / 12**2 + 0.3j * x)
    field = field + 0.6 * numpy.exp(-((x - 20) ** 2 + (y + 5) ** 2) / 9**2 + 0.5j - 0.2j * y)
    return field.astype(numpy.complex64)


def theirs(field, distance_m, **options):
    field = torchoptics.Field(torch.from_numpy(field).to(torch.complex128), WAVELENGTH_M, spacing=PITCH_M)
    return field.propagate_to_z(distance_m, **options).data.numpy()


def relative_error(got, expected):
    return numpy.linalg.norm(got - expected) / numpy.linalg.norm(expected)


@pytest.fixture(autouse=True)
def double_precision():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.mark.parametrize("distance_m", [2e-3, -2e-3, 8e-3])
def test_angular_spectrum_with_the_same_padding(distance_m):
    # 96 x 128 pixels padded to 192 x 256 by both; without a band limit the two are one formula.
    field = beams(96, 128)
    got = ht.propagate(field, distance_m, wavelength_m=WAVELENGTH_M, pitch_m=PITCH_M, method="angular_spectrum",
                       band_limit=False).numpy()
    expected = theirs(field, distance_m, propagation_method="ASM", asm_pad=(48, 64))
    assert relative_error(got, expected) < 1e-6


@pytest.mark.parametrize("method, tolerance", [("angular_spectrum", 1e-6), ("fresnel", 1e-4)])
def test_rayleigh_sommerfeld(method, tolerance):
    # Their sum is another formula than ours; fresnel is paraxial. It resolves its kernel from 2 (159 pixels) pitch /
    # wavelength = 38 mm on. The beams stay on the panel and well below the band limit.
    field = beams(128, 160)
    got = ht.propagate(field, 40e-3, wavelength_m=WAVELENGTH_M, pitch_m=PITCH_M, method=method).numpy()
    expected = theirs(field, 40e-3, propagation_method="DIM")
    assert relative_error(got, expected) < tolerance


def test_a_field_goes_there_and_back():
    # A tensor of theirs is read where it is, and the result is a tensor again.
    field = torchoptics.Field(torch.from_numpy(beams(64, 96)), WAVELENGTH_M, spacing=PITCH_M)
    data = field.data.to(torch.complex64)
    there = ht.propagate(data, 3e-3, wavelength_m=WAVELENGTH_M, pitch_m=PITCH_M)
    assert isinstance(there.values, torch.Tensor)
    back = torchoptics.Field(there.values, WAVELENGTH_M, z=3e-3, spacing=PITCH_M).propagate_to_z(0.0)
    assert relative_error(back.data.numpy(), data.numpy()) < 1e-2
