"""What the public headers declare is in the package, with its documentation; the stub and the types are sound."""

import ast
import dataclasses
import importlib
import importlib.util
import keyword
import pathlib
import re
import sys

import pytest

import holotone as ht
from holotone import _holotone

PYTHON = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = pathlib.Path(ht.__file__).parent
STUB = PACKAGE / "_holotone.pyi"


def tool(name):
    """A module of python/, whose folder must not be on the path: it has a folder holotone/ without the bindings."""
    specification = importlib.util.spec_from_file_location(name, PYTHON / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


headers, generate_bindings = tool("headers"), tool("generate_bindings")
NOT_BOUND, BY_HAND = generate_bindings.NOT_BOUND, generate_bindings.BY_HAND
DECLARED = headers.declarations(PYTHON.parent)
HEADERS = {str(header.relative_to(PYTHON.parent)) for header in headers.public_headers(PYTHON.parent)}
# Names of C++ that are not called in Python: strings take the place of enums' names, checks are made by calls.
OF_STRINGS = ("to_string", "parse_", "require_", "operator")


def excused(declaration):
    first = declaration.name.split("::")[0]
    return bool({declaration.header, declaration.name, first} & NOT_BOUND.keys())


def declared(kind):
    return [one for one in DECLARED if one.kind == kind and not excused(one)]


def place(name):
    """The attribute of the package for a name of C++, or None. A class in a class is named in one word."""
    parts = name.split("::")
    if hasattr(ht, "".join(parts)):
        return getattr(ht, "".join(parts))
    owner = getattr(ht, "".join(parts[:-1]), None)
    if owner is not None:
        return getattr(owner, parts[-1], None)
    found = ht
    for part in parts:
        found = getattr(found, part, None)
    return found


def missing(names):
    return sorted({name for name in names if place(name) is None})


def test_the_headers_are_read():
    assert len(DECLARED) > 1000 and {one.kind for one in DECLARED} >= {"class", "struct", "function", "member", "enum"}


# Completeness.


def test_every_class_and_aggregate():
    names = [one.name for kind in ("class", "struct") for one in declared(kind)]
    assert missing(names) == ["FieldFile"] and "FieldFile" in BY_HAND  # Field


def test_every_function():
    names = [one.name for one in declared("function") if "::" not in one.name]
    assert missing(name for name in names if not name.startswith(OF_STRINGS) and name not in BY_HAND) == []


def test_what_is_written_by_hand_is_there():
    assert missing(BY_HAND - {"FieldFile"}) == []


def test_every_method_of_a_class():
    classes = {one.name for one in declared("class")}
    names = []
    for one in declared("function"):
        owner, _, method = one.name.rpartition("::")
        is_other = "static " in one.text or method.startswith(("~", "operator")) or method == owner.rpartition("::")[2]
        if owner in classes and not is_other:
            names.append(one.name)
    assert len(names) > 100 and missing(names) == []


def test_every_method_of_an_aggregate():
    aggregates = {one.name for one in declared("struct")}
    names = [one.name for one in declared("function") if one.name.rpartition("::")[0] in aggregates]
    constructors = [name for name in names if name.rpartition("::")[0].endswith(name.rpartition("::")[2])]
    assert missing(set(names) - set(constructors)) == []


def test_every_constant_of_an_aggregate():
    assert missing(one.name for one in declared("constant") if "::" in one.name) == []


def test_every_constant():
    """Numbers. Strings and tables of C++ have functions."""
    is_number = [one for one in declared("constant") if "::" not in one.name and not re.search(r"string|\[", one.text)]
    assert missing(one.name for one in is_number) == []
    left_out = sorted(one.name for one in declared("constant") if "::" not in one.name and one not in is_number)
    print("not bound:", left_out)


def test_every_member_of_an_aggregate():
    """Members that are views and functions are arguments: of the plans and functions that take the aggregate."""
    text, left = STUB.read_text(), []
    for one in declared("member"):
        owner, _, name = one.name.rpartition("::")
        if owner in BY_HAND | generate_bindings.OF_ARRAYS or place(one.name) is not None:
            continue
        if owner == "BlurredComparisonPlan::Fields":
            assert hasattr(ht.BlurredComparisonPlanFields, name)
        elif not re.search(rf"\b{name}: (ArrayOf|NumbersLike|Callable)", text):
            left.append(one.name)
    assert left == []


def test_every_aggregate_is_used():
    texts = [(one.name, one.text) for one in DECLARED
             if one.kind in ("function", "member") and not excused(one) and one.name not in BY_HAND]
    unused = []
    for one in declared("struct"):
        word = re.compile(rf"\b{one.name.rpartition('::')[2]}\b")
        prefix = one.name + "::"
        used = any(word.search(text) for name, text in texts if not name.startswith(prefix))
        if one.name not in BY_HAND and not used:
            unused.append(one.name)
    assert set(unused) - {"NufftOptions", "ImageWriteOptions"} == set()  # taken by what is written by hand


def test_every_enum():
    """Each enum of an argument is a Literal of its names in the stub."""
    text = STUB.read_text()
    unused = []
    for enum in declared("enum"):
        values = [one.name.rpartition("::")[2] for one in DECLARED
                  if one.kind == "enumerator" and one.name.rpartition("::")[0] == enum.name]
        literal = ", ".join(repr("auto" if value == "automatic" else value) for value in values)
        if f"Literal[{literal}]" not in text:
            unused.append(enum.name)
    assert unused == ["Backend"]  # part of Device, a string


@pytest.mark.parametrize("table", ["NOT_BOUND", "BY_HAND", "OF_ARRAYS", "FLAT", "REQUIRED", "SECOND_NAMES"])
def test_every_excuse_names_what_is_declared(table):
    known = HEADERS | {one.name for one in DECLARED} | {one.name.split("::")[0] for one in DECLARED}
    added = {"Field"} if table == "BY_HAND" else set()  # of the package, besides the struct of C++
    assert set(getattr(generate_bindings, table)) - known - added == set()


@pytest.mark.parametrize("table", ["OUTPUTS", "KEEPS", "OPTIONAL", "RENAMED"])
def test_tables_of_functions_name_what_is_declared(table):
    known = {}
    for one in DECLARED:
        if one.kind in ("function", "template"):
            known.setdefault(one.name, []).append(one.text)
    entries = getattr(generate_bindings, table)
    for name in entries:
        assert name in known, name
        for argument in entries[name] if isinstance(entries, dict) else ():
            assert any(re.search(rf"\b{argument}\b", text) for text in known[name]), (name, argument)


def test_the_names_of_sample_scenes():
    assert all(ht.sample_scene(name).position.size for name in ht.sample_scene_names())


def test_all_lists_what_is_there():
    assert sorted(set(ht.__all__)) == list(ht.__all__)
    for name in set(ht.__all__) - {"torch"}:
        assert hasattr(ht, name), name
    assert ht.__version__ == (PYTHON.parent / "VERSION").read_text().strip().replace("-dev", ".dev0")  # PEP 440
    with pytest.raises(AttributeError, match="nosuch"):
        ht.nosuch


# Documentation.


def test_every_comment_of_a_header_is_a_docstring():
    bare = []
    for kind in ("class", "struct", "function"):
        for one in declared(kind):
            attribute = place(one.name)
            if one.comment and attribute is not None and not (attribute.__doc__ or "").strip():
                bare.append(one.name)
    assert bare == []


def test_a_class_in_a_class_has_its_docstring():
    assert ht.BlurredComparisonPlanFields.__doc__


def test_comments_of_members_are_docstrings():
    bare = []
    for one in declared("member"):
        attribute = place(one.name)
        if one.comment and isinstance(attribute, property) and not (attribute.__doc__ or "").strip():
            bare.append(one.name)
    assert bare == []


def test_docstrings_speak_of_python():
    """No names of C++ that the generator translates."""
    wrong = [name for name in ht.__all__ if name != "torch"
             if re.search(r"::|\binvalid_argument\b|\bout_of_memory\b|\bThrows\b", getattr(ht, name).__doc__ or "")
             and not isinstance(getattr(ht, name), (int, float, str))]
    assert wrong == []


def texts():
    for name in ht.__all__:
        one = getattr(ht, name) if name != "torch" else None
        yield name, getattr(one, "__doc__", None) or ""
        for method, attribute in vars(one).items() if isinstance(one, type) else ():
            yield f"{name}.{method}", getattr(attribute, "__doc__", None) or ""


def test_docstrings_name_strings_and_exceptions_of_python():
    enums = "|".join(one.name for one in declared("enum"))
    wrong = re.compile(rf"\b(?:{enums})\.[a-z]\w*|[Rr]aises (?:io|unsupported|cancelled|device)\b")
    assert [(name, found.group()) for name, text in texts() if (found := wrong.search(text))] == []


def test_docstrings_say_what_each_choice_is():
    text = ht.point_cloud_field.__doc__
    assert 'method: "auto": the cheapest method' in text and '"fast": non-uniform FFT' in text
    assert 'wave: "auto": spherical where' in text and '"fresnel": phase pi' in text
    assert '"double_phase": two phases whose mean is U' in ht.encode.__doc__ and "uint16" in ht.encode.__doc__
    assert "{planes" in ht.PhaseRetrievalPlan.optimize.__doc__.replace("\n", " ")


def test_positions_of_dots_have_two_columns():
    assert ht.Dots.position.__doc__.startswith("{n, 2}: x, y")


def test_methods_written_by_hand_have_docstrings_and_types():
    for name in ("set_points", "type1", "type2"):
        assert len(getattr(ht.NufftPlan, name).__doc__) > 100
        assert re.search(rf"def {name}\(self, \w+: Array(Like|Of)[^*]*, \*,", STUB.read_text())


def test_functions_of_the_package_have_docstrings():
    for module in ("_field", "_hologram", "_scene", "gradients"):
        tree = ast.parse((PACKAGE / f"{module}.py").read_text())
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                owner = importlib.import_module(f"holotone.{module}")
                assert (getattr(owner, node.name).__doc__ or "").strip(), node.name


# Classes of the package.


@pytest.mark.parametrize("name", ["Layer", "SmoeFitView"])
def test_classes_of_arrays_have_the_members_of_the_headers(name):
    members = {one.name for one in DECLARED if one.kind == "member" and one.name.startswith(name + "::")}
    assert {f"{name}::{field.name}" for field in dataclasses.fields(getattr(ht, name))} == members


def test_names_that_the_package_wraps_are_those_of_the_module():
    for name in ("point_cloud_field", "layer_field", "stereogram_field"):
        assert getattr(ht, name) is not getattr(_holotone, name)
        assert getattr(ht, name).__doc__ == getattr(_holotone, name).__doc__


# Aggregates.


def aggregates():
    made = []
    for one in declared("struct"):
        attribute = place(one.name)
        if isinstance(attribute, type) and attribute.__module__.endswith("_holotone"):
            try:
                attribute()
            except TypeError:
                continue
            made.append(attribute)
    return made


@pytest.mark.parametrize("kind", aggregates(), ids=lambda kind: kind.__name__)
def test_aggregates_are_made_written_and_shown(kind):
    """Every member can be read and written back, and repr shows it."""
    made = kind()
    names = [name for name, attribute in vars(kind).items() if isinstance(attribute, property)]
    assert repr(made).startswith(kind.__name__ + "(")
    for name in names:
        value = getattr(made, name)
        if vars(kind)[name].fset is not None and value is not None:
            setattr(made, name, value)
        assert f"{name}=" in repr(made)
    with pytest.raises(TypeError):
        kind(no_such_member=1)


def test_optional_members_take_none():
    plane = ht.RetrievalPlane(pupil=ht.Aperture(diameter_m=1e-3))
    plane.pupil = None
    assert plane.pupil is None


def test_aggregates_are_copied_and_compared():
    import copy

    options = ht.PointCloudOptions(tolerance=1e-4)
    assert copy.copy(options).tolerance == 1e-4 and copy.deepcopy(options) == options


# Stub and types.


def test_the_stub_is_python():
    ast.parse(STUB.read_text())


def test_no_argument_is_a_keyword():
    names = re.findall(r"[(,] \*?(\w+): ", STUB.read_text()) + re.findall(r"\((\w+): ", STUB.read_text())
    assert not {name for name in names if keyword.iskeyword(name)}


def test_the_stub_has_what_the_module_has():
    names = set(re.findall(r"^(?:def |class )?(\w+)(?=\(|:)", STUB.read_text(), re.M))
    public = {name for name in dir(_holotone) if not name.startswith("_")}
    assert {name for name in public - names if not is_exception(name)} == set()


def is_exception(name):
    return isinstance(getattr(_holotone, name), type) and issubclass(getattr(_holotone, name), Exception)


def test_the_stub_has_exceptions_and_what_the_package_uses():
    names = {name for name in dir(_holotone) if is_exception(name)} | {"__version__", "_read_image", "_write_field"}
    assert {name for name in names if not re.search(rf"\b{name}\b", STUB.read_text())} == set()


def test_defaults_of_none_are_optional_in_the_stub():
    assert re.findall(r"\w+: (?!(?:Any|None)\b)[A-Z]\w* = None", STUB.read_text()) == []
