"""trimesh: points as PLY, meshes as PLY, STL, OBJ and GLB."""

import numpy
import pytest

import holotone as ht

trimesh = pytest.importorskip("trimesh")


def test_reads_the_points_we_write(tmp_path):
    knot = ht.vertices_of(ht.sample_scene("knot"))
    ht.write_points(str(tmp_path / "points.ply"), knot)
    got = trimesh.load(tmp_path / "points.ply")
    assert isinstance(got, trimesh.PointCloud)
    numpy.testing.assert_array_equal(got.vertices.astype(numpy.float32), numpy.asarray(knot.position).reshape(-1, 3))


def test_a_mesh_is_the_same_solid_in_both():
    ours = ht.sample_scene("knot")
    theirs = trimesh.Trimesh(numpy.asarray(ours.position).reshape(-1, 3), numpy.asarray(ours.triangle).reshape(-1, 3),
                             process=False)
    assert theirs.is_watertight and theirs.is_winding_consistent and theirs.volume > 0


@pytest.mark.parametrize("ending", ["ply", "stl", "obj", "glb"])
def test_we_read_what_it_writes(tmp_path, ending):
    box = trimesh.creation.box((1, 2, 3))
    box.export(tmp_path / f"box.{ending}")
    path = str(tmp_path / f"box.{ending}")
    mesh = ht.read_scene_assimp(path) if ht.is_assimp_scene(path) else ht.read_scene(path)
    position = numpy.asarray(mesh.position).reshape(-1, 3)
    triangle = numpy.asarray(mesh.triangle).reshape(-1, 3)
    assert triangle.shape == (12, 3)
    numpy.testing.assert_allclose(numpy.ptp(position, axis=0), (1, 2, 3), rtol=1e-6)
    assert trimesh.Trimesh(position, triangle).volume == pytest.approx(6, rel=1e-6)
