"""Exceptions: their classes and parts, cancelling, exceptions of callbacks, Ctrl-C, misspelt names."""

import numpy as np
import pytest
from conftest import GRID, run_python

import holotone as ht

POINT = (np.array([[0, 0, -0.1]], "float32"), np.ones(1, "float32"))
PANEL = {"shape": (64, 64), **GRID}


def parts(error):
    return error.function, error.argument, error.expected, error.got


# Classes.


def test_classes_are_those_of_python_too():
    pairs = {
        "ArgumentError": ValueError, "UnsupportedError": RuntimeError, "FileError": ValueError,
        "MissingFileError": FileNotFoundError, "OutOfMemoryError": MemoryError, "CancelledError": RuntimeError,
        "DeviceError": RuntimeError,
    }
    for name, base in pairs.items():
        assert issubclass(getattr(ht, name), base) and issubclass(getattr(ht, name), ht.Error)
        assert getattr(ht, name).__module__ == "holotone" and getattr(ht, name).__doc__


def test_an_argument_error_has_parts():
    with pytest.raises(ht.ArgumentError) as caught:
        ht.PropagationPlan(shape=(4, 5), pitch_m=8e-6, wavelength_m=-5e-7)
    assert parts(caught.value) == ("PropagationPlan", "wavelength_m", "> 0", "-5e-07")
    assert str(caught.value) == "PropagationPlan: wavelength_m: expected > 0, got -5e-07"


def test_unsupported():
    plan = ht.PointCloudPlan(**PANEL, wave="spherical", method="direct", band_limit=False)
    plan.set_points(*POINT)
    with pytest.raises(ht.UnsupportedError) as caught:
        plan.adjoint(np.zeros((64, 64), "complex64"))
    assert caught.value.argument == "band_limit" and caught.value.got == "false"


def test_out_of_memory():
    with pytest.raises(ht.OutOfMemoryError, match="4096.0 TiB"):
        ht.Array((1 << 20, 1 << 20, 1 << 10))
    with pytest.raises(ht.ArgumentError, match="product fits in memory"):
        ht.Array((1 << 40, 1 << 40))
    with pytest.raises(MemoryError):
        ht.PropagationPlan(shape=(65536, 65536), **GRID)  # 137 GB


def test_devices_that_are_not_there():
    for name in ("gpu", "cuda:x", ""):
        with pytest.raises(ht.ArgumentError, match="auto, cpu, cuda, cuda:N, opencl or opencl:N"):
            ht.PropagationPlan(**PANEL, device=name)
    with pytest.raises(ht.UnsupportedError, match="cuda:99"):
        ht.PropagationPlan(**PANEL, device="cuda:99")
    with pytest.raises(ht.ArgumentError, match="PropagationPlan: device: expected str, got 3"):
        ht.PropagationPlan(**PANEL, device=3)


def test_an_unknown_device_names_the_function():
    with pytest.raises(ht.ArgumentError) as caught:
        ht.PropagationPlan(**PANEL, device="gpu")
    assert caught.value.function == "PropagationPlan"


def test_the_function_is_named_as_python_writes_it():
    with pytest.raises(ht.ArgumentError) as caught:
        ht.PropagationPlan(**PANEL).execute(np.zeros((3, 3), "complex64"), 0.1)
    assert caught.value.function == "PropagationPlan.execute"


# Names of arguments.


@pytest.mark.parametrize("call,message", [
    (lambda: ht.PropagationPlan(**PANEL, wavelenght_m=1), "PropagationPlan.*wavelenght_m.*is wavelength_m meant"),
    (lambda: ht.point_cloud_field(*POINT, shpe=(4, 5)), "point_cloud_field.*shpe.*is shape meant"),
    (lambda: ht.layer_field(*2 * [np.ones((4, 5), "float32")], **PANEL, widht_m=1), "layer_field.*is width_m meant"),
    (lambda: ht.write_image("x.png", np.zeros((2, 2), "uint8"), compresion=1), "write_image.*is compression meant"),
    (lambda: ht.layer_field(*2 * [np.ones((4, 5), "float32")], shape=(4, 5), pitch_m=1e-6), "wavelength_m is missing"),
    (lambda: ht.PropagationPlan(*PANEL.values()), "PropagationPlan: expected at most 0 arguments"),
])
def test_misspelt_and_missing(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("call,message", [
    (lambda: ht.PointCloudOptions(toleranc=1), "is tolerance meant"),
    (lambda: ht.NufftPlan((8, 8), tolernce=1), "is tolerance meant"),
    (lambda: ht.propagate(np.zeros((4, 5), "complex64"), 0.1, **GRID, metod="auto"), "is method meant"),
])
def test_misspelt_elsewhere(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_a_missing_argument_of_overloads_is_named():
    with pytest.raises(TypeError, match="distance_m is missing"):
        ht.PropagationPlan(**PANEL).execute(np.zeros((64, 64), "complex64"))


def test_misspelt_enums_list_the_names():
    with pytest.raises(ht.ArgumentError, match="method: expected .*'angular_spectrum', 'fresnel'.*'angularspectrum'"):
        ht.PropagationPlan(**PANEL, method="angularspectrum")
    with pytest.raises(ht.ArgumentError, match="FftPlan.execute: direction: .*'forward', 'inverse'.*'invers'"):
        ht.FftPlan((4, 4)).execute(np.zeros((4, 4), "complex64"), "invers")
    with pytest.raises(ht.ArgumentError, match="PointCloudOptions: method: .*'fats'"):
        ht.PointCloudOptions(method="fats")


def test_values_of_another_type():
    plan = ht.PropagationPlan(**PANEL)
    with pytest.raises(ht.ArgumentError, match="distance_m: expected float, got 'far'"):
        plan.execute(np.zeros((64, 64), "complex64"), "far")
    with pytest.raises(ht.ArgumentError, match=r"shape: expected tuple\[int, int\], got \(3,\)"):
        ht.PropagationPlan(shape=(3,), **GRID)
    with pytest.raises(ht.ArgumentError, match="distance_m: expected a finite number"):
        plan.execute(np.zeros((64, 64), "complex64"), float("nan"))
    with pytest.raises(ht.ArgumentError, match=r"layers\[0\].distance_m: expected float"):
        ht.LayerPlan(**PANEL).set_layers([ht.Layer(intensity=np.zeros((64, 64), "float32"), distance_m="x")])
    with pytest.raises(ht.ArgumentError, match="source: expected a source of views"):
        ht.stereogram_field("x", 0, **PANEL, hogel_px=32)


def test_nufft_of_a_list():
    plan = ht.NufftPlan((8, 8))
    plan.set_points(np.zeros((2, 2), "float32"))
    with pytest.raises(ht.ArgumentError, match="strengths"):
        plan.type1([1, 2])


def test_write_field_of_an_array(tmp_path):
    with pytest.raises((TypeError, ht.ArgumentError), match="Field"):
        ht.write_field(tmp_path / "f.h5", np.zeros((4, 5), "complex64"))


def test_an_argument_of_another_call_is_not_blamed():
    """What one overload had against its arguments is forgotten with the call."""
    plan = ht.PropagationPlan(**PANEL)
    with pytest.raises(ht.ArgumentError, match="input: expected .*float64"):
        plan.execute(np.zeros((64, 64)), 0.1)
    with pytest.raises(TypeError, match="there is no argument distance"):
        plan.execute(np.zeros((64, 64), "complex64"), distance=0.1)
    with pytest.raises(TypeError, match="distance_m is missing"):
        plan.execute()


def test_calls_out_of_order():
    with pytest.raises(ht.ArgumentError, match="set_field before execute"):
        ht.ReconstructionPlan(**PANEL).execute(0.1)
    with pytest.raises(ht.ArgumentError, match="set_input before"):
        ht.PropagationPlan(**PANEL).execute(distance_m=0.1)


# Progress, cancelling, exceptions of callbacks.


def test_progress_reports(device):
    seen = []
    ht.point_cloud_field(*POINT, **PANEL, device=device, progress=lambda *report: seen.append(report))
    assert seen and all(isinstance(stage, str) and 0 <= done <= total for stage, done, total in seen)
    assert seen[-1][1] == seen[-1][2]


def test_false_cancels(device):
    with pytest.raises(ht.CancelledError, match="cancelled"):
        ht.point_cloud_field(*POINT, **PANEL, device=device, progress=lambda *report: False)
    ht.point_cloud_field(*POINT, **PANEL, device=device, progress=lambda *report: None)  # no answer is no


class Mine(Exception):
    pass


def fail(*arguments):
    raise Mine("of the caller")


class FailingViews:
    channels, has_distances, look = (lambda self: 1), (lambda self: False), fail


def retrieval():
    plan = ht.PhaseRetrievalPlan(shape=(32, 32), **GRID)
    plan.set_target(np.ones((32, 32), "float32"))
    return plan, ht.starting_phase((1, 32, 32))


@pytest.mark.parametrize("call", [
    lambda: ht.point_cloud_field(*POINT, **PANEL, progress=fail),
    lambda: retrieval()[0].optimize(retrieval()[1], solver="adam", camera=fail),
    lambda: retrieval()[0].optimize(retrieval()[1], report=fail),
    lambda: retrieval()[0].optimize(retrieval()[1], progress=fail),
    lambda: ht.stereogram_field(FailingViews(), 0, **PANEL, hogel_px=32),
    lambda: ht.make_halftone([np.ones((16, 16), "float32")], dots=10, on_count=fail),
    lambda: ht.make_halftone([np.ones((16, 16), "float32")], dots=10, on_iteration=fail),
    lambda: ht.fit_smoe(np.zeros((16, 16, 1), "float32"), components=2, progress=fail),
], ids=["points", "camera", "report", "retrieval", "views", "on_count", "on_iteration", "fit"])
def test_exceptions_of_callbacks_come_out_as_they_are(call):
    with pytest.raises(Mine, match="of the caller"):
        call()


def test_a_camera_for_another_solver():
    plan, phase = retrieval()
    with pytest.raises(ht.ArgumentError, match="camera: expected adam, gs or wgs, got lbfgs"):
        plan.optimize(phase, camera=lambda phase, amplitude: None)


def test_progress_of_another_type():
    with pytest.raises(ht.ArgumentError, match="progress"):
        ht.point_cloud_field(*POINT, **PANEL, progress=5)


def test_progress_true_draws_with_tqdm(capfd):
    pytest.importorskip("tqdm")
    ht.point_cloud_field(*POINT, **PANEL, progress=True)
    assert "multiplying factors" in capfd.readouterr().err
    ht.point_cloud_field(*POINT, **PANEL, progress=False)
    assert capfd.readouterr() == ("", "")


# Callbacks that call the plan which calls them. A lock held by the same thread would never end.


@pytest.mark.parametrize("body", [
    """
    fitter = ht.SmoeFitter(np.zeros((16, 16, 1), "float32"), components=2, iterations=3)
    fitter.run(progress=lambda *report: fitter.psnr_db())
    """,
    """
    plan = ht.PhaseRetrievalPlan(shape=(32, 32), **GRID)
    plan.set_target(np.ones((32, 32), "float32"))
    plan.optimize(ht.starting_phase((1, 32, 32)), iterations=2, report=lambda *of: plan.options())
    """,
    """
    plan = ht.PhaseRetrievalPlan(shape=(32, 32), **GRID)
    plan.set_target(np.ones((32, 32), "float32"))
    phase = ht.starting_phase((1, 32, 32))
    try:
        plan.optimize(phase, iterations=2, report=lambda *of: plan.quality(phase))
    except ht.Error:
        pass  # refused is well
    """,
], ids=["psnr of a fit", "options of a plan", "quality of a plan"])
def test_a_callback_may_call_its_plan(body):
    run_python(body, seconds=4)


def test_a_frame_of_a_halftone_may_read_positions():
    run_python("""
        plan = ht.ElectrostaticPlan((16, 16), 20)
        plan.set_ink(np.ones((16, 16), "float32"))
        plan.set_positions(rng.random((20, 2), "float32") * 16)
        seen = []
        frame = lambda i: seen.append(plan.positions())
        ht.electrostatic_halftone(plan, iterations=4, frame_interval=1, on_frame=frame)
        assert len(seen) == 5
    """)


# Ctrl-C.

LONG = {
    "points": "ht.point_cloud_field(np.float32([[0, 0, -0.1]] * 200000), np.ones(200000, 'float32'), method='direct')",
    "fit": "ht.fit_smoe(rng.random((128, 128, 3), 'float32'), components=500, iterations=10**6)",
    "retrieval": """plan = ht.PhaseRetrievalPlan(shape=(64, 64), **GRID)
    plan.set_target(np.ones((64, 64), 'float32'))
    plan.optimize(ht.starting_phase((1, 64, 64)), iterations=10**6)""",
    "halftone": """ht.make_halftone([rng.random((64, 64), 'float32')], dots=500,
        descent=ht.DescentOptions(iterations=10**6, min_improvement=0, patience=0))""",
    "stereogram": "ht.stereogram_field(ht.DiceScene(), 0, shape=(8192, 8192), hogel_px=128, **GRID)",
}


@pytest.mark.parametrize("work", LONG)
def test_ctrl_c(work):
    """KeyboardInterrupt within a second of the signal, from work of a minute."""
    late = run_python(f"""
def press():
    global at
    time.sleep(0.2)
    at = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press, daemon=True).start()
try:
    {LONG[work]}
except KeyboardInterrupt:
    print(time.monotonic() - at)
""")
    print(f"{float(late):.2f} s")
    assert float(late) < 1


# What a plan of one grid takes.


@pytest.mark.parametrize("call", [
    lambda plan, field: ht.PropagationPlan(**plan).execute(field, 0.1),
    lambda plan, field: ht.PropagationPlan(**plan).set_input(field),
    lambda plan, field: ht.ReconstructionPlan(**plan).set_field(field),
    lambda plan, field: ht.EncodePlan(**plan).execute(field),
    lambda plan, field: ht.PhaseRetrievalPlan(**plan).set_source(field),
    lambda plan, field: ht.PointCloudPlan(**plan).adjoint(field),
], ids=["execute", "set_input", "set_field", "encode", "set_source", "adjoint"])
def test_a_field_of_another_grid_is_refused(call):
    values = np.ones((64, 64), "complex64")
    for name, other in (("pitch_m", 4e-6), ("wavelength_m", 633e-9)):
        with pytest.raises(ht.ArgumentError, match=f"{name}: expected .*, that of the plan, got {other:g}"):
            call(PANEL, ht.Field(values, **(GRID | {name: other})))
    try:
        call(PANEL, ht.Field(values, **GRID))
    except ht.ArgumentError as error:
        assert "that of the plan" not in str(error)  # no points


@pytest.mark.parametrize("call", [
    lambda **grid: ht.PropagationPlan(shape=(4, 5), **grid), lambda **grid: ht.ReconstructionPlan(shape=(4, 5), **grid),
    lambda **grid: ht.PointCloudPlan(shape=(4, 5), **grid), lambda **grid: ht.LayerPlan(shape=(4, 5), **grid),
    lambda **grid: ht.propagate(np.ones((4, 5), "complex64"), 0.1, **grid),
])
def test_wrong_units_are_refused(call):
    with pytest.raises(ht.ArgumentError, match="wavelength_m: expected 1e-08 to 0.001, got 532"):
        call(pitch_m=8e-6, wavelength_m=532)
    with pytest.raises(ht.ArgumentError, match="pitch_m: expected 1e-09 to 1, got 8"):
        call(pitch_m=8, wavelength_m=532e-9)


@pytest.mark.parametrize("wrong", [{"pitch_m": -1}, {"pitch_m": 0}, {"wavelength_m": float("nan")}])
def test_a_field_has_a_grid(wrong):
    with pytest.raises(ht.ArgumentError, match=f"Field: {next(iter(wrong))}: expected > 0"):
        ht.Field(np.ones((4, 5), "complex64"), **(GRID | wrong))


# Messages.


@pytest.mark.parametrize("call,message", [
    (lambda: ht.propagate(np.ones((4, 5), "complex64"), 0.1, **GRID, shape=(4, 5)), "propagate: shape and device are"),
    (lambda: ht.RetrievalPlane(0.1), "RetrievalPlane: expected members by name, as in distance_m=0.1"),
    (lambda: ht.interior(ht.Dots(width=4, height=4), 0.8), "name the others, as in fraction="),
    (lambda: ht.ElectrostaticOptions(on_stage=print), "on_stage is an argument of plans and functions"),
    (lambda: ht.encode(np.ones((4, 5), "complex64"), bits=8), "pitch_m is missing .a holotone.Field"),
    (lambda: ht.power_spectrum(np.ones((4, 2), "float32")), "region is missing"),
    (lambda: ht.pair_correlation(np.ones((4, 2), "float32")), "region is missing"),
])
def test_what_is_meant(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("call,message", [
    (lambda: ht.NufftPlan((8, 8)).type1(np.ones(5, "complex64")), "type1: points: expected those of set_points before"),
    (lambda: ht.NufftPlan((8, 8)).type2(np.ones((8, 8), "complex64")), "type2: points: expected those of set_points"),
    (lambda: ht.PointCloudPlan(method="\udc80"), "method: expected"),
    (lambda: ht.PropagationPlan(**PANEL, device="\udc80"), "device: expected"),
    (lambda: ht.PropagationPlan(**PANEL).execute(np.ones((64, 64), "complex64"), 0.1, stream="x"), "stream: expected None"),
    (lambda: ht.PropagationPlan(**PANEL).execute(np.ones((64, 64), "complex64"), 0.1, stream=-1), "stream: expected None"),
    (lambda: ht.default_inks(2**31), "count: expected at most 256"),
])
def test_arguments_are_named(call, message):
    with pytest.raises(ht.ArgumentError, match=message):
        call()


@pytest.mark.parametrize("call", [
    lambda: ht.stereogram_field(None, 0, shape=(16, 16), hogel_px=8, **GRID),
    lambda: ht.StereogramPlan(shape=(16, 16), hogel_px=8, **GRID).execute(None, 0),
    lambda: ht.LayerViews([None], 8e-6),
])
def test_none_is_refused(call):
    with pytest.raises(ht.ArgumentError, match="got None"):
        call()


def test_an_unknown_panel_has_parts():
    with pytest.raises(ht.ArgumentError) as caught:
        ht.find_panel("x")
    assert caught.value.argument == "panel" and "holoeye-pluto-2" in caught.value.expected and caught.value.got == "'x'"


def test_views_of_wrong_types():
    class Views(FailingViews):
        channels = staticmethod(lambda: "one")

    with pytest.raises(ht.ArgumentError, match="channels.*: expected int, got 'one'"):
        ht.stereogram_field(Views(), 0, **PANEL, hogel_px=32)


def test_what_cannot_be_pickled_says_so():
    import pickle

    with pytest.raises(TypeError, match="DiffusionWeights cannot be pickled"):
        pickle.dumps(ht.floyd_steinberg_weights())
