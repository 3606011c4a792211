"""slmsuite: what its simulated camera sees of a phase is what FourierLensPlan says, for phases made by both packages.

Its conventions: the far field is the forward transform (norm "ortho") of exp(+i phase) with frequency 0 at pixel n/2,
rows down, as a picture in the focal plane of a lens. Holotone's picture has the optical axis between the pixels n/2 - 1
and n/2: its samples shifted by half a pixel to the upper left are slmsuite's. Resolutions are (width, height). Light is
normalised to 1. set_phase takes radians; the codes it shows run the other way, 255 for a phase of 0.
"""

import numpy
import pytest

import holotone as ht

pytest.importorskip("slmsuite")
from slmsuite.hardware.cameras.simulated import SimulatedCamera  # noqa: E402
from slmsuite.hardware.slms.simulated import SimulatedSLM  # noqa: E402
from slmsuite.holography.algorithms import SpotHologram  # noqa: E402

NY, NX = 96, 128
GRID = {"shape": (NY, NX), "pitch_m": 8e-6, "wavelength_m": 532e-9}
FOCAL_LENGTH_M = 0.1
SPOTS = [(24, 30), (24, 100), (40, 64), (70, 30), (70, 90)]  # rows and columns, with no symmetry

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning:slmsuite")


def modulator(**options):
    return SimulatedSLM((NX, NY), pitch_um=(8, 8), wav_um=0.532, bitdepth=8, **options)


def shown(phase_rad):
    """Phase after rounding to the 256 levels that a panel shows."""
    return (numpy.round(phase_rad / (2 * numpy.pi) * 256) % 256 * (2 * numpy.pi / 256)).astype(numpy.float32)


def lens_intensity(phase_rad, right=-0.5, down=-0.5):
    """Holotone's intensity at slmsuite's samples, of unit light."""
    plan = ht.FourierLensPlan(**GRID, focal_length_m=FOCAL_LENGTH_M)
    field = (numpy.exp(1j * phase_rad) / numpy.sqrt(NY * NX)).astype(numpy.complex64)
    return plan.execute_intensity(field, plane=ht.LensPlane(right=right, down=down))


def retrieved(spots, camera=None, iterations=40):
    """Phase of Holotone for spots, at Holotone's samples."""
    # Without it the plane is 20 cm behind the focal plane.
    focal_plane = ht.RetrievalPlane(distance_m=0)
    plan = ht.PhaseRetrievalPlan(**GRID, focal_length_m=FOCAL_LENGTH_M, planes=[focal_plane], between_samples=False)
    target = numpy.zeros((NY, NX), numpy.float32)
    target[tuple(zip(*spots))] = 1
    plan.set_target(target)
    phase = ht.starting_phase((1, NY, NX), spread_rad=3.14, seed=4)
    plan.optimize(phase, solver="weighted_gerchberg_saxton", iterations=iterations, camera=camera)
    return phase[0]


def half_pixel_tilt():
    """Phase that moves slmsuite's samples by half a pixel to Holotone's."""
    y, x = numpy.mgrid[-NY // 2:NY // 2, -NX // 2:NX // 2]
    return -numpy.pi * (x / NX + y / NY)


def relative_error(got, expected):
    return numpy.linalg.norm(got - expected) / numpy.linalg.norm(expected)


def test_its_camera_sees_what_we_reconstruct():
    phase = retrieved(SPOTS)
    slm = modulator()
    slm.set_phase(phase)
    seen = SimulatedCamera(slm).render()
    assert relative_error(seen / seen.sum(), lens_intensity(shown(phase))) < 1e-5


def test_our_codes_are_its_codes_reversed():
    phase = retrieved(SPOTS, iterations=3)
    slm = modulator()
    slm.set_phase(phase)
    codes = ht.encode(numpy.exp(1j * phase).astype(numpy.complex64), encoding="phase", bits=8, **GRID)
    difference = (255 - slm.display.astype(int) - codes.astype(int) + 128) % 256 - 128
    # A phase in the middle between two levels may go either way.
    assert numpy.abs(difference).max() <= 1 and numpy.count_nonzero(difference) <= 5


def test_we_reconstruct_what_it_optimises():
    vectors = numpy.array([[column, row] for row, column in SPOTS]).T
    hologram = SpotHologram((NY, NX), vectors, basis="knm")
    hologram.optimize("WGS-Leonardo", maxiter=30, verbose=False)
    intensity = lens_intensity(numpy.asarray(hologram.get_phase()))
    spots = numpy.array([intensity[place] for place in SPOTS])
    assert spots.sum() > 0.8  # of all light, on 5 of 12,288 pixels
    assert spots.max() / spots.min() < 1.05


def test_the_camera_sees_our_spots_where_they_are_in_metres():
    # A camera of 4 um pixels in the focal plane; a picture pixel is 52 um wide and 69 um high.
    slm = modulator()
    camera = SimulatedCamera(slm, resolution=(1600, 1500), pitch_um=(4, 4))
    camera.set_affine(f_eff=FOCAL_LENGTH_M, units="m")
    slm.set_phase(retrieved(SPOTS))
    image = camera.render()
    step_y, step_x = (532e-9 * FOCAL_LENGTH_M / (n * 8e-6) for n in (NY, NX))
    for row, column in SPOTS:
        y, x = (row - (NY - 1) / 2) * step_y / 4e-6 + 750, (column - (NX - 1) / 2) * step_x / 4e-6 + 800
        corner = int(y) - 8, int(x) - 8
        near = image[corner[0]:corner[0] + 17, corner[1]:corner[1] + 17]
        brightest = numpy.add(numpy.unravel_index(near.argmax(), near.shape), corner)
        assert numpy.abs(brightest - (y, x)).max() < 4, (row, column, brightest, (y, x))
        assert near.max() > 0.5 * image.max()


def test_its_camera_in_our_loop():
    # The panel's phase is no straight line of its code, which Holotone learns only from the camera's pictures. It shows
    # in a lattice of spots, whose ghosts fall on each other.
    lattice = [(16 + 16 * row, 16 + 16 * column) for row in range(5) for column in range(7)]
    level = numpy.arange(256) / 256
    source = {"amplitude_sim": numpy.ones((NY, NX)), "phase_sim": half_pixel_tilt()}
    slm = modulator(source=source, gamma_sim=level + 0.2 * numpy.sin(2 * numpy.pi * level) * level)
    camera = SimulatedCamera(slm)

    def seen(phase_rad):
        slm.set_phase(phase_rad)
        return camera.render()

    def measure(phase_rad, amplitude):
        amplitude[0, 0] = numpy.sqrt(seen(phase_rad[0]))

    def unevenness(phase_rad):
        spots = seen(phase_rad)[tuple(zip(*lattice))]
        return spots.std() / spots.mean()

    blind, seeing = unevenness(retrieved(lattice)), unevenness(retrieved(lattice, camera=measure))
    assert seeing < 0.5 * blind, (seeing, blind)
