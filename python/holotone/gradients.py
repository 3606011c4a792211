"""Gradients of the library's maps, on arrays of any package.

Each function `*_vjp` takes the cotangent G of a map's result and returns the derivatives of a real loss E by the map's
arguments: dE = Re <G, dU>, <a, b> = sum conj(a) b. PyTorch's gradients of complex tensors have the same convention.
holotone.torch builds on these functions.
"""

from __future__ import annotations

import functools
import math
from typing import Any, TypeVar, overload

from . import _holotone
from ._field import Field, argument_error, as_field, find_device, require_axes

#: Arrays of any package: derivatives are of the package and the elements of what they are taken by.
Light = TypeVar("Light", bound=Any)
Positions = TypeVar("Positions", bound=Any)
Amplitudes = TypeVar("Amplitudes", bound=Any)


@functools.lru_cache(maxsize=4)
def _propagation_plan(shape: Any, pitch_m: float, wavelength_m: float, device: str, options: Any) -> Any:
    return _holotone.PropagationPlan(
        shape=shape, pitch_m=pitch_m, wavelength_m=wavelength_m, device=device, **dict(options)
    )


def propagation(field: Field, distance_m: float, **options: Any) -> Any:
    """The values of a field propagated by distance_m, by a plan that calls with the same grid and options share."""
    plan = _propagation_plan(
        field.shape, field.pitch_m, field.wavelength_m, find_device(field), tuple(sorted(options.items()))
    )
    return plan.execute(field.values, distance_m=distance_m)


def _kind(array: Any) -> Any:
    """The package of an array, for its functions."""
    import importlib

    name = type(array).__module__.split(".")[0]
    return importlib.import_module({"jaxlib": "jax.numpy", "jax": "jax.numpy"}.get(name, name))


def _require(function: str, **arrays: Any) -> None:
    """Refuses what is no array of a package with functions, or holds no floats."""
    for argument, given in arrays.items():
        array = given.values if isinstance(given, Field) else given
        package = type(array).__module__.split(".")[0]
        kind = str(array.dtype) if package in ("numpy", "torch", "cupy", "jax", "jaxlib") else ""
        if not ("float" in kind or "complex" in kind):
            got = f"{type(array).__name__} of {kind}" if kind else type(array).__name__
            expected = "floats or complex numbers of NumPy, PyTorch, CuPy or JAX"
            raise argument_error(f"gradients.{function}", argument, expected, got)


def _require_plan(function: str, plan: Any, kind: type) -> None:
    if not isinstance(plan, kind):
        raise argument_error(f"gradients.{function}", "plan", kind.__name__, type(plan).__name__)


def _complex(real: Any, imaginary: Any) -> Any:
    package = _kind(real)
    return package.complex(real, imaginary) if hasattr(package, "complex") else real + 1j * imaginary


def _conjugate_product(a: Any, b: Any) -> Any:
    """conj(a) b, without a view that is conjugated later."""
    return _complex(a.real * b.real + a.imag * b.imag, a.real * b.imag - a.imag * b.real)


def refuse_output_pitch(function: str, pitch_m: Any, field: Any, options: dict[str, Any]) -> None:
    """Refuses another output pitch, whose adjoint is not the propagation back."""
    other = options.get("output_pitch_m")
    if other and float(other) != float(pitch_m or field.pitch_m):
        raise argument_error(
            function, "output_pitch_m", "the field's pitch: torch.eye_look_field has gradients with another",
            f"{float(other):g}",
        )


@overload
def propagate_vjp(
    cotangent: Field, distance_m: float, *, wavelength_m: float | None = None, pitch_m: float | None = None,
    **options: Any,
) -> Any: ...
@overload
def propagate_vjp(
    cotangent: Light, distance_m: float, *, wavelength_m: float | None = None, pitch_m: float | None = None,
    **options: Any,
) -> Light: ...
def propagate_vjp(
    cotangent: Any, distance_m: float, *, wavelength_m: float | None = None, pitch_m: float | None = None, **options: Any
) -> Any:
    """Derivative by the input of `propagate`: the propagation over -distance_m. `options`: those of PropagationPlan, at
    the field's pitch."""
    refuse_output_pitch("gradients.propagate_vjp", pitch_m, cotangent, options)
    if not isinstance(cotangent, Field):
        require_axes("gradients.propagate_vjp", "cotangent", cotangent, 2)
    try:
        back_m = -float(distance_m)
    except (TypeError, ValueError):
        got = type(distance_m).__name__
        raise argument_error("gradients.propagate_vjp", "distance_m", "float", got) from None
    return propagation(as_field(cotangent, wavelength_m, pitch_m), back_m, **options)


def coordinates(shape: tuple[int, int], pitch_m: float, like: Any) -> tuple[Any, Any]:
    """x {1, nx} and y {ny, 1} of a panel's pixels, float32, of the package and on the device of `like`."""
    package = _kind(like)
    ny, nx = shape
    where = {"device": like.device} if hasattr(like, "device") and package.__name__ == "torch" else {}
    column = package.arange(nx, dtype=package.float32, **where)
    row = package.arange(ny, dtype=package.float32, **where)
    return ((column - (nx - 1) / 2) * pitch_m)[None, :], (((ny - 1) / 2 - row) * pitch_m)[:, None]


def point_cloud_field_vjp(
    cotangent: Any, position_m: Positions, amplitude: Amplitudes, phase_rad: Any = None, *, positions: bool = True,
    **options: Any,
) -> tuple[Positions | None, Amplitudes, Amplitudes]:
    """Derivatives by the positions {n, 3}, amplitudes {n} and phases {n} of `point_cloud_field`.

    With positions=False the first is None, at a quarter of the cost.
      dE/dA = Re(conj(exp(i phi)) v),  dE/dphi = Im(conj(A exp(i phi)) v),  v = adjoint(G)  (PointCloudPlan.adjoint)
      dE/dx = Re(conj(A exp(i phi)) adjoint(G, by="x")), likewise y and z, for wave "spherical"
    For wave "fresnel" the set of lit pixels counts as fixed, and the positions' follow from dE/dtheta, theta =
    pi rho^2 / (lambda d), rho the distance from the point's axis.
    """
    _require("point_cloud_field_vjp", cotangent=cotangent, position_m=position_m, amplitude=amplitude)
    package = _kind(position_m)
    plan = _holotone.PointCloudPlan(**options, device=find_device(cotangent))
    plan.set_points(position_m, amplitude, phase_rad)
    chosen = plan.options()
    phase = package.zeros_like(amplitude) if phase_rad is None else phase_rad
    wave = _complex(package.cos(phase), package.sin(phase))
    light = wave * amplitude
    values = plan.adjoint(cotangent)
    by_amplitude = _conjugate_product(wave, values).real
    by_phase = _conjugate_product(light, values).imag
    if not positions:
        return None, by_amplitude, by_phase
    if plan.info().wave == "spherical":
        along = [_conjugate_product(light, plan.adjoint(cotangent, by=axis)).real for axis in ("x", "y", "z")]
        return package.stack(along, 1), by_amplitude, by_phase
    x, y = coordinates(tuple(cotangent.shape), chosen.pitch_m, cotangent)
    by_x_weight = plan.adjoint(cotangent * x)
    by_y_weight = plan.adjoint(cotangent * y)
    by_square = plan.adjoint(cotangent * (x * x + y * y))
    px, py, d = position_m[:, 0], position_m[:, 1], -position_m[:, 2]
    rate = math.pi / (chosen.wavelength_m * d)
    along_x = _conjugate_product(light, by_x_weight - px * values).imag
    along_y = _conjugate_product(light, by_y_weight - py * values).imag
    square = by_square - 2 * px * by_x_weight - 2 * py * by_y_weight + (px * px + py * py) * values
    along_z = _conjugate_product(light, square).imag
    stack = package.stack
    by_position = stack([-2 * rate * along_x, -2 * rate * along_y, rate / d * along_z], 1)
    return by_position, by_amplitude, by_phase


def encode_phase_vjp(cotangent: Any, field: Light) -> Light:
    """Straight-through derivative of a phase panel's modulation by the field: that of exp(i arg(field)), as if phases
    were not rounded to levels. `cotangent`: by the modulation. 0 where the field is 0."""
    _require("encode_phase_vjp", cotangent=cotangent, field=field)
    package = _kind(field)
    modulus = package.abs(field)
    safe = package.where(modulus > 0, modulus, package.ones_like(modulus))
    turn = field / safe
    along = _conjugate_product(turn, cotangent).imag / safe
    along = package.where(modulus > 0, along, package.zeros_like(along))
    return _complex(-turn.imag * along, turn.real * along)


def eye_look_field_vjp(cotangent: Light, focus_m: float, plan: _holotone.EyePlan) -> Light:
    """Derivative of EyePlan.look_field by the hologram (EyePlan.adjoint)."""
    _require_plan("eye_look_field_vjp", plan, _holotone.EyePlan)
    _require("eye_look_field_vjp", cotangent=cotangent)
    return plan.adjoint(focus_m=focus_m, field=cotangent)


def nufft_type1_vjp(cotangent: Any, strengths: Light, plan: _holotone.NufftPlan) -> tuple[Any, Light]:
    """Derivatives of NufftPlan.type1 by the points {n, Rank} and the strengths: type 2 of the cotangent."""
    _require_plan("nufft_type1_vjp", plan, _holotone.NufftPlan)
    _require("nufft_type1_vjp", cotangent=cotangent, strengths=strengths)
    values, slope = plan.type2(cotangent, gradient=True)
    return _conjugate_product(slope, strengths[:, None]).real, values


def nufft_type2_vjp(cotangent: Any, modes: Light, plan: _holotone.NufftPlan) -> tuple[Any, Light]:
    """Derivatives of NufftPlan.type2 by the points {n, Rank} and the modes: type 1 of the cotangent."""
    _require_plan("nufft_type2_vjp", plan, _holotone.NufftPlan)
    _require("nufft_type2_vjp", cotangent=cotangent, modes=modes)
    _, slope = plan.type2(modes, gradient=True)
    return _conjugate_product(cotangent[:, None], slope).real, plan.type1(cotangent)


def smoe_render_vjp(
    cotangent: Any, model: _holotone.SmoeModel, image: Any, *, tolerance: float = 1e-6, device: str = "cpu"
) -> _holotone.SmoeGradient:
    """Derivative of a rendered picture by all parameters of its model in two dimensions, as a SmoeGradient.

    `image` {ny, nx, channels}: the rendering of the model's whole box; both in host memory. The gradient of
    1/2 |y - t|^2 at t = y - G is that of <G, y> (smoe_gradient).
    """
    _require("smoe_render_vjp", cotangent=cotangent, image=image)
    return _holotone.smoe_gradient(model, image - cotangent, tolerance=tolerance, device=device)
