"""Pillow: pictures in PNG, TIFF and JPEG."""

import numpy
import pytest

import holotone as ht

image = pytest.importorskip("PIL.Image")

METADATA = {"wavelength_m": "5.32e-07", "encoding": "phase"}


def codes(channels, kind):
    shape = (9, 13) if channels == 1 else (9, 13, channels)
    return numpy.random.default_rng(5).integers(0, numpy.iinfo(kind).max + 1, shape, dtype=kind)


@pytest.mark.parametrize("ending", ["png", "tiff"])
@pytest.mark.parametrize("channels, mode", [(1, "L"), (2, "LA"), (3, "RGB"), (4, "RGBA")])
def test_8_bits(tmp_path, ending, channels, mode):
    pixels = codes(channels, numpy.uint8)
    path = tmp_path / f"picture.{ending}"
    ht.write_image(path, pixels)
    with image.open(path) as opened:
        assert opened.mode == mode
        numpy.testing.assert_array_equal(numpy.asarray(opened), pixels)


@pytest.mark.parametrize("ending", ["png", "tiff"])
def test_16_bits(tmp_path, ending):
    # Pillow has 16 bits for grey only.
    pixels = codes(1, numpy.uint16)
    path = tmp_path / f"picture.{ending}"
    ht.write_image(path, pixels)
    with image.open(path) as opened:
        assert opened.mode in ("I;16", "I;16L", "I")
        numpy.testing.assert_array_equal(numpy.asarray(opened).astype(numpy.uint16), pixels)


@pytest.mark.parametrize("compression", [None, 0, 1, 6, 9])
@pytest.mark.parametrize("channels, kind", [(1, numpy.uint8), (3, numpy.uint8), (1, numpy.uint16)])
def test_several_bands(tmp_path, channels, kind, compression):
    """Parts of a PNG that several threads compressed."""
    rows = numpy.arange(700)[:, None, None] * numpy.arange(900)[None, :, None] // 700 + numpy.zeros(channels, int)
    pixels = (rows + codes(channels, kind).reshape(-1)[0]).astype(kind)
    pixels[350:] = numpy.random.default_rng(7).integers(0, 256, pixels[350:].shape)
    pixels = pixels[..., 0] if channels == 1 else pixels
    ht.write_image(tmp_path / "picture.png", pixels, compression=compression)
    with image.open(tmp_path / "picture.png") as opened:
        numpy.testing.assert_array_equal(numpy.asarray(opened).astype(kind), pixels)


def test_float_tiff(tmp_path):
    pixels = numpy.random.default_rng(6).standard_normal((9, 13)).astype(numpy.float32)
    ht.write_image(tmp_path / "picture.tiff", pixels)
    with image.open(tmp_path / "picture.tiff") as opened:
        assert opened.mode == "F"
        numpy.testing.assert_array_equal(numpy.asarray(opened), pixels)


def test_metadata(tmp_path):
    for name in ("picture.png", "picture.tiff"):
        ht.write_image(tmp_path / name, codes(1, numpy.uint8), metadata=METADATA)
    with image.open(tmp_path / "picture.png") as opened:
        assert opened.text == {f"holotone:{key}": value for key, value in METADATA.items()}
    with image.open(tmp_path / "picture.tiff") as opened:
        description = opened.tag_v2[270]
        assert all(f"{key}: {value}" in description.splitlines() for key, value in METADATA.items()), description


@pytest.mark.parametrize("ending", ["png", "tiff", "bmp"])
@pytest.mark.parametrize("channels, mode", [(1, "L"), (3, "RGB")])
def test_we_read_what_it_writes(tmp_path, ending, channels, mode):
    pixels = codes(channels, numpy.uint8)
    path = tmp_path / f"theirs.{ending}"
    image.fromarray(pixels).save(path)
    got = ht.read_image(path).pixels
    # BMP stores grey with a palette.
    numpy.testing.assert_array_equal(got.reshape(pixels.shape), pixels)


@pytest.mark.parametrize("ending", ["png", "tiff", "bmp"])
def test_one_bit_is_a_code_and_a_picture(tmp_path, ending):
    pixels = codes(1, numpy.uint8).reshape(codes(1, numpy.uint8).shape[:2]) > 127
    image.fromarray(pixels).save(tmp_path / f"theirs.{ending}")
    got = ht.read_image(tmp_path / f"theirs.{ending}")
    assert got.bits == 1
    numpy.testing.assert_array_equal(got.pixels[..., 0], pixels)
    numpy.testing.assert_array_equal(ht.to_grey(got), pixels)


def test_inks_become_colours(tmp_path):
    inks = numpy.full((8, 8, 4), (200, 40, 90, 25), numpy.uint8)
    for ending in ("tiff", "jpg"):
        options = {"quality": 100, "subsampling": 0} if ending == "jpg" else {}
        image.fromarray(inks, mode="CMYK").save(tmp_path / f"theirs.{ending}", **options)
        got = ht.read_image(tmp_path / f"theirs.{ending}")
        assert "CMYK without a profile" in got.notes[0]
        assert numpy.abs(got.pixels.astype(int) - (50, 194, 149)).max() <= 1


def test_jpeg_decodes_to_nearly_the_same(tmp_path):
    ramp = numpy.linspace(0, 255, 64 * 48).reshape(48, 64).astype(numpy.uint8)
    image.fromarray(ramp).save(tmp_path / "theirs.jpg", quality=95)
    with image.open(tmp_path / "theirs.jpg") as opened:
        theirs = numpy.asarray(opened).astype(int)
    assert numpy.abs(ht.read_image(tmp_path / "theirs.jpg").pixels[..., 0].astype(int) - theirs).max() <= 1
