"""Writes the bindings of Holotone's public headers for Python: C++ for bindings/functions.hpp and aggregates.hpp.

    generate_bindings.py ROOT OUTPUT

Every public function, class, aggregate and enum is bound under its own name, with its own arguments and defaults. What
is not, is in NOT_BOUND, with the reason; what bindings/ writes by hand, in BY_HAND.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
import sys

import headers

# Declarations that Python has no use for, by name or header, and why.
NOT_BOUND = {
    "holotone/core/array.hpp": "arrays come from other packages",
    "holotone/core/bounds.hpp": "ranges of members, which constructors check",
    "holotone/core/enum_names.hpp": "Python has the names of the values",
    "holotone/core/error.hpp": "exceptions",
    "holotone/core/parallel.hpp": "threads of C++",
    "holotone/core/progress.hpp": "the argument `progress`",
    "holotone/core/opencl.hpp": "memory of OpenCL cannot be exchanged with other packages",
    "holotone/core/thread_memory.hpp": "threads of C++",
    "holotone/core/random.hpp": "counters for loops of C++",
    "holotone/core/crc32.hpp": "Python has zlib.crc32",
    "holotone/bands/band_memory.hpp": "memory of rows in C++",
    "holotone/bands/ranks.hpp": "processes of the command line",
    "holotone/recipes/stereogram_prints.hpp": "sources of views in C++; stereogram_codes",
    "holotone/io/atomic_file.hpp": "for writers of files in C++",
    "holotone/io/guarded/sandbox.hpp": "child processes of the command line",
    "holotone/io/guarded/guarded.hpp": "child processes of the command line",
    "holotone/optics/complex_product.hpp": "a loop's product",
    "holotone/optics/large_propagation.hpp": "rows through callbacks of C++; the command `propagate` takes files",
    "holotone/nufft/window.hpp": "parts of NufftPlan",
    "holotone/recipes/metadata_keys.hpp": "files are read and written whole",
    "holotone/recipes/quantized_file.hpp": "metadata of the command line",
    "EncodingTraits": "for code that takes any encoding",
    "encoding_traits": "for code that takes any encoding",
    "list_encodings": "Python has the names of the values",
    "BandsRun": "rows through callbacks of C++",
    "BandsFile": "rows through callbacks of C++",
    "BandsOptions": "processes of the command line",
    "BandsState": "processes of the command line",
    "print_points_by_ranks": "processes of the command line",
    "CloudSources": "PointCloud",
    "PointHologramOptions": "PointCloudPlan and EncodePlan",
    "PointHologramPlan": "PointCloudPlan and EncodePlan",
    "describe_points": "print_points; metadata of the command line",
    "is_sum_phase": "a detail of PointHologramPlan",
    "StereogramCodesPlan": "StereogramPlan and ErrorDiffusionPlan",
    "StereogramQuantization": "StereogramPlan and ErrorDiffusionPlan",
    "ElectrostaticPlan::queue": "its device is that of its arrays",
    "ViewSource": "a source of views is any object with its methods",
    "slopes_of": "a detail of sources of views",
    "Device": "a string: \"cuda:0\"",
    "open_cuda": "for programs that end after one result",
    "preload": "for programs that end after one result",
    "CudaLibrary": "for programs that end after one result",
    "Queue": "the arguments `device` and `stream`",
    "Buffer": "arrays come from other packages",
    "copy_bytes": "copy_of of Python",
    "nearest_name": "a detail of messages",
    "positions_of": "Dots.position",
    "positions_in": "a mask of NumPy",
    "apart_of": "a detail of separations",
    "shape_of": "Image.pixels.shape",
    "code_bits": "Image.bits",
    "png_bytes": "for servers; write_image writes files",
    "jpeg_bytes": "for servers; write_image writes files",
    "half_modes_shape": "modes of half the last extent, plus one",
    "ImageReadOptions": "read_image reads whole pictures",
    "RowsOptions": "write_field and write_image write the whole",
    "caption_glyph": "a detail of contact_sheet",
    "diffuse_errors": "a template of C++",
    "hilbert_index": "a detail of sampling",
    "printed_light": "a detail of separations",
    "ModulusShare": "two passes over rows; EncodePlan takes a share",
    "StatedHologram": "what a callback of the command line sees",
    "HologramRows": "read_hologram reads the whole",
    "FieldRowsWriter": "write_field writes the whole",
    "CodeRowsWriter": "write_image writes the whole",
    "FieldRowsReader": "read_field reads the whole",
    "ImageRowsWriter": "write_image writes the whole",
    "ImageRowsReader": "read_image reads the whole",
    "guarded_child": "child processes of the command line",
    "fit_views": "fit_mixture takes CapturedViews",
    "has_operation": "Operation.cuda, Operation.opencl",
    "describe_encoding": "metadata of the command line",
    "HologramWriteOptions": "arguments of write_hologram",
}
# Written in bindings/*.cpp or in the package.
BY_HAND = {"Image", "read_image", "write_image", "to_float", "to_grey", "to_linear"}
BY_HAND |= {"FieldFile", "read_field", "write_field", "Field", "propagate", "NufftPlan", "write_hologram"}
BY_HAND |= {"PanelWindow", "monitors"}
# Aggregates of arrays, which stay those of Python: classes of the package.
OF_ARRAYS = {"Layer", "SmoeFitView"}

# Aggregates whose members are arguments of their own, besides all that end with Options.
FLAT = {"FieldGrid", "RowRange", "PointSources", "PointCloudOutput", "RgbdPicture", "SmoeCodes"}

# Arguments whose names in C++ are those of members of the options next to them.
RENAMED = {
    "viewer_taps": {"from": "from_viewer", "to": "to_viewer"},
    "blur_diameter_m": {"focus_m": "at_focus_m"},
    "point_cloud_workspace_bytes": {"method": "of_method"},
    "window_noise": {"scale": "field_scale"},
    "window_lens": {"shape": "lens_shape"},
}

# Shapes of the outputs that a function makes if it is given none: by its plan, which is `self`, or that of an input.
OUTPUTS = {
    "PropagationPlan::execute": {"output": "self.options().grid.shape()"},
    "PropagationPlan::execute_intensity": {"intensity": "self.options().grid.shape()"},
    "ReconstructionPlan::execute": {"intensity": "self.options().grid.shape()"},
    "HalfPixelReconstruction::execute": {"intensity": "self.grid().shape()"},
    "FourierLensPlan::execute": {"picture": 'given.shape<2>("field")'},
    "FourierLensPlan::execute_intensity": {"intensity": 'given.shape<2>("field")'},
    "FourierLensPlan::adjoint": {"field": 'given.shape<2>("picture")'},
    "EyePlan::look": {"intensity": "self.output_grid().shape()"},
    "EyePlan::look_field": {"field": 'self.field_shape(nb::cast<double>(given["focus_m"]))'},
    "EyePlan::adjoint": {"panel": "self.options().grid.shape()"},
    "LayerPlan::execute": {"field": "self.options().grid.shape()"},
    "PointCloudPlan::adjoint": {"values": "{self.point_count()}"},
    "EncodePlan::execute": {"codes": 'given.shape<2>("field")'},
    "ErrorDiffusionPlan::execute": {"codes": 'given.shape<2>("field")'},
    "ElectrostaticPlan::positions": {"positions": "{self.count(), 2}"},
    "ElectrostaticPlan::forces": {"forces": "{self.count(), 2}"},
    "StereogramPlan::execute": {
        "output": '{count_rows(given, self.options().grid.ny), self.options().grid.nx}'
    },
    "SpotPlan::phase": {"phase_rad": "self.options().grid.shape()"},
    "SpotPlan::codes": {"codes": "self.options().grid.shape()"},
    "PhaseRetrievalPlan::gradient": {"derivative": 'given.shape<3>("phase_rad")'},
    "smoe_codes": {"codes": 'given.shape<4>("colours")'},
    "SmoeRenderer::render": {
        "image": '{nb::cast<const SmoeView&>(given["view"]).size[0], nb::cast<const SmoeView&>(given["view"]).size[1], '
        "self.model().channels}",
        "images": 'images_of(given["views"], self.model().channels)',
    },
    "evaluate": {"colours": '{given.shape<2>("coordinates")[0], nb::cast<const SmoeModel&>(given["model"]).channels}'},
}

# Functions of use in Python whose names are those of helpers.
BOUND = {"parse_phase_lut"}

# Functions whose outputs are of the host's memory, whatever the plan's device.
ON_HOST = {"SpotPlan::phase", "SpotPlan::codes"}

# Members with a default in C++ that no call can use.
REQUIRED = {"SpectrumOptions::region", "PairCorrelationOptions::region"}

# Second names of enumerators, as the program writes them, besides those of to_string.
SECOND_NAMES = {"RetrievalSolver": {"gerchberg_saxton": "gs", "weighted_gerchberg_saxton": "wgs"}}

# Arguments without a default in C++ that may be left out.
OPTIONAL = {"modulation_of": {"report"}}

# Methods whose arrays the plan reads later.
KEEPS = {"PropagationPlan::set_input", "LayerPlan::set_layers"}


@dataclasses.dataclass
class Parameter:
    type: str
    name: str
    default: str | None


def split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "<({["
        depth -= c in ">)}]"
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def parse_parameters(text: str) -> list[Parameter]:
    begin = headers.outside_brackets(text, "(")
    depth = 0
    for end in range(begin, len(text)):
        depth += text[end] == "("
        depth -= text[end] == ")"
        if depth == 0:
            break
    result = []
    for part in split(text[begin + 1 : end]):
        match = re.match(r"^(.*?[\s&*>])(\w+)(?:\s*=\s*(.*))?$", part)
        if not match:
            raise ValueError(f"cannot read the parameter '{part}' of: {text}")
        result.append(Parameter(match.group(1).strip(), match.group(2), match.group(3)))
    return result


def outputs_of(d: headers.Declaration, parameters: list[Parameter]) -> dict[str, str]:
    named = {p.name for p in parameters if p.type.startswith("View<") and not p.type.startswith("View<const")}
    return {name: shape for name, shape in OUTPUTS.get(d.name, {}).items() if name in named}


def strip_type(text: str) -> str:
    return re.sub(r"^const\s+|\s*&$|\s*\*$", "", text).strip()


class Generator:
    def __init__(self, root: pathlib.Path):
        self.all = headers.declarations(root)
        self.structs = {d.name: d for d in self.all if d.kind == "struct"}
        self.classes = {d.name: d for d in self.all if d.kind == "class"}
        self.enums = {d.name for d in self.all if d.kind == "enum"}
        self.members: dict[str, list[headers.Declaration]] = {}
        for d in self.all:
            if d.kind == "member":
                self.members.setdefault(d.name.rsplit("::", 1)[0], []).append(d)
        self.aggregates = [
            name for name, d in self.structs.items() if not self.excluded(d) and "<" not in d.text and name not in BY_HAND
        ]
        self.plans = [
            name
            for name, d in self.classes.items()
            if not self.excluded(d) and name not in BY_HAND and "::" not in name
        ]

    def excluded(self, d: headers.Declaration) -> bool:
        return d.header in NOT_BOUND or d.name in NOT_BOUND or d.name.split("::")[0] in NOT_BOUND

    # Tables: enums, members, documentation.

    def tables(self) -> str:
        includes = sorted({d.header for d in self.all})
        out = ["#pragma once", '#include "aggregates.hpp"', '#include "functions.hpp"', ""]
        out += [f"#include <{header}>" for header in includes]
        out += ["", "namespace holotone::python {", ""]
        texts = [d.text for d in self.all if d.name == "to_string"]
        with_text = {name for name in self.enums if any(f"to_string({name} " in text for text in texts)}
        for name in sorted(self.enums):
            values = [d.name.rsplit("::", 1)[1] for d in self.all if d.kind == "enumerator" and d.name.startswith(name + "::")]
            strings = ["auto" if value == "automatic" else value for value in values]
            also = "to_string(value)" if name in with_text else "{}"
            if name in SECOND_NAMES:
                second = [SECOND_NAMES[name].get(value, "") for value in values]
                also = "std::array<std::string_view, %d>{%s}[static_cast<std::size_t>(value)]" % (
                    len(second), ", ".join(f'"{one}"' for one in second)
                )
            literal = "Literal[" + ", ".join(f"'{s}'" for s in strings) + "]"
            out += [
                "template <>",
                f"struct Names<{name}> {{",
                "  static constexpr std::string_view all[] = {" + ", ".join(f'"{s}"' for s in strings) + "};",
                "  static constexpr std::string_view values[] = {" + ", ".join(f'"{s}"' for s in values) + "};",
                f'  static constexpr const char* type = "{literal}";',
                f'  static constexpr const char* documented = "{name}";',
                f"  static std::string_view also([[maybe_unused]] {name} value) {{ return {also}; }}",
                "};",
            ]
        for name in self.aggregates:
            flat = name in FLAT or name.endswith("Options")
            visits = []
            lists_arrays = any("vector<Array<" in member.text for member in self.members.get(name, []))
            for member in self.members.get(name, []):
                field = member.name.rsplit("::", 1)[1]
                has_default = (
                    "=" in member.text
                    or member.text.rstrip().endswith("}")
                    or "vector<" in member.text
                    or member.text.split()[0] in self.structs
                ) and member.name not in REQUIRED
                visits.append(f'    visit("{field}", &{name}::{field}, {str(has_default).lower()});')
            out += [
                "template <>",
                f"struct Members<{name}> {{",
                f'  static constexpr const char* name = "{name.replace("::", "")}";',
                f'  static constexpr const char* documented = "{name}";',
                f"  static constexpr bool flat = {str(flat).lower()};",
                f"  static constexpr bool lists_arrays = {str(lists_arrays).lower()};",
                "  template <class Visit>",
                "  static void each(Visit&& visit) {" if visits else "  static void each(Visit&& /*visit*/) {",
                *visits,
                "  }",
                "};",
            ]
        for name in self.plans:
            out += [
                "template <>",
                f"inline constexpr bool is_plan<{name}> = true;",
                "template <>",
                f"struct Names<Bound<{name}>> {{",
                f'  static constexpr const char* type = "{name}";',
                "};",
            ]
        return "\n".join(out + ["", "}  // namespace holotone::python", ""])

    def documentation(self) -> str:
        out = ['#include "tables.hpp"', "", "#include <unordered_map>", "", "namespace holotone::python {", ""]
        out += ["std::string_view documentation(std::string_view declaration) {"]
        out += ["  static const std::unordered_map<std::string_view, std::string_view> all = {"]
        functions = {d.name: d for d in self.all if d.kind == "alias" and "std::function" in d.text}
        seen = set()
        for d in self.all:
            comment = d.comment
            of_type = functions.get(d.text.split()[0]) if d.kind == "member" else None
            if of_type:  # a callback: what its type says
                comment += "\n" + of_type.comment
                if "View<float" in of_type.text:
                    comment += " An array that the function returns is taken in place of one that it fills."
            if comment and d.name not in seen:
                seen.add(d.name)
                out.append(f'      {{"{d.name}", R"doc({for_python(comment, self.enums)})doc"}},')
        out += ["  };", "  const auto place = all.find(declaration);", "  return place == all.end() ? std::string_view() : place->second;"]
        return "\n".join(out + ["}", "", "}  // namespace holotone::python", ""])

    # Functions and classes.

    def parameter(self, function: str, parameter: Parameter, outputs: dict[str, str], plan: str | None) -> str:
        base = strip_type(parameter.type)
        parameter = dataclasses.replace(parameter, name=RENAMED.get(function, {}).get(parameter.name, parameter.name))
        if parameter.name in outputs:
            rank = re.search(r", (\d)>", base).group(1)
            shape = outputs[parameter.name]
            first_line = f"const auto& self = *static_cast<const {plan}*>(plan); (void)self; " if plan else ""
            alone = str(len(outputs) == 1).lower()
            on_host = str(function in ON_HOST).lower()
            return (
                f'out<{rank}>("{parameter.name}", []([[maybe_unused]] const void* plan, [[maybe_unused]] const Given& given)'
                f" -> Shape<{rank}> {{ {first_line}return {shape}; }}, {alone}, {on_host})"
            )
        if parameter.default is None and function.endswith("::look") and parameter.name == "distance_m":
            return f'Name{{"{parameter.name}", nb::none()}}'  # may be omitted
        if parameter.default is None and parameter.name in OPTIONAL.get(function, ()):
            return f'Name{{"{parameter.name}", nb::none()}}'
        if parameter.default is None:
            return f'Name{{"{parameter.name}"}}'
        default = parameter.default
        if base in ("Progress", "Queue", "Device") or base in self.structs or default == "nullptr":
            fallback = "nb::none()"
        elif base.startswith("View<") or base.startswith("std::optional") or base.startswith("std::function"):
            fallback = "nb::none()"
        elif default == "{}":
            fallback = f"to_python({base}{{}})"
        else:
            fallback = f"to_python({base}({default}))"
        return f'Name{{"{parameter.name}", {fallback}}}'

    def types(self, parameters: list[Parameter]) -> str:
        return ", ".join(p.type for p in parameters)

    def functions(self, declarations: list[headers.Declaration]) -> list[str]:
        out = []
        names = [d.name for d in declarations]
        for index, d in enumerate(declarations):
            parameters = parse_parameters(d.text)
            last = str(d.name not in names[index + 1 :]).lower()
            listed = ", ".join(self.parameter(d.name, p, outputs_of(d, parameters), None) for p in parameters)
            python = d.name.split("::")[-1]
            out.append(
                f'  function(module, "{python}", "{d.name}", {last}, pick<{self.types(parameters)}>(&holotone::{d.name}), {{{listed}}});'
            )
        return out

    def plan(self, name: str, declarations: list[headers.Declaration]) -> list[str]:
        bound = "bound_" + re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        out = [
            "  {",
            f'    nb::class_<Bound<{name}>> {bound}(module, "{name}", kept_text(std::string(documentation("{name}"))));',
        ]
        members = [d for d in declarations if d.name.startswith(name + "::") and d.kind == "function"]
        methods = []
        for d in members:
            member = d.name.rsplit("::", 1)[1]
            text = d.text
            if "= delete" in text or "&&" in text or "~" in text or member.startswith("operator") or "static " in text:
                continue
            if f"const {name}&" in text:
                continue
            methods.append((member, d))
        names = [member for member, _ in methods]
        for index, (member, d) in enumerate(methods):
            last = str(member not in names[index + 1 :]).lower()
            parameters = parse_parameters(d.text)
            outputs = outputs_of(d, parameters)
            listed = ", ".join(self.parameter(d.name, p, outputs, name) for p in parameters)
            if member == name:
                types = self.types(parameters)
                out.append(f'    constructor<{name}{", " + types if types else ""}>({bound}, "{d.name}", {last}, {{{listed}}});')
                continue
            keeps = str(d.name in KEEPS).lower()
            out.append(
                f'    method({bound}, "{member}", "{d.name}", {last}, {keeps}, '
                f"pick<{self.types(parameters)}>(&{name}::{member}), {{{listed}}});"
            )
        return out + ["  }"]

    def members_of(self, name: str, declarations: list[headers.Declaration]) -> list[str]:
        """Functions and constants of an aggregate."""
        out = []
        for d in declarations:
            owner, _, member = d.name.rpartition("::")
            if owner != name:
                continue
            if d.kind == "constant":
                out.append(f'  nb::type<{name}>().attr("{member}") = to_python({d.name});')
            if d.kind == "function" and "operator" not in d.text and member != name.rsplit("::")[-1]:
                if re.match(r"(\[\[nodiscard\]\] )?static ", d.text):
                    out.append(
                        f"  nb::borrow<nb::class_<{name}>>(nb::type<{name}>())"
                        f'.def_static("{member}", [] {{ return to_python({d.name}()); }}, nb::sig(kept_text('
                        f'"def {member}() -> " + value_text<std::remove_cvref_t<decltype({d.name}())>>())));'
                    )
                else:
                    names = ", ".join(f'"{p.name}"' for p in parse_parameters(d.text))
                    out.append(f'  member_function<{name}>("{member}", "{d.name}", &{d.name}, {{{names}}});')
        return out

    def module(self, name: str) -> str:
        here = [d for d in self.all if d.header.startswith(f"holotone/{name}/") and not self.excluded(d)]
        out = ['#include "tables_generated.hpp"', "", '#include "views.hpp"', "", "namespace holotone::python {", ""]
        out.append(f"void declare_{name}(nb::module_& module);")
        out.append(f"void declare_{name}([[maybe_unused]] nb::module_& module) {{")
        for d in here:
            if d.kind == "struct" and d.name in self.aggregates and d.name not in OF_ARRAYS:
                out.append(f"  declare<{d.name}>(module);")
        out.append("}")
        out.append(f"void bind_{name}(nb::module_& module);")
        out.append(f"void bind_{name}(nb::module_& module) {{")
        for d in here:
            if d.kind == "struct" and d.name in self.aggregates and d.name not in OF_ARRAYS:
                out.append(f"  aggregate<{d.name}>();")
                out += self.members_of(d.name, here)
        for d in here:
            if d.kind == "constant" and "::" not in d.name and "string" not in d.text and "[" not in d.text:
                out.append(f'  module.attr("{d.name}") = to_python({d.name});')
        for d in here:
            if d.kind == "class" and d.name in self.plans:
                out += self.plan(d.name, here)
        free = [
            d
            for d in here
            if d.kind == "function"
            and "::" not in d.name
            and d.name not in BY_HAND
            and (d.name in BOUND or not d.name.startswith(("operator", "to_string", "parse_", "require_")))
        ]
        out += self.functions(free)
        return "\n".join(out + ["}", "", "}  // namespace holotone::python", ""])


def for_python(comment: str, enums: set[str]) -> str:
    """A comment in words of Python: names of exceptions and of strings."""

    def string(match: re.Match[str]) -> str:
        return f'"{"auto" if match.group(1) == "automatic" else match.group(1)}"'

    comment = comment.replace("x, y of each dot, interleaved", "{n, 2}: x, y of each dot")
    text = re.sub(rf"\b(?:{'|'.join(sorted(enums))})::(\w+)", string, comment).replace("::", ".")
    if re.search(r"\b[Tt]hrows\b", text):
        errors = {"io": "FileError", "unsupported": "UnsupportedError", "cancelled": "CancelledError", "device": "DeviceError"}
        text = re.sub(
            r"((?:[Tt]hrows|[,;]|\b(?:or|and|also))\s+)(io|unsupported|cancelled)\b(?!-)|((?:[Tt]hrows|out_of_memory,)\s+)(device)\b",
            lambda match: (match.group(1) or match.group(3)) + errors[match.group(2) or match.group(4)],
            text,
        )
    for cpp, python in {
        "invalid_argument": "ArgumentError",
        "out_of_memory": "OutOfMemoryError",
        "Throws": "Raises",
        "throws": "raises",
    }.items():
        text = re.sub(rf"\b{cpp}\b", python, text)
    return text


MODULES = ["core", "bands", "fft", "nufft", "metrics", "optics", "hologram", "quantize", "retrieval", "halftone", "smoe", "io", "display", "recipes"]


def main() -> None:
    root, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    generator = Generator(root)
    texts = {"tables_generated.hpp": generator.tables(), "documentation.cpp": generator.documentation()}
    texts |= {f"{module}.cpp": generator.module(module) for module in MODULES}
    for name, text in texts.items():
        path = output / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # what has not changed is not compiled anew
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
