"""Threads, processes and memory: the interpreter's lock, plans that threads share, fork, leaks."""

import threading
import time

import numpy as np
import pytest
from conftest import GRID, noise, run_python

import holotone as ht

PANEL = {"shape": (256, 256), **GRID}


def test_another_thread_runs_during_a_call():
    """A counter of Python keeps counting. With the lock held it would stand still but for a few switches."""
    counted, ends = 0, threading.Event()

    def count():
        nonlocal counted
        while not ends.is_set():
            counted += 1

    position = np.float32([[0, 0, -0.1]] * 200)

    def call():
        ht.point_cloud_field(position, np.ones(200, "float32"), shape=(512, 512), method="direct")

    call()
    thread = threading.Thread(target=count)
    thread.start()
    try:
        start, before = time.monotonic(), counted
        while time.monotonic() - start < 0.2:
            call()
        seconds, during = time.monotonic() - start, counted - before
    finally:
        ends.set()
        thread.join()
    print(f"{during / seconds:.0f} a second")
    assert during / seconds > 20000


def test_threads_share_a_plan(rng):
    """Results of four threads that use one plan at once are those of one thread."""
    plan = ht.PropagationPlan(**PANEL)
    fields = [noise(rng, 256, 256) for _ in range(4)]
    expected = [plan.execute(field, 0.1) for field in fields]
    wrong = []

    def work(field, wanted):
        for _ in range(10):
            if not np.array_equal(plan.execute(field, 0.1), wanted):
                wrong.append(1)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(fields, expected)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_with_plans_of_their_own(rng):
    field = noise(rng, 64, 64)
    expected = ht.propagate(field, 0.1, **GRID).numpy()
    wrong = []

    def work():
        for _ in range(10):
            if not np.array_equal(ht.propagate(field, 0.1, **GRID).numpy(), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_plan_in_use_by_a_function_is_locked(rng):
    """Another thread cannot move the dots while a halftone is made of them."""
    plan = ht.ElectrostaticPlan((32, 32), 50)
    plan.set_ink(np.ones((32, 32), "float32"))
    plan.set_positions(rng.random((50, 2), "float32") * 32)
    begun, ended, came_between = threading.Event(), threading.Event(), []

    def intrude():
        begun.wait(5)
        plan.set_positions(np.ones((10, 2), "float32"))
        ended.set()

    def on_frame(iteration):
        begun.set()
        if iteration == 0:
            came_between.append(ended.wait(0.3))

    thread = threading.Thread(target=intrude)
    thread.start()
    ht.electrostatic_halftone(plan, iterations=2, frame_interval=1, on_frame=on_frame)
    thread.join()
    assert came_between == [False]


def test_callbacks_of_two_threads():
    """Python callbacks of calls at the same time take the interpreter's lock in turn."""
    position, amplitude = np.float32([[0, 0, -0.1]] * 50), np.ones(50, "float32")
    seen = []

    def work():
        for _ in range(5):
            ht.point_cloud_field(position, amplitude, shape=(128, 128), progress=lambda *report: seen.append(report))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads) and len(seen) >= 15


# Processes.

CHILD = """
    plan = ht.PropagationPlan(shape=(256, 256), **GRID)
    field = noise(256, 256)
    plan.execute(field, 0.1)
"""


def test_fork():
    """After work in the parent, a call of the child works or raises."""
    run_python(CHILD + """
    child = os.fork()
    if child == 0:
        try:
            plan.execute(field, 0.1)
        except Exception as error:
            print(error)
        os._exit(0)
    for _ in range(20):
        if os.waitpid(child, os.WNOHANG)[0]:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        sys.exit("the child hangs")
    """)


def test_multiprocessing_fork():
    run_python(CHILD + """
    import multiprocessing
    child = multiprocessing.get_context("fork").Process(target=lambda: plan.execute(field, 0.1))
    child.start()
    child.join(2)
    if child.exitcode is None:
        child.kill()
        sys.exit("the child hangs")
    """)


def test_fork_before_any_work():
    run_python("""
    child = os.fork()
    ht.propagate(noise(64, 64), 0.1, **GRID)
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    """)


@pytest.mark.skipif("opencl:0" not in ht.devices(), reason="no OpenCL device")
def test_the_locale_stays():
    assert run_python("""
    import locale
    locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    ht.FftPlan((8, 8), device="opencl:0")
    print(locale.setlocale(locale.LC_CTYPE))
    """) == "C.UTF-8"


# Memory.

WORK = {
    "propagation": "ht.PropagationPlan(shape=(128, 128), **GRID).execute(field, 0.1)",
    "set_input": """p = ht.PropagationPlan(shape=(128, 128), **GRID)
    p.set_input(field.copy())
    p.execute(0.1)""",
    "points": "ht.point_cloud_field(POINT, np.ones(1, 'float32'), shape=(128, 128), progress=print_not)",
    "arrays": "ht.copy_of(field).numpy(); np.from_dlpack(ht.copy_of(field))",
    "layers": """p = ht.LayerPlan(shape=(128, 128), **GRID)
    p.set_layers([ht.Layer(intensity=field.real.copy(), distance_m=0.1)])
    p.execute()""",
    "errors": "refused()",
    "members": "ht.Dots(position=np.zeros(20000, 'float32')).position",
    "nufft": """p = ht.NufftPlan((128, 128))
    p.set_points(np.zeros((9, 2), 'float32'))
    p.type1(np.zeros(9, 'complex64'))""",
}


@pytest.mark.parametrize("work", WORK)
def test_nothing_leaks(work):
    """Memory of the process grows by less than a quarter of an array of 128 KiB a time, from the 10th on."""
    grown = run_python(f"""
def resident():
    return 4096 * int(open("/proc/self/statm").read().split()[1])

def print_not(*report):
    pass

def refused():
    try:
        ht.PropagationPlan(shape=(128, 128), **GRID).execute(field.copy(), "far")
    except ht.ArgumentError:
        pass

field, POINT = noise(128, 128), np.float32([[0, 0, -0.1]])
for i in range(60):
    if i == 10:
        gc.collect()
        before = resident()
    {WORK[work]}
gc.collect()
print(resident() - before)
""", seconds=40)
    print(f"{int(grown) / 2**20:.2f} MiB more")
    assert int(grown) < 50 * 2**17 / 4


# Children and the end of the process.

LIGHT = {
    "random_phase": "ht.random_phase(10)",
    "write_image": "ht.write_image('/dev/null/x.png', np.zeros((2, 2), 'uint8'))",
    "to_float": "ht.to_float(np.zeros((256, 256), 'uint8'))",
    "options": "plan.options()",
    "window_lens": "ht.window_lens(ht.Viewer(width_m=1e-3, height_m=1e-3, distance_m=0.5), 0, 0, (64, 64), shape=(64, 64), **GRID)",
    "nufft": "nufft.set_points(np.zeros((5, 2), 'float32'))",
}


@pytest.mark.parametrize("name", LIGHT)
def test_a_forked_child_says_so(name):
    """Every function, not only those with arrays: their threads are not there."""
    text = run_python(CHILD + f"""
    nufft = ht.NufftPlan((64, 64))
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        try:
            {LIGHT[name]}
        except ht.UnsupportedError as error:
            assert "forked" in str(error), error
            os._exit(7)
        os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert text == "7"


@pytest.mark.parametrize("work", [
    "ht.point_cloud_field(np.float32([[0, 0, -0.1]] * 2000), np.ones(2000, 'f'), method='direct', shape=(2048, 2048))",
    "ht.propagate(noise(1024, 1024), 0.1, **GRID)",
], ids=["with progress", "without"])
def test_the_interpreter_ends_while_a_daemon_works(work):
    run_python(f"""
    def run():
        while True:
            {work}

    threading.Thread(target=run, daemon=True).start()
    time.sleep(0.5)
    """)
