"""holotone.torch and holotone.gradients against adjoints and central differences of reference.py in float64."""

import json

import numpy as np
import pytest
import reference
from conftest import GRID, PITCH_M, WAVELENGTH_M, relative_error

import holotone as ht
from holotone import gradients

torch = pytest.importorskip("torch")
import holotone.torch as htt  # noqa: E402

SHAPE = (24, 33)
PUPIL = {"width_m": 4e-3, "height_m": 4e-3, "distance_m": 0.3}
TORCH_DEVICES = ["cpu", pytest.param("cuda:0", marks=pytest.mark.skipif(
    not any(name.startswith("cuda") for name in ht.devices()), reason="no CUDA device"))]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(1)


def noise(*shape, dtype=torch.complex64, device="cpu"):
    return torch.randn(*shape, dtype=dtype).to(device)


def gradient_by(argument, loss):
    argument = argument.clone().requires_grad_()
    return torch.autograd.grad(loss(argument), argument)[0]


def inner(a, b):
    """Re <a, b> in float64."""
    wide = [x.detach().cpu().to(torch.complex128 if x.is_complex() else torch.float64).flatten() for x in (a, b)]
    return float(torch.vdot(*wide).real)


# Linear maps: <J x, y> = <x, J^T y>.


def check_adjoint(map_of, x, y, tolerance=1e-5):
    x = x.clone().requires_grad_()
    result = map_of(x)
    (back,) = torch.autograd.grad(result, x, y)
    forward, backward = inner(result, y), inner(x, back)
    error = abs(forward - backward) / float(result.detach().norm() * y.norm())
    print(f"error {error:.1e} of {tolerance:.0e}")
    assert back.shape == x.shape and back.dtype == x.dtype and back.device == x.device
    assert float(back.norm()) > 0 and error < tolerance


@pytest.mark.parametrize("method,distance_m", [("angular_spectrum", 0.01), ("fresnel", 0.05), ("auto", -0.02)])
@pytest.mark.parametrize("device", TORCH_DEVICES)
def test_propagate(device, method, distance_m):
    for zero_pad, band_limit in ((True, True), (False, False)):
        options = {"method": method, "zero_pad": zero_pad, "band_limit": band_limit}
        check_adjoint(lambda u: htt.propagate(u, distance_m, **options, **GRID),
                      noise(*SHAPE, device=device), noise(*SHAPE, device=device))


@pytest.mark.parametrize("device", TORCH_DEVICES)
def test_eye(device):
    plan = ht.EyePlan(shape=SHAPE, **GRID, pupil=ht.EyePupil(**PUPIL))
    cotangent = noise(*plan.field_shape(0.1), device=device)
    check_adjoint(lambda u: htt.eye_look_field(u, 0.1, pupil=PUPIL, **GRID), noise(*SHAPE, device=device), cotangent)


@pytest.mark.parametrize("device", TORCH_DEVICES)
def test_layers_are_linear_in_the_root_of_the_intensity(device):
    """With I = a^2 and fixed masks the field is linear in a >= 0."""
    roots = (0.1 + torch.rand(3, *SHAPE)).to(device)
    mask = (torch.rand(3, *SHAPE) > 0.5).float().to(device)
    for phase in ("random", "smooth"):
        check_adjoint(lambda a: htt.layer_field(a**2, [0.1, 0.05, -0.05], mask=mask, phase=phase, **GRID),
                      roots, noise(*SHAPE, device=device))


@pytest.mark.parametrize("modes", [(10, 13), (5, 6, 8)])
@pytest.mark.parametrize("real", [torch.float32, torch.float64])
def test_nufft(modes, real):
    complex_type = torch.complex64 if real == torch.float32 else torch.complex128
    points, tolerance = torch.rand(20, len(modes), dtype=real), 1e-5
    strengths, spectrum = noise(20, dtype=complex_type), noise(*modes, dtype=complex_type)
    check_adjoint(lambda c: htt.nufft_type1(points, c, modes, tolerance=tolerance), strengths, spectrum)
    check_adjoint(lambda f: htt.nufft_type2(points, f, tolerance=tolerance), spectrum, strengths)


def test_nufft_of_real_strengths_is_refused_or_right():
    strengths = torch.randn(20, requires_grad=True)
    try:
        result = htt.nufft_type1(torch.rand(20, 2), strengths, (10, 13))
    except (TypeError, ht.ArgumentError):
        return
    result.abs().square().sum().backward()


POSITION = torch.tensor([[1e-5, 2e-5, -0.1], [-3e-5, 1e-5, -0.12], [4e-5, -5e-5, 0.09], [0, 0, -0.2]])
AMPLITUDE = torch.tensor([1.0, 0.5, -0.7, 0.3])
PHASE = torch.tensor([0.0, 1.0, 2.0, -1.0])


def points(position, amplitude, phase):
    return htt.point_cloud_field(position, amplitude, phase, shape=SHAPE, tolerance=1e-5, **GRID)


def test_amplitudes_of_points():
    check_adjoint(lambda a: points(POSITION, a, PHASE), AMPLITUDE, noise(*SHAPE))


# Nonlinear maps: central differences of the float64 reference.


def differences(loss, arguments, steps):
    """Central differences of loss(*arguments) by every number of every argument, in float64."""
    found = []
    for index, (argument, step) in enumerate(zip(arguments, steps)):
        slope = np.zeros(argument.shape)
        for place in np.ndindex(argument.shape):
            values = []
            for sign in (1, -1):
                moved = [np.array(a) for a in arguments]
                moved[index][place] += sign * np.broadcast_to(step, argument.shape)[place]
                values.append(loss(*moved))
            slope[place] = (values[0] - values[1]) / (2 * np.broadcast_to(step, argument.shape)[place])
        found.append(slope)
    return found


def wide(*tensors):
    return [x.detach().cpu().numpy().astype("complex128" if x.is_complex() else "float64") for x in tensors]


def check_gradients(found, expected, tolerance):
    for one, other in zip(found, expected):
        error = relative_error(one, other)
        print(f"error {error:.1e} of {tolerance:.0e}")
        assert error < tolerance


@pytest.mark.parametrize("device", TORCH_DEVICES)
def test_positions_and_phases_of_points(device):
    weight = noise(*SHAPE)
    arguments = [x.to(device).requires_grad_() for x in (POSITION.clone(), AMPLITUDE.clone(), PHASE.clone())]
    loss = (weight.to(device).conj() * points(*arguments)).real.sum()
    found = torch.autograd.grad(loss, arguments)
    weight = weight.numpy().astype("complex128")

    def reference_loss(position, amplitude, phase):
        field = reference.point_field(position, amplitude, phase, SHAPE, PITCH_M, WAVELENGTH_M)
        return np.vdot(weight, field).real

    steps = (np.array([1e-8, 1e-8, 1e-6]), 1e-3, 1e-4)
    expected = differences(reference_loss, wide(POSITION, AMPLITUDE, PHASE), steps)
    columns = [found[0][:, i] for i in range(3)]  # x, y and z have scales of their own
    check_gradients([*columns, *found[1:]], [*expected[0].T, *expected[1:]], 2e-5)


@pytest.mark.parametrize("modes", [(6, 9), (4, 5, 6)])
def test_points_of_nufft(modes):
    place = torch.rand(7, len(modes), dtype=torch.float64)
    strengths, spectrum = noise(7, dtype=torch.complex128), noise(*modes, dtype=torch.complex128)
    axes = list(range(len(modes)))
    f, c = wide(spectrum, strengths)

    def type1(x):
        return np.vdot(f, np.tensordot(c, reference.mode_waves(x, modes), 1)).real

    def type2(x):
        waves = reference.mode_waves(x, modes).conj()
        return np.vdot(c, np.tensordot(waves, f, [[a + 1 for a in axes], axes])).real

    options = {"tolerance": 1e-10}
    by_type1 = gradient_by(place, lambda x: (
        spectrum.conj() * htt.nufft_type1(x, strengths, modes, **options)).real.sum())
    by_type2 = gradient_by(place, lambda x: (
        strengths.conj() * htt.nufft_type2(x, spectrum, **options)).real.sum())
    expected = [differences(loss, wide(place), (1e-6,))[0] for loss in (type1, type2)]
    check_gradients([by_type1, by_type2], expected, 1e-7)


def test_intensity_of_layers():
    """Of two layers with full masks the nearer alone is seen, and has a derivative."""
    intensity = 0.1 + torch.rand(2, 12, 14)
    weight, mask = noise(12, 14), torch.ones(2, 12, 14)
    found = gradient_by(intensity, lambda i: (weight.conj() * htt.layer_field(
        i, [0.01, 0.002], mask=mask, phase="smooth", **GRID)).real.sum())
    (w,) = wide(weight)

    def loss(near):
        return np.vdot(w, reference.angular_spectrum(np.sqrt(near), 0.002, PITCH_M, WAVELENGTH_M)).real

    assert not found[0].any()
    check_gradients([found[1]], differences(loss, wide(intensity[1]), (1e-5,)), 1e-5)


def test_dark_pixels_of_layers_have_no_derivative():
    intensity = torch.rand(1, *SHAPE)
    intensity[:, :5] = 0
    found = gradient_by(intensity, lambda i: htt.layer_field(i, [0.05], **GRID).real.sum())
    assert torch.isfinite(found).all() and not found[:, :5].any() and found[:, 5:].all()


def test_mixture():
    size, count = (12, 16), 5
    parameters = [
        0.3 * torch.randn(count), torch.rand(count, 2) * torch.tensor([16.0, 12.0]),
        torch.tensor([[9.0, 1.5, 6.0]]) + torch.rand(count, 3), torch.rand(count, 2), 0.05 * torch.randn(count, 2, 2),
    ]
    weight = torch.randn(*size, 2)
    leaves = [x.clone().requires_grad_() for x in parameters]
    image = htt.smoe_render(*leaves, size=size, tolerance=1e-7)
    check_gradients([image], [reference.mixture(*wide(*parameters), size)], 1e-6)
    found = torch.autograd.grad((weight * image).sum(), leaves)
    (w,) = wide(weight)
    expected = differences(lambda *values: np.sum(w * reference.mixture(*values, size)), wide(*parameters), [1e-5] * 5)
    check_gradients(found, expected, 1e-5)


def test_encode_phase_passes_straight_through():
    """Forward: the nearest level. Backward: the derivative of exp(i arg U), as if it were not rounded."""
    field, weight = noise(5, 6), noise(5, 6)
    levels = 2 * np.pi / 16
    modulated = htt.encode_phase(field, bits=4)
    angle = np.round(np.angle(field.numpy().astype("complex128")) / levels) * levels
    check_gradients([modulated], [np.exp(1j * angle)], 1e-6)
    found = gradient_by(field, lambda u: (weight.conj() * htt.encode_phase(u, bits=4)).real.sum())
    w, u = wide(weight, field)

    def loss(real, imaginary):
        return np.vdot(w, np.exp(1j * np.angle(real + 1j * imaginary))).real

    expected = differences(loss, [u.real, u.imag], (1e-6, 1e-6))
    check_gradients([found.real, found.imag], expected, 1e-5)
    dark = torch.zeros(2, 2, dtype=torch.complex64)
    assert not gradient_by(dark, lambda u: htt.encode_phase(u).real.sum()).any()


# Chains, and what PyTorch asks of operators.


def test_a_step_of_adam_lowers_a_loss_behind_a_chain():
    phase = (0.3 * torch.randn(*SHAPE)).requires_grad_()
    target = torch.zeros(SHAPE)
    target[8:16, 10:20] = 1
    optimizer = torch.optim.Adam([phase], lr=0.05)

    def loss():
        field = torch.polar(torch.ones(SHAPE), phase)
        return ((htt.propagate(field, 0.02, **GRID).abs() ** 2 - target) ** 2).mean()

    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        losses.append(value.item())
    losses.append(loss().item())
    print(losses)
    assert all(after < before for before, after in zip(losses, losses[1:]))


def test_gradients_of_gradients():
    field = noise(*SHAPE).requires_grad_()
    (first,) = torch.autograd.grad(
        htt.propagate(field, 0.01, **GRID).abs().square().sum(), field, create_graph=True
    )
    (second,) = torch.autograd.grad(first.abs().square().sum(), field)
    assert torch.isfinite(second).all() and float(second.norm()) > 0


def test_inputs_without_rows_in_order_are_taken():
    field = noise(SHAPE[1], SHAPE[0])
    expected = htt.propagate(field.T.contiguous(), 0.01, **GRID)
    assert torch.equal(htt.propagate(field.T, 0.01, **GRID), expected)
    turned = field.T.conj()
    expected = htt.propagate(turned.resolve_conj().contiguous(), 0.01, **GRID)
    assert torch.equal(htt.propagate(turned, 0.01, **GRID), expected)


OPERATORS = {
    "propagate": lambda: (noise(*SHAPE).requires_grad_(), 0.01, WAVELENGTH_M, PITCH_M, json.dumps({"method": "auto"})),
    "point_cloud_field": lambda: (*(x.clone().requires_grad_() for x in (POSITION, AMPLITUDE, PHASE)),
                                  json.dumps({"shape": SHAPE, **GRID})),
    "layer_field": lambda: (torch.rand(2, *SHAPE).requires_grad_(), None, json.dumps({"distance_m": [0.1, 0.2], **GRID})),
    "eye_look_field": lambda: (noise(*SHAPE).requires_grad_(), 0.1, json.dumps({"shape": SHAPE, "pupil": PUPIL, **GRID})),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_are_those_of_pytorch(name):
    found = torch.library.opcheck(getattr(torch.ops.holotone, name).default, OPERATORS[name]())
    assert set(found.values()) == {"SUCCESS"}


# The functions *_vjp on arrays of NumPy are those behind PyTorch's.


def equal(found, expected):
    assert type(found) is np.ndarray and found.dtype.name == str(expected.dtype).removeprefix("torch.")
    assert relative_error(found, expected.numpy()) < 1e-6


def test_vjp_of_numpy_propagate_and_eye():
    cotangent = noise(*SHAPE)
    by_field = gradient_by(noise(*SHAPE), lambda u: (cotangent.conj() * htt.propagate(u, 0.01, **GRID)).real.sum())
    equal(ht.Field(gradients.propagate_vjp(cotangent.numpy(), 0.01, **GRID), **GRID).numpy(), by_field)
    plan = ht.EyePlan(shape=SHAPE, **GRID, pupil=ht.EyePupil(**PUPIL))
    cotangent = noise(*plan.field_shape(0.1))
    by_field = gradient_by(noise(*SHAPE), lambda u: (
        cotangent.conj() * htt.eye_look_field(u, 0.1, pupil=PUPIL, **GRID)).real.sum())
    equal(gradients.eye_look_field_vjp(cotangent.numpy(), 0.1, plan), by_field)


def test_vjp_of_numpy_points():
    cotangent = noise(*SHAPE)
    leaves = [x.clone().requires_grad_() for x in (POSITION, AMPLITUDE, PHASE)]
    expected = torch.autograd.grad((cotangent.conj() * points(*leaves)).real.sum(), leaves)
    arrays = [x.numpy() for x in (cotangent, POSITION, AMPLITUDE, PHASE)]
    options = {"shape": SHAPE, "tolerance": 1e-5, **GRID}
    for found, other in zip(gradients.point_cloud_field_vjp(*arrays, **options), expected):
        equal(found, other)
    none, by_amplitude, _ = gradients.point_cloud_field_vjp(*arrays, positions=False, **options)
    assert none is None
    equal(by_amplitude, expected[1])


def test_vjp_of_numpy_nufft_and_encoding():
    modes, place = (10, 13), torch.rand(20, 2)
    strengths, spectrum = noise(20), noise(*modes)
    plan = ht.NufftPlan(modes)
    plan.set_points(place.numpy())
    leaves = [place.clone().requires_grad_(), strengths.clone().requires_grad_()]
    expected = torch.autograd.grad((spectrum.conj() * htt.nufft_type1(*leaves, modes)).real.sum(), leaves)
    for found, other in zip(gradients.nufft_type1_vjp(spectrum.numpy(), strengths.numpy(), plan), expected):
        equal(found, other)
    leaves = [place.clone().requires_grad_(), spectrum.clone().requires_grad_()]
    expected = torch.autograd.grad((strengths.conj() * htt.nufft_type2(*leaves)).real.sum(), leaves)
    for found, other in zip(gradients.nufft_type2_vjp(strengths.numpy(), spectrum.numpy(), plan), expected):
        equal(found, other)
    cotangent = noise(*modes)
    expected = gradient_by(spectrum, lambda u: (cotangent.conj() * htt.encode_phase(u)).real.sum())
    equal(gradients.encode_phase_vjp(cotangent.numpy(), spectrum.numpy()), expected)


def test_vjp_of_numpy_mixture():
    picture = np.random.default_rng(1).random((12, 16, 2), "float32")
    model = ht.fit_smoe(picture, components=5, iterations=5)
    image = ht.SmoeRenderer(model, tolerance=1e-6, precision="robust").render(ht.SmoeView(size=(12, 16)))
    weight = np.random.default_rng(2).standard_normal(image.shape).astype("float32")
    found = gradients.smoe_render_vjp(weight, model, image)
    shapes = {"log_weight": (-1,), "centre": (-1, 2), "covariance": (-1, 3), "colour": (-1, 2), "slope": (-1, 2, 2)}
    leaves = [torch.from_numpy(getattr(model, name).copy()).reshape(shape).requires_grad_()
              for name, shape in shapes.items()]
    loss = (torch.from_numpy(weight) * htt.smoe_render(*leaves, size=(12, 16), tolerance=1e-6)).sum()
    for name, expected in zip(shapes, torch.autograd.grad(loss, leaves)):
        assert relative_error(getattr(found, name), expected.numpy()) < 1e-4


# What is refused.


def test_another_output_pitch_has_no_gradient():
    field = noise(*SHAPE)
    with pytest.raises(ht.ArgumentError, match="output_pitch_m: expected the field's pitch"):
        htt.propagate(field, 0.05, **GRID, method="fresnel", output_pitch_m=4e-6)
    with pytest.raises(ht.ArgumentError, match="output_pitch_m"):
        gradients.propagate_vjp(field.numpy(), 0.05, **GRID, method="fresnel", output_pitch_m=4e-6)
    same = htt.propagate(field, 0.05, **GRID, output_pitch_m=PITCH_M)
    assert torch.equal(same, htt.propagate(field, 0.05, **GRID))


@pytest.mark.parametrize("call,message", [
    (lambda x: htt.propagate(noise(*SHAPE), x, **GRID), "propagate: distance_m has no gradient"),
    (lambda x: htt.propagate(noise(*SHAPE), 0.1, pitch_m=x, wavelength_m=WAVELENGTH_M), "pitch_m has no gradient"),
    (lambda x: htt.eye_look_field(noise(*SHAPE), x, pupil=PUPIL, **GRID), "focus_m has no gradient"),
    (lambda x: htt.layer_field(torch.rand(1, *SHAPE), [x], **GRID), "distance_m has no gradient"),
    (lambda x: htt.point_cloud_field(POSITION, AMPLITUDE, shape=SHAPE, pitch_m=x), "pitch_m has no gradient"),
])
def test_a_gradient_that_would_be_lost_is_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call(torch.tensor(1e-3, requires_grad=True))


def test_options_are_numbers_of_any_package():
    field = noise(*SHAPE)
    expected = htt.point_cloud_field(POSITION, AMPLITUDE, shape=SHAPE, pitch_m=8e-6, tolerance=1e-4)
    found = htt.point_cloud_field(POSITION, AMPLITUDE, shape=field.shape, pitch_m=np.float64(8e-6),
                                  tolerance=torch.tensor(1e-4, dtype=torch.float64))
    assert torch.equal(found, expected)
    assert torch.equal(htt.point_cloud_field(POSITION, AMPLITUDE, shape=[np.int64(n) for n in SHAPE], tolerance=1e-4), expected)
    eye = htt.eye_look_field(field, 0.1, pupil=PUPIL, **GRID)
    assert torch.equal(htt.eye_look_field(field, 0.1, pupil=ht.EyePupil(**PUPIL), **GRID), eye)
    for value in (float("nan"), float("inf")):
        with pytest.raises(ht.ArgumentError, match="tolerance"):
            htt.point_cloud_field(POSITION, AMPLITUDE, shape=SHAPE, tolerance=value)
    with pytest.raises(TypeError, match="torch.point_cloud_field: shape: expected a number, a text or a tuple, got set"):
        htt.point_cloud_field(POSITION, AMPLITUDE, shape={1, 2})


@pytest.mark.parametrize("count,given,mask,argument", [
    (2, [0.1], None, "distance_m"), (2, [0.1, 0.2, 0.3], None, "distance_m"), (2, 0.1, None, "distance_m"),
    (2, [0.1, 0.2], torch.ones(1, *SHAPE), "mask"),
])
def test_layers_have_a_distance_each(count, given, mask, argument):
    with pytest.raises(ht.ArgumentError) as caught:
        htt.layer_field(torch.rand(count, *SHAPE), given, mask=mask, **GRID)
    assert caught.value.argument == argument


def test_layers_have_three_axes():
    with pytest.raises(ht.ArgumentError, match="layers {n, ny, nx}"):
        htt.layer_field(torch.rand(*SHAPE), [0.1], **GRID)


def test_encode_phase_refuses_what_no_panel_has():
    for bits in (-1, 0, 17, 40):
        with pytest.raises(ht.ArgumentError, match="bits: expected 1 to 16"):
            htt.encode_phase(noise(*SHAPE), bits=bits)
    with pytest.raises(ht.ArgumentError, match="complex"):
        htt.encode_phase(torch.rand(*SHAPE))


def test_exact_waves_have_the_gradients_of_their_differences():
    """Central differences of a loss, at a pitch where Fresnel's wave is another."""
    options = {"shape": SHAPE, "pitch_m": 1e-6, "wave": "spherical", "method": "fast", "tolerance": 1e-5}
    place = torch.tensor([[1e-5, -4e-6, -2e-4], [-8e-6, 6e-6, -2.3e-4]])
    amplitude, phase = torch.tensor([1.0, 0.7]), torch.tensor([0.4, -1.2])
    target = noise(*SHAPE)

    def loss(*light):
        return (htt.point_cloud_field(*light, **options) - target).abs().double().square().sum()

    leaves = [x.clone().requires_grad_() for x in (place, amplitude, phase)]
    found = torch.autograd.grad(loss(*leaves), leaves)
    for i, j, step in ((0, (0, 0), 2e-8), (0, (1, 1), 2e-8), (0, (0, 2), 2e-7), (1, 0, 1e-2), (2, 1, 1e-2)):
        low, high = ([x.detach().clone() for x in leaves] for _ in range(2))
        low[i][j] -= step
        high[i][j] += step
        distance = high[i][j].double() - low[i][j].double()
        slope = (loss(*high) - loss(*low)) / distance
        assert abs(slope - found[i][j]) < 2e-3 * found[i].abs().max(), (i, j, slope, found[i][j])


def test_forward_mode_is_refused():
    """A tangent would be lost without a word."""
    field = noise(*SHAPE)
    points = torch.rand(5, 2)
    for call, x in (
        (lambda x: htt.propagate(x, 0.01, **GRID), field),
        (lambda x: htt.layer_field(x, [0.1], **GRID), torch.rand(1, *SHAPE)),
        (lambda x: htt.encode_phase(x), field),
        (lambda x: htt.nufft_type1(points, x, (8, 8)), noise(5)),
    ):
        with pytest.raises(ht.UnsupportedError, match="forward mode"):
            torch.func.jvp(call, (x,), (torch.randn_like(x),))


def test_a_second_derivative_that_would_lack_a_part_is_refused():
    points, strengths = torch.rand(5, 2).requires_grad_(), noise(5).requires_grad_()
    modes = htt.nufft_type1(points, strengths, (8, 8))
    (first,) = torch.autograd.grad(modes.abs().square().sum(), points, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate|does not require grad"):
        torch.autograd.grad(first.square().sum(), points)
