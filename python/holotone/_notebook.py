"""Pictures of fields in a notebook."""

from __future__ import annotations

import io
from typing import Any

from . import _holotone
from ._field import Field, as_field, device_of, numpy_of


def show(
    field: Any, *, distances_m: Any = None, wavelength_m: float | None = None, pitch_m: float | None = None
) -> Any:
    """Draws a field's amplitude and phase, and what is seen of it in focus at a distance.

    Returns the Matplotlib figure; in a notebook with ipywidgets a widget of the figure and a slider for the distance.
    A notebook displays what the last line of a cell returns; a script saves the figure. `distances_m`: (nearest,
    farthest) of the slider, of which the figure shows the middle. By default they lie about the distances that the
    field's metadata state. Without these they are 0 and twice fresnel_distance_m, from where on the light of every
    point covers the panel. The picture at each distance has a white of its own (tone_map). Needs Matplotlib.
    """
    import matplotlib.pyplot as plt
    import numpy

    kind = str(getattr(field, "dtype", ""))
    if "int" in kind:
        raise TypeError(
            f"show: field: expected a complex field, got codes of {kind}: modulation_of(codes, ...) or "
            "read_hologram(path) gives their light"
        )
    metadata = field.metadata if isinstance(field, Field) else {}
    field = as_field(field, wavelength_m, pitch_m)
    nearest, farthest = _range(field, metadata) if distances_m is None else _pair(distances_m)
    if not nearest < farthest:
        raise ValueError(f"show: distances_m: expected nearest < farthest, got {nearest:g} and {farthest:g}")
    field.values = _complex64(field.values)
    values = numpy_of(field)
    plan = _holotone.ReconstructionPlan(
        shape=field.shape, pitch_m=field.pitch_m, wavelength_m=field.wavelength_m, device=device_of(field)
    )
    plan.set_field(field.values)

    def seen(distance_m: float) -> Any:
        return _holotone.tone_map(numpy_of(plan.execute(distance_m=distance_m)))

    ny, nx = field.shape
    x, y = 500 * field.pitch_m * nx, 500 * field.pitch_m * ny
    extent = (-x, x, -y, y)
    figure, axes = plt.subplots(1, 3, figsize=(13, max(2.5, min(4.2 * ny / nx + 0.6, 8))), constrained_layout=True)
    middle = 0.5 * (nearest + farthest)
    axes[0].imshow(numpy.abs(values), cmap="gray", extent=extent)
    axes[1].imshow(numpy.angle(values), cmap="twilight", vmin=-numpy.pi, vmax=numpy.pi, extent=extent)
    picture = axes[2].imshow(seen(middle), cmap="gray", vmin=0, vmax=255, extent=extent)
    for axis, title in zip(axes, ("amplitude", "phase", "")):
        axis.set(title=title, xlabel="x, mm")
    axes[0].set_ylabel("y, mm")

    def focus(distance_m: float) -> None:
        picture.set_data(seen(distance_m))
        axes[2].set_title("in focus at " + _holotone.format_length(float(f"{distance_m:.3g}")))

    focus(middle)
    if not _in_notebook():
        return figure
    plt.close(figure)  # else the notebook draws it a second time at the end of the cell
    return _with_slider(nearest, farthest, focus, figure)


def _pair(distances_m: Any) -> tuple[float, float]:
    try:
        nearest, farthest = distances_m
        return float(nearest), float(farthest)
    except (TypeError, ValueError):
        raise TypeError(f"show: distances_m: expected (nearest, farthest), got {distances_m!r}") from None


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
    if isinstance(values, numpy.ndarray):
        return numpy.ascontiguousarray(values, numpy.complex64)
    return values.astype("complex64")


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None


def _with_slider(nearest: float, farthest: float, focus: Any, figure: Any) -> Any:
    """The figure below a slider; without ipywidgets the figure alone."""
    try:
        import ipywidgets
    except ImportError:
        return figure
    # An Image, not an Output: nbclient can miss the end of a cell that draws into an Output (until its timeout).
    picture = ipywidgets.Image(format="png")

    def draw(distance_m: float) -> None:
        focus(distance_m)
        png = io.BytesIO()
        figure.savefig(png, format="png")
        picture.value = png.getvalue()

    slider = ipywidgets.FloatSlider(
        value=0.5 * (nearest + farthest), min=nearest, max=farthest, step=(farthest - nearest) / 200,
        description="focus, m", readout_format=".4f", continuous_update=False,
    )
    slider.observe(lambda event: draw(event["new"]), "value")
    draw(slider.value)
    return ipywidgets.VBox([slider, picture])
