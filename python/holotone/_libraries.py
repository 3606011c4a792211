"""Where CUDA's libraries are: in NVIDIA's packages and in conda's environments. The system's are found without this."""

from __future__ import annotations

import os
import pathlib
import sys

from . import _holotone


def find_cuda_libraries() -> None:
    folders = [
        folder
        for path in sys.path
        for folder in sorted(pathlib.Path(path or ".", "nvidia").glob("*/lib"), reverse=True)  # cu13 before others
    ]
    folders += [pathlib.Path(root, "lib") for root in (os.environ.get("CONDA_PREFIX"), sys.prefix) if root]
    _holotone.set_cuda_library_folders([str(folder) for folder in folders if folder.is_dir()])
