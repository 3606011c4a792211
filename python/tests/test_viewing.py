"""What is seen of hologram files: in colour, by an eye at several positions, and compared with a picture."""

import numpy as np
import pytest

import holotone as ht

PANEL = {"shape": (65, 96), "pitch_m": 8e-6}
RGB = (638e-9, 520e-9, 450e-9)


def write_point(path, wavelength_m, x_m=0.0, depth_m=0.02):
    position, amplitude = np.array([[x_m, 0, -depth_m]], "float32"), np.ones(1, "float32")
    field = ht.point_cloud_field(position, amplitude, **PANEL, wavelength_m=wavelength_m)
    ht.write_field(path, ht.Field(field, pitch_m=PANEL["pitch_m"], wavelength_m=wavelength_m))
    return str(path)


def test_a_colour_picture_of_three_holograms(tmp_path):
    files = [write_point(tmp_path / f"{c}.ohc", RGB[c], x_m=(c - 1) * 20 * 8e-6) for c in range(3)]
    seen = ht.view_holograms(files, distances_m=[0.02])
    codes = np.stack([ht.tone_map(seen.intensity[0, :, :, c].copy(), reference=seen.white) for c in range(3)], axis=-1)
    ht.write_image(tmp_path / "seen.png", codes)
    assert codes.shape == (65, 96, 3) and seen.wavelengths_m == pytest.approx(RGB)
    for c in range(3):
        column = seen.intensity[0, :, :, c].max(axis=0).argmax()
        assert abs(column - (47.5 + (c - 1) * 20)) <= 1
        alone = ht.view_holograms([files[c]], distances_m=[0.02]).intensity[0, :, :, 0]
        assert np.allclose(alone, seen.intensity[0, :, :, c], rtol=1e-5, atol=1e-6 * alone.max())


def test_the_sweep_of_an_eye_against_a_picture(tmp_path):
    file = write_point(tmp_path / "point.ohc", 532e-9)
    eyes = [ht.EyePupil(width_m=1e-3, height_m=1e-3, distance_m=0.1, x_m=x) for x in (-0.8e-3, 0, 0.8e-3)]
    seen = ht.view_holograms([file], distances_m=[0.02], pupils=eyes)
    wanted = seen.intensity[1, :, :, 0].copy()
    psnr_db = [ht.compare_light(picture[:, :, 0].copy(), wanted).psnr_db for picture in seen.intensity]
    assert psnr_db[1] == np.inf and psnr_db[0] == pytest.approx(psnr_db[2], abs=0.1) and psnr_db[0] < 60
    assert len(seen.light_shares) == 3 and all(0 < share < 1 for share in seen.light_shares)


def test_subframes_and_a_comparison(tmp_path):
    a, b = write_point(tmp_path / "a.ohc", 532e-9), write_point(tmp_path / "b.ohc", 532e-9, x_m=1e-4)
    both = ht.view_subframes([[a], [b]], distances_m=[0.02])
    single = [ht.view_holograms([file], distances_m=[0.02]).intensity for file in (a, b)]
    assert np.allclose(both.intensity, (single[0] + single[1]) / 2, rtol=1e-5, atol=1e-6 * both.white)
    wanted = np.sqrt(single[0][0, :, :, 0])
    (compared,) = ht.compare_holograms([a], [wanted], distances_m=[0.02])
    assert compared.worst.psnr_db > 40 and len(compared.channels[0].positions) == 4
    with pytest.raises(ht.ArgumentError, match="distances_m"):
        ht.view_holograms([a])
