"""h5py: fields in HDF5."""

import numpy
import pytest

import holotone as ht

h5py = pytest.importorskip("h5py")


def make(ny=7, nx=5):
    random = numpy.random.default_rng(3)
    return (random.standard_normal((ny, nx)) + 1j * random.standard_normal((ny, nx))).astype(numpy.complex64)


def test_reads_what_we_write(tmp_path):
    values = make()
    field = ht.Field(values, wavelength_m=532e-9, pitch_m=8e-6, metadata={"note": "Gruß", "distance_m": "0.2"})
    ht.write_field(tmp_path / "field.h5", field)
    with h5py.File(tmp_path / "field.h5") as file:
        assert list(file) == ["field"]
        data = file["field"]
        assert data.dtype == numpy.complex64
        numpy.testing.assert_array_equal(data[()], values)
        # The type in the file: a compound of two little-endian floats, r and i.
        kind = data.id.get_type()
        assert [kind.get_member_name(i) for i in range(kind.get_nmembers())] == [b"r", b"i"]
        assert all(kind.get_member_type(i) == h5py.h5t.IEEE_F32LE for i in range(2))
        attributes = dict(data.attrs)
    assert attributes["wavelength_m"] == 532e-9 and attributes["pitch_m"] == 8e-6 and attributes["distance_m"] == 0.2
    assert attributes["note"] == "Gruß"


def test_we_read_what_it_writes(tmp_path):
    values = make()
    with h5py.File(tmp_path / "theirs.h5", "w") as file:
        data = file.create_dataset("field", data=values, chunks=(3, 5), compression="gzip")
        data.attrs["wavelength_m"] = 633e-9
        data.attrs["pitch_m"] = 3.74e-6
        data.attrs["camera"] = "north"
    field = ht.read_field(tmp_path / "theirs.h5")
    numpy.testing.assert_array_equal(field.numpy(), values)
    assert (field.wavelength_m, field.pitch_m, field.metadata["camera"]) == (633e-9, 3.74e-6, "north")


def test_double_precision_is_read_as_single(tmp_path):
    values = make().astype(numpy.complex128)
    with h5py.File(tmp_path / "double.h5", "w") as file:
        file["field"] = values
    field = ht.read_field(tmp_path / "double.h5", wavelength_m=532e-9, pitch_m=8e-6)
    numpy.testing.assert_array_equal(field.numpy(), values.astype(numpy.complex64))
