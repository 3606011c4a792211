"""Complex fields with their grid, and the files that hold them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, overload

from . import _holotone
from ._holotone import FieldGrid, PropagationPlan

if TYPE_CHECKING:
    from numpy import complex64, float32
    from numpy.typing import NDArray
    from typing_extensions import TypeVar

    from ._types import ArrayOf, OtherArray

    Values = TypeVar("Values", covariant=True, default=Any)
else:
    from typing import TypeVar

    Values = TypeVar("Values", covariant=True)


class Field(Generic[Values]):
    """A complex field {ny, nx}, its grid, and the metadata of its file.

    `values` is an array of any package, complex64; Field[NDArray[complex64]] names it for type checkers. Functions
    take a Field wherever they take a field, and then need neither `shape` nor `pitch_m` nor `wavelength_m`.
    """

    __slots__ = ("values", "wavelength_m", "pitch_m", "metadata", "notes")

    def __init__(
        self,
        values: Values,
        *,
        wavelength_m: float,
        pitch_m: float,
        metadata: dict[str, str] | None = None,
    ) -> None:
        self.values = values
        self.wavelength_m = wavelength_m
        self.pitch_m = pitch_m
        self.metadata = copy_metadata("Field", metadata)
        self.notes: list[str] = []  # of read_field: what the file leaves open, and how it was read

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "values":
            require_axes("Field", name, value, 2)
        elif name in ("wavelength_m", "pitch_m"):
            value = _positive(name, value)
        object.__setattr__(self, name, value)

    @property
    def _holotone_values_(self) -> Values:
        return self.values

    @property
    def grid(self) -> FieldGrid:
        ny, nx = self.shape
        return FieldGrid(nx=nx, ny=ny, pitch_m=self.pitch_m, wavelength_m=self.wavelength_m)

    @property
    def shape(self) -> tuple[int, int]:
        values: Any = self.values
        ny, nx = values.shape
        return int(ny), int(nx)

    @property
    def dtype(self) -> Any:
        values: Any = self.values
        return values.dtype

    def numpy(self) -> NDArray[complex64]:
        """The values as a NumPy array: the same memory if they are on the CPU, else a copy."""
        return numpy_of(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy

        values = self.numpy()
        return numpy.array(values, dtype=dtype) if copy or dtype not in (None, values.dtype) else values

    def __dlpack__(self, **options: Any) -> Any:
        values: Any = self.values
        return values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        values: Any = self.values
        return values.__dlpack_device__()

    def __repr__(self) -> str:
        try:
            ny, nx = self.shape
            return f"Field({nx} x {ny}, pitch_m={self.pitch_m:.6g}, wavelength_m={self.wavelength_m:.6g})"
        except Exception:  # not made, or an array that has been freed
            return "Field(...)"


def _positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise argument_error("Field", name, "float", type(value).__name__) from None
    if not 0 < number < math.inf:
        raise argument_error("Field", name, "> 0", f"{number:g}")
    return number


def argument_error(function: str, argument: str, expected: str, got: str) -> _holotone.ArgumentError:
    """An error of the package with the parts of the library's."""
    error = _holotone.ArgumentError(f"{function}: {argument}: expected {expected}, got {got}")
    error.function, error.argument, error.expected, error.got = function, argument, expected, got
    return error


def copy_metadata(function: str, metadata: Any) -> dict[str, Any]:
    """A copy of a dictionary, or an empty one for None."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise argument_error(function, "metadata", "a dictionary", type(metadata).__name__)
    return dict(metadata)


def axes_of(values: Any) -> int | None:
    """How many axes an array of any package has; None for what is no array, or one that has been freed."""
    try:
        return len(values.shape)
    except Exception:
        return None


def require_axes(function: str, argument: str, values: Any, *expected: int) -> None:
    """Raises ArgumentError unless `values` is an array of one of the numbers of axes."""
    axes = axes_of(values)
    if axes not in expected:
        words = {2: "two", 3: "three"}
        wanted = f"an array of {' or '.join(words[one] for one in expected)} axes"
        raise argument_error(function, argument, wanted, type(values).__name__ if axes is None else f"{axes} axes")


def members_text(owner: Any, names: Any) -> str:
    """The repr of an object of such members, in any state of them."""

    def text(name: str) -> str:
        try:
            shown = repr(getattr(owner, name))
        except Exception:
            return "..."
        return shown if len(shown) <= 80 else "..."

    return f"{type(owner).__name__}({', '.join(f'{name}={text(name)}' for name in names)})"


def numpy_of(values: Any, function: str = "", argument: str = "array") -> Any:
    """An array of any package in host memory. Raises ArgumentError for what NumPy cannot read."""
    try:
        return _numpy_of(values)
    except (_holotone.Error, MemoryError):
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise argument_error(function, argument, "an array", f"{type(values).__name__}: {reason}") from None


def _numpy_of(values: Any) -> Any:
    import numpy

    if isinstance(values, Field):
        values = values.values
    if isinstance(values, _holotone.Array):
        return values.numpy()
    if hasattr(values, "detach"):  # PyTorch
        return values.detach().resolve_conj().cpu().numpy()
    if hasattr(values, "get"):  # CuPy
        return values.get()
    return numpy.asarray(values)


def check_path(function: str, path: Any) -> str:
    """The name of a file: a text, bytes or an object of pathlib."""
    try:
        name = os.fsdecode(path)
    except TypeError:
        raise argument_error(function, "path", "str, bytes or os.PathLike", type(path).__name__) from None
    try:
        name.encode()
    except UnicodeEncodeError:
        raise argument_error(function, "path", "a name in UTF-8", ascii(name)) from None
    if "\0" in name:
        raise argument_error(function, "path", "a name without NUL", repr(name))
    return name


def find_device(values: Any) -> str:
    """The device of an array of any package: "cpu" or "cuda:0"."""
    if isinstance(values, Field):
        values = values.values
    if isinstance(values, _holotone.Array):
        return values.device
    if not hasattr(values, "__dlpack_device__"):  # a buffer
        return "cpu"
    kind, index = values.__dlpack_device__()
    return f"cuda:{index}" if int(kind) == 2 else "cpu"


if TYPE_CHECKING:  # the stub has all options, and what these functions return
    from ._holotone import layer_field, point_cloud_field, stereogram_field
else:

    def point_cloud_field(
        position_m: ArrayOf[float32],
        amplitude: ArrayOf[float32],
        phase_rad: ArrayOf[float32] | None = None,
        **options: Any,
    ) -> Field:
        values = _holotone.point_cloud_field(position_m, amplitude, phase_rad, **options)
        return Field(values, wavelength_m=_option("wavelength_m", options, _holotone.PointCloudOptions),
                     pitch_m=_option("pitch_m", options, _holotone.PointCloudOptions))

    def layer_field(intensity: ArrayOf[float32], distance_m: ArrayOf[float32], **options: Any) -> Field:
        values = _holotone.layer_field(intensity, distance_m, **options)
        return Field(values, wavelength_m=options["wavelength_m"], pitch_m=options["pitch_m"])

    def stereogram_field(source: Any, channel: int, **options: Any) -> Field:
        values = _holotone.stereogram_field(source, channel, **options)
        return Field(values, wavelength_m=options["wavelength_m"], pitch_m=options["pitch_m"])


def _option(name: str, options: dict[str, Any], defaults: Any) -> float:
    return options[name] if name in options else getattr(defaults(), name)


def propagation_plan(field: Field, **options: Any) -> PropagationPlan:
    """The plan of a field's grid and device."""
    ny, nx = field.shape
    return PropagationPlan(
        shape=(ny, nx), pitch_m=field.pitch_m, wavelength_m=field.wavelength_m, device=find_device(field), **options
    )


@overload
def propagate(
    field: NDArray[complex64] | Field[NDArray[complex64]],
    distance_m: float,
    *,
    wavelength_m: float | None = None,
    pitch_m: float | None = None,
    out: NDArray[complex64] | None = None,
    stream: Any = None,
    **options: Any,
) -> Field[NDArray[complex64]]: ...
@overload
def propagate(
    field: OtherArray | Field[OtherArray],
    distance_m: float,
    *,
    wavelength_m: float | None = None,
    pitch_m: float | None = None,
    out: OtherArray | None = None,
    stream: Any = None,
    **options: Any,
) -> Field[OtherArray]: ...
@overload
def propagate(
    field: ArrayOf[complex64],
    distance_m: float,
    *,
    wavelength_m: float | None = None,
    pitch_m: float | None = None,
    out: ArrayOf[complex64] | None = None,
    stream: Any = None,
    **options: Any,
) -> Field: ...
def propagate(
    field: ArrayOf[complex64],
    distance_m: float,
    *,
    wavelength_m: float | None = None,
    pitch_m: float | None = None,
    out: ArrayOf[complex64] | None = None,
    stream: Any = None,
    **options: Any,
) -> Field:
    if "shape" in options or "device" in options:
        raise TypeError("propagate: shape and device are those of the field; leave them out")
    if not isinstance(field, Field):
        require_axes("propagate", "field", field, 2)
    field = as_field(field, wavelength_m, pitch_m)
    plan = propagation_plan(field, **options)
    try:
        values = plan.execute(field.values, distance_m=distance_m, out=out, stream=stream)
    except _holotone.ArgumentError as error:
        if error.argument != "input":
            raise
        raise argument_error("propagate", "field", error.expected, error.got) from None
    return Field(values, wavelength_m=field.wavelength_m, pitch_m=options.get("output_pitch_m") or field.pitch_m)


for _function in (point_cloud_field, layer_field, stereogram_field):
    _function.__doc__ = getattr(_holotone, _function.__name__).__doc__
propagate.__doc__ = (
    "One shot of PropagationPlan: the field propagated by distance_m, on the same device and grid, except for the "
    "pitch. distance_m > 0: from the panel toward the viewer; what lies at distance d behind the panel is in focus at -d,"
    " where ReconstructionPlan.execute(distance_m=d) shows it."
    "\n\n`field`: a Field, or an array {ny, nx} with wavelength_m and pitch_m. `options`: those of PropagationPlan."
    "\n\n"
) + (PropagationPlan.__doc__ or "")


def as_field(field: Any, wavelength_m: float | None, pitch_m: float | None) -> Field:
    """A Field of a Field or of an array with its wavelength and pitch."""
    if isinstance(field, Field):
        return Field(
            field.values,
            wavelength_m=wavelength_m or field.wavelength_m,
            pitch_m=pitch_m or field.pitch_m,
            metadata=field.metadata,
        )
    if wavelength_m is None or pitch_m is None:
        raise TypeError("expected a holotone.Field, or an array with wavelength_m and pitch_m")
    return Field(field, wavelength_m=wavelength_m, pitch_m=pitch_m)


def read_field(
    path: Any,
    *,
    wavelength_m: float | None = None,
    pitch_m: float | None = None,
    read: str | None = None,
    phase_file: Any = None,
    imaginary_file: Any = None,
) -> Field[NDArray[complex64]]:
    """Reads a complex field {ny, nx} from HDF5, MATLAB, NPY or OHC, with its metadata, to a NumPy array.

    "f.h5:/group/name" is a dataset, "f.h5:/name:3" the third of {n, ny, nx}, "v.mat:name" a variable. `read`: what real
    numbers are, also those of a float TIFF: "field" (u, or its real part), "phase" (radians, u = exp(i phase)),
    "amplitude" (u = A exp(i phase)) or "intensity" (u = sqrt(I) exp(i phase)). `phase_file`: the phase of an amplitude
    or intensity; `imaginary_file`: the imaginary part. A file that states neither wavelength nor pitch needs them here.

    FileError: the file, and what was expected; also real numbers without `read`, a negative amplitude or intensity,
    numbers in dB or a logarithm, phases of an integer type, uneven coordinates, several arrays without a part. Notes:
    what the file leaves open and how it was read.
    """
    options: dict[str, Any] = {} if read is None else {"read": read}
    for key, name in (("phase_file", phase_file), ("imaginary_file", imaginary_file)):
        if name is not None:
            options[key] = check_path("read_field", name)
    values, metadata, notes = _holotone._read_field(check_path("read_field", path), **options)

    def stated(key: str, given: float | None) -> float:
        if given is not None:
            return given
        if key not in metadata:
            raise argument_error("read_field", key, f"a number, which {path} does not state", "none")
        return float(metadata[key])

    field = Field(
        values,
        wavelength_m=stated("wavelength_m", wavelength_m),
        pitch_m=stated("pitch_m", pitch_m),
        metadata=metadata,
    )
    field.notes = list(notes)
    return field


def write_field(path: Any, field: Field) -> None:
    """Writes a Field to HDF5 (.h5) with its metadata, or to NPY (.npy), which has none; first to a temporary name."""
    if not isinstance(field, Field):
        raise argument_error("write_field", "field", "a Field", type(field).__name__)
    metadata = dict(field.metadata)
    metadata["wavelength_m"] = repr(field.wavelength_m)
    metadata["pitch_m"] = repr(field.pitch_m)
    _holotone._write_field(check_path("write_field", path), numpy_of(field, "write_field", "field"), metadata)
