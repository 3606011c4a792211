"""The window on a panel: in memory, and on the monitor of an X server whose pixels are read back."""

import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import DEVICES, on, run_python

import holotone as ht

NY, NX = 37, 51


def open_window(**options):
    try:
        return ht.PanelWindow(offscreen=(NY, NX), **options)
    except ht.UnsupportedError as error:
        pytest.skip(str(error))


@pytest.fixture
def window():
    with open_window() as opened:
        yield opened


def random_codes(rng, *shape, dtype="uint8"):
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def grey(codes):
    return np.repeat(codes[..., None], 3, axis=2)


# In memory.


@pytest.mark.parametrize("device", DEVICES)
def test_codes_of_any_device_arrive_bit_for_bit(device, rng):
    codes, colours = random_codes(rng, NY, NX), random_codes(rng, NY, NX, 3)
    words = random_codes(rng, NY, NX, dtype="uint16")
    with open_window(packing="gb") as window:
        before = window.now_s()
        shown = window.show(on(codes, device))
        assert before <= shown <= window.now_s()
        assert np.array_equal(window.sent(), grey(codes))
        window.show(on(colours, device))
        assert np.array_equal(window.sent(), colours)
        window.show(on(words, device))
        assert np.array_equal(window.sent(), np.stack([0 * words, words >> 8, words & 255], axis=2))
        assert isinstance(window.direct(), bool)


def test_tensors_arrive(rng, window):
    torch = pytest.importorskip("torch")
    codes = random_codes(rng, NY, NX)
    window.show(torch.from_numpy(codes))
    assert np.array_equal(window.sent(), grey(codes))


def test_the_safe_pattern_is_there_without_codes(rng):
    with open_window(safe=ht.SafePattern(period_px=8)) as window:
        safe = grey(ht.safe_pattern(ht.SafePattern(period_px=8), (NY, NX)))
        assert np.array_equal(window.sent(), safe)
        window.show(random_codes(rng, NY, NX))
        assert not np.array_equal(window.sent(), safe)
        assert window.show_safe() > 0
        assert np.array_equal(window.sent(), safe)


def test_tables_and_smaller_pictures(rng):
    small = random_codes(rng, 7, 10)
    with open_window(display_lut=255 - np.arange(256) // 2, centre=True) as window:
        window.show(small)
        expected = np.zeros((NY, NX), "uint8")
        expected[15:22, 20:30] = small
        assert np.array_equal(window.sent(), grey((255 - expected // 2).astype("uint8")))


def test_what_it_says(window):
    monitor = window.monitor()
    assert (monitor.ny, monitor.nx, monitor.refresh_hz) == (NY, NX, 60) and not window.closed
    window.poll()


def test_a_clock_of_python(rng):
    times = iter(range(100))
    with open_window(clock=lambda: next(times)) as window:
        first = window.show(random_codes(rng, NY, NX))
        assert window.show(random_codes(rng, NY, NX)) == first + 1


def test_a_clock_that_fails(rng):
    broken = False

    def clock():
        return 1 / 0 if broken else 1

    with open_window(clock=clock) as window:
        broken = True
        with pytest.raises(ZeroDivisionError):
            window.show(random_codes(rng, NY, NX))
    with pytest.raises(ht.ArgumentError, match="expected float, got 'noon'"):
        open_window(clock=lambda: "noon")


def test_a_clock_cannot_close_the_window(rng):
    def clock():
        if opened:
            opened[0].close()
        return 0

    opened = []
    with open_window(clock=clock) as window:
        opened.append(window)
        with pytest.raises(ht.ArgumentError, match="an object that is not at work"):
            window.show(random_codes(rng, NY, NX))
        opened.clear()


def test_wait_polls_and_keeps_time(window):
    start = time.monotonic()
    window.wait(0.15)
    assert 0.15 <= time.monotonic() - start < 2
    window.wait(-1)
    with pytest.raises(ht.ArgumentError, match="nan"):
        window.wait(float("nan"))


def test_the_pace_of_a_sequence(rng, window):
    pacer = ht.FramePacer(refresh_hz=60, fps=30)
    for frame in range(6):
        turn = pacer.next(window.now_s())
        assert turn.frame == frame
        window.wait(turn.start_s - window.now_s())
        pacer.shown(window.show(random_codes(rng, NY, NX)))
    counts = pacer.counts()
    assert (counts.shown, counts.dropped) == (6, 0)


@pytest.mark.parametrize("codes, message", [
    (np.zeros((NY, NX + 1), "uint8"), "codes: expected 51 x 37 pixels, as monitor memory has, got 52 x 37"),
    (np.zeros((NY, NX, 2), "uint8"), "codes: expected three channels, got 2"),
    (np.zeros((NY, NX), "uint16"), "codes: expected 8-bit codes, or the option packing for 16-bit ones"),
    (np.zeros((NY, NX), "float32"), "codes: expected an array of uint8 with 2 axes, got float32"),
    (np.zeros((NY, NX, 3), "uint16"), "codes: expected an array of uint8 with 3 axes, got uint16"),
    (None, "codes: expected an array of uint8 with 2 axes, got NoneType"),
])
def test_what_cannot_be_shown(window, codes, message):
    with pytest.raises(ht.ArgumentError) as caught:
        window.show(codes)
    assert str(caught.value).startswith("PanelWindow.show: " + message)


@pytest.mark.parametrize("options, message", [
    ({"packing": "rr"}, "packing: expected two different letters of rgb, got 'rr'"),
    ({"display_lut": [1, 2]}, "display_lut: expected 256 values or none, got 2"),
    ({"display_lut": np.arange(1, 257)}, "display_lut: expected numbers that uint8 can hold"),
    ({"offscreen": (0, 8)}, "offscreen: expected extents from 1 to 16384"),
])
def test_wrong_options(options, message):
    with pytest.raises(ht.ArgumentError) as caught:
        ht.PanelWindow(**{"offscreen": (NY, NX)} | options)
    assert message in str(caught.value)


def test_a_wrong_pattern(window):
    window.close()
    with pytest.raises(ht.ArgumentError, match="period_px"):
        open_window(safe=ht.SafePattern(period_px=1))
    open_window().close()


# Its life.


def test_a_closed_window():
    window = open_window()
    window.close()
    window.close()
    assert window.closed
    for call in (window.poll, window.sent, window.show_safe, lambda: window.show(np.zeros((NY, NX), "uint8"))):
        with pytest.raises(ht.ArgumentError, match="self: expected an open window, got a closed one"):
            call()


def test_the_end_of_a_block_closes_it():
    with pytest.raises(ValueError), open_window() as window:
        raise ValueError
    assert window.closed


def test_a_second_window_is_refused_and_a_dropped_one_is_closed(window):
    with pytest.raises(ht.ArgumentError, match=r"expected no other open window in this thread, got one: close\(\) it"):
        open_window()
    window.close()
    for _ in range(3):
        other = open_window()
        del other
    open_window().close()


def raised_in_thread(call):
    caught = []

    def run():
        try:
            call()
        except ht.ArgumentError as error:
            caught.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return caught


def test_another_thread_is_refused(window):
    for name in ("poll", "sent", "close", "show_safe"):
        assert raised_in_thread(getattr(window, name)) == [
            f"PanelWindow.{name}: self: expected a call in the thread that opened the window, got one in another thread"
        ]
    message = "expected a call in the main thread, for a window on a monitor, got one in another thread"
    assert raised_in_thread(ht.PanelWindow) == ["PanelWindow: self: " + message]
    assert raised_in_thread(ht.monitors) == ["monitors: expected a call in the main thread, got one in another thread"]


def test_a_thread_may_have_a_window_of_its_own(rng, window):
    codes, same = random_codes(rng, NY, NX), []

    def run():
        with open_window() as own:
            own.show(codes)
            same.append(np.array_equal(own.sent(), grey(codes)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert same == [True]
    window.show(codes)
    assert np.array_equal(window.sent(), grey(codes))


def test_a_window_that_another_thread_drops(window):
    """The main thread closes it."""
    window.close()
    kept = [open_window()]
    thread = threading.Thread(target=kept.clear)
    thread.start()
    thread.join()
    open_window().close()


WINDOW = f"window = ht.PanelWindow(offscreen=({NY}, {NX}))"


def test_ctrl_c_ends_a_wait():
    open_window().close()
    run_python(f"""
    {WINDOW}
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        window.wait()
    except KeyboardInterrupt:
        assert time.monotonic() - start < 5
    else:
        sys.exit("no KeyboardInterrupt")
    """)


def test_the_end_of_the_interpreter_closes_it():
    open_window().close()
    assert run_python(f"""
    def clock():
        print("present", flush=True)
        return 0

    window = ht.PanelWindow(offscreen=({NY}, {NX}), clock=clock)
    """) == "present\npresent"


def test_a_forked_child_neither_uses_nor_closes_it():
    open_window().close()
    run_python(f"""
    {WINDOW}
    child = os.fork()
    if child == 0:
        try:
            window.poll()
        except ht.UnsupportedError as error:
            sys.exit(0 if "forked" in str(error) else 1)
    assert os.waitpid(child, 0)[1] == 0
    window.show(np.zeros(({NY}, {NX}), "uint8"))
    """)


# Parts without a window.


def test_bit_planes(rng):
    frames = (rng.random((24, 9, 11)) < 0.5).astype("uint8")
    packed = ht.pack_bit_planes(frames)
    assert packed.shape == (9, 11, 3)
    for i, frame in enumerate(frames):
        assert np.array_equal(packed[..., "rgb".index("grb"[i // 8])] >> (i % 8) & 1, frame)
    red = ht.pack_bit_planes(list(frames[:3]), order="rgb")[..., 0]
    assert np.array_equal(red, frames[0] + 2 * frames[1] + 4 * frames[2])
    with pytest.raises(ht.ArgumentError, match="order"):
        ht.pack_bit_planes(frames, order="rrb")


def test_triggers():
    for dtype, shape in (("uint8", (40, 50)), ("uint16", (40, 50)), ("uint8", (40, 50, 3))):
        codes = np.full(shape, 7, dtype)
        ht.draw_trigger(codes, ht.Trigger(side_px=8, fields=3, lit=2))
        assert (codes[32:, 42:] == np.iinfo(dtype).max).all() and (codes[32:, 26:42] == 0).all()
        assert (codes[:32] == 7).all() and (codes[:, :26] == 7).all()
    with pytest.raises(ht.ArgumentError, match="side_px"):
        ht.draw_trigger(codes, ht.Trigger(side_px=80))


def test_late_frames_are_dropped():
    pacer = ht.FramePacer(refresh_hz=60, fps=30, drop_late=True)
    pacer.shown(pacer.next(0.0).start_s)
    assert pacer.next(0.2).frame > 1 and pacer.counts().dropped > 0
    with pytest.raises(ht.ArgumentError, match="fps"):
        ht.FramePacer(refresh_hz=60, fps=61)


NAMES = [("eDP-1", 1200), ("HOLOEYE", 1080)]


def test_a_monitor_is_found():
    both = [ht.Monitor(number=i + 1, name=name, nx=1920, ny=ny) for i, (name, ny) in enumerate(NAMES)]
    assert ht.find_monitor("holo", both).number == 2 and ht.find_monitor("1920x1200", both).number == 1
    with pytest.raises(ht.ArgumentError, match="HOLOEYE"):
        ht.find_monitor("3", both)


# On a monitor.


@pytest.fixture
def server(tmp_path):
    """An X server with one monitor, whose pixels stand in a file."""
    if not shutil.which("Xvfb"):
        pytest.skip("no Xvfb")
    reading, writing = os.pipe()
    process = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{MONITOR[1]}x{MONITOR[0]}x24", "-fbdir", str(tmp_path),
         "-nolisten", "tcp", "-noreset"],
        pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as ready:
        number = ready.readline().strip()
    try:
        yield f":{number}", tmp_path / "Xvfb_screen0"
    finally:
        process.terminate()
        process.wait(10)


MONITOR = (120, 160)

# Reads the picture of a server: numbers of 32 bits, most significant byte first, then colours and pixels.
READ = f"""
    os.environ.pop("WAYLAND_DISPLAY", None)
    os.environ["DISPLAY"] = DISPLAY

    def pixels():
        data = open(SCREEN, "rb").read()
        header = np.frombuffer(data[:100], ">u4")
        first, (ny, nx), row = header[0] + 12 * header[19], header[[5, 4]], header[12]
        rows = np.frombuffer(data[first : first + ny * row], "uint8").reshape(ny, row)
        return rows[:, : 4 * nx].reshape(ny, nx, 4)[..., 2::-1]

    def shows(codes):
        for _ in range(100):
            if np.array_equal(pixels(), codes):
                return True
            time.sleep(0.05)
        return False

    try:
        monitor, = ht.monitors()
    except ht.UnsupportedError as error:
        print("unsupported", error)
        sys.exit()
    ny, nx = {MONITOR}
    codes = rng.integers(0, 256, (ny, nx), "uint8")
"""


def on_server(server, program):
    display, screen = server
    begin = f"DISPLAY, SCREEN = {display!r}, {str(screen)!r}\n" + READ.replace("\n    ", "\n")
    text = run_python(begin + program, seconds=60)
    if text.startswith("unsupported"):
        pytest.skip(text)
    return text


def test_a_monitor_shows_codes_bit_for_bit(server):
    on_server(server, """
assert (monitor.ny, monitor.nx, monitor.number) == (ny, nx, 1)
with ht.PanelWindow(monitor="1", packing="rg") as window:
    safe = ht.safe_pattern(ht.SafePattern(), (ny, nx))
    assert shows(safe[..., None].repeat(3, 2)), "safe pattern"
    times = [window.show(codes) for _ in range(3)]
    assert shows(codes[..., None].repeat(3, 2)), "codes"
    assert times == sorted(times) and abs(times[-1] - window.now_s()) < 30
    words = rng.integers(0, 65536, (ny, nx), "uint16")
    window.show(words)
    assert shows(np.stack([words >> 8, words & 255, 0 * words], 2)), "words"
    window.show_safe()
    assert shows(safe[..., None].repeat(3, 2)), "safe pattern again"
    try:
        window.show(codes[:-1])
    except ht.ArgumentError as error:
        assert "expected 160 x 120 pixels" in str(error)
try:
    ht.PanelWindow(monitor="3")
except ht.ArgumentError as error:
    assert "one of: 1: screen" in str(error), error
""")


def test_ctrl_c_while_a_monitor_shows(server):
    on_server(server, """
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    with ht.PanelWindow(monitor="1") as window:
        while time.monotonic() - start < 20:
            window.show(codes)
    sys.exit("no KeyboardInterrupt")
except KeyboardInterrupt:
    assert window.closed and time.monotonic() - start < 10
""")


def test_monitors_without_a_display():
    text = run_python("""
    os.environ.pop("WAYLAND_DISPLAY", None)
    os.environ.pop("DISPLAY", None)
    for call in (ht.monitors, ht.PanelWindow):
        try:
            call()
        except ht.UnsupportedError as error:
            print(error)
    """)
    assert len(text.splitlines()) == 2, text


def test_the_example():
    open_window().close()
    example = pathlib.Path(__file__).parents[2] / "examples" / "panel_camera.py"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    result = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, env=environment, timeout=60)
    assert result.returncode == 0 and "after 30 pictures" in result.stdout, result
