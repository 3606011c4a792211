"""Holotone's maps as operators of PyTorch with gradients.

Tensors stay on their device and are not copied. Gradients are exact adjoints (holotone.gradients), but those of
`encode_phase`, which pass straight through the rounding.
"""

from __future__ import annotations

import json
import numbers
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.autograd.function import once_differentiable

from . import _holotone, gradients
from ._field import Field, argument_error, as_field

__all__ = [
    "encode_phase",
    "eye_look_field",
    "layer_field",
    "nufft_type1",
    "nufft_type2",
    "point_cloud_field",
    "propagate",
    "smoe_render",
]


def _device_of(tensor: Tensor) -> str:
    return "cpu" if tensor.device.type == "cpu" else f"cuda:{tensor.device.index or 0}"


# Propagation.


@torch.library.custom_op("holotone::propagate", mutates_args=())
def _propagate(field: Tensor, distance_m: float, wavelength_m: float, pitch_m: float, options: str) -> Tensor:
    whole = Field(_plain(field), wavelength_m=wavelength_m, pitch_m=pitch_m)
    return gradients.propagation(whole, distance_m, **_options(options))


@_propagate.register_fake
def _(field, distance_m, wavelength_m, pitch_m, options):
    return torch.empty_like(field)


def _propagate_setup(ctx, inputs, output):
    ctx.options = inputs[1:]


def _propagate_backward(context, gradient):
    distance_m, *options = context.options
    return (_propagate(gradient, -distance_m, *options), *[None] * 4)


_propagate.register_autograd(_propagate_backward, setup_context=_propagate_setup)


def propagate(
    field: Tensor | Field,
    distance_m: float,
    *,
    wavelength_m: float | None = None,
    pitch_m: float | None = None,
    **options: Any,
) -> Tensor:
    """The field {ny, nx}, complex64, propagated by distance_m: holotone.propagate with a gradient by the field.

    distance_m has no gradient. `options`: those of PropagationPlan, at the field's pitch.
    """
    gradients.refuse_output_pitch("torch.propagate", pitch_m, field, options)
    wavelength_m = _optional("propagate", "wavelength_m", wavelength_m)
    whole = as_field(field, wavelength_m, _optional("propagate", "pitch_m", pitch_m))
    values = _differentiable("propagate", _tensor(whole.values))
    distance_m = _number("propagate", "distance_m", distance_m)
    return _propagate(values, distance_m, whole.wavelength_m, whole.pitch_m, _text("propagate", options))


# Points.


@torch.library.custom_op("holotone::point_cloud_field", mutates_args=())
def _points(position_m: Tensor, amplitude: Tensor, phase_rad: Tensor, options: str) -> Tensor:
    chosen = _options(options)
    plan = _holotone.PointCloudPlan(**chosen, device=_device_of(amplitude))
    plan.set_points(_plain(position_m), _plain(amplitude), _plain(phase_rad))
    out = torch.empty(tuple(chosen["shape"]), dtype=torch.complex64, device=amplitude.device)
    plan.execute(field=out)
    return out


@_points.register_fake
def _(position_m, amplitude, phase_rad, options):
    return amplitude.new_empty(tuple(_options(options)["shape"]), dtype=torch.complex64)


@torch.library.custom_op("holotone::point_cloud_field_backward", mutates_args=())
def _points_vjp(
    gradient: Tensor, position_m: Tensor, amplitude: Tensor, phase_rad: Tensor, options: str, positions: bool
) -> tuple[Tensor, Tensor, Tensor]:
    by_position, by_amplitude, by_phase = gradients.point_cloud_field_vjp(
        _plain(gradient), _plain(position_m), _plain(amplitude), _plain(phase_rad), positions=positions,
        **_options(options),
    )
    return torch.zeros_like(position_m) if by_position is None else by_position, by_amplitude, by_phase


@_points_vjp.register_fake
def _(gradient, position_m, amplitude, phase_rad, options, positions):
    return torch.empty_like(position_m), torch.empty_like(amplitude), torch.empty_like(phase_rad)


def _points_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:3])
    ctx.options = inputs[3]


def _points_backward(context, gradient):
    wanted = context.needs_input_grad
    by = _points_vjp(gradient, *context.saved_tensors, context.options, wanted[0])
    return (*[one if want else None for one, want in zip(by, wanted)], None)


_points.register_autograd(_points_backward, setup_context=_points_setup)


def point_cloud_field(
    position_m: Tensor, amplitude: Tensor, phase_rad: Tensor | None = None, **options: Any
) -> Tensor:
    """The field {ny, nx} of points {n, 3}: holotone.point_cloud_field with gradients by position, amplitude and phase.

    The set of pixels that points of wave "fresnel" light counts as fixed. `options`: those of PointCloudOptions.
    """
    phase = torch.zeros_like(amplitude) if phase_rad is None else phase_rad
    points = [_differentiable("point_cloud_field", tensor) for tensor in (position_m, amplitude, phase)]
    options.setdefault("shape", _holotone.PointCloudOptions().shape)
    return _points(*points, _text("point_cloud_field", options))


# Layers.


@torch.library.custom_op("holotone::layer_field", mutates_args=())
def _layers(intensity: Tensor, mask: Tensor | None, options: str) -> Tensor:
    plan = _layer_plan(intensity, mask, options)
    return plan.execute(out=torch.empty(intensity.shape[1:], dtype=torch.complex64, device=intensity.device))


def _layer_plan(intensity: Tensor, mask: Tensor | None, options: str) -> Any:
    from ._scene import Layer

    chosen = _options(options)
    distances = chosen.pop("distance_m")
    plan = _holotone.LayerPlan(shape=(intensity.shape[1], intensity.shape[2]), **chosen, device=_device_of(intensity))
    light, covers = _plain(intensity), None if mask is None else _plain(mask)
    plan.set_layers(
        [Layer(intensity=light[i], distance_m=d, mask=None if covers is None else covers[i])
         for i, d in enumerate(distances)]
    )
    return plan


@_layers.register_fake
def _(intensity, mask, options):
    return intensity.new_empty(intensity.shape[1:], dtype=torch.complex64)


@torch.library.custom_op("holotone::layer_field_backward", mutates_args=())
def _layers_vjp(gradient: Tensor, intensity: Tensor, mask: Tensor | None, options: str) -> Tensor:
    plan = _layer_plan(intensity, mask, options)
    light = torch.empty(intensity.shape, dtype=torch.complex64, device=intensity.device)
    plan.adjoint(_plain(gradient), light=[light[i] for i in range(light.shape[0])])
    chosen = _options(options)
    along = light.real
    if chosen.get("phase", "random") == "random":
        phase = _holotone.random_phase(count=intensity.numel(), seed=chosen.get("seed", 0))
        turn = torch.from_numpy(phase).to(intensity.device).reshape(intensity.shape)
        along = torch.cos(turn) * light.real + torch.sin(turn) * light.imag
    lit = intensity > 0
    return torch.where(lit, along / (2 * torch.sqrt(torch.where(lit, intensity, 1.0))), 0.0)


@_layers_vjp.register_fake
def _(gradient, intensity, mask, options):
    return torch.empty_like(intensity)


def _layers_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:2])
    ctx.options = inputs[2]


def _layers_backward(context, gradient):
    return _layers_vjp(gradient, *context.saved_tensors, context.options), None, None


_layers.register_autograd(_layers_backward, setup_context=_layers_setup)


def layer_field(intensity: Tensor, distance_m: list[float], *, mask: Tensor | None = None, **options: Any) -> Tensor:
    """The field {ny, nx} of layers {n, ny, nx} at distances: LayerPlan with a gradient by the intensity.

    These are a stack, each with its own light, not a picture with a depth map, of which holotone.layer_field makes one.
    Masks count as fixed; without `mask` a layer hides what is behind its lit pixels. `options`: pitch_m, wavelength_m,
    phase, seed.
    """
    name = "torch.layer_field"
    if intensity.ndim != 3:
        raise argument_error(name, "intensity", "layers {n, ny, nx}", f"a tensor of shape {tuple(intensity.shape)}")
    if isinstance(distance_m, (numbers.Real, str)) or len(distance_m) != len(intensity):
        got = f"{len(distance_m)}" if hasattr(distance_m, "__len__") else repr(distance_m)
        raise argument_error(name, "distance_m", f"a distance for each of {len(intensity)} layers", got)
    if mask is not None and mask.shape != intensity.shape:
        raise argument_error(name, "mask", f"the shape of the layers, {tuple(intensity.shape)}", f"{tuple(mask.shape)}")
    distances = [_number("layer_field", "distance_m", d) for d in distance_m]
    text = _text("layer_field", options | {"distance_m": distances})
    return _layers(_differentiable("layer_field", intensity), mask, text)


# The view of an eye.


@torch.library.custom_op("holotone::eye_look_field", mutates_args=())
def _eye(field: Tensor, focus_m: float, options: str) -> Tensor:
    plan = _eye_plan(field, options)
    plan.clear()
    plan.add_rows(_plain(field), 0)
    out = torch.empty(plan.field_shape(focus_m), dtype=torch.complex64, device=field.device)
    return plan.look_field(focus_m=focus_m, out=out)


def _eye_plan(field: Tensor, options: str) -> Any:
    chosen = _options(options)
    chosen["pupil"] = _holotone.EyePupil(**chosen["pupil"])
    return _holotone.EyePlan(**chosen, device=_device_of(field))


@_eye.register_fake
def _(field, focus_m, options):
    plan = _eye_plan(torch.empty(0), options)
    return field.new_empty(plan.field_shape(focus_m))


@torch.library.custom_op("holotone::eye_look_field_backward", mutates_args=())
def _eye_vjp(gradient: Tensor, focus_m: float, options: str) -> Tensor:
    return gradients.eye_look_field_vjp(_plain(gradient), focus_m, _eye_plan(gradient, options))


@_eye_vjp.register_fake
def _(gradient, focus_m, options):
    return gradient.new_empty(tuple(_options(options)["shape"]))


def _eye_setup(ctx, inputs, output):
    ctx.options = inputs[1:]


_eye.register_autograd(
    lambda context, gradient: (_eye_vjp(gradient, *context.options), None, None), setup_context=_eye_setup
)


def eye_look_field(
    field: Tensor | Field, focus_m: float, *, pupil: _holotone.EyePupil | dict[str, Any], **options: Any
) -> Tensor:
    """The field that an eye sees of a hologram {ny, nx}: EyePlan.look_field with a gradient by the hologram.

    `pupil`: an EyePupil, or a dictionary of its members. `options`: those of EyeOptions.
    """
    grid = [_optional("eye_look_field", name, options.pop(name, None)) for name in ("wavelength_m", "pitch_m")]
    whole = as_field(field, *grid)
    chosen = {**options, "shape": whole.shape, "pitch_m": whole.pitch_m, "wavelength_m": whole.wavelength_m}
    values = _differentiable("eye_look_field", _tensor(whole.values))
    text = _text("eye_look_field", chosen | {"pupil": pupil})
    return _eye(values, _number("eye_look_field", "focus_m", focus_m), text)


# Encoding.


class _EncodePhase(torch.autograd.Function):
    @staticmethod
    def forward(context, field, bits):
        context.save_for_backward(field)
        levels = 1 << bits
        turns = torch.remainder(torch.round(torch.angle(field) / (2 * torch.pi) * levels), levels) / levels
        return torch.polar(torch.ones_like(turns), 2 * torch.pi * turns)

    @staticmethod
    @once_differentiable
    def backward(context, gradient):
        (field,) = context.saved_tensors
        return gradients.encode_phase_vjp(gradient, field), None


def encode_phase(field: Tensor, *, bits: int = 8) -> Tensor:
    """What a phase panel of 2^bits levels makes of a field: exp(i phi), phi the nearest level to arg(field).

    The gradient passes straight through the rounding: that of exp(i arg(field)).
    """
    if not 1 <= bits <= 16:
        raise argument_error("torch.encode_phase", "bits", "1 to 16", repr(bits))
    if not field.is_complex():
        raise argument_error("torch.encode_phase", "field", "a complex tensor", str(field.dtype))
    return _EncodePhase.apply(_differentiable("encode_phase", field), int(bits))


# Non-uniform Fourier transforms.


class _NufftType1(torch.autograd.Function):
    @staticmethod
    def forward(context, points, strengths, modes, tolerance):
        plan = _nufft(points, modes, tolerance)
        context.plan = plan
        context.save_for_backward(points, strengths)
        return plan.type1(_plain(strengths))

    @staticmethod
    @once_differentiable
    def backward(context, gradient):
        points, strengths = context.saved_tensors
        by = gradients.nufft_type1_vjp(_plain(gradient), strengths, context.plan)
        return (*by, None, None)


class _NufftType2(torch.autograd.Function):
    @staticmethod
    def forward(context, points, modes, tolerance):
        plan = _nufft(points, modes.shape, tolerance)
        context.plan = plan
        context.save_for_backward(modes)
        return plan.type2(_plain(modes))

    @staticmethod
    @once_differentiable
    def backward(context, gradient):
        (modes,) = context.saved_tensors
        by = gradients.nufft_type2_vjp(_plain(gradient), _plain(modes), context.plan)
        return (*by, None)


def _nufft(points: Tensor, modes: Any, tolerance: float) -> Any:
    dtype: Any = "float64" if points.dtype == torch.float64 else "float32"
    plan = _holotone.NufftPlan(tuple(modes), tolerance=tolerance, dtype=dtype, device=_device_of(points))
    plan.set_points(_plain(points))
    return plan


def nufft_type1(points: Tensor, strengths: Tensor, modes: tuple[int, ...], *, tolerance: float = 1e-4) -> Tensor:
    """NufftPlan.type1 with gradients by points {n, Rank}, in periods, and complex strengths {n}."""
    whole = strengths if strengths.is_complex() else torch.complex(strengths, torch.zeros_like(strengths))
    points, whole = (_differentiable("nufft_type1", tensor) for tensor in (points, whole))
    return _NufftType1.apply(points, whole, tuple(modes), tolerance)


def nufft_type2(points: Tensor, modes: Tensor, *, tolerance: float = 1e-4) -> Tensor:
    """NufftPlan.type2 with gradients by points {n, Rank}, in periods, and modes."""
    points, modes = (_differentiable("nufft_type2", tensor) for tensor in (points, modes))
    return _NufftType2.apply(points, modes, tolerance)


# Mixtures of experts.


class _SmoeRender(torch.autograd.Function):
    @staticmethod
    def forward(context, log_weight, centre, covariance, colour, slope, size, tolerance):
        model = _model(log_weight, centre, covariance, colour, slope, size)
        renderer = _holotone.SmoeRenderer(
            model, tolerance=tolerance, precision="robust", device=_device_of(log_weight)
        )
        view = _holotone.SmoeView(size=size, extent=(float(size[1]), float(size[0])))
        out = torch.empty((*size, model.channels), device=log_weight.device)
        renderer.render(view, out=out)
        context.model, context.tolerance = model, tolerance
        context.save_for_backward(out)
        return out

    @staticmethod
    @once_differentiable
    def backward(context, gradient):
        (image,) = context.saved_tensors
        device = _device_of(image)
        by = gradients.smoe_render_vjp(
            _plain(gradient).cpu().numpy(), context.model, image.cpu().numpy(),
            tolerance=max(context.tolerance, 1e-7), device=device,
        )
        model = context.model
        shapes = {
            "log_weight": (-1,), "centre": (-1, 2), "covariance": (-1, 3), "colour": (-1, model.channels),
            "slope": (-1, model.channels, 2),
        }
        found = [
            torch.from_numpy(getattr(by, name).copy()).to(image.dtype).reshape(shape).to(image.device)
            for name, shape in shapes.items()
        ]
        return (*found, None, None)


def _model(log_weight: Tensor, centre: Tensor, covariance: Tensor, colour: Tensor, slope: Tensor, size: Any) -> Any:
    flat = [x.detach().cpu().reshape(-1).numpy() for x in (log_weight, centre, covariance, colour, slope)]
    model = _holotone.SmoeModel(
        dimensions=2, channels=colour.shape[1], high=(float(size[1]), float(size[0]), 0.0, 0.0)
    )
    model.log_weight, model.centre, model.covariance, model.colour, model.slope = flat
    return model


def smoe_render(
    log_weight: Tensor, centre: Tensor, covariance: Tensor, colour: Tensor, slope: Tensor, size: tuple[int, int],
    *, tolerance: float = 1e-4,
) -> Tensor:
    """The picture {ny, nx, channels} of a mixture in two dimensions over a box of nx by ny, with gradients by all.

    log_weight {K}, centre {K, 2}, covariance {K, 3} (lower triangle), colour {K, channels}, slope {K, channels, 2}.
    """
    for tensor in (log_weight, centre, covariance, colour, slope):
        _differentiable("smoe_render", tensor)
    return _SmoeRender.apply(log_weight, centre, covariance, colour, slope, tuple(size), tolerance)


# Arguments. Options pass the operators of PyTorch as a text.


def _text(function: str, options: dict[str, Any]) -> str:
    return json.dumps({name: _value(function, name, value) for name, value in options.items()})


def _options(text: str) -> dict[str, Any]:
    def tuples(value: Any) -> Any:
        return tuple(tuples(one) for one in value) if isinstance(value, list) else value

    return {name: tuples(value) for name, value in json.loads(text).items()}


def _value(function: str, name: str, value: Any) -> Any:
    """A value of an option: numbers of any package, texts, tuples, members of the package's classes."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Tensor) and value.numel() == 1:
        return value.item() if not value.requires_grad else _number(function, name, value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, (tuple, list)):
        return [_value(function, name, one) for one in value]
    if isinstance(value, dict):
        return {key: _value(function, f"{name}.{key}", one) for key, one in value.items()}
    if type(value).__module__ == _holotone.__name__:
        members = [key for key, one in vars(type(value)).items() if isinstance(one, property)]
        return {key: _value(function, f"{name}.{key}", getattr(value, key)) for key in members}
    raise TypeError(f"torch.{function}: {name}: expected a number, a text or a tuple, got {type(value).__name__}")


def _number(function: str, name: str, value: Any) -> float:
    if isinstance(value, Tensor) and value.requires_grad:
        raise TypeError(f"torch.{function}: {name} has no gradient: pass a number, or the tensor detached: x.detach()")
    return float(value)


def _optional(function: str, name: str, value: Any) -> float | None:
    return None if value is None else _number(function, name, value)


def _differentiable(function: str, tensor: Tensor) -> Tensor:
    """The tensor, unless it carries a tangent, which would be lost."""
    if forward_ad._current_level >= 0 and forward_ad.unpack_dual(tensor).tangent is not None:
        raise _holotone.UnsupportedError(
            f"torch.{function}: there are no derivatives in forward mode: use backward() or torch.autograd.grad"
        )
    return tensor


def _plain(tensor: Tensor) -> Tensor:
    """The tensor's own memory, in rows, without a gradient and without a conjugation that is still to be done."""
    return tensor.detach().resolve_conj().contiguous()


def _tensor(values: Any) -> Tensor:
    return values if isinstance(values, Tensor) else torch.from_dlpack(values)
