"""Files of holograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from . import _holotone
from ._field import Field, argument_error, as_field, copy_metadata, numpy_of, check_path
from ._scene import write_image

if TYPE_CHECKING:
    from ._types import ArrayLike


def write_hologram(
    path: Any,
    hologram: ArrayLike,
    *,
    wavelength_m: float | None = None,
    pitch_m: float | None = None,
    report: _holotone.EncodeReport | None = None,
    metadata: dict[str, Any] | None = None,
    **options: Any,
) -> None:
    """Writes a hologram as PNG, TIFF or BMP of codes with all that read_hologram needs to read their light.

    `hologram`: a Field, or a complex array {ny, nx} with wavelength_m and pitch_m, which is encoded; or codes of uint8
    or uint16 that were made with the same `options`. Amplitude codes then need the `report` of their range (encode,
    EncodePlan.report). `options`: those of EncodeOptions. Codes of up to 8 bits are stored in 8. A BMP has no metadata:
    read_hologram needs them as overrides. `metadata`: more keys, such as distance_m.
    """
    path = check_path("write_hologram", path)
    field = as_field(hologram, wavelength_m, pitch_m)
    values = numpy_of(field, "write_hologram", "hologram")
    bits = _holotone.EncodeOptions(bits=options.get("bits", 8)).bits
    report = _holotone.EncodeReport() if report is None else report
    more = copy_metadata("write_hologram", metadata)
    codes = values
    if values.dtype.kind == "c":
        codes = _holotone.encode(
            values, shape=field.shape, wavelength_m=field.wavelength_m, pitch_m=field.pitch_m, report=report, **options
        )
    elif values.dtype.name not in ("uint8", "uint16"):
        kind = values.dtype
        raise argument_error("write_hologram", "hologram", "complex64, or codes of uint8 or uint16", str(kind))
    if codes.size and int(codes.max()) >= 1 << bits:
        raise ValueError(f"write_hologram: hologram: expected codes below {1 << bits} ({bits} bits), got {codes.max()}")
    stated: dict[str, Any] = dict(hologram.metadata) if isinstance(hologram, Field) else {}
    stated |= cast(dict[str, str], _holotone._describe_encoding(report, **options))
    stated |= {"pitch_m": repr(field.pitch_m), "wavelength_m": repr(field.wavelength_m)}
    write_image(path, codes.astype("uint8" if bits <= 8 else "uint16"), metadata=stated | more)
