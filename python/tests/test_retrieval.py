"""Pictures to codes: written to a file, read back, propagated by NumPy and compared with the picture."""

import numpy as np
import pytest

import holotone as ht

PANEL = ht.FieldGrid(nx=96, ny=64, pitch_m=8e-6, wavelength_m=532e-9)
DISTANCE_M = 5e-3


def picture():
    light = np.zeros((16, 24), "float32")
    light[4:12, 3:9] = 1
    light[4:12, 15:21] = 0.25
    return light


def options(**more):
    model = ht.PhaseRetrievalOptions(grid=PANEL, planes=[ht.RetrievalPlane(distance_m=DISTANCE_M)])
    return {"model": model, "part": 0.5, **more}


def light_behind(codes, distance_m):
    """Intensity in a plane behind the panel, by the angular spectrum in float64."""
    ny, nx = codes.shape
    fy, fx = np.meshgrid(np.fft.fftfreq(2 * ny, 8e-6), np.fft.fftfreq(2 * nx, 8e-6), indexing="ij")
    along = np.sqrt(1 / 532e-9**2 - fx**2 - fy**2)
    field = np.zeros((2 * ny, 2 * nx), complex)
    field[:ny, :nx] = np.exp(2j * np.pi * codes / 256)
    return np.abs(np.fft.ifft2(np.fft.fft2(field) * np.exp(-2j * np.pi * along * distance_m)))[:ny, :nx] ** 2


def test_a_picture_to_a_file_of_codes(tmp_path):
    made = ht.retrieve_picture(picture(), **options())
    ht.write_hologram(tmp_path / "slm.png", made.codes[0], pitch_m=8e-6, wavelength_m=532e-9, metadata=made.metadata)
    read = ht.read_hologram(tmp_path / "slm.png")
    assert float(read.metadata["distance_m"]) == DISTANCE_M and read.metadata["signal_region"] == "24,16,48,32"
    codes = np.round(np.angle(read.field) * 128 / np.pi).astype(int) % 256
    assert np.array_equal(codes, made.codes[0])
    light = light_behind(codes, DISTANCE_M)
    bright, dim = light[26:38, 32:40].sum(), light[26:38, 56:64].sum()
    assert dim / bright == pytest.approx(0.25, abs=0.03)
    inside = light[16:48, 24:72].sum() / (64 * 96)
    assert made.quality[0].efficiency == pytest.approx(inside, abs=0.01)
    assert made.quality[0].psnr_worst_db > 20 and made.difference.shape == (32, 48)


def test_amplitudes_of_two_planes_and_the_next_start():
    planes = [ht.RetrievalPlane(distance_m=d) for d in (4e-3, 8e-3)]
    model = ht.PhaseRetrievalOptions(grid=PANEL, planes=planes, frames=2)
    amplitudes = [np.zeros((64, 96), "float32") for _ in planes]
    amplitudes[0][24:40, 30:46] = amplitudes[1][24:40, 52:68] = 1
    solver = ht.SolverOptions(iterations=8)
    first = ht.retrieve_amplitudes(amplitudes, model=model, solver=solver, start="random")
    assert first.codes.shape == (2, 64, 96) and len(first.quality) == len(first.seen) == 2
    more = ht.retrieve_amplitudes(amplitudes, model=model, solver=solver, start_rad=first.phase_rad)
    assert min(q.psnr_db for q in more.quality) > min(q.psnr_db for q in first.quality)


def test_few_bits_are_rounded_in_stages():
    made = ht.retrieve_picture(picture(), **options(encoding=ht.EncodeOptions(bits=2)))
    assert made.rounding == "stages" and made.codes.max() < 4


def test_bad_arguments_are_named():
    with pytest.raises(ht.ArgumentError, match="part"):
        ht.retrieve_picture(picture(), **options(part=2))
    with pytest.raises(ht.ArgumentError, match="amplitudes"):
        ht.retrieve_amplitudes([picture()], **options())


def test_spots_are_even_and_where_they_are_asked_for(device):
    if device.startswith("cuda") and not next(one.cuda for one in ht.operations() if one.plan == "SpotPlan"):
        pytest.skip("CUDA has no SpotPlan")
    lens = {"shape": (96, 128), "pitch_m": 8e-6, "wavelength_m": 1064e-9, "focal_length_m": 0.1}
    spots = np.array([[1e-3, 2e-3, 0], [-2e-3, 1e-3, 1e-3], [3e-3, -1e-3, -2e-3]], "float32")
    plan = ht.SpotPlan(**lens, device=device)
    plan.set_spots(spots, np.array([1, 2, 1], "float32"))
    report = plan.solve()
    assert report.reached and report.light.deviation < 1e-3
    phase = plan.phase()
    y, x = np.meshgrid(8e-6 * (47.5 - np.arange(96)), 8e-6 * (np.arange(128) - 63.5), indexing="ij")
    shares = []
    for sx, sy, sz in spots.astype(float):
        wave = (x * sx + y * sy) / 0.1 + sz * (1 - np.sqrt(1 - (x**2 + y**2) / 0.1**2))
        shares.append(abs(np.mean(np.exp(1j * (phase - 2 * np.pi * wave / 1064e-9)))) ** 2)
    assert np.allclose(shares, report.light.intensity, rtol=2e-4)
    assert shares[1] / shares[0] == pytest.approx(2, rel=5e-3)
    moved = plan.move(spots + np.float32(1e-5))
    assert moved.light.deviation < 0.02
    with pytest.raises(ht.ArgumentError, match="spot 0"):
        plan.set_spots(np.full((1, 3), np.nan, "float32"))


def test_a_list_of_spots_to_codes(tmp_path):
    (tmp_path / "spots.csv").write_text("x_mm,y_mm,intensity\n1,2,1\n-2,1,0.5\n")
    spots = ht.read_spots(tmp_path / "spots.csv")
    assert np.allclose(spots.position_m, [[1e-3, 2e-3, 0], [-2e-3, 1e-3, 0]]) and list(spots.intensity) == [1, 0.5]
    lens = {"shape": (96, 128), "pitch_m": 8e-6, "wavelength_m": 1064e-9, "focal_length_m": 0.1}
    for device in ("cpu", *(name for name in ht.devices() if name.startswith("opencl"))):
        made = ht.make_spots(spots, **lens, device=device)
        assert made.codes.shape == (96, 128) and made.report.light.efficiency > 0.75
    with pytest.raises(ht.ArgumentError, match="columns"):
        ht.spot_lattice(0, 1, 1e-3)


def test_spots_that_move(tmp_path):
    lens = dict(shape=(96, 128), pitch_m=8e-6, wavelength_m=1064e-9, focal_length_m=0.1)
    rows = ["frame,id,x_um,y_um"]
    rows += [f"{frame},{spot},{400 * spot - 1500 + 25 * frame},{700 + 10 * frame}" for frame in (0, 4) for spot in range(8)]
    rows += ["4,70,500,-1500"]
    (tmp_path / "moves.csv").write_text("\n".join(rows))
    trajectory = ht.read_spot_trajectory(tmp_path / "moves.csv")
    assert not trajectory.has_times and [key.time for key in trajectory.keys] == [0, 4]
    ht.check_spot_trajectory(trajectory, **lens)
    # 100 um along x and 40 um along y; widths of 1064 nm 0.1 m / (8 um 128), and 96.
    longest = np.hypot(100e-6 / 103.9e-6, 40e-6 / 138.5e-6)
    assert trajectory.has_units and abs(ht.longest_spot_step(trajectory, [0, 4], **lens) - longest) < 1e-3
    times = ht.spot_frame_times(trajectory, max_step_widths=0.3, **lens)
    assert len(times) == 5
    frame = ht.spot_frame(trajectory, times[2])
    assert list(frame.id) == list(range(8)) and np.allclose(frame.spots.position_m[0], [-1450e-6, 720e-6, 0])

    motion = ht.SpotMotion(relaxation=ht.PanelRelaxation(time_constant_s=2e-3), frame_time_s=1e-2, **lens)
    for number, time in enumerate(times):
        frame = ht.spot_frame(trajectory, time)
        made = motion.show(frame)
        assert made.codes.shape == (96, 128)
        assert (made.transient is None) == (number == 0)
        rows = ht.spot_frame_rows(number, frame, made)
        assert rows.startswith("frame,time,id,") == (number == 0)
    assert made.report.free_spots == 1 and len(made.transient.id) == 8
    assert min(made.transient.lowest) > 0.3 and made.transient.mean_half_way > 0.5
    assert ht.relaxed_share(ht.PanelRelaxation(time_s=[1, 2], share=[0.5, 1]), 1.5) == 0.75

    plan = ht.SpotPlan(**lens)
    plan.set_spots(frame.spots.position_m, id=np.arange(9))
    plan.solve()
    # Another order, one gone and one new.
    moved = plan.move(frame.spots.position_m[::-1].copy(), np.array([80, 7, 6, 5, 4, 3, 2, 1, 0]))
    assert moved.free_spots == 1 and moved.light.deviation < 0.2
    with pytest.raises(ht.ArgumentError, match="twice"):
        plan.move(frame.spots.position_m, np.zeros(9, "int64"))

def test_spots_in_other_units(tmp_path):
    (tmp_path / "k.csv").write_text("kx_norm,ky_per_mm,defocus_per_m\n0.01,2,0.5\n")
    lens = ht.SpotLens(wavelength_m=1e-6, focal_length_m=0.2, pitch_m=8e-6)
    spots = ht.read_spots(tmp_path / "k.csv", lens=lens)
    assert np.allclose(spots.position_m, [[2e-3, 4e-4, 0.02]]) and spots.are_angles
    (tmp_path / "map.csv").write_text("x_um,5,0,-100\ny_um,0,-5,200\n")
    camera = ht.read_camera_map(tmp_path / "map.csv")
    assert np.allclose(ht.place_of_pixel(camera, [30, 10]), [50e-6, 150e-6])
    assert np.allclose(ht.pixel_of_place(camera, [50e-6, 150e-6]), [30, 10])
    dots = np.zeros((20, 30), "float32")
    dots[4, 7] = dots[12, 20] = 1
    found = ht.spots_in_picture(dots, 1e-6)
    assert np.allclose(found.spots.position_m, [[-7.5e-6, 5.5e-6, 0], [5.5e-6, -2.5e-6, 0]], atol=1e-12)
    camera = ht.CameraMap(to_spots_m=[[1e-6, 0, -14.5e-6], [0, -1e-6, 9.5e-6]])
    light = ht.measure_spots(dots + 0.25, found.spots, camera, 3)
    assert np.allclose(light, [1, 1], atol=1e-5)


def test_measured_light_belongs_to_places(tmp_path):
    lens = {"shape": (96, 128), "pitch_m": 8e-6, "wavelength_m": 1064e-9, "focal_length_m": 0.1}
    spots = ht.spot_ring(4, 1e-3, centre_m=[2e-3, 0, 0])
    assert np.allclose(spots.position_m[1], [2e-3, 1e-3, 0]) and not spots.has_units
    (tmp_path / "m.csv").write_text("measured,x_mm,y_mm\n0,1,0\n2,2,1\n4,2,-1\n1,3,0\n")
    measured = ht.read_measured_light(tmp_path / "m.csv", spots, **lens)
    assert list(measured) == [1, 2, 0, 4]
    dark = ht.find_dark_spots(measured, spots)
    assert (dark.count, dark.first) == (1, 2)
    (tmp_path / "m.csv").write_text("measured,x_mm,y_mm\n0,1,0\n")
    with pytest.raises(ht.Error, match="row of spot 0"):
        ht.read_measured_light(tmp_path / "m.csv", spots, **lens)


def test_signals_become_light():
    light = np.array([0.5, 3, 20])
    law = ht.SpotSignal(exponent=2, saturation=50)
    assert np.allclose(ht.light_from_signal(light**2 / (1 + light**2 / 50), law), light, rtol=1e-4)
    with pytest.raises(ht.ArgumentError, match="signal 50 of spot 1"):
        ht.light_from_signal([1, 50], law)


def test_spots_have_phases():
    lens = {"shape": (96, 128), "pitch_m": 8e-6, "wavelength_m": 1064e-9, "focal_length_m": 0.1}
    spots = ht.spot_ring(7, 1e-3, centre_m=[2e-3, 0, 0])
    plan = ht.SpotPlan(**lens)
    plan.set_spots(spots.position_m, spots.intensity)
    plan.set_phases(np.arange(7, dtype="float32"))
    light = plan.solve().light
    assert light.phase_error_rad < 5e-3 and light.worst < 7.5e-3
    plan.set_phases()
    assert plan.solve().light.phase_error_rad == 0


def test_measured_light_changes_the_targets():
    lens = {"shape": (96, 128), "pitch_m": 8e-6, "wavelength_m": 1064e-9, "focal_length_m": 0.1}
    spots = ht.spot_lattice(4, 3, 1.2e-3, centre_m=[3e-4, 2e-4, 0])
    plan = ht.SpotPlan(**lens)
    plan.set_spots(spots.position_m, spots.intensity)
    transmission = np.linspace(0.6, 1, 12).astype("float32")
    seen = np.asarray(plan.solve().light.intensity) * transmission
    assert seen.std() / seen.mean() > 0.1
    for _ in range(3):
        plan.set_measured(seen.astype("float32"), gain=1)
        seen = np.asarray(plan.refine().light.intensity) * transmission
    assert seen.std() / seen.mean() < 0.01
    again = ht.SpotPlan(**lens)
    again.set_spots(spots.position_m)
    again.start_from(plan.phase())
    kept = again.refine(steps=ht.SpotSteps(kept_steps=0)).light.intensity
    assert np.allclose(np.asarray(kept) * transmission, seen, rtol=1e-3)
    with pytest.raises(ht.ArgumentError, match="spot 1"):
        plan.set_measured(np.array([1, -1] + 10 * [1], "float32"))
