"""Functions of Python that the library calls: what they may keep, return and change."""

import gc

import numpy as np
import pytest
from conftest import GRID, noise, run_python

import holotone as ht

PANEL = {"shape": (16, 24), **GRID}


def retrieval(**options):
    plan = ht.PhaseRetrievalPlan(**PANEL, planes=[ht.RetrievalPlane(distance_m=1e-3)], **options)
    plan.set_target(np.random.default_rng(1).random((16, 24), "float32"))
    return plan, ht.starting_phase((1, 16, 24))


def optimized(camera, **options):
    plan, phase = retrieval(**options)
    plan.optimize(phase, solver="adam", iterations=3, camera=camera)
    return phase


def test_arrays_of_a_camera_may_be_kept():
    kept = []

    def camera(phase_rad, amplitude):
        amplitude[:] = 1
        kept.append((phase_rad, amplitude, phase_rad.copy()))

    optimized(camera)
    gc.collect()
    [ht.starting_phase((1, 16, 24)) for _ in range(50)]  # what was freed is written anew
    assert len(kept) >= 3
    for phase_rad, amplitude, copy in kept:
        assert np.array_equal(phase_rad, copy) and (amplitude == 1).all()


def test_arrays_of_views_may_be_kept():
    kept = []

    class Views:
        def channels(self):
            return 1

        def has_distances(self):
            return False

        def look(self, rays, channel, intensity, distance_m):
            assert distance_m is None
            intensity[:] = 1
            kept.append(intensity)

    ht.stereogram_field(Views(), 0, **PANEL, hogel_px=8)
    gc.collect()
    assert len(kept) == 6 and all((one == 1).all() for one in kept)


def test_a_camera_may_return_its_picture():
    def fills(phase_rad, amplitude):
        amplitude[:] = np.sqrt(amplitude)

    filled = optimized(fills)
    assert not np.array_equal(filled, ht.starting_phase((1, 16, 24)))
    assert np.array_equal(optimized(lambda phase, amplitude: np.sqrt(amplitude)), filled)
    assert not np.array_equal(optimized(lambda phase, amplitude: None), filled)


def test_a_picture_of_another_shape_is_refused():
    for between_samples, shape in ((True, (1, 4, 16, 24)), (False, (1, 1, 16, 24))):
        with pytest.raises(ht.ArgumentError) as caught:
            optimized(lambda phase, amplitude: np.ones((16, 24), "float32"), between_samples=between_samples)
        assert str(shape) in str(caught.value) and "(16, 24)" in str(caught.value)


def test_the_array_of_a_camera_holds_the_models_amplitude():
    plan, phase = retrieval()
    seen = []
    plan.optimize(phase.copy(), solver="adam", iterations=1, camera=lambda p, a: seen.append((p, a)))
    assert np.allclose(seen[0][1], np.sqrt(plan.light(seen[0][0])), rtol=1e-3, atol=1e-4)


def test_adjust_sees_and_changes_metadata(tmp_path):
    field = ht.Field(noise(np.random.default_rng(1), 16, 24), **GRID)
    ht.write_hologram(tmp_path / "h.png", field)
    seen = []

    def adjust(stated):
        seen.append((stated.path, stated.shape, stated.is_field, stated.pixel_bits))
        stated.metadata["pitch_m"] = 4e-6

    light = ht.read_hologram(str(tmp_path / "h.png"), adjust=adjust)
    assert seen == [(str(tmp_path / "h.png"), (16, 24), False, 8)] and light.grid.pitch_m == 4e-6


def test_an_object_that_a_callback_changes_is_read_as_it_was():
    run_python("""
    mesh = ht.sample_scene("teapot").mesh if hasattr(ht.sample_scene("teapot"), "mesh") else ht.sample_scene("teapot")
    expected = ht.sample_surface(mesh, 300_000, seed=1).position

    def spoil(stage, done, total):
        mesh.position, mesh.triangle = [], []
        gc.collect()

    assert np.array_equal(ht.sample_surface(mesh, 300_000, seed=1, progress=spoil).position, expected)
    """)


def test_callables_have_signatures_in_the_stub():
    import pathlib

    stub = (pathlib.Path(ht.__file__).parent / "_holotone.pyi").read_text()
    assert "camera: Callable[[NDArray[float32], NDArray[float32]], object] | None" in stub
    assert "progress: bool | Callable[[str, int, int], object] | None" in stub
    assert "on_iteration: Callable[[int, float | None], object] | None" in stub
    assert ": Callable |" not in stub and ": Callable =" not in stub
