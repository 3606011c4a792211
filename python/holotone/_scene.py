"""What is made of arrays that stay those of Python, and pictures in files."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, cast

from . import _holotone
from ._field import argument_error, members_text, copy_metadata, numpy_of, check_path, require_axes

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from ._types import ArrayLike, ArrayOf


class _Arrays:
    """A class of arrays, which have these numbers of axes from their assignment on."""

    _axes: ClassVar[dict[str, tuple[int, ...]]]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._axes and not (value is None and name == "mask"):
            require_axes(type(self).__name__, name, value, *self._axes[name])
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return members_text(self, [field.name for field in dataclasses.fields(cast(Any, self))])


@dataclasses.dataclass(kw_only=True, repr=False)
class Layer(_Arrays):
    """Flat picture parallel to the panel, on the panel's pixels, for LayerPlan."""

    _axes = {"intensity": (2,), "mask": (2,)}

    intensity: ArrayOf[float32]  # {ny, nx}, linear light; dark if not finite or negative
    distance_m: float = 0.0  # behind the panel; < 0: in front
    mask: ArrayOf[float32] | None = None  # opacity to light from behind, 0 to 1; None: 1 where the intensity is > 0


@dataclasses.dataclass(kw_only=True, repr=False)
class SmoeFitView(_Arrays):
    """Picture of a light field, for SmoeFitter."""

    _axes = {"image": (3,)}

    image: ArrayOf[float32]  # {height, width, channels}
    at: tuple[float, ...] = ()  # its other coordinates


@dataclasses.dataclass(repr=False)
class Image(_Arrays):
    """Pixels {ny, nx, channels} as stored in a file: uint8, uint16 or float32; row 0 is the top. Codes of 1, 2 or 4
    bits stay codes, and `bits` says of how many."""

    _axes = {"pixels": (2, 3)}

    pixels: NDArray[Any]
    metadata: dict[str, str] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)  # what the file leaves open, and how it was read
    bits: int = 0  # of a code, where below those of the dtype: codes are 0 to 2**bits - 1; 0: all of the dtype


def read_image(path: Any, *, as_light: bool = False, as_depth: bool = False, as_measured: bool = False) -> Image:
    """Reads PNG, TIFF, JPEG, BMP, PFM or OpenEXR, recognised by content, with its metadata. as_light: colours of an
    embedded profile become 16-bit sRGB codes, as to_linear takes them. as_depth: of OpenEXR the channel Z or Depth.
    as_measured: codes are proportional to light, as to_float takes them; if the file declares a curve (sRGB, gAMA, a
    profile), they become 16-bit codes that are, with a note."""
    for name, value in (("as_light", as_light), ("as_depth", as_depth), ("as_measured", as_measured)):
        if not isinstance(value, bool):
            raise argument_error("read_image", name, "bool", type(value).__name__)
    return Image(*_holotone._read_image(check_path("read_image", path), as_light, as_depth, as_measured))


def to_float(image: Image | ArrayLike) -> NDArray[float32]:
    """Pixels {ny, nx, channels} of an Image or an array as float32: codes divided by the largest, 0 to 1."""
    return _holotone._to_float(_pixels("to_float", image), _bits("to_float", image))


def to_linear(image: Image | ArrayLike) -> NDArray[float32]:
    """Linear light {ny, nx, channels} of an Image or an array as float32: sRGB codes converted, alpha and floats not."""
    return _holotone._to_linear(_pixels("to_linear", image), _bits("to_linear", image))


def to_grey(image: Image | ArrayLike) -> NDArray[float32]:
    """One value a pixel {ny, nx} of an Image or an array as float32: the mean of R, G and B, without alpha."""
    return _holotone._to_grey(_pixels("to_grey", image), _bits("to_grey", image))


def _pixels(function: str, image: Any) -> Any:
    pixels = numpy_of(image.pixels if isinstance(image, Image) else image, function, "pixels")
    return pixels[..., None] if pixels.ndim == 2 else pixels


def _bits(function: str, image: Any) -> int:
    bits = image.bits if isinstance(image, Image) else 0
    if isinstance(bits, bool) or not isinstance(bits, int) or not 0 <= bits <= 16:
        raise argument_error(function, "image.bits", "a whole number from 0 to 16", repr(bits))
    return bits


def write_image(path: Any, image: Image | ArrayLike, *, metadata: dict[str, Any] | None = None, **options: Any) -> None:
    """Writes an Image, or an array {ny, nx} or {ny, nx, channels}; the name's ending gives the format.

    The file appears under its name when it is whole. `options` are those of ImageWriteOptions.
    """
    stated: dict[str, Any] = dict(image.metadata) if isinstance(image, Image) else {}
    stated |= copy_metadata("write_image", metadata)
    _holotone._write_image(check_path("write_image", path), _pixels("write_image", image), _bits("write_image", image),
                           stated, **options)
