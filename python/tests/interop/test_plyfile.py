"""plyfile: points and meshes in PLY."""

import numpy
import pytest

import holotone as ht

plyfile = pytest.importorskip("plyfile")


def cloud(count=40):
    random = numpy.random.default_rng(8)
    normal = random.standard_normal((count, 3)).astype(numpy.float32)
    normal /= numpy.linalg.norm(normal, axis=1, keepdims=True)
    return {
        "position": random.standard_normal((count, 3)).astype(numpy.float32),
        "amplitude": random.random(count).astype(numpy.float32),
        "colour": random.random((count, 3)).astype(numpy.float32),
        "normal": normal,
        "phase_rad": random.random(count).astype(numpy.float32),
    }


def test_reads_what_we_write(tmp_path):
    given = cloud()
    ht.write_points(str(tmp_path / "points.ply"), ht.PointCloud(**given))
    vertex = plyfile.PlyData.read(tmp_path / "points.ply")["vertex"]
    columns = {"position": "x y z", "amplitude": "amplitude", "normal": "nx ny nz", "colour": "red green blue",
               "phase_rad": "phase"}
    for name, names in columns.items():
        got = numpy.stack([vertex[one] for one in names.split()], axis=-1).squeeze()
        assert got.dtype == numpy.float32
        numpy.testing.assert_array_equal(got, given[name], err_msg=name)


@pytest.mark.parametrize("options", [{"text": True}, {"byte_order": "<"}, {"byte_order": ">"}])
def test_we_read_what_it_writes(tmp_path, options):
    vertex = numpy.array([(0, 0, 0, 255), (1, 0, 0, 128), (1, 1, 0, 0), (0, 1, 0, 64)],
                         dtype=[("x", "f4"), ("y", "f4"), ("z", "f4"), ("intensity", "u1")])
    face = numpy.array([([0, 1, 2, 3],)], dtype=[("vertex_indices", "i4", (4,))])
    elements = [plyfile.PlyElement.describe(vertex, "vertex"), plyfile.PlyElement.describe(face, "face")]
    plyfile.PlyData(elements, **options).write(tmp_path / "theirs.ply")
    mesh = ht.read_scene(str(tmp_path / "theirs.ply"))
    position = numpy.asarray(mesh.position).reshape(-1, 3)
    numpy.testing.assert_array_equal(position, numpy.stack([vertex[name] for name in "xyz"], axis=-1))
    numpy.testing.assert_allclose(mesh.amplitude, numpy.sqrt(vertex["intensity"] / 255), rtol=1e-6)
    # The square is cut into a fan.
    numpy.testing.assert_array_equal(numpy.asarray(mesh.triangle).reshape(-1, 3), [[0, 1, 2], [0, 2, 3]])
