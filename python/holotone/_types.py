"""Types of arrays, for type checkers and the stub of the module.

The element type of NumPy's arrays is checked; other packages do not state theirs.
"""

from __future__ import annotations

from typing import Any, Protocol, Sequence, SupportsFloat, TypeVar, Union

import numpy
from numpy.typing import NDArray

from ._holotone import Array


class TorchArray(Protocol):
    """A tensor of PyTorch."""

    def __dlpack__(self) -> Any: ...

    def detach(self) -> Any: ...


class CupyArray(Protocol):
    """An array of CuPy."""

    def __dlpack__(self) -> Any: ...

    def get(self) -> Any: ...


class JaxArray(Protocol):
    """An array of JAX."""

    def __dlpack__(self) -> Any: ...

    def block_until_ready(self) -> Any: ...


class FieldLike(Protocol):
    """A Field: the module is above this one."""

    @property
    def _holotone_values_(self) -> Any: ...


Element = TypeVar("Element", bound=numpy.generic)
#: An array of another package than NumPy, or an Array: results are of the same.
OtherArray = TypeVar("OtherArray", bound=Union[TorchArray, CupyArray, JaxArray, Array])
#: An array of any package with elements of a type.
ArrayOf = Union[NDArray[Element], TorchArray, CupyArray, JaxArray, Array, FieldLike]
#: An array of any package and type.
ArrayLike = ArrayOf[Any]
#: Numbers that are copied: a list, a tuple or an array.
NumbersLike = Union[ArrayOf[Any], Sequence[Union[SupportsFloat, Sequence[SupportsFloat]]]]
