"""Holotone: holograms, light fields, halftones and what will be seen of them, on the CPU, CUDA and OpenCL.

Plans and functions have the names, arguments and defaults of the C++ library. Arrays of NumPy, PyTorch, CuPy and JAX
are taken by DLPack without a copy; results are arrays of the same package on the same device. Lengths are in metres,
angles in radians; shapes are (ny, nx).
"""

from . import _holotone
from ._holotone import *  # noqa: F403
from ._holotone import __version__
from ._field import (
    Field,
    layer_field,
    point_cloud_field,
    propagate,
    read_field,
    stereogram_field,
    write_field,
)
from ._hologram import write_hologram
from ._libraries import find_cuda_libraries as _find_cuda_libraries
from ._scene import Image, Layer, SmoeFitView, read_image, to_float, to_grey, to_linear, write_image

_find_cuda_libraries()

__all__ = sorted(
    {name for name in dir(_holotone) if not name.startswith("_")}
    | {"Field", "Image", "Layer", "SmoeFitView", "propagate", "read_field", "read_image", "to_float", "to_grey"}
    | {"to_linear", "write_field", "write_hologram", "write_image"}
    | {"layer_field", "point_cloud_field", "stereogram_field", "gradients", "show", "torch"}
)


def __getattr__(name: str):
    # holotone.torch, .gradients and show() when they are first used: PyTorch and Matplotlib are not required.
    import importlib

    if name in ("torch", "gradients"):
        return importlib.import_module("." + name, __name__)
    if name == "show":
        return importlib.import_module("._notebook", __name__).show
    raise AttributeError(f"module 'holotone' has no attribute '{name}'")
