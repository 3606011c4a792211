"""Pictures of fields, in notebooks and scripts."""

from __future__ import annotations

from typing import Any

from . import _holotone
from ._field import Field, argument_error, as_field, find_device, numpy_of, require_axes
from ._page import Page, answer, stored_page


def show(
    field: Any, *, distances_m: Any = None, wavelength_m: float | None = None, pitch_m: float | None = None
) -> Any:
    """Draws a field's amplitude and phase, and what is seen of it in focus at a distance.

    In a notebook returns a Page, that of `holotone view`, with pictures at 17 distances; `save` writes it to a file. In
    a script returns a Matplotlib figure. A notebook displays what the last line of a cell returns. `distances_m`:
    (nearest, farthest), of which the figure shows the middle. By default they lie about the distances that the field's
    metadata state. Without these they are 0 and twice fresnel_distance_m, from where on the light of every point covers
    the panel. The picture at each distance has a white of its own (tone_map). The figure needs Matplotlib.
    """
    import numpy

    if not isinstance(field, Field):
        require_axes("show", "field", field, 2)
    kind = str(getattr(field, "dtype", ""))
    if "int" in kind:
        hint = "modulation_of(codes, ...) or read_hologram(path) gives their light"
        raise argument_error("show", "field", "a complex field", f"codes of {kind}: {hint}")
    metadata = field.metadata if isinstance(field, Field) else {}
    field = as_field(field, wavelength_m, pitch_m)
    nearest, farthest = _range(field, metadata) if distances_m is None else _pair(distances_m)
    if not nearest < farthest:
        raise argument_error("show", "distances_m", "nearest < farthest", f"{nearest:g} and {farthest:g}")
    field.values = _complex64(field.values)
    values = numpy_of(field)
    plan = _holotone.ReconstructionPlan(
        shape=field.shape, pitch_m=field.pitch_m, wavelength_m=field.wavelength_m, device=find_device(field)
    )
    plan.set_field(field.values)

    def seen(distance_m: float) -> Any:
        return numpy_of(plan.execute(distance_m=distance_m))

    if _in_notebook():
        return _page(field, values, seen, nearest, farthest)
    import matplotlib.pyplot as plt

    ny, nx = field.shape
    x, y = 500 * field.pitch_m * nx, 500 * field.pitch_m * ny
    extent = (-x, x, -y, y)
    figure, axes = plt.subplots(1, 3, figsize=(13, max(2.5, min(4.2 * ny / nx + 0.6, 8))), constrained_layout=True)
    middle = 0.5 * (nearest + farthest)
    axes[0].imshow(numpy.abs(values), cmap="gray", extent=extent)
    axes[1].imshow(numpy.angle(values), cmap="twilight", vmin=-numpy.pi, vmax=numpy.pi, extent=extent)
    axes[2].imshow(_holotone.tone_map(seen(middle)), cmap="gray", vmin=0, vmax=255, extent=extent)
    in_focus = "in focus at " + _holotone.format_length(float(f"{middle:.3g}"))
    for axis, title in zip(axes, ("amplitude", "phase", in_focus)):
        axis.set(title=title, xlabel="x, mm")
    axes[0].set_ylabel("y, mm")
    return figure


def _pair(distances_m: Any) -> tuple[float, float]:
    try:
        nearest, farthest = distances_m
        return float(nearest), float(farthest)
    except (TypeError, ValueError):
        got = type(distances_m).__name__
        raise argument_error("show", "distances_m", "(nearest, farthest)", got) from None


def _range(field: Field, metadata: dict[str, str]) -> tuple[float, float]:
    """About the distances of the objects if these are known, else all that the panel resolves well."""
    keys = ("distance_min_m", "distance_max_m", "distance_m")
    stated = [float(metadata[key]) for key in keys if key in metadata]
    if stated:
        nearest, farthest = min(stated), max(stated)
        margin = max(0.25 * max(abs(nearest), abs(farthest)), 0.5 * (farthest - nearest))
        if margin > 0:
            return nearest - margin, farthest + margin
    return 0.0, 2 * _holotone.fresnel_distance_m(
        shape=field.shape, pitch_m=field.pitch_m, wavelength_m=field.wavelength_m
    )


def _complex64(values: Any) -> Any:
    """The values as plans take them: complex64, in rows, without a gradient."""
    import numpy

    if isinstance(values, _holotone.Array):
        return values
    if hasattr(values, "detach"):  # PyTorch
        return values.detach().cfloat().resolve_conj().contiguous()
    try:
        return numpy.ascontiguousarray(values, numpy.complex64) if not hasattr(values, "get") else values.astype("complex64")
    except (TypeError, ValueError, BufferError) as error:
        raise argument_error("show", "field", "a complex field", f"{type(values).__name__}: {error}") from None


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None


def _page(field: Field, values: Any, seen: Any, nearest: float, farthest: float) -> Page:
    """The page of `holotone view`: the light in focus at 17 distances, amplitude and phase of the field itself."""
    import numpy

    ny, nx = field.shape
    # Twelve digits, so that 0.02 is shown as such on every processor.
    stops = [float(f"{distance:.12g}") for distance in numpy.linspace(nearest, farthest, 17)]
    factor = max(1, -(-nx // 960))  # a page of 17 pictures is to stay below 20 MB
    shape = (max(1, ny // factor), max(1, nx // factor))

    def small(light: Any) -> Any:
        return light if factor == 1 else _holotone.area_average(light, shape=shape)

    amplitude = numpy.abs(values)
    turns = numpy.angle(values) / (2 * numpy.pi) % 1
    answers = [
        answer(0, "light", {"distance": d}, _holotone.tone_map(small(seen(d))), f"plan.execute(distance_m={d:.6g})")
        for d in stops
    ]
    answers.append(answer(0, "amplitude", {}, _holotone.tone_map(small(amplitude**2), gamma=2), "numpy.abs(field)"))
    codes = (numpy.rint(256 * turns) % 256).astype(numpy.uint8)
    answers.append(answer(0, "phase", {}, codes[::factor, ::factor], "numpy.angle(field)"))
    reach = max(abs(nearest), abs(farthest))
    unit, scale = ("mm", 1e3) if reach < 1e-2 else ("cm", 1e2) if reach < 1 else ("m", 1.0)
    distance = {
        "kind": "number", "label": "Focus", "value": stops[len(stops) // 2], "min": nearest, "max": farthest,
        "step": stops[1] - stops[0], "unit": unit, "factor": scale, "logarithmic": False, "stops": stops,
    }
    facts = [["pixels", f"{nx} x {ny}"], ["pitch", _holotone.format_length(field.pitch_m)],
             ["wavelength", _holotone.format_length(field.wavelength_m)]]
    views = [{"name": name, "title": name.capitalize(), "kind": "picture", "controls": controls}
             for name, controls in (("light", ["distance"]), ("amplitude", []), ("phase", []))]
    document = {"name": "field", "kind": "field", "facts": facts, "views": views, "controls": {"distance": distance}}
    return Page(stored_page([document], answers, f"holotone {_holotone.__version__}"))
