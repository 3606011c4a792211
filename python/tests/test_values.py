"""Results against closed forms and float64 sums of reference.py. Tolerances are those that the headers state."""

import numpy as np
import pytest
import reference
from conftest import GRID, PITCH_M, WAVELENGTH_M, check, host, noise, on

import holotone as ht

SHAPE = (65, 96)
POSITION = np.array([[1e-4, -5e-5, -0.1], [-2e-4, 1e-4, -0.02], [0, 3e-5, 0.09], [5e-5, 0, -0.3]], "float32")
AMPLITUDE = np.array([1.0, 0.5, -0.7, 2.0], "float32")
PHASE = np.array([0.0, 1.0, 2.0, -1.0], "float32")


# Points.


@pytest.mark.parametrize("wave,method", [("fresnel", "direct"), ("fresnel", "auto"), ("spherical", "direct")])
def test_point_cloud_field(device, wave, method):
    tolerance = 1e-5
    found = ht.point_cloud_field(
        on(POSITION, device), on(AMPLITUDE, device), on(PHASE, device),
        shape=SHAPE, **GRID, wave=wave, method=method, tolerance=tolerance, device=device,
    )
    assert (found.pitch_m, found.wavelength_m) == (PITCH_M, WAVELENGTH_M)
    expected = reference.point_field(POSITION, AMPLITUDE, PHASE, SHAPE, PITCH_M, WAVELENGTH_M, wave=wave)
    check(found, expected, tolerance)


def test_the_band_limit_cuts_a_near_point():
    near = np.array([[0, 0, -0.004]], "float32")
    one = np.ones(1, "float32")
    for band_limit in (True, False):
        found = ht.point_cloud_field(
            near, one, shape=SHAPE, **GRID, wave="fresnel", band_limit=band_limit, tolerance=1e-5)
        expected = reference.point_field(near, one, [0], SHAPE, PITCH_M, WAVELENGTH_M, band_limit=band_limit)
        assert np.any(expected == 0) == band_limit
        check(found, expected, 1e-5)


def test_all_outputs_of_a_plan(rng):
    plan = ht.PointCloudPlan(shape=SHAPE, **GRID, wave="fresnel", tolerance=1e-5)
    plan.set_points(POSITION, AMPLITUDE, PHASE)
    field, real, phase = np.empty(SHAPE, "complex64"), np.empty(SHAPE, "float32"), np.empty(SHAPE, "uint8")
    plan.execute(field=field, real=real, phase=phase)
    check(real, field.real, 1e-5)
    turns = np.angle(field.astype("complex128")) / (2 * np.pi)
    distance = (phase - turns * 256 + 128) % 256 - 128
    assert np.abs(distance).max() <= 0.5 + 1e-3
    values = plan.adjoint(field)
    waves = reference.point_waves(POSITION, SHAPE, PITCH_M, WAVELENGTH_M)
    check(values, np.einsum("nyx,yx->n", waves.conj(), field.astype("complex128")), 1e-5)


# Propagation.


@pytest.mark.parametrize("band_limit", [True, False])
@pytest.mark.parametrize("distance_m", [0.003, 0.1, -0.05])
def test_angular_spectrum(device, rng, distance_m, band_limit):
    field = noise(rng, *SHAPE)
    plan = ht.PropagationPlan(shape=SHAPE, **GRID, method="angular_spectrum", band_limit=band_limit, device=device)
    expected = reference.angular_spectrum(field, distance_m, PITCH_M, WAVELENGTH_M, band_limit)
    check(plan.execute(on(field, device), distance_m), expected, 1e-6)
    intensity = plan.execute_intensity(on(field, device), distance_m)
    check(intensity, np.abs(expected) ** 2, 2e-6)


def test_cyclic_angular_spectrum(device, rng):
    field = noise(rng, *SHAPE)
    plan = ht.PropagationPlan(
        shape=SHAPE, **GRID, method="angular_spectrum", zero_pad=False, band_limit=False, device=device
    )
    found = host(plan.execute(on(field, device), 0.05))
    check(found, reference.angular_spectrum(field, 0.05, PITCH_M, WAVELENGTH_M, False, False), 1e-6)
    assert np.vdot(found, found).real == pytest.approx(np.vdot(field, field).real, rel=1e-5)  # energy


def test_fresnel(rng):
    field = noise(rng, *SHAPE)
    distance_m = 2 * ht.fresnel_distance_m(shape=SHAPE, **GRID)
    found = ht.propagate(field, distance_m, method="fresnel", **GRID)
    check(found, reference.fresnel(field, distance_m, PITCH_M, WAVELENGTH_M), 1e-6)


def test_one_shot_is_the_plan(rng):
    field = noise(rng, *SHAPE)
    plan = ht.PropagationPlan(shape=SHAPE, **GRID)
    assert np.array_equal(ht.propagate(field, 0.1, **GRID), plan.execute(field, 0.1))
    plan.set_input(field)
    for _ in range(3):  # the second call makes the shared transform
        check(plan.execute(distance_m=0.1), plan.execute(field, 0.1), 1e-6)


def test_reconstruction_is_the_intensity_of_a_propagation_back(rng):
    field = noise(rng, *SHAPE)
    plan = ht.ReconstructionPlan(shape=SHAPE, **GRID, method="angular_spectrum")
    plan.set_field(field)
    check(plan.execute(0.1), np.abs(reference.angular_spectrum(field, -0.1, PITCH_M, WAVELENGTH_M)) ** 2, 2e-6)


# Layers, eye.


@pytest.mark.parametrize("distance_m", [0.05, -0.05])
@pytest.mark.parametrize("phase", ["smooth", "random"])
def test_one_layer_is_a_propagation(rng, distance_m, phase):
    intensity = rng.random(SHAPE, "float32")
    plan = ht.LayerPlan(shape=SHAPE, **GRID, phase=phase, seed=3)
    plan.set_layers([ht.Layer(intensity=intensity, distance_m=distance_m)])
    angle = ht.random_phase(intensity.size, seed=3).reshape(SHAPE) if phase == "random" else 0
    light = np.sqrt(intensity) * np.exp(1j * angle)
    check(plan.execute(), reference.angular_spectrum(light, distance_m, PITCH_M, WAVELENGTH_M), 2e-6)


def test_layer_field_of_a_flat_picture():
    """A picture at one distance is one layer: its own pixels on the panel's."""
    intensity = np.zeros(SHAPE, "float32")
    intensity[20:40, 30:60] = 1
    found = ht.layer_field(
        intensity, np.full(SHAPE, 0.1, "float32"), width_m=SHAPE[1] * PITCH_M, shape=SHAPE, phase="smooth", **GRID
    )
    distance_m = float(np.float32(0.1))  # 1.5 nm more than 0.1: exp(ikd) turns by 0.018 rad
    check(found, reference.angular_spectrum(np.sqrt(intensity), distance_m, PITCH_M, WAVELENGTH_M), 2e-6)


def test_eye(rng):
    """look is the mean of |look_field|^2 over each pixel; the eye sees a point where it is."""
    grid = {"shape": (64, 64), **GRID}
    pupil = ht.EyePupil(width_m=4e-3, height_m=4e-3, distance_m=0.3)
    position = np.array([[1e-4, -6e-5, -0.1]], "float32")
    plan = ht.EyePlan(**grid, pupil=pupil)
    plan.add_rows(host(ht.point_cloud_field(position, np.ones(1, "float32"), **grid)), 0)
    seen, samples = plan.look(0.1), plan.look_field(0.1)
    ny, nx = seen.shape
    assert (ny, nx) == (plan.output_grid().ny, plan.output_grid().nx)
    blocks = np.abs(samples.astype("complex128").reshape(ny, samples.shape[0] // ny, nx, -1)) ** 2
    check(seen, blocks.mean((1, 3)), 1e-5)
    row, column = np.unravel_index(np.argmax(seen), seen.shape)
    x, y = reference.pixels((64, 64), PITCH_M)
    # The panel of half a millimetre resolves 0.1 mm at this distance.
    assert abs(x[0, column] - 1e-4) < 4 * PITCH_M and abs(y[row, 0] + 6e-5) < 4 * PITCH_M


# Fourier transforms.


@pytest.mark.parametrize("shape", [(32, 48), (65, 96), (7, 5)])
def test_fft(device, rng, shape):
    field = noise(rng, *shape)
    data = on(field.copy(), device)
    plan = ht.FftPlan(shape, device=device)
    assert plan.execute(data, "forward") is None
    tolerance = 6e-8 * (2 + np.log2(field.size))
    check(data, np.fft.fft2(field.astype("complex128")), tolerance)
    plan.execute(data, "inverse")
    check(data, field, 2 * tolerance)


MODES = [(9, 14), (6, 5, 8)]


def nufft_case(rng, modes, real_type, device="cpu"):
    points = rng.uniform(-1, 2, (40, len(modes))).astype(real_type)
    plan = ht.NufftPlan(modes, tolerance=1e-5 if real_type == "float32" else 1e-11, dtype=real_type, device=device)
    plan.set_points(on(points, device))
    assert plan.points == 40 and tuple(plan.shape) == modes
    return plan, reference.mode_waves(points, modes), 1e-5 if real_type == "float32" else 1e-11


@pytest.mark.parametrize("modes", MODES)
@pytest.mark.parametrize("real_type", ["float32", "float64"])
def test_nufft(rng, modes, real_type):
    plan, waves, tolerance = nufft_case(rng, modes, real_type)
    complex_type = {"float32": "complex64", "float64": "complex128"}[real_type]
    strengths, spectrum = noise(rng, 40, dtype=complex_type), noise(rng, *modes, dtype=complex_type)
    axes = list(range(len(modes)))
    found = plan.type1(strengths)
    assert found.dtype == complex_type
    # One draw of strengths: the tolerance holds in the mean.
    check(found, np.tensordot(strengths, waves, 1), 2 * tolerance)
    check(plan.type2(spectrum), np.tensordot(waves.conj(), spectrum, [[a + 1 for a in axes], axes]), 2 * tolerance)


@pytest.mark.parametrize("modes", MODES)
@pytest.mark.parametrize("real_type", ["float32", "float64"])
def test_nufft_of_real_strengths(rng, modes, real_type):
    plan, waves, tolerance = nufft_case(rng, modes, real_type)
    strengths = rng.standard_normal(40).astype(real_type)
    half = plan.type1(strengths)
    full = np.tensordot(strengths, waves, 1)
    n = modes[-1]
    assert half.shape == (*modes[:-1], n // 2 + 1)
    # The modes k_x = 0 .. n / 2; for even n the last is the mode -n / 2, whose conjugate is at -k.
    check(half[..., : (n + 1) // 2], full[..., n // 2 :], 2 * tolerance)
    values = plan.type2(half, real=True)
    assert values.dtype == real_type


@pytest.mark.parametrize("modes", MODES)
def test_nufft_gradient(rng, modes):
    plan, waves, _ = nufft_case(rng, modes, "float64")
    spectrum = noise(rng, *modes, dtype="complex128")
    values, slope = plan.type2(spectrum, gradient=True)
    check(values, plan.type2(spectrum), 1e-12)
    axes = list(range(len(modes)))
    for component in range(len(modes)):
        axis = len(modes) - 1 - component
        n = modes[axis]
        k = np.arange(-(n // 2), n - n // 2).reshape([-1 if a == axis else 1 for a in axes])
        expected = np.tensordot(waves.conj(), 2j * np.pi * k * spectrum, [[a + 1 for a in axes], axes])
        check(slope[:, component], expected, 1e-10)


def test_nufft_on_every_device(device, rng):
    if device.startswith("opencl"):
        with pytest.raises(ht.UnsupportedError, match="NufftPlan.*expected the CPU"):
            ht.NufftPlan((9, 14), device=device)
        return
    plan, waves, tolerance = nufft_case(rng, (9, 14), "float32", device)
    strengths = noise(rng, 40)
    check(plan.type1(on(strengths, device)), np.tensordot(strengths, waves, 1), 2 * tolerance)


# Encoding.


def test_encode_phase(rng):
    field = noise(rng, *SHAPE)
    codes = ht.encode(field, shape=SHAPE, **GRID, bits=8)
    expected = np.floor(np.angle(field.astype("complex128")) / (2 * np.pi) * 256 + 0.5) % 256
    differs = codes != expected
    print(f"{differs.sum()} of {codes.size} codes differ by rounding")
    assert codes.dtype == np.uint16 and differs.sum() <= 1  # an error of 2.5e-7 turns, 256 levels: 1.3e-4 a pixel
    light = ht.modulation_of(codes, shape=SHAPE, **GRID, bits=8, report=ht.EncodeReport())
    check(light, np.exp(2j * np.pi * codes / 256), 1e-6)


def test_encode_amplitude_reports_its_range(rng):
    field, report = noise(rng, *SHAPE), ht.EncodeReport()
    codes = ht.encode(field, shape=SHAPE, **GRID, encoding="amplitude", report=report)
    top = np.abs(field.real).max()
    assert report.amplitude_max == pytest.approx(top, rel=1e-6) and report.amplitude_min == -report.amplitude_max
    expected = np.floor((field.real.astype("float64") + top) / (2 * top) * 255 + 0.5)
    assert np.abs(codes - expected).max() <= 1 and np.mean(codes != expected) < 1e-3


def test_encode_plan_of_eight_bits(rng):
    field = noise(rng, *SHAPE)
    plan = ht.EncodePlan(shape=SHAPE, **GRID)
    assert np.array_equal(plan.execute(field), ht.encode(field, shape=SHAPE, **GRID))


def test_encode_plan_writes_eight_bit_codes(rng):
    field = noise(rng, *SHAPE)
    plan = ht.EncodePlan(shape=SHAPE, **GRID)
    codes = plan.execute(field, out=np.empty(SHAPE, "uint8"))
    assert np.array_equal(codes, plan.execute(field))


def test_error_diffusion_keeps_the_mean_of_the_light(rng):
    """Blurred over 5 x 5 pixels, the light of diffused codes is nearer to the field than that of rounded ones."""
    y, x = np.mgrid[:64, :96] / 96
    field = ((0.3 + 0.5 * x) * np.exp(2j * np.pi * (x + 0.5 * y))).astype("complex64")
    plan = ht.ErrorDiffusionPlan(ht.floyd_steinberg_weights(), field.shape, bits=4, scale=1)
    codes = plan.execute(field)
    assert codes.dtype == np.uint8 and codes.max() < 16

    def error(light):
        difference = light - field
        blurred = sum(np.roll(difference, (dy, dx), (0, 1)) for dy in range(-2, 3) for dx in range(-2, 3)) / 25
        return np.linalg.norm(blurred[4:-4, 4:-4])

    diffused = error(np.exp(2j * np.pi * codes / 16))
    rounded = error(np.exp(2j * np.pi * np.round(np.angle(field) / (2 * np.pi) * 16) / 16))
    print(f"diffused {diffused:.2f}, rounded {rounded:.2f}")
    assert diffused < rounded / 2


# Phase retrieval.


@pytest.fixture
def retrieval():
    target = np.zeros((32, 48), "float32")
    target[8:24, 12:36] = np.linspace(0.2, 1, 24)
    plan = ht.PhaseRetrievalPlan(shape=target.shape, **GRID, planes=[ht.RetrievalPlane(distance_m=0.02)])
    plan.set_target(target)
    return plan


def test_retrieval_raises_the_psnr(retrieval):
    phase = ht.starting_phase((1, 32, 48))
    before = retrieval.quality(phase)[0].psnr_db
    seen = []
    result = retrieval.optimize(phase, iterations=10, report=lambda i, psnr: seen.append((i, psnr)))
    after = retrieval.quality(phase)[0].psnr_db
    print(f"{before:.1f} dB, then {after:.1f} dB")
    assert result.iterations == 10 and [i for i, _ in seen] == list(range(1, 11))
    assert after > before + 3 and seen[-1][1] > seen[0][1]


def test_retrieval_gradient_is_that_of_its_loss(retrieval, rng):
    phase = ht.starting_phase((1, 32, 48))
    loss, derivative = retrieval.gradient(phase)
    along = rng.standard_normal(phase.shape).astype("float32")
    step = 1e-2
    slope = (retrieval.gradient(phase + step * along)[0] - retrieval.gradient(phase - step * along)[0]) / (2 * step)
    assert loss > 0 and slope == pytest.approx(float(np.vdot(derivative, along)), rel=2e-2)


def test_retrieval_with_a_camera(retrieval):
    """The camera is called with phases {frames, ny, nx} and fills amplitudes {planes, positions, ny, nx}."""
    shapes = set()

    def camera(phase_rad, amplitude):
        shapes.add((phase_rad.shape, amplitude.shape, phase_rad.dtype.name, amplitude.dtype.name))
        assert amplitude.flags.writeable and not phase_rad.flags.writeable
        field = np.exp(1j * phase_rad[0].astype("float64"))
        light = np.abs(reference.angular_spectrum(field, -0.02, PITCH_M, WAVELENGTH_M))
        amplitude[:] = light  # at all four positions: a coarse camera

    phase = ht.starting_phase((1, 32, 48))
    before = retrieval.quality(phase)[0].psnr_db
    retrieval.optimize(phase, solver="adam", iterations=10, camera=camera)
    after = retrieval.quality(phase)[0].psnr_db
    print(f"{before:.1f} dB, then {after:.1f} dB")
    assert shapes == {((1, 32, 48), (1, 4, 32, 48), "float32", "float32")}
    assert after > before + 1


# Halftones.


def test_halftone_of_a_grey_ramp():
    """No dot is lost or made, all are on the page, and their density follows the ink."""
    ink = np.tile(np.linspace(0, 1, 64, dtype="float32"), (48, 1))
    plan = ht.ElectrostaticPlan(ink.shape, 320)
    plan.set_ink(ink)
    plan.set_positions(ht.importance_sampled_dots(ink, 320, seed=1).position.reshape(-1, 2))
    force = plan.forces()
    report = ht.electrostatic_halftone(plan, iterations=40)
    assert report.iterations > 0 and report.force.mean < np.linalg.norm(force, axis=1).mean() / 2
    x, y = plan.positions().T
    assert plan.count() == len(x) == 320
    assert 0 <= x.min() and x.max() <= 64 and 0 <= y.min() and y.max() <= 48
    shares = np.histogram(x, [0, 16, 32, 48, 64])[0] / 320
    print("shares of the quarters", shares)
    assert np.allclose(shares, [1 / 16, 3 / 16, 5 / 16, 7 / 16], atol=0.02)


def test_make_halftone():
    ink = np.full((48, 64), 0.5, "float32")
    made = ht.make_halftone([ink], dots=100, descent=ht.DescentOptions(iterations=10))
    assert made.dots.position.size == 200 and (made.dots.width, made.dots.height) == (64, 48)


# Mixtures of experts.


def test_smoe_fit_and_render():
    y, x = np.mgrid[:48, :64] / 64
    picture = np.stack([x, y, (np.hypot(x - 0.5, y - 0.4) < 0.25)], -1).astype("float32")
    constant = reference.psnr(picture, picture.mean((0, 1)))
    fitter = ht.SmoeFitter(picture, components=30, iterations=40)
    fitter.run()
    model = fitter.model()
    image = ht.SmoeRenderer(model, tolerance=1e-6).render(ht.SmoeView(size=(48, 64)))
    found = reference.psnr(image, picture)
    print(f"constant {constant:.1f} dB, fitted {found:.1f} dB")
    assert found > constant + 10 and found == pytest.approx(fitter.psnr_db(), abs=0.1)
    shapes = {"centre": (-1, 2), "covariance": (-1, 3), "colour": (-1, 3), "slope": (-1, 3, 2)}
    parts = {name: getattr(model, name).astype("float64").reshape(shape) for name, shape in shapes.items()}
    expected = reference.mixture(model.log_weight.astype("float64"), *parts.values(), (48, 64))
    assert np.abs(image - expected).max() < 1e-5  # tolerance and float32


VIEWS = [ht.SmoeFitView(image=np.full((16, 24, 1), 0.3, "float32"), at=(u,)) for u in (-1.0, 1.0)]


def test_smoe_fit_of_views():
    fitter = ht.SmoeFitter(VIEWS, components=4, iterations=1)
    fitter.run()
    assert fitter.model().dimensions == 3


def test_smoe_render_of_views():
    model = ht.fit_smoe(np.full((16, 24, 1), 0.3, "float32"), components=4, iterations=1)
    renderer, view = ht.SmoeRenderer(model), ht.SmoeView(size=(16, 24))
    assert renderer.render([view, view]).shape == (2, 16, 24, 1)
    assert renderer.render([view], out=np.empty((1, 16, 24, 1), "uint8")).dtype == np.uint8


# Stereograms.

STEREOGRAM = {"shape": (64, 96), "hogel_px": 32, **GRID}


class Plain:
    """Light 1 from everywhere."""

    def channels(self):
        return 1

    def has_distances(self):
        return False

    def look(self, rays, channel, intensity, distance_m):
        assert distance_m is None and intensity.shape == rays.shape and channel == 0
        intensity[:] = 1


def test_stereogram_of_a_python_object():
    """|U|^2 is on average the mean of I over all N^2 frequencies, of which (N - 1)^2 have light."""
    field = ht.stereogram_field(Plain(), 0, **STEREOGRAM)
    assert np.mean(np.abs(host(field)) ** 2) == pytest.approx((31 / 32) ** 2, rel=1e-5)
    assert (field.pitch_m, field.wavelength_m) == (PITCH_M, WAVELENGTH_M)


def test_a_python_object_sees_the_dice_as_the_library_does():
    scene = ht.DiceScene()

    class Passing(Plain):
        channels, has_distances = scene.channels, scene.has_distances

        def look(self, rays, channel, intensity, distance_m):
            scene.look(rays, channel, intensity, distance_m)

    for method in ("flat", "layered"):
        field_there = ht.stereogram_field(scene, 1, method=method, **STEREOGRAM).numpy()
        assert np.array_equal(ht.stereogram_field(Passing(), 1, method=method, **STEREOGRAM).numpy(), field_there)
        assert np.abs(field_there).max() > 0


def test_rows_of_a_stereogram():
    scene = ht.DiceScene()
    plan = ht.StereogramPlan(**STEREOGRAM)
    report, upper = plan.execute(scene, 0, rows=32)
    assert report.hogels == 3
    assert np.array_equal(upper, ht.stereogram_field(scene, 0, **STEREOGRAM).numpy()[:32])


def test_a_stereogram_without_rows_is_whole():
    report, field = ht.StereogramPlan(**STEREOGRAM).execute(ht.DiceScene(), 0)
    assert field.shape == (64, 96)


# Words and defaults.


@pytest.mark.parametrize("call,one,other", [
    (lambda word: ht.PropagationPlan(shape=(4, 5), **GRID, method=word).options().method, "angular_spectrum", "angular-spectrum"),
    (lambda word: ht.HalftoneOptions(method=word).method, "capacity_voronoi", "ccvt"),
    (lambda word: ht.HalftoneOptions(method=word).method, "floyd_steinberg", "floyd-steinberg"),
    (lambda word: ht.SolverOptions(solver=word).solver, "gerchberg_saxton", "gs"),
    (lambda word: ht.SolverOptions(solver=word).solver, "weighted_gerchberg_saxton", "wgs"),
    (lambda word: ht.EncodeOptions(encoding=word).encoding, "single_sideband", "single-sideband"),
])
def test_words_of_the_program_are_taken(call, one, other):
    assert call(one) == call(other) == one


def test_codes_without_a_range_need_no_report(rng):
    field = ht.Field(noise(rng, 8, 9), **GRID)
    codes = ht.encode(field)
    assert codes.dtype == np.uint16
    light = ht.modulation_of(codes, **GRID)
    assert np.array_equal(light, ht.modulation_of(codes, shape=(8, 9), **GRID, report=ht.EncodeReport()))
    assert np.abs(np.angle(light * np.conj(field.values))).max() <= np.pi / 256 + 1e-5


def test_ink_without_a_mask(rng):
    pixels = rng.random((5, 6, 1), "float32")
    ones = ht.ink_from_pixels(pixels, mask=np.ones((5, 6), "float32"))
    assert np.array_equal(ht.ink_from_pixels(pixels), ones) and np.array_equal(ht.ink_from_pixels(pixels, mask=None), ones)


# Shapes of members.


@pytest.mark.parametrize("wrong", [np.ones((3, 3)), np.ones((2, 3)), [1, 2, 3], np.ones((1, 2, 2)), 5, [[1, 2], [3]]])
def test_positions_of_another_shape_are_refused(wrong):
    dots = ht.Dots(width=8, height=8, position=[[1, 2]])
    with pytest.raises(ht.ArgumentError, match="Dots: position: expected"):
        dots.position = wrong
    with pytest.raises(ht.ArgumentError, match="Dots: position: expected"):
        ht.Dots(width=8, height=8, position=wrong)
    assert dots.position.tolist() == [[1, 2]]
    dots.position = []
    assert dots.count() == 0


def test_a_mixture_has_members_of_its_dimensions():
    model = ht.SmoeModel(dimensions=4, channels=1, centre=np.ones((2, 4)), colour=np.ones((2, 1)))
    for member, wrong in (("centre", np.ones((2, 3))), ("colour", np.ones((2, 3))), ("slope", np.ones((2, 4, 1)))):
        with pytest.raises(ht.ArgumentError, match=f"SmoeModel: {member}: expected numbers .n, "):
            setattr(model, member, wrong)
    with pytest.raises(ht.ArgumentError, match="dimensions: expected a number that fits the 8 numbers of centre"):
        model.dimensions = 3
    assert model.dimensions == 4 and model.centre.shape == (2, 4)
    assert ht.SmoeModel(centre=np.ones((2, 4)), dimensions=4).centre.shape == (2, 4)  # in any order


@pytest.mark.parametrize("make", [
    lambda: ht.Layer(intensity=np.ones(4, "float32")), lambda: ht.SmoeFitView(image=np.ones((4, 4), "float32")),
    lambda: ht.Image(np.ones(4, "uint8")), lambda: ht.Field(np.ones(4, "complex64"), **GRID),
    lambda: setattr(ht.Layer(intensity=np.ones((4, 4), "float32")), "mask", b"1234"),
], ids=["layer", "view", "image", "field", "mask"])
def test_arrays_of_objects_have_their_axes(make):
    with pytest.raises(ht.ArgumentError, match=r"(Layer|SmoeFitView|Image|Field): \w+: expected an array of (two|three|two or three) axes"):
        make()


def test_repr_of_what_is_not_made():
    for kind in (ht.Dots, ht.Array, ht.Field, ht.Layer, ht.PropagationPlan, ht.EncodeOptions):
        assert kind.__name__ in repr(kind.__new__(kind))
