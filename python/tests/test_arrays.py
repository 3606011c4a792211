"""Arrays of other packages: taken without a copy, returned in their kind, refused with what is expected."""

import os

import numpy as np
import pytest
from conftest import GRID, noise, run_python

import holotone as ht

SHAPE = (65, 96)


@pytest.fixture
def plan():
    return ht.PropagationPlan(shape=SHAPE, **GRID)


@pytest.fixture
def field(rng):
    return noise(rng, *SHAPE)


def torch_module():
    return pytest.importorskip("torch")


def refusal(call):
    """The message of the ArgumentError that a call raises, and the error."""
    with pytest.raises(ht.ArgumentError) as caught:
        call()
    return str(caught.value)


# The same kind comes out.


def test_numpy_in_numpy_out(plan, field):
    result = plan.execute(field, 0.1)
    assert type(result) is np.ndarray and result.dtype == np.complex64 and result.shape == SHAPE


def test_torch_in_torch_out(plan, field):
    torch = torch_module()
    result = plan.execute(torch.from_numpy(field), 0.1)
    assert isinstance(result, torch.Tensor) and result.dtype == torch.complex64
    assert np.array_equal(result.numpy(), plan.execute(field, 0.1))


def test_a_field_in_and_out(field):
    result = ht.propagate(ht.Field(field, **GRID), 0.1)
    assert isinstance(result, ht.Field) and (result.pitch_m, result.wavelength_m) == tuple(GRID.values())


def test_own_array_in_own_array_out(plan, field):
    result = plan.execute(ht.copy_of(field), 0.1)
    assert isinstance(result, ht.Array) and np.array_equal(result.numpy(), plan.execute(field, 0.1))


def test_strided_memory_of_other_packages_is_the_same_memory(field):
    copy = ht.copy_of(field)
    seen = np.from_dlpack(copy)
    seen[0, 0] = 7
    assert copy.numpy()[0, 0] == 7


def test_asarray_of_an_own_array(field):
    assert np.array_equal(np.asarray(ht.copy_of(field)), field)


# out= is the caller's memory.


def test_out_is_written_and_returned(plan, field):
    out = np.zeros_like(field)
    address = out.__array_interface__["data"][0]
    result = plan.execute(field, 0.1, out=out)
    assert result is out and out.__array_interface__["data"][0] == address
    assert np.array_equal(out, plan.execute(field, 0.1))


def test_out_of_torch(plan, field):
    torch = torch_module()
    out = torch.zeros(SHAPE, dtype=torch.complex64)
    address = out.data_ptr()
    assert plan.execute(torch.from_numpy(field), 0.1, out=out) is out and out.data_ptr() == address
    assert np.array_equal(out.numpy(), plan.execute(field, 0.1))


def test_in_place(plan, field):
    expected = plan.execute(field, 0.1)
    assert np.array_equal(plan.execute(field, 0.1, out=field), expected)


def test_a_read_only_input_is_taken(plan, field):
    expected = plan.execute(field, 0.1)
    field.flags.writeable = False
    assert np.array_equal(plan.execute(field, 0.1), expected)


@pytest.mark.parametrize("kind", ["ReconstructionPlan", "PropagationPlan"])
@pytest.mark.parametrize("package", ["numpy", "torch"])
def test_no_hidden_copy(kind, package):
    """The peak of the process during a call with out= grows by less than a quarter of an array of 16 or 32 MB."""
    if package == "torch":
        torch_module()
    program = f"""
        n, kind, package = 2048, {kind!r}, {package!r}
        if package == "torch":
            import torch
        def memory(key):
            lines = open("/proc/self/status").read().splitlines()
            return 1024 * int(next(line for line in lines if line.startswith(key)).split()[1])
        convert = np.asarray if package == "numpy" else lambda x: torch.from_numpy(x)
        field = convert(np.ones((n, n), "complex64"))
        plan = getattr(ht, kind)(shape=(n, n), **GRID)
        if kind == "PropagationPlan":
            out = convert(np.ones((n, n), "complex64"))
            call = lambda: plan.execute(field, 0.1, out=out)
        else:
            plan.set_field(field)
            out = convert(np.ones((n, n), "float32"))
            call = lambda: plan.execute(0.1, out=out)
        call(); call()  # the second of a set_field makes the shared transform
        open("/proc/self/clear_refs", "w").write("5")  # the peak is the present
        before = memory("VmRSS")
        call()
        print(memory("VmHWM") - before, 4 * n * n * (2 if kind == "PropagationPlan" else 1))
    """
    grown, size = (int(word) for word in run_python(program, seconds=60).split())
    print(f"peak grew by {grown / 2**20:.2f} MiB of {size / 2**20:.0f} MiB")
    assert grown < size / 4


# Refusals.


def test_wrong_type_says_how_to_convert(plan, field):
    for given, name in ((field.astype("complex128"), "complex128"), (field.real.copy(), "float32")):
        message = refusal(lambda: plan.execute(given, 0.1))
        assert message == (
            "PropagationPlan.execute: input: expected an array of complex64 with 2 axes, got "
            f'{name}: convert it with x.astype("complex64")'
        )
    position, amplitude = np.array([[0, 0, -0.1]], "float32"), np.ones(1, "float32")
    message = refusal(lambda: ht.point_cloud_field(position.astype("float64"), amplitude, shape=(4, 5)))
    assert "point_cloud_field: position_m" in message and 'x.astype("float32")' in message
    message = refusal(lambda: ht.point_cloud_field(position, amplitude.astype(int), shape=(4, 5)))
    assert "amplitude" in message and 'int64: convert it with x.astype("float32")' in message
    message = refusal(lambda: ht.tone_map(np.ones((3, 4), "float16")))
    assert "float16" in message and 'x.astype("float32")' in message


def test_wrong_type_of_torch(plan, field):
    torch = torch_module()
    message = refusal(lambda: plan.execute(torch.from_numpy(field.astype("complex128")), 0.1))
    assert message.endswith("convert it with x.to(torch.complex64)")


def test_wrong_rank_shape_and_layout(plan, field):
    assert "with 2 axes, got 3 axes" in refusal(lambda: plan.execute(field[None], 0.1))
    assert "expected shape {65, 96}, got {64, 96}" in refusal(lambda: plan.execute(field[1:], 0.1))
    message = refusal(lambda: plan.execute(np.asfortranarray(field), 0.1))
    assert "contiguous" in message and "numpy.ascontiguousarray(x)" in message
    assert "contiguous" in refusal(lambda: plan.execute(np.ones((65, 192), "complex64")[:, ::2], 0.1))


def test_wrong_out(plan, field):
    locked = np.empty_like(field)
    locked.flags.writeable = False
    assert "out: expected an array that can be written, got a read-only one" in refusal(
        lambda: plan.execute(field, 0.1, out=locked)
    )
    assert "expected shape {65, 96}, got {3, 3}" in refusal(
        lambda: plan.execute(field, 0.1, out=np.empty((3, 3), "complex64"))
    )


def test_a_wrong_shape_of_out_names_the_argument_of_python(plan, field):
    message = refusal(lambda: plan.execute(field, 0.1, out=np.empty((3, 3), "complex64")))
    assert message.startswith("PropagationPlan.execute: out:")


def test_what_is_no_array(plan):
    for given in ([[1, 2]], "abc", 5):
        message = refusal(lambda: plan.execute(given, 0.1))
        assert message.endswith(f"input: expected an array of complex64 with 2 axes, got {type(given).__name__}")
    with pytest.raises(ht.ArgumentError, match="copy_of: array: expected an array, got list"):
        ht.copy_of([1, 2])


def test_none_is_no_array():
    with pytest.raises(ht.ArgumentError, match="position_m"):
        ht.point_cloud_field(None, None, shape=(4, 5))


def test_other_byte_order_and_objects(plan, field):
    for given in (field.astype(">c8"), field.astype(object)):
        assert "complex64 with 2 axes" in refusal(lambda: plan.execute(given, 0.1))


def test_torch_that_requires_a_gradient_or_conjugates(plan, field):
    torch = torch_module()
    tensor = torch.from_numpy(field)
    message = refusal(lambda: plan.execute(tensor.clone().requires_grad_(), 0.1))
    assert "does not require a gradient" in message and "x.detach()" in message and "holotone.torch" in message
    assert "x.resolve_conj()" in refusal(lambda: plan.execute(tensor.conj(), 0.1))
    for given in (tensor.to_sparse(), tensor.to("meta")):
        assert "input" in refusal(lambda: plan.execute(given, 0.1))


def test_torch_that_negates_later(plan, field):
    torch = torch_module()
    tensor = torch.from_numpy(field)
    try:
        result = plan.execute(torch._neg_view(tensor), 0.1)
    except ht.ArgumentError:
        return
    assert torch.equal(result, -plan.execute(tensor, 0.1))


def test_an_array_of_another_device(field):
    for name in ht.devices():
        if name != "cpu":
            plan = ht.PropagationPlan(shape=SHAPE, **GRID, device=name)
            assert f"device {name}, got one on device cpu" in refusal(lambda: plan.execute(field, 0.1))


def test_no_points_are_a_dark_field():
    field = ht.point_cloud_field(np.empty((0, 3), "float32"), np.empty(0, "float32"), shape=(4, 5))
    assert field.shape == (4, 5) and not field.numpy().any()


def test_a_field_without_pixels_names_its_shape(plan):
    assert "got {0, 96}" in refusal(lambda: plan.execute(np.empty((0, 96), "complex64"), 0.1))


def test_points_that_are_not_finite():
    position = np.array([[0, 0, -0.1], [1e-4, np.nan, -0.1]], "float32")
    message = refusal(lambda: ht.point_cloud_field(position, np.ones(2, "float32"), shape=(4, 5)))
    assert "point 1" in message and "y = nan" in message
    message = refusal(lambda: ht.point_cloud_field(position[:1], np.ones(3, "float32"), shape=(4, 5)))
    assert "amplitude: expected shape {1}, one for each position, got {3}" in message


# Arrays that a plan reads later are kept.


def keeps(body):
    """The result before and after what the plan reads is let go and its memory is used anew."""
    program = body + """
        want = run().copy()
        let_go()
        gc.collect()
        junk = [np.full((64, 64), 7, dtype) for dtype in ("float32", "complex64") for _ in range(8)]
        print(np.array_equal(run(), want))
    """
    assert run_python(program) == "True"


def test_set_input_keeps_its_array():
    keeps("""
        plan = ht.PropagationPlan(shape=(64, 64), **GRID)
        plan.set_input(noise(64, 64))
        run, let_go = lambda: plan.execute(0.1), lambda: None
    """)


def test_a_refused_set_input_keeps_the_array_before():
    keeps("""
        plan = ht.PropagationPlan(shape=(64, 64), **GRID)
        plan.set_input(noise(64, 64))
        def let_go():
            try:
                plan.set_input(noise(3, 3))
            except ht.ArgumentError:
                pass
        run = lambda: plan.execute(0.1)
    """)


def test_set_points_keeps_or_copies():
    keeps("""
        position, amplitude = np.array([[0, 0, -0.1]] * 50, "float32"), np.ones(50, "float32")
        plan = ht.PointCloudPlan(shape=(64, 64))
        plan.set_points(position, amplitude)
        out = np.empty((64, 64), "complex64")
        def run():
            plan.execute(field=out)
            return out
        def let_go():
            global position, amplitude
            del position, amplitude
    """)


def test_set_layers_keeps_its_arrays():
    keeps("""
        plan = ht.LayerPlan(shape=(64, 64), **GRID)
        plan.set_layers([ht.Layer(intensity=rng.random((64, 64), "float32"), distance_m=d) for d in (0.1, 0.2)])
        run, let_go = plan.execute, lambda: None
    """)


def test_set_layers_keeps_its_arrays_if_the_list_changes():
    keeps("""
        layers = [ht.Layer(intensity=rng.random((64, 64), "float32"), distance_m=d) for d in (0.1, 0.2)]
        plan = ht.LayerPlan(shape=(64, 64), **GRID)
        plan.set_layers(layers)
        run, let_go = plan.execute, layers.clear
    """)


def test_set_input_keeps_the_array_of_a_field():
    keeps("""
        field = ht.Field(noise(64, 64), **GRID)
        plan = ht.PropagationPlan(shape=(64, 64), **GRID)
        plan.set_input(field)
        run = lambda: plan.execute(0.1)
        def let_go():
            field.values = noise(64, 64)
    """)


def test_members_outlive_their_owner():
    keeps("""
        values = ht.floyd_steinberg_weights().values
        grid = ht.PropagationPlan(shape=(64, 64), **GRID).options().grid
        run, let_go = lambda: np.concatenate([values.ravel(), [grid.nx, grid.pitch_m]]), lambda: None
    """)


def test_lists_of_numbers_are_members():
    dots = ht.Dots(width=8, height=8, position=[1.0, 2.0, 3.0, 4.0])
    assert dots.position.tolist() == [[1, 2], [3, 4]]
    dots.position = np.array([[5, 6]], "float32")
    assert dots.position.tolist() == [[5, 6]]


def test_a_change_of_a_member_is_refused_or_stays():
    dots = ht.Dots(width=8, height=8, position=[1.0, 2.0])
    try:
        dots.position[0] = 9
    except ValueError:
        return
    assert dots.position[0] == 9


def test_members_of_more_axes():
    model = ht.SmoeModel(centre=np.ones((3, 2), "float32"))
    assert model.centre.size == 6


# JAX, whose arrays never change.


def jax_array(values, device):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = pytest.importorskip("jax")
    if device.startswith("opencl"):
        pytest.skip("JAX has no arrays on OpenCL")
    kind = "cpu" if device == "cpu" else "gpu"
    return jax.device_put(values, jax.devices(kind)[0])


def test_jax_in_and_out(device, field):
    plan = ht.PropagationPlan(shape=field.shape, **GRID, device=device)
    given = jax_array(field, device)
    found = plan.execute(given, 0.1)
    assert type(found) is type(given) and found.devices() == given.devices()
    expected = ht.PropagationPlan(shape=field.shape, **GRID).execute(field, 0.1)
    assert np.abs(np.asarray(found) - expected).max() < 1e-5 * np.abs(expected).max()


def test_jax_is_not_written(plan, field):
    with pytest.raises(ht.ArgumentError, match="out: expected an array that can be written"):
        plan.execute(field, 0.1, out=jax_array(field, "cpu"))


# Memory that must not be written.


def read_only_arrays(tmp_path):
    class Forwards:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    class Own(np.ndarray):
        pass

    frozen = np.zeros((16, 24), "complex64")
    frozen.flags.writeable = False
    frozen.tofile(tmp_path / "map")
    mapped = np.memmap(tmp_path / "map", "complex64", "r", shape=(16, 24))
    return [frozen, mapped, mapped.view(Own), frozen.view(Own), Forwards(frozen)]


def test_read_only_memory_is_not_written(tmp_path, rng):
    plan = ht.PropagationPlan(shape=(16, 24), **GRID)
    for out in read_only_arrays(tmp_path):
        with pytest.raises((ht.ArgumentError, BufferError)):
            plan.execute(noise(rng, 16, 24), 0.1, out=out)
    assert not np.fromfile(tmp_path / "map", "complex64").any()


def test_a_subclass_is_of_its_base(rng):
    class Own(np.ndarray):
        pass

    field = noise(rng, 16, 24)
    plan = ht.PropagationPlan(shape=(16, 24), **GRID)
    out = np.empty_like(field).view(Own)
    plan.execute(field.view(Own), 0.1, out=out)
    assert np.array_equal(out, plan.execute(field, 0.1))


def test_outputs_that_overlap_in_part_are_refused():
    memory = np.zeros(2 * 16 * 24, "float32")
    plan = ht.PhaseRetrievalPlan(shape=(16, 24), **GRID)
    plan.set_target(np.ones((16, 24), "float32"))
    phase, apart = memory[: 16 * 24].reshape(1, 16, 24), memory[16 * 24 :].reshape(1, 16, 24)
    plan.gradient(phase, out=apart)
    for shift in (1, 24, 100):
        with pytest.raises(ht.ArgumentError, match="out: expected memory of its own.*part of another"):
            plan.gradient(phase, out=memory[shift : shift + 16 * 24].reshape(1, 16, 24))


def test_views_that_are_no_values_are_not_copied():
    torch = pytest.importorskip("torch")
    x = torch.randn(4, dtype=torch.complex64)
    for wrong, word in ((x.conj(), "resolve_conj"), (torch._neg_view(x.real.contiguous()), "resolve_neg"),
                        (x.clone().requires_grad_(), "detach")):
        with pytest.raises(ht.ArgumentError, match=word):
            ht.copy_of(wrong)
