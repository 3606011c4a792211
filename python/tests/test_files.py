"""Fields, pictures, dots and points in files, and errors that name the file."""

import pathlib
import struct
import zlib

import numpy as np
import pytest
from conftest import GRID, check, noise

import holotone as ht


def same(a, b):
    return a.dtype == b.dtype and np.array_equal(a, b)


# Fields.


@pytest.fixture
def field(rng):
    return ht.Field(noise(rng, 5, 7), **GRID, metadata={"note": "of a test", "distance_m": "0.2"})


@pytest.mark.parametrize("ending", ["h5", "hdf5"])
def test_a_field_in_hdf5(tmp_path, field, ending):
    path = tmp_path / f"field.{ending}"
    ht.write_field(path, field)
    found = ht.read_field(path)
    assert same(found.values, field.values)
    assert (found.pitch_m, found.wavelength_m) == (field.pitch_m, field.wavelength_m)
    assert field.metadata.items() <= found.metadata.items()
    assert same(ht.read_field(path, pitch_m=1e-6).values, field.values)
    assert ht.read_field(path, pitch_m=1e-6).pitch_m == 1e-6


def test_other_programs_read_the_hdf5(tmp_path, field):
    h5py = pytest.importorskip("h5py")
    ht.write_field(tmp_path / "field.h5", field)
    with h5py.File(tmp_path / "field.h5") as file:
        values = next(file[name] for name in file if file[name].shape == (5, 7))
        assert same(np.asarray(values), field.values)


def test_a_field_in_npy(tmp_path, field):
    path = tmp_path / "field.npy"
    ht.write_field(path, field)
    assert same(np.load(path), field.values)
    found = ht.read_field(path, **GRID)
    assert same(found.values, field.values) and (found.pitch_m, found.wavelength_m) == tuple(GRID.values())


def test_a_field_written_by_numpy(tmp_path, field):
    np.save(tmp_path / "field.npy", field.values)
    assert same(ht.read_field(tmp_path / "field.npy", **GRID).values, field.values)
    with pytest.raises(ht.ArgumentError, match="wavelength_m: expected a number, which .*field.npy does not state"):
        ht.read_field(tmp_path / "field.npy")


def test_the_error_of_a_file_without_a_wavelength_has_parts(tmp_path, field):
    np.save(tmp_path / "field.npy", field.values)
    with pytest.raises(ht.ArgumentError) as caught:
        ht.read_field(tmp_path / "field.npy")
    assert "wavelength_m" in caught.value.expected + caught.value.argument


def test_npy_keeps_the_metadata_or_says_so(tmp_path, field):
    assert "NPY (.npy) with its metadata" not in " ".join(ht.write_field.__doc__.split())


def test_a_field_of_any_package(tmp_path, field):
    torch = pytest.importorskip("torch")
    for values in (torch.from_numpy(field.values), ht.copy_of(field.values)):
        ht.write_field(tmp_path / "field.h5", ht.Field(values, **GRID))
        assert same(ht.read_field(tmp_path / "field.h5").values, field.values)


def test_real_numbers_are_a_field_if_it_is_said_of_what(tmp_path, rng):
    amplitude = rng.uniform(0.5, 2, (5, 7))
    phase = rng.uniform(-3, 3, (5, 7))
    light = amplitude * np.exp(1j * phase)
    names = {"a": amplitude, "i": amplitude**2, "p": phase, "re": light.real, "im": light.imag}
    path = {name: tmp_path / f"{name}.npy" for name in names}
    for name, values in names.items():
        np.save(path[name], values)
    with pytest.raises(ht.FileError, match="read as phase, amplitude, intensity or field, got float64 of shape"):
        ht.read_field(path["p"], **GRID)

    def close(expected, name, **options):
        np.testing.assert_allclose(ht.read_field(path[name], **options, **GRID).values, expected, rtol=1e-6, atol=1e-6)

    close(np.exp(1j * phase), "p", read="phase")
    close(amplitude, "i", read="intensity")
    close(light, "a", read="amplitude", phase_file=path["p"])
    close(light, "i", read="intensity", phase_file=str(path["p"]))
    close(light, "re", imaginary_file=path["im"])
    with pytest.raises(ht.ArgumentError, match="amplitude or intensity with a phase_file, got none"):
        ht.read_field(path["a"], phase_file=path["p"], **GRID)
    with pytest.raises(ht.ArgumentError, match="read_field"):
        ht.read_field(path["a"], read="brightness", **GRID)
    with pytest.raises(ht.FileError, match="amplitudes of at least 0"):
        ht.read_field(path["p"], read="amplitude", **GRID)
    light_of = ht.read_hologram(path["p"], numbers=ht.FieldReadOptions(read="phase"), overrides={key: str(value) for key, value in GRID.items()})
    np.testing.assert_allclose(np.asarray(light_of.field), np.exp(1j * phase), rtol=1e-6, atol=1e-6)


def test_datasets_are_listed_and_chosen(tmp_path, rng):
    h5py = pytest.importorskip("h5py")
    stack = noise(rng, 2, 5, 7)
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["group/stack"] = stack
        file["group/one"] = stack[0]
        file["two"] = stack[1]
        file["turned"] = stack[0].T
        file["turned"].attrs["MATLAB_class"] = np.bytes_("single")
    path = str(tmp_path / "f.h5")
    with pytest.raises(ht.FileError, match=r"/group/one \{5, 7\} complex64, /group/stack \{2, 5, 7\} complex64"):
        ht.read_field(path, **GRID)
    assert same(ht.read_field(path + ":/group/one", **GRID).values, stack[0])
    assert same(ht.read_field(path + ":/group/stack:2", **GRID).values, stack[1])
    turned = ht.read_field(path + ":turned", **GRID)
    assert same(turned.values, stack[0])
    assert turned.notes == [f"{path}:turned: MATLAB stores dimensions reversed: /turned is read as 5 x 7 (rows x columns)"]


def test_variables_of_matlab_5(tmp_path, rng):
    io = pytest.importorskip("scipy.io")
    values = noise(rng, 5, 7)
    path = tmp_path / "v.mat"
    io.savemat(path, {"u": values, "p": np.angle(values), "s": "text"}, do_compression=True)
    try:
        assert same(ht.read_field(path, **GRID).values, values)
    except ht.UnsupportedError:
        pytest.skip("built without matio")
    found = ht.read_field(f"{path}:p", read="phase", **GRID).values
    np.testing.assert_allclose(found, values / abs(values), rtol=1e-5, atol=1e-6)


# Pictures.


@pytest.mark.parametrize("ending,dtype", [
    ("png", "uint8"), ("png", "uint16"), ("tif", "uint8"), ("tif", "uint16"), ("tiff", "float32"), ("bmp", "uint8"),
])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_picture(tmp_path, rng, ending, dtype, channels):
    top = {"uint8": 255, "uint16": 65535, "float32": 1}[dtype]
    pixels = (rng.random((5, 7, channels)) * top).astype(dtype)
    path = tmp_path / f"picture.{ending}"
    ht.write_image(path, pixels, metadata={"author": "a test"})
    found = ht.read_image(str(path))
    assert isinstance(found, ht.Image)
    assert same(found.pixels[..., :1] if channels == 1 else found.pixels, pixels)
    assert found.metadata == ({} if ending == "bmp" else {"author": "a test"})


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_codes_of_few_bits_stay_codes(tmp_path, bits):
    codes = (np.arange(15, dtype="uint8").reshape(3, 5, 1) * 7) % 2**bits
    ht.write_image(tmp_path / "few.png", ht.Image(codes, bits=bits))
    found = ht.read_image(tmp_path / "few.png")
    assert same(found.pixels, codes) and found.bits == bits
    assert np.allclose(ht.to_float(found), codes / (2**bits - 1))
    assert np.allclose(ht.to_grey(found), codes[..., 0] / (2**bits - 1))
    assert ht.to_linear(found).max() == 1
    with pytest.raises(ValueError, match="image.bits"):
        ht.to_float(ht.Image(codes, bits=-1))


def test_tables_of_phases_have_units():
    assert np.allclose(ht.read_phase_lut("phase_deg\n0\n90\n180\n"), [0, np.pi / 2, np.pi])
    assert ht.parse_phase_lut("# wavelength 633 nm\n0\n90\n").wavelengths_m == pytest.approx([633e-9])
    lut = ht.parse_phase_lut("0\n0.25\n0.5\n0.75\n")
    assert lut.unit == "waves" and not lut.stated and np.allclose(lut.phase_rad, np.arange(4) * np.pi / 2)
    assert np.allclose(ht.read_phase_lut("0\n0.25\n0.5\n0.75\n", unit="rad"), np.arange(4) / 4)
    assert ht.phase_error_of_levels([0, np.pi]).max_rad == pytest.approx(np.pi / 2)


def test_measured_light_follows_the_curve_of_its_file(tmp_path):
    codes = np.arange(12, dtype="uint8").reshape(3, 4) * 20
    ht.write_image(tmp_path / "plain.png", codes)
    plain = (tmp_path / "plain.png").read_bytes()
    gamma = b"gAMA" + struct.pack(">I", 50000)  # light is the square of a code
    chunk = struct.pack(">I", 4) + gamma + struct.pack(">I", zlib.crc32(gamma))
    (tmp_path / "square.png").write_bytes(plain[:33] + chunk + plain[33:])
    assert np.array_equal(ht.read_image(tmp_path / "plain.png", as_measured=True).pixels[..., 0], codes)
    square = ht.read_image(tmp_path / "square.png", as_measured=True)
    assert np.abs(ht.to_float(square)[..., 0] - (codes / 255) ** 2).max() < 1e-5
    assert "its codes become light by gAMA 0.5" in square.notes[0]


def test_grey_and_images_are_written_too(tmp_path):
    grey = np.arange(12, dtype="uint8").reshape(3, 4)
    ht.write_image(tmp_path / "grey.png", grey)
    found = ht.read_image(tmp_path / "grey.png")
    assert same(found.pixels, grey[..., None])
    found.metadata["key"] = "of the image"
    ht.write_image(tmp_path / "again.png", found, metadata={"other": "given"})
    assert ht.read_image(tmp_path / "again.png").metadata == {"key": "of the image", "other": "given"}


def test_pictures_that_cannot_be_written(tmp_path):
    with pytest.raises(ht.UnsupportedError, match="x.png: expected 8-bit or 16-bit pixels for PNG, got float32"):
        ht.write_image(tmp_path / "x.png", np.zeros((3, 4), "float32"))
    with pytest.raises(ht.UnsupportedError, match="x.xyz"):
        ht.write_image(tmp_path / "x.xyz", np.zeros((3, 4), "uint8"))
    with pytest.raises(ht.ArgumentError, match="write_image: pixels: .*float64: convert it"):
        ht.write_image(tmp_path / "x.tif", np.zeros((3, 4)))
    assert list(tmp_path.iterdir()) == []


# Dots and points.


def test_dots(tmp_path):
    dots = ht.Dots(width=8, height=6, position=[1.0, 2.0, 3.5, 4.25], pixel_m=1e-4)
    ht.write_dots(str(tmp_path / "dots.csv"), dots)
    found = ht.read_dots(str(tmp_path / "dots.csv"))
    assert found.position.tolist() == dots.position.tolist() and (found.width, found.height) == (8, 6)


def test_points(tmp_path):
    cloud = ht.PointCloud(position=[[0, 0, -0.1], [1e-3, 2e-3, -0.2]], amplitude=[1.0, 0.5])
    ht.write_points(str(tmp_path / "points.ply"), cloud)
    found = ht.read_scene(str(tmp_path / "points.ply"))
    assert np.allclose(found.position, cloud.position) and np.allclose(found.amplitude, [1, 0.5])


def test_obj_far_from_zero_keeps_its_shape(tmp_path):
    shape = np.random.default_rng(3).integers(0, 1024, (50, 3)) / 1024  # exact in binary
    (tmp_path / "far.obj").write_text("".join("v %.10f %.10f %.10f\n" % tuple(row + 1e6) for row in shape))
    mesh = ht.read_scene(str(tmp_path / "far.obj"), coordinates="centred")
    assert np.array_equal(np.asarray(mesh.position, "float64").reshape(-1, 3) + np.asarray(mesh.origin), shape + 1e6)


def test_formats_are_listed():
    rows = {(row.name, row.content): row for row in ht.file_formats()}
    obj = rows["OBJ", "scene"]
    assert list(obj.extensions) == [".obj"] and obj.read and not obj.written and obj.is_built


@pytest.mark.parametrize("read", [lambda path: ht.read_scene(path), lambda path: ht.read_dots(path)],
                         ids=["read_scene", "read_dots"])
def test_paths_of_pathlib(tmp_path, read):
    with pytest.raises(ht.MissingFileError):
        read(tmp_path / "no.ply")


# Errors name the file.

READERS = {
    "read_image": "no.png", "read_field": "no.h5", "read_dots": "no.csv", "read_hologram": "no.png",
    "read_scene": "no.ply",
}


@pytest.mark.parametrize("reader,name", READERS.items())
def test_missing_files(tmp_path, reader, name):
    path = str(tmp_path / name)
    with pytest.raises(FileNotFoundError) as caught:
        getattr(ht, reader)(path)
    assert isinstance(caught.value, ht.MissingFileError)
    assert path in str(caught.value) and caught.value.argument == path and caught.value.function == ""


def test_missing_files_have_a_filename(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        ht.read_image(tmp_path / "no.png")
    assert pathlib.Path(caught.value.filename) == tmp_path / "no.png"


@pytest.mark.parametrize("reader,name,content", [
    ("read_image", "bad.png", b"\x89PNG\r\n\x1a\nxxxx"),
    ("read_image", "bad.tif", b"II*\x00\xff\xff\xff\xff"),
    ("read_image", "empty.png", b""),
    ("read_field", "bad.h5", b"\x89HDF\r\n\x1a\nxxxx"),
    ("read_field", "bad.npy", b"\x93NUMPYxx"),
    ("read_dots", "bad.csv", b"1,2\nthree,4\n"),
    ("read_scene", "bad.ply", b"ply\nformat ascii 1.0\nelement vertex 9\n"),
])
def test_damaged_files(tmp_path, reader, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ht.FileError, match=name) as caught:
        getattr(ht, reader)(str(path))
    assert isinstance(caught.value, ValueError) and not isinstance(caught.value, FileNotFoundError)
    assert caught.value.argument == str(path)


def test_a_cut_file(tmp_path, field):
    for name, write, read in (
        ("field.h5", lambda path: ht.write_field(path, field), ht.read_field),
        ("picture.png", lambda path: ht.write_image(path, np.zeros((64, 64), "uint8")), ht.read_image),
    ):
        path = tmp_path / name
        write(path)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(ht.FileError, match=name):
            read(path)


def test_folders(tmp_path):
    with pytest.raises(ht.FileError, match="expected a file, got a folder"):
        ht.read_image(tmp_path)
    with pytest.raises(ht.Error, match="nowhere"):
        ht.write_image(tmp_path / "nowhere" / "x.png", np.zeros((2, 2), "uint8"))


def test_missing_files_have_a_number_and_a_text(tmp_path):
    import errno

    with pytest.raises(FileNotFoundError) as caught:
        ht.read_field(tmp_path / "no.h5")
    assert caught.value.errno == errno.ENOENT and "No such file" in caught.value.strerror
    assert str(caught.value) == f"[Errno 2] No such file or directory: '{tmp_path / 'no.h5'}'"


# Holograms.

ENCODINGS = [("phase", 8), ("phase", 4), ("phase", 10), ("double_phase", 8), ("amplitude", 8), ("burckhardt", 12)]


@pytest.mark.parametrize("encoding,bits", ENCODINGS)
@pytest.mark.parametrize("ending", ["png", "tif"])
def test_a_hologram_is_read_as_the_light_of_its_codes(tmp_path, rng, encoding, bits, ending):
    field = ht.Field(noise(rng, 24, 36), pitch_m=6e-6, wavelength_m=633e-9, metadata={"distance_m": "0.2"})
    options = {"encoding": encoding, "bits": bits}
    path = str(tmp_path / f"h.{ending}")
    ht.write_hologram(path, field, **options, metadata={"object_energy": 2.5})
    report = ht.EncodeReport()
    codes = ht.encode(field, report=report, **options)
    assert ht.read_image(path).pixels.dtype == (np.uint8 if bits <= 8 else np.uint16)
    assert np.array_equal(ht.read_image(path).pixels[..., 0], codes)
    expected = ht.modulation_of(codes, pitch_m=6e-6, wavelength_m=633e-9, report=report, **options)
    unfiltered = encoding in ("burckhardt", "double_phase")  # before the stop
    light = ht.read_hologram(path, unfiltered=unfiltered)
    assert (light.grid.pitch_m, light.grid.wavelength_m) == (6e-6, 633e-9)
    assert light.metadata["distance_m"] == "0.2" and light.metadata["object_energy"] == "2.5"
    assert light.encoding.replace("-", "_") == encoding
    check(light.field, expected, 1e-6)
    # The same of codes that were encoded before.
    other = str(tmp_path / f"codes.{ending}")
    narrow = codes.astype("uint8") if bits <= 8 else codes
    ht.write_hologram(other, narrow, pitch_m=6e-6, wavelength_m=633e-9, report=report, **options)
    assert np.array_equal(ht.read_hologram(other, unfiltered=unfiltered).field, light.field)


def test_a_hologram_of_other_codes_is_refused(tmp_path, rng):
    for wrong in (np.zeros((4, 4), "int64"), np.full((4, 4), 16, "uint8")):
        with pytest.raises(ValueError, match="write_hologram: hologram: expected"):
            ht.write_hologram(tmp_path / "h.png", wrong, bits=4, **GRID)
    with pytest.raises(TypeError, match="wavelength_m"):
        ht.write_hologram(tmp_path / "h.png", noise(rng, 4, 4))
    assert list(tmp_path.iterdir()) == []


# Metadata and names.


def test_numbers_in_metadata_are_written_as_texts(tmp_path, rng):
    field = ht.Field(noise(rng, 4, 4), **GRID, metadata={"distance_m": np.float64(0.2)})
    ht.write_field(tmp_path / "f.h5", field)
    assert ht.read_field(tmp_path / "f.h5").metadata["distance_m"] == "0.2"
    ht.write_image(tmp_path / "i.png", np.zeros((4, 4), "uint8"), metadata={"bits": 8, "pitch_m": 8e-6, "packed16": False})
    metadata = ht.read_image(tmp_path / "i.png").metadata
    assert (metadata["bits"], metadata["pitch_m"], metadata["packed16"]) == ("8", "8e-06", "0")
    ht.write_hologram(tmp_path / "h.png", field)
    light = ht.read_hologram(str(tmp_path / "h.png"), overrides={"pitch_m": 4e-6, "encoding": "phase"})
    assert light.grid.pitch_m == 4e-6
    ht.write_dots(str(tmp_path / "d.svg"), ht.Dots(width=4, height=4, position=[[1, 1]]), metadata={"seed": 3})
    with pytest.raises(ht.ArgumentError, match="metadata"):
        ht.write_image(tmp_path / "i.png", np.zeros((4, 4), "uint8"), metadata={"bits": [8]})


def test_encodings_are_spelt_both_ways(tmp_path, rng):
    field = ht.Field(noise(rng, 8, 9), **GRID)
    assert np.array_equal(ht.encode(field, encoding="double-phase"), ht.encode(field, encoding="double_phase"))
    path = str(tmp_path / "h.png")
    ht.write_hologram(path, field, encoding="double_phase")
    one, other = (ht.read_hologram(path, overrides={"encoding": name}).field for name in ("double_phase", "double-phase"))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("call", [
    lambda path: ht.read_image(path), lambda path: ht.read_field(path), lambda path: ht.read_hologram(path),
    lambda path: ht.write_image(path, np.zeros((2, 2), "uint8")), lambda path: ht.read_scene(path),
], ids=["read_image", "read_field", "read_hologram", "write_image", "read_scene"])
def test_names_with_nul_are_refused(tmp_path, call):
    with pytest.raises(ht.ArgumentError, match="path"):
        call(str(tmp_path / "a.png") + "\0b.png")
    assert list(tmp_path.iterdir()) == []


def test_names_of_bytes_and_numbers(tmp_path):
    ht.write_image(bytes(tmp_path / "a.png"), np.zeros((2, 2), "uint8"))
    assert ht.read_image(bytes(tmp_path / "a.png")).pixels.shape == (2, 2, 1)
    with pytest.raises(ht.ArgumentError, match="read_field: path: expected str, .* got int"):
        ht.read_field(5)


@pytest.mark.parametrize("kind", ["int64", "bool", "float64"])
def test_pixels_of_other_types_name_those_that_files_hold(tmp_path, kind):
    with pytest.raises(ht.ArgumentError, match="uint8, uint16 or, for TIFF, float32"):
        ht.write_image(tmp_path / "x.png", np.zeros((2, 2), kind))


def test_texts_of_a_file_that_are_no_utf8(tmp_path, rng):
    path = tmp_path / "f.h5"
    ht.write_field(path, ht.Field(noise(rng, 4, 4), **GRID, metadata={"software": "PLACEHOLDER"}))
    path.write_bytes(path.read_bytes().replace(b"PLACEHOLDER", b"PLACE\xffOLDER"))
    assert ht.read_field(path).metadata["software"] == "PLACE\ufffdOLDER"


def test_a_print_by_bands_on_several_devices(tmp_path):
    cloud = ht.PointCloud(position=[[0, 0, -0.05], [1e-4, -5e-5, -0.06]], amplitude=[1.0, 2.0])
    panel = ht.PointCloudOptions(shape=(48, 33), method="direct")
    whole = ht.point_cloud_field(cloud.position, cloud.amplitude, shape=(48, 33), method="direct")
    field = ht.PointPrint(output=str(tmp_path / "print.npy"), sum=panel)
    (made,) = ht.print_points(cloud, [field], devices=["cpu", "cpu"], rows_at_once=20)
    assert made.bands == 3 and made.resumed_rows == 0 and made.rates.pixels == 48 * 33
    assert np.abs(np.load(field.output) - whole).max() < 1e-5

    def stop(stage, done, total):
        return done < 40

    stopped = ht.PointPrint(output=str(tmp_path / "stopped.npy"), sum=panel)
    with pytest.raises(ht.CancelledError):
        ht.print_points(cloud, [stopped], rows_at_once=5, progress=stop)
    (made,) = ht.print_points(cloud, [stopped], rows_at_once=5)
    assert 20 <= made.resumed_rows < 48 and made.metadata["encoding"] == "complex"
    assert same(np.load(stopped.output), np.load(field.output))
    with pytest.raises(ht.ArgumentError, match="devices"):
        ht.print_points(cloud, [field], devices=[])
