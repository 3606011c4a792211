"""Pictures of fields in a notebook."""

from __future__ import annotations

from typing import Any

from . import _holotone
from ._field import as_field, device_of, numpy_of


def show(field: Any, *, distances_m: Any = None, wavelength_m: float | None = None, pitch_m: float | None = None) -> Any:
    """Shows a field's amplitude and phase, and what is seen of it in focus at a distance, with a slider in a notebook.

    `distances_m`: (nearest, farthest) of the slider; by default 0 to 40 cm. Returns the Matplotlib figure, or with
    ipywidgets in a notebook the widget. Needs Matplotlib.
    """
    import matplotlib.pyplot as plt
    import numpy

    field = as_field(field, wavelength_m, pitch_m)
    values = numpy_of(field)
    plan = _holotone.ReconstructionPlan(
        shape=field.shape, pitch_m=field.pitch_m, wavelength_m=field.wavelength_m, device=device_of(field)
    )
    plan.set_field(field.values)

    def seen(distance_m: float) -> Any:
        intensity = numpy_of(plan.execute(distance_m=distance_m))
        return _holotone.tone_map(intensity)

    nearest, farthest = distances_m or (0.0, 0.4)
    millimetres = 1e3 * field.pitch_m
    ny, nx = field.shape
    extent = (-nx / 2 * millimetres, nx / 2 * millimetres, -ny / 2 * millimetres, ny / 2 * millimetres)
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.2), constrained_layout=True)
    middle = 0.5 * (nearest + farthest)
    axes[0].imshow(numpy.abs(values), cmap="gray", extent=extent)
    axes[1].imshow(numpy.angle(values), cmap="twilight", vmin=-numpy.pi, vmax=numpy.pi, extent=extent)
    picture = axes[2].imshow(seen(middle), cmap="gray", vmin=0, vmax=255, extent=extent)
    for axis, title in zip(axes, ("amplitude", "phase", "")):
        axis.set_title(title)
        axis.set_xlabel("x, mm")
    axes[0].set_ylabel("y, mm")

    def focus(distance_m: float) -> None:
        picture.set_data(seen(distance_m))
        axes[2].set_title(f"in focus at {100 * distance_m:.1f} cm")

    focus(middle)
    slider = _slider(nearest, farthest, focus, figure)
    return slider or figure


def _slider(nearest: float, farthest: float, focus: Any, figure: Any) -> Any:
    """A slider, where ipywidgets and a notebook are there."""
    try:
        import ipywidgets
        from IPython import get_ipython
    except ImportError:
        return None
    if get_ipython() is None or get_ipython().__class__.__name__ != "ZMQInteractiveShell":
        return None
    output = ipywidgets.Output()

    def change(event: Any) -> None:
        from IPython.display import clear_output, display

        focus(event["new"])
        with output:
            clear_output(wait=True)
            display(figure)

    slider = ipywidgets.FloatSlider(
        value=0.5 * (nearest + farthest), min=nearest, max=farthest, step=(farthest - nearest) / 100,
        description="focus, m", readout_format=".3f", continuous_update=False,
    )
    slider.observe(change, "value")
    change({"new": slider.value})
    return ipywidgets.VBox([slider, output])
