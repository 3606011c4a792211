"""Ctrl-C ends what takes long: functions of Python that the library calls, calls that wait, long work."""

import time

import numpy as np
import pytest
from conftest import GRID, run_python

import holotone as ht

# Sends Ctrl-C after a while; the program then has to end with KeyboardInterrupt.
INTERRUPT = """
    def interrupted(call, after=0.5, within=5):
        threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            call()
        except KeyboardInterrupt:
            assert time.monotonic() - start < after + within, time.monotonic() - start
        else:
            sys.exit(f"no KeyboardInterrupt in {time.monotonic() - start:.1f} s")

    class Views:
        looks = 0

        def channels(self):
            return 1

        def has_distances(self):
            return False

        def look(self, rays, channel, intensity, distance_m):
            Views.looks += 1
            looking(intensity)

    def field(shape=(64, 64)):
        return ht.stereogram_field(Views(), 0, shape=shape, hogel_px=8, **GRID)
"""


@pytest.mark.parametrize("looking", [
    "while True: pass",
    "while Views.looks > 20: pass",
    "time.sleep(0.05)",
    "while Views.looks > 20: time.sleep(1)",
], ids=["loops", "loops later", "many", "sleeps"])
def test_looks_of_python(looking):
    run_python(INTERRUPT + f"""
    def looking(intensity):
        {looking}

    interrupted(lambda: field((512, 512)))
    """)


def test_looks_while_another_thread_computes():
    """The call's own thread makes them, whichever thread asks."""
    run_python(INTERRUPT + """
    threads = set()

    def looking(intensity):
        threads.add(threading.get_ident())
        intensity[:] = 1

    field()
    assert threads == {threading.get_ident()} and Views.looks == 64
    threads.clear()
    other = threading.Thread(target=field)
    other.start()
    ident = other.ident
    other.join()
    assert threads == {ident}
    """)


class Failing:
    def channels(self):
        return 1

    def has_distances(self):
        return False

    def look(self, rays, channel, intensity, distance_m):
        raise LookupError("nothing there")


def test_a_look_that_fails():
    with pytest.raises(LookupError, match="nothing there"):
        ht.stereogram_field(Failing(), 0, shape=(64, 64), hogel_px=8, **GRID)


def test_a_look_may_ask_the_plan_that_calls_it():
    run_python(INTERRUPT + """
    plan = ht.StereogramPlan(shape=(64, 64), hogel_px=8, **GRID)
    seen = []

    def looking(intensity):
        intensity[:] = 1
        seen.append(plan.options().hogel_px)

    plan.execute(Views(), 0)
    assert set(seen) == {8}
    """)


def test_a_call_that_waits_for_a_busy_plan():
    run_python(INTERRUPT + """
    plan = ht.PhaseRetrievalPlan(shape=(16, 24), planes=[ht.RetrievalPlane(distance_m=1e-3)], **GRID)
    plan.set_target(rng.random((16, 24), "float32"))
    begun, ends = threading.Event(), threading.Event()

    def camera(phase_rad, amplitude):
        begun.set()
        ends.wait(20)

    phase = ht.starting_phase((1, 16, 24))
    work = threading.Thread(
        target=lambda: plan.optimize(phase.copy(), solver="adam", iterations=1, camera=camera)
    )
    work.start()
    begun.wait(10)
    interrupted(lambda: plan.light(phase))
    ends.set()
    work.join()
    assert plan.light(phase).shape[-2:] == (16, 24)
    """, seconds=40)


def test_the_weights_of_a_window():
    run_python(INTERRUPT + """
    viewer = ht.Viewer(width_m=8e-3, height_m=8e-3, distance_m=0.5)
    options = dict(shape=(2048, 2048), hogel_px=8, **GRID)
    weights = ht.WeightOptions(rule="least_squares", taps=200)
    interrupted(lambda: ht.window_weights(viewer, weights=weights, **options))
    """)


def test_the_weights_of_a_window_report_and_can_be_cancelled():
    viewer = ht.Viewer(width_m=8e-3, height_m=8e-3, distance_m=0.5)
    options = {"shape": (128, 128), "hogel_px": 8, **GRID}
    seen = []
    weights = ht.window_weights(viewer, progress=lambda *report: seen.append(report), **options)
    assert ("computing weights", 256, 256) in seen
    assert np.array_equal(weights.weights.values, ht.window_weights(viewer, **options).weights.values)
    with pytest.raises(ht.CancelledError):
        ht.window_weights(viewer, progress=lambda *report: False, **options)


# Work of seconds that reports no progress, or seldom: what it is given, and the call. It continues without its caller.
DEAF = {
    "components": ("""n = 4000
    model = ht.SmoeModel(dimensions=2, channels=1, low=[0] * 4, high=[1] * 4, log_weight=np.zeros(n), slope=np.zeros((n, 1, 2)),
        centre=rng.random((n, 2)), covariance=np.tile([1, 0, 1], (n, 1)), colour=rng.random((n, 1)))
    points = rng.random((60_000, 2), 'float32')""", "ht.evaluate(model, points)"),
    "nufft": ("""plan = ht.NufftPlan((2048, 2048), tolerance=1e-6, dtype='float64')
    plan.set_points(rng.random((20_000_000, 2)))
    strengths = np.ones(20_000_000, 'complex128')""", "plan.type1(strengths)"),
    "light": ("pixels = np.zeros((16384, 16384, 3), 'uint8')", "ht.to_linear(pixels)"),
    "picture": ("pixels = rng.integers(0, 255, (8192, 8192, 3), 'uint8')", "ht.write_image(FOLDER + '/x.png', pixels)"),
}


@pytest.mark.parametrize("work", DEAF)
def test_ctrl_c_ends_the_call_of_deaf_work(work, tmp_path, monkeypatch):
    """KeyboardInterrupt comes within a second; then the library computes for others, and the process ends at once."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    given, call = DEAF[work]
    begun = time.time()
    late = run_python(f"""
    FOLDER = {str(tmp_path)!r}

    def ones(*shape):
        return np.ones(shape, "complex64")

    def press():
        global at
        at = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    {given}
    threading.Timer(0.3, press).start()
    try:
        {call}
        time.sleep(0.5)
    except KeyboardInterrupt:
        print(time.monotonic() - at)
    small = ones(4, 4)
    ht.FftPlan((4, 4)).execute(small, "forward")
    assert np.isclose(small[0, 0], 16)
    print(time.time())
    """, seconds=100)
    seconds, last = map(float, late.split())
    print(f"{seconds:.2f} s, end {time.time() - last:.2f} s later, {last - begun:.1f} s in all")
    assert seconds < 1 and time.time() - last < 1
