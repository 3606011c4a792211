"""Gives wrong values to every argument and member of the package; run by test_attack.py in a process of its own.

    attack.py NAME ...: prints what it does before it does it, so that the last line of a crash names its cause.
"""

from __future__ import annotations

import array
import ast
import ctypes
import gc
import inspect
import os
import pathlib
import re
import sys
import tempfile

import numpy as np

import holotone as ht
from holotone import _holotone

FOLDER = tempfile.mkdtemp()
os.chdir(FOLDER)  # where names that are words for values become files
PACKAGE = pathlib.Path(ht.__file__).parent
GRID = {"pitch_m": 8e-6, "wavelength_m": 532e-9}


# What is given.


class Tensor(ctypes.Structure):
    """DLPack's DLManagedTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]


class Versioned(ctypes.Structure):
    """The head of DLManagedTensorVersioned, and a tensor."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


KEPT: list = []  # what capsules point to
NEW = ctypes.pythonapi.PyCapsule_New
NEW.restype, NEW.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
NAMES = {name: ctypes.create_string_buffer(name) for name in (b"dltensor", b"dltensor_versioned", b"used_dltensor", b"x")}


def tensor(**changes):
    values = np.ones(64, "complex128")
    shape = (ctypes.c_int64 * 8)(*changes.pop("extents", [2] * 8))
    members = {"data": values.ctypes.data, "device_type": 1, "device_id": 0, "ndim": 2, "code": 2, "bits": 32, "lanes": 1,
               "shape": ctypes.addressof(shape), "strides": None} | changes
    made = Tensor(**members)
    KEPT.append((values, shape, made))
    return made


def capsule(name=b"dltensor", **changes):
    return NEW(ctypes.addressof(tensor(**changes)), ctypes.cast(NAMES[name], ctypes.c_char_p), None)


def versioned(major, **changes):
    made = Versioned(major=major, tensor=tensor(**changes))
    KEPT.append(made)
    return NEW(ctypes.addressof(made), ctypes.cast(NAMES[b"dltensor_versioned"], ctypes.c_char_p), None)


def released():
    view = memoryview(bytearray(64)).cast("f")
    view.release()
    return view


def exporter(make, **attributes):
    def dlpack(self, **options):
        return make()

    return type("Exporter", (), {"__dlpack__": dlpack, "__dlpack_device__": lambda self: (1, 0)} | attributes)()


def raising(*arguments, **options):
    raise LookupError("of the attacker")


class Hostile:
    """Whatever is looked at raises."""

    __repr__ = __str__ = __len__ = __bool__ = __iter__ = __float__ = __index__ = __dlpack__ = __array__ = raising
    shape = dtype = property(raising)


class Unspeakable:
    def __repr__(self):
        return "\udc80"


class NoMembers(ctypes.Structure):
    """Its elements have no bytes."""


class FormatsOf(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]


class Brittle(ctypes.c_float * 4):
    """A buffer without strides, whose __dlpack__ raises."""

    __dlpack__ = raising


def unaligned(kind):
    return np.frombuffer(bytearray(16 * 65), "uint8")[1 : 1 + 16 * np.dtype(kind).itemsize].view(kind).reshape(4, 4)


# Never an array of the library. Each is made anew.
NEVER = {
    "released memoryview": released,
    "ctypes without bytes": lambda: (NoMembers * 3)(),
    "ctypes of structures": lambda: (FormatsOf * 3)(),
    "ctypes of pointers": lambda: (ctypes.c_void_p * 4)(),
    "ctypes with __dlpack__": lambda: exporter(lambda: Brittle()),
    "ctypes number": lambda: ctypes.c_float(1),
    "bytes of no type": lambda: b"12345678",
    "memoryview of pairs": lambda: memoryview(bytearray(16)).cast("H").cast("B").cast("?"),
    "object array": lambda: np.array([[1, None], [2, "x"]], dtype=object),
    "structured": lambda: np.zeros((4, 4), [("x", "f4"), ("y", "f4")]),
    "no bytes": lambda: np.zeros((4, 4), "V0"),
    "dates": lambda: np.zeros((4, 4), "M8[s]"),
    "texts": lambda: np.zeros((4, 4), "U3"),
    "halves": lambda: np.zeros((4, 4), "float16"),
    "long doubles": lambda: np.zeros((4, 4), "longdouble"),
    "booleans": lambda: np.zeros((4, 4), bool),
    "other byte order": lambda: np.zeros((4, 4), ">f4"),
    "other byte order, complex": lambda: np.zeros((4, 4), ">c8"),
    "other byte order, uint16": lambda: np.zeros((4, 4), ">u2"),
    "lanes": lambda: capsule(lanes=4),
    "odd bits": lambda: capsule(bits=33),
    "no bits": lambda: capsule(bits=0),
    "code of DLPack": lambda: capsule(code=200),
    "device of DLPack": lambda: capsule(device_type=99),
    "Vulkan": lambda: capsule(device_type=7),
    "axes below 0": lambda: capsule(ndim=-1),
    "too many axes": lambda: capsule(ndim=1000),
    "no shape": lambda: capsule(shape=None),
    "extents below 0": lambda: capsule(extents=[-1] * 8),
    "extents beyond memory": lambda: capsule(extents=[1 << 62] * 8),
    "no data": lambda: capsule(data=None),
    "used capsule": lambda: capsule(b"used_dltensor"),
    "capsule of another": lambda: capsule(b"x"),
    "later version": lambda: versioned(2),
    "exporter of nothing": lambda: exporter(lambda: None),
    "exporter of a number": lambda: exporter(lambda: 5),
    "exporter of itself": lambda: exporter(lambda: exporter(lambda: 1)),
    "exporter that raises": lambda: exporter(raising),
    "exporter of extents below 0": lambda: exporter(lambda: capsule(extents=[-1] * 8)),
    "exporter of a later version": lambda: exporter(lambda: versioned(9)),
    "exporter with a shape": lambda: exporter(lambda: 5, shape=(4, 4), dtype="float32", ndim=2),
    "hostile": Hostile,
    "unspeakable": Unspeakable,
    "object": object,
    "class": lambda: np.ndarray,
    "text": lambda: "text",
    "surrogate": lambda: "\udc80",
    "set": lambda: {1.0},
    "dictionary": lambda: {"a": 1},
    "function": lambda: raising,
    "complex number": lambda: 1j,
    "huge number": lambda: 1 << 80,
    "not a number": lambda: float("nan"),
    "not made": lambda: _holotone.Array.__new__(_holotone.Array),
}
# An array for some arguments.
MAYBE = {
    "ctypes": lambda: (ctypes.c_float * 4)(),
    "ctypes of two axes": lambda: ((ctypes.c_float * 4) * 4)(),
    "array": lambda: array.array("f", [1, 2, 3]),
    "wide characters": lambda: array.array("u", "abc"),
    "bytearray": lambda: bytearray(16),
    "memoryview": lambda: memoryview(bytearray(64)).cast("f"),
    "memoryview of bytes": lambda: memoryview(bytes(64)),
    "memoryview backwards": lambda: memoryview(bytearray(64)).cast("f")[::-1],
    "backwards": lambda: np.ones((4, 4), "float32")[::-1, ::-1],
    "broadcast": lambda: np.broadcast_to(np.float32(1), (4, 4)),
    "columns": lambda: np.ones((4, 4), "complex64").T[:, ::2],
    "no axes": lambda: np.array(1, "float32"),
    "empty": lambda: np.zeros((0, 4), "float32"),
    "many axes": lambda: np.zeros((1,) * 30, "float32"),
    "read-only": lambda: np.frombuffer(bytes(64), "float32").reshape(4, 4),
    "unaligned": lambda: unaligned("float32"),
    "unaligned complex": lambda: unaligned("complex64"),
    "masked": lambda: np.ma.masked_all((4, 4), "float32"),
    "capsule": lambda: capsule(),
    "capsule without strides": lambda: versioned(1),
    "list": lambda: [[1.0, 2.0], [3.0]],
    "nested": lambda: [[[[[]]]]],
    "tuple of None": lambda: (None, None),
    "number": lambda: 3,
    "below 0": lambda: -1,
    "infinite": lambda: float("inf"),
    "true": lambda: True,
    "Array": lambda: ht.Array((4, 4)),
}
try:  # buffers that leave members out: of CPython's own tests
    import _testbuffer as buffers
except ImportError:
    pass
else:
    NEVER["buffer without a format"] = lambda: buffers.ndarray(
        buffers.ndarray([1] * 8, shape=[8], format="L"), getbuf=buffers.PyBUF_ND
    )
    NEVER["buffer of bytes alone"] = lambda: buffers.ndarray(
        buffers.ndarray([1] * 8, shape=[8], format="L"), getbuf=buffers.PyBUF_SIMPLE
    )
    NEVER["buffer of pointers"] = lambda: buffers.ndarray(
        list(range(12)), shape=[3, 4], format="L", flags=buffers.ND_PIL
    )


# What is there.


# Arrays of functions that compute with the operators of the array's package.
OF_OPERATORS = {"cotangent", "position_m", "amplitude", "strengths", "modes", "field", "image"}


def functions_of_the_stub():
    """Each function and method: name -> arguments {name: type}, of the last overload for each list of names."""
    tree = ast.parse((PACKAGE / "_holotone.pyi").read_text())
    found = {}

    def add(owner, node):
        if node.name.startswith("_") and node.name != "__init__" or not hasattr(ht, (owner or node.name).rstrip(".")):
            return
        if any(isinstance(one, ast.Name) and one.id == "property" or isinstance(one, ast.Attribute) and one.attr == "setter"
               for one in node.decorator_list):
            return
        all_of = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        names = [one for one in all_of if one.arg != "self"]
        types = {one.arg: ast.unparse(one.annotation) if one.annotation else "Any" for one in names}
        positional = [one.arg for one in node.args.posonlyargs if one.arg != "self"]
        required = len(node.args.args) + len(node.args.posonlyargs) - len(node.args.defaults)
        optional = {one.arg for one in (node.args.posonlyargs + node.args.args)[required:]}
        optional |= {one.arg for one, default in zip(node.args.kwonlyargs, node.args.kw_defaults) if default is not None}
        optional -= {"shape", "pitch_m", "wavelength_m"} if any("Field" in t for t in types.values()) else set()
        found[(owner + node.name, tuple(types))] = (types, optional, positional)

    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            add("", node)
        if isinstance(node, ast.ClassDef):
            for one in node.body:
                if isinstance(one, ast.FunctionDef):
                    add(node.name + ".", one)
    for name, one in inspect.getmembers(ht.gradients, inspect.isfunction):
        if name.endswith("_vjp"):
            parameters = [p for p in inspect.signature(one).parameters.values() if p.name != "options"]
            types = {p.name: "ArrayLike" if p.name in OF_OPERATORS else str(p.annotation).removeprefix("_holotone.") for p in parameters}
            optional = {p.name for p in parameters if p.default is not p.empty and p.name not in GRID}
            found[("gradients." + name, tuple(types))] = (types, optional, [])
    for name in ("propagate", "read_field", "write_field", "write_hologram", "read_image", "write_image", "to_float",
                 "to_grey", "to_linear", "show", "Field.__init__"):
        one = ht.Field.__init__ if name == "Field.__init__" else getattr(ht, name)
        parameters = [p for p in inspect.signature(one).parameters.values() if p.name not in ("self", "options")]
        types = {p.name: "ArrayLike" if (name, p.name) == ("show", "field") else str(p.annotation) for p in parameters}
        optional = {p.name for p in parameters if p.default is not p.empty and p.name not in GRID}
        found[(name, tuple(types))] = (types, optional, [])
    return found


FUNCTIONS = functions_of_the_stub()
CLASSES = {name: one for name in ht.__all__ if name != "torch" and isinstance(one := getattr(ht, name), type)
           and not issubclass(one, BaseException)}

BY_NAME = {
    "shape": (16, 16), "size": (16, 16), "lens_shape": (16, 16), "device": "cpu", "pitch_m": 8e-6, "wavelength_m": 532e-9,
    "stream": None, "count": 4, "first_row": 0, "rows": 4, "modes": (8, 8), "dots": 4, "components": 2, "iterations": 1,
    "hogel_px": 8, "name": "teapot", "dtype": "float32", "progress": None, "channel": 0, "levels": 2,
}


def made(kind, name=""):
    """A value of a type of the stub. Raises LookupError for one that cannot be made."""
    if name in BY_NAME and not kind.startswith("ArrayOf") and kind not in CLASSES:
        return BY_NAME[name]
    kind = kind.removesuffix(" | None")
    if kind.startswith("Field["):
        kind = "Field"
    if kind.startswith("ArrayOf[") or kind in ("ArrayLike", "Image | ArrayLike", "Field", "Values"):
        element = re.match(r"ArrayOf\[(\w+)\]", kind)
        values = np.ones((16, 16), element.group(1) if element and element.group(1) != "Any" else "complex64")
        return ht.Field(values.astype("complex64"), **GRID) if kind == "Field" else values
    if kind.startswith("Literal["):
        return ast.literal_eval(kind[7:])[0]
    if kind.startswith("tuple["):
        inner = split(kind[6:-1])
        return tuple(made(one) for one in inner if one != "...")
    if kind.startswith("Sequence[") or kind.startswith("list["):
        return [made(kind[kind.index("[") + 1 : -1])]
    if kind.startswith("dict["):
        return {}
    if kind.startswith("Callable") or "Callable[" in kind:
        return lambda *arguments: None
    if name == "path" or name.endswith("_path"):
        return f"{FOLDER}/none.png"
    simple = {"bool": False, "int": 1, "float": 1.0, "complex": 1j, "str": "x", "bytes": b"x", "NumbersLike": [1.0],
              "None": None}
    if kind in simple:
        return simple[kind]
    if kind == "Any":
        return ht.DiceScene() if name in ("source", "views", "scene") else None
    if kind in CLASSES:
        return instance(kind)
    raise LookupError(kind)


def split(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += c in "[("
        depth -= c in "])"
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts


INSTANCES: dict = {}
PICTURE = np.ones((16, 16), "float32")
VIEWER = ht.Viewer(width_m=1e-3, height_m=1e-3, distance_m=0.5)
MODEL = {"dimensions": 4, "channels": 1, "log_weight": [0], "centre": np.full((1, 4), 0.5), "covariance": [1, 0, 1, 0, 0, 1, 0, 0, 0, 1],
         "colour": [[0.5]], "slope": np.zeros((1, 1, 4))}
# Objects whose arguments need values that fit each other.
MADE = {
    "DiffusionWeights": lambda: ht.floyd_steinberg_weights(),
    "EyePlan": lambda: ht.EyePlan(shape=(16, 16), pupil=ht.EyePupil(width_m=1e-3, height_m=1e-3, distance_m=0.5), **GRID),
    "FourierLensPlan": lambda: ht.FourierLensPlan(shape=(16, 16), focal_length_m=0.1, **GRID),
    "Image": lambda: ht.Image(np.zeros((2, 2, 1), "uint8")),
    "Layer": lambda: ht.Layer(intensity=PICTURE),
    "LightFieldViews": lambda: ht.LightFieldViews(ht.SmoeModel(**MODEL)),
    "PanelWindow": lambda: ht.PanelWindow(offscreen=(16, 16)),
    "SlicedPicture": lambda: ht.slice_picture(PICTURE, PICTURE, width_m=1e-3, shape=(16, 16), **GRID),
    "SmoeFitView": lambda: ht.SmoeFitView(image=np.ones((4, 4, 1), "float32")),
    "SmoeFitter": lambda: ht.SmoeFitter(np.ones((16, 16, 1), "float32"), components=2, iterations=1),
    "SmoeRenderer": lambda: ht.SmoeRenderer(ht.fit_smoe(np.ones((16, 16, 1), "float32"), components=2, iterations=1)),
    "Spectrum": lambda: ht.power_spectrum(np.random.default_rng(1).random((40, 2), "float32"), region=REGION),
    "SpectrumPlan": lambda: ht.SpectrumPlan(region=REGION),
    "SpotFrame": lambda: ht.SpotFrame(time=0, id=[0, 1], spots=SPOTS),
    "SpotMotion": lambda: ht.SpotMotion(shape=(16, 16), focal_length_m=0.1, **GRID),
    "SpotPlan": lambda: spot_plan(),
    "ViewGrid": lambda: ht.ViewGrid(np.ones((2, 2, 4, 4, 1), "float32"), view_distance_m=0.5, camera_pitch_m=1e-3,
                                    distance_m=0.1, size_m=0.01),
    "WindowMeter": lambda: ht.WindowMeter(VIEWER, shape=(16, 16), hogel_px=8, **GRID),
    "HologramLight": lambda: hologram_light(),
}
REGION = ht.Region(width=16, height=16)


SPOTS = ht.SpotList(position_m=[[1e-3, 0, 0], [0, 1e-3, 0]], intensity=[1, 1])


def spot_plan():
    plan = ht.SpotPlan(shape=(16, 16), focal_length_m=0.1, **GRID)
    plan.set_spots(SPOTS.position_m)
    plan.solve()
    return plan


def hologram_light():
    path = f"{FOLDER}/hologram.png"
    ht.write_hologram(path, ht.Field(np.ones((16, 16), "complex64"), **GRID))
    return ht.read_hologram(path)


def instance(name):
    """An object of a class, made once."""
    if name not in INSTANCES:
        INSTANCES[name] = MADE[name]() if name in MADE else None
        for (function, _), (types, optional, _) in FUNCTIONS.items():
            if function == name + ".__init__" and INSTANCES[name] is None:
                INSTANCES[name] = call(CLASSES[name], {one: made(types[one], one) for one in types if one not in optional}, [])
    if INSTANCES[name] is None:
        INSTANCES.pop(name)
        raise LookupError(name)
    return INSTANCES[name]


def call(function, arguments, positional):
    """function(arguments), with arrays of the number of axes that it asks for. Returns the result, or the error."""
    given = dict(arguments)
    for _ in range(8):
        try:
            named = {name: value for name, value in given.items() if name not in positional}
            return function(*[given[name] for name in positional if name in given], **named)
        except ht.ArgumentError as error:
            axes = re.search(r"an array of (\w+) with (\d) ax", error.expected)
            value = given.get(error.argument)
            if error.argument == given.get("attacked") or not axes or not type(value) is np.ndarray or FIXED.get("value") is value:
                raise
            given[error.argument] = np.ones((16,) * int(axes.group(2)), axes.group(1))
    raise LookupError("no end")


FIXED: dict = {}  # the value that is wrong on purpose


# The attacks.


def note(text):
    print(text, flush=True)


def attacked(name):
    """Every wrong value for every argument of a function or constructor."""
    for (full, _), (types, optional, positional) in FUNCTIONS.items():
        if full != name:
            continue
        owner, _, method = full.rpartition(".")
        try:
            base = {one: made(types[one], one) for one in types if one not in optional}
            if method == "__init__":
                function = CLASSES[owner]
            elif owner == "gradients":
                function = getattr(ht.gradients, method)
            elif owner:
                function = getattr(instance(owner), method)
            else:
                function = getattr(ht, method)
        except (LookupError, ht.Error, TypeError, AttributeError) as error:
            note(f"SKIPPED {name}: {type(error).__name__}: {error}")
            continue
        for argument, kind in types.items():
            for attack, make in (NEVER | MAYBE).items():
                if name == "PanelWindow.wait" and attack in ("huge number", "infinite"):
                    continue  # it waits
                note(f"{name}({argument}={attack})")
                value = FIXED["value"] = make()
                outcome = "taken"
                try:
                    call(function, base | {argument: value}, positional)
                except ht.ArgumentError as error:
                    outcome = "refused"
                    text = str(error)
                    if "\n" in text:
                        note(f"WRONG {name}({argument}={attack}): of several lines: {text!r}")
                    is_named = re.split(r"[.\[]", error.argument)[0] == argument
                    is_array = kind.startswith("ArrayOf")
                    if attack in NEVER and is_array and not (is_named and error.function):
                        note(f"WRONG {name}({argument}={attack}): named {error.function}: {error.argument}: {text}")
                except (ht.Error, MemoryError):
                    outcome = "refused"
                except TypeError as error:
                    outcome = "refused"
                    is_call = "Callable" in kind and attack == "class"  # it is called
                    if not is_call and not re.search(r"argument \w+ is missing", str(error)):
                        note(f"WRONG {name}({argument}={attack}): {type(error).__name__}: {str(error)[:200]!r}")
                except ImportError:  # Matplotlib, for what is shown
                    pass
                except OSError:
                    outcome = "refused"
                except BaseException as error:
                    is_operator = owner == "gradients" and re.search("broadcast|matmul|dimension", str(error))
                    if not (attack in ("hostile", "function") or is_operator or "of the attacker" in str(error)):
                        note(f"WRONG {name}({argument}={attack}): {type(error).__name__}: {str(error)[:200]!r}")
                if attack in NEVER and kind.startswith("ArrayOf") and "Any" not in kind and outcome == "taken":
                    note(f"WRONG {name}({argument}={attack}): taken")


def members_attacked(name):
    """Every wrong value for every member; the object can be shown after each."""
    kind = CLASSES[name]

    def show(one, what):
        try:
            text = repr(one)
            assert isinstance(text, str)
        except BaseException as error:
            note(f"WRONG repr({name}), {what}: {type(error).__name__}: {error}")

    note(f"{name}: not made")
    bare = kind.__new__(kind)
    show(bare, "not made")
    members = [one for one, attribute in inspect.getmembers(kind)
               if not one.startswith("_") and (inspect.isdatadescriptor(attribute) or isinstance(attribute, property))]
    for member in members:
        note(f"{name}.{member}: not made")
        try:
            getattr(bare, member)
        except Exception:
            pass
    for attribute in ("__eq__", "__reduce__", "__dlpack__", "__array__", "__hash__"):
        note(f"{name}.{attribute}: not made")
        try:
            getattr(bare, attribute)(*([bare] if attribute == "__eq__" else []))
        except Exception:
            pass
    for attack in ("hostile", "released memoryview"):
        note(f"{name}({attack})")
        try:
            kind.__init__(bare, (NEVER)[attack]())
        except Exception:
            pass
        show(bare, "after a failed construction")
    del bare
    gc.collect()
    try:
        thing = instance(name)
    except (LookupError, ht.Error, TypeError, AttributeError) as error:
        note(f"SKIPPED {name}: {type(error).__name__}: {error}")
        return
    show(thing, "made")
    fields = getattr(kind, "__dataclass_fields__", None) or getattr(kind, "__slots__", None) or members
    for member in sorted(set(members) | set(fields)):
        for attack, make in (NEVER | MAYBE).items():
            note(f"{name}.{member} = {attack}")
            try:
                setattr(thing, member, make())
            except (ht.ArgumentError, AttributeError) as error:
                if isinstance(error, ht.ArgumentError) and member not in error.argument:
                    note(f"WRONG {name}.{member} = {attack}: named {error.argument}")
            except BaseException as error:
                if "of the attacker" not in str(error):
                    note(f"WRONG {name}.{member} = {attack}: {type(error).__name__}: {error}")
            show(thing, f"{member} = {attack}")
    INSTANCES.pop(name, None)


def main():
    for name in sys.argv[1:]:
        if name.startswith("members of "):
            members_attacked(name.removeprefix("members of "))
        else:
            attacked(name)
        note(f"DONE {name}")


if __name__ == "__main__":
    main()
