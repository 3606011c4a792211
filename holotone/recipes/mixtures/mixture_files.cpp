#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/npz_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <holotone/recipes/mixture_files.hpp>
#include <map>
#include <nlohmann/json.hpp>

namespace holotone {
namespace {

/// Calls body(name, values, shape) for each array of a model; the arrays are the same in every format.
template <class Model, class Body>
void over_arrays(Model& model, const Body& body) {
  const std::int64_t d = model.dimensions;
  const std::int64_t q = model.channels;
  const std::int64_t count = model.count();
  body("log_weight", model.log_weight, std::vector<std::int64_t>{count});
  body("centre", model.centre, std::vector<std::int64_t>{count, d});
  body("covariance", model.covariance, std::vector<std::int64_t>{count, triangle_size(model.dimensions)});
  body("colour", model.colour, std::vector<std::int64_t>{count, q});
  body("slope", model.slope, std::vector<std::int64_t>{count, q, d});
}

std::string json_text(const SmoeModel& model) {
  const auto d = static_cast<std::size_t>(model.dimensions);
  std::string text = fmt::format(
      "{{\"format\": \"holotone smoe\", \"version\": 1, \"dimensions\": {}, \"channels\": {}, \"linear\": "
      "{},\n\"low\": [{}], "
      "\"high\": [{}]",
      model.dimensions, model.channels, model.linear, fmt::join(model.low.begin(), model.low.begin() + d, ", "),
      fmt::join(model.high.begin(), model.high.begin() + d, ", "));
  over_arrays(model, [&](const char* name, const std::vector<float>& values, const std::vector<std::int64_t>& shape) {
    text += fmt::format(",\n\"{}\": [", name);
    const std::size_t row = values.size() / static_cast<std::size_t>(shape[0]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const char* const separator = i == 0 ? "" : i % row == 0 ? ",\n" : ", ";
      text += fmt::format("{}{}", separator, values[i]);
    }
    text += "]";
  });
  return text + "}\n";
}

std::string npz_text(const SmoeModel& model) {
  std::map<std::string, io::NpzArray> arrays;
  over_arrays(model, [&](const char* name, const std::vector<float>& values, const std::vector<std::int64_t>& shape) {
    auto& array = arrays[name];
    array.type = "<f4";
    array.shape = shape;
    for (const float value : values) io::store(array.bytes, value);
  });
  const auto box = [&](const char* name, const std::array<double, max_smoe_dimensions>& corner) {
    auto& array = arrays[name];
    array.type = "<f8";
    array.shape = {model.dimensions};
    for (int axis = 0; axis < model.dimensions; ++axis) io::store(array.bytes, corner[static_cast<std::size_t>(axis)]);
  };
  box("low", model.low);
  box("high", model.high);
  arrays["linear"] = {"|u1", {1}, std::string(1, static_cast<char>(model.linear ? 1 : 0))};
  return io::npz_bytes(arrays);
}

/// Converts numbers of a file to float32. Numbers beyond its range become infinite, which require_model refuses.
template <class Number>
std::vector<float> floats_of(const std::vector<Number>& values) {
  std::vector<float> floats;
  floats.reserve(values.size());
  for (const double value : values) floats.push_back(static_cast<float>(value));
  return floats;
}

void set_box(const std::string& path, SmoeModel& model, const std::vector<double>& low,
             const std::vector<double>& high) {
  if (low.empty() || low.size() > max_smoe_dimensions || high.size() != low.size()) {
    throw_io(path, fmt::format("low and high of 1 to {} numbers each", max_smoe_dimensions),
             fmt::format("{} and {}", low.size(), high.size()));
  }
  model.dimensions = static_cast<int>(low.size());
  std::copy(low.begin(), low.end(), model.low.begin());
  std::copy(high.begin(), high.end(), model.high.begin());
}

/// Type of a JSON value in words.
std::string_view kind_of(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return "text";
  if (value.is_number()) return "a number";
  return value.is_boolean() ? "true or false" : "null";
}

/// Line and column of byte `at` of a text, counted from 1.
std::string place_in(std::string_view text, std::size_t at) {
  const auto before = text.substr(0, std::min(at, text.size()));
  const auto line_begin = before.rfind('\n') + 1;  // 0 if there is none
  return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
                     before.size() - line_begin + 1);
}

/// The object in a JSON file.
nlohmann::json json_object(const std::string& bytes, const std::string& path) {
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(bytes);
  } catch (const nlohmann::json::parse_error& error) {
    if (error.byte > bytes.size()) throw_io(path, "a model in JSON", "a text that ends too soon");
    const auto at = error.byte > 0 ? error.byte - 1 : 0;
    throw_io(path, "a model in JSON", "something else in " + place_in(bytes, at));
  } catch (const nlohmann::json::out_of_range&) {
    throw_io(path, "a model in JSON with numbers below 1e308", "a larger one");
  }
  if (!json.is_object()) throw_io(path, "a model in JSON: an object", std::string(kind_of(json)));
  return json;
}

const nlohmann::json& entry_of(const nlohmann::json& object, const char* name, const std::string& path) {
  const auto found = object.find(name);
  if (found == object.end()) throw_io(path, fmt::format("an entry \"{}\"", name), "none");
  return *found;
}

/// A whole number from `low` to `high`.
int whole_of(const nlohmann::json& object, const char* name, int low, int high, const std::string& path) {
  const auto& entry = entry_of(object, name, path);
  const std::string expected =
      low == high ? fmt::format("\"{}\": {}", name, low) : fmt::format("\"{}\": {} to {}", name, low, high);
  if (!entry.is_number()) throw_io(path, expected, std::string(kind_of(entry)));
  const auto value = entry.get<double>();
  if (!(value >= low && value <= high) || value != std::floor(value))
    throw_io(path, expected, fmt::format("{}", value));
  return static_cast<int>(value);
}

std::vector<double> parse_numbers(const nlohmann::json& object, const char* name, const std::string& path) {
  const auto& entry = entry_of(object, name, path);
  const auto expected = fmt::format("\"{}\": a flat list of numbers", name);
  if (!entry.is_array()) throw_io(path, expected, std::string(kind_of(entry)));
  std::vector<double> numbers;
  numbers.reserve(entry.size());
  for (const auto& value : entry) {
    if (!value.is_number()) throw_io(path, expected, fmt::format("{} at place {}", kind_of(value), numbers.size()));
    numbers.push_back(value.get<double>());
  }
  return numbers;
}

SmoeModel model_of_json(const std::string& bytes, const std::string& path) {
  const auto json = json_object(bytes, path);
  const auto format = json.find("format");
  if (format == json.end() || *format != "holotone smoe") throw_io(path, "\"format\": \"holotone smoe\"", "another");
  whole_of(json, "version", 1, 1, path);
  SmoeModel model;
  set_box(path, model, parse_numbers(json, "low", path), parse_numbers(json, "high", path));
  model.channels = whole_of(json, "channels", 1, max_smoe_channels, path);
  if (const auto linear = json.find("linear"); linear != json.end()) {
    if (!linear->is_boolean()) throw_io(path, "\"linear\": true or false", std::string(kind_of(*linear)));
    model.linear = linear->get<bool>();
  }
  over_arrays(model, [&](const char* name, std::vector<float>& values, const auto&) {
    values = floats_of(parse_numbers(json, name, path));
  });
  return model;
}

SmoeModel model_of_npz(const std::string& bytes, const std::string& path) {
  const auto arrays = io::read_npz(bytes, path);
  const auto taken = [&](const char* name) -> const io::NpzNumbers& {
    const auto entry = arrays.find(name);
    if (entry == arrays.end()) throw_io(path, fmt::format("an array '{}'", name), "none");
    return entry->second;
  };
  if (!arrays.contains("low") || !arrays.contains("log_weight")) {
    std::vector<std::string> found;
    for (const auto& [name, array] : arrays) {
      found.push_back(fmt::format("{} {{{}}}", io::printable(name), fmt::join(array.shape, ", ")));
    }
    throw_io(path, "a model's arrays low, high, log_weight and further ones; other arrays are read from .npy files",
             fmt::format("{}", fmt::join(found, ", ")));
  }
  SmoeModel model;
  set_box(path, model, taken("low").values, taken("high").values);
  const auto& colour = taken("colour").shape;
  if (colour.size() != 2 || colour[1] < 1 || colour[1] > max_smoe_channels) {
    throw_io(path, fmt::format("colour of shape {{n, 1 to {}}}", max_smoe_channels),
             fmt::format("{{{}}}", fmt::join(colour, ", ")));
  }
  model.channels = static_cast<int>(colour[1]);
  model.log_weight = floats_of(taken("log_weight").values);
  const auto linear = arrays.find("linear");
  model.linear = linear != arrays.end() && !linear->second.values.empty() && linear->second.values[0] != 0;
  over_arrays(model, [&](const char* name, std::vector<float>& values, const auto& shape) {
    const auto& array = taken(name);
    if (!std::equal(shape.begin(), shape.end(), array.shape.begin(), array.shape.end())) {
      throw_io(path, fmt::format("{} of shape {{{}}}", name, fmt::join(shape, ", ")),
               fmt::format("{{{}}}", fmt::join(array.shape, ", ")));
    }
    values = floats_of(array.values);
  });
  return model;
}

/// The extension of a model's name. Throws invalid_argument for others.
io::FileFormat model_format(std::string_view where, const std::string& path) {
  if (!is_mixture_name(path)) throw_argument(where, "path", io::name_ending_in(io::formats::models), path);
  return io::file_format(path);
}

void write_bytes(const std::string& path, const std::vector<std::byte>& bytes) {
  write_file(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace

bool is_mixture_name(const std::string& path) { return io::has_format(path, io::formats::models); }

MixtureFile read_mixture(const std::string& path) {
  const auto format = model_format("read_mixture", path);
  const std::string bytes = io::read_bytes(path);
  MixtureFile file;
  file.bytes = std::ssize(bytes);
  if (format == io::FileFormat::smoe) {
    const auto raw = std::as_bytes(std::span<const char>(bytes));
    file.info = smoe_file_info(raw, path);
    file.model = decode_smoe(raw, path);
    return file;
  }
  file.model = format == io::FileFormat::json ? model_of_json(bytes, path) : model_of_npz(bytes, path);
  try {
    require_model("model", file.model);
  } catch (const Error& error) {
    throw Error(ErrorCode::io, fmt::format("{}: {}", path, error.what()));
  }
  return file;
}

void write_mixture(const std::string& path, const SmoeModel& model, const std::optional<SmoeSteps>& steps) {
  const auto format = model_format("write_mixture", path);
  if (format == io::FileFormat::smoe)
    return write_bytes(path, encode_smoe(model, {!steps, steps.value_or(SmoeSteps{})}));
  require_model("write_mixture", model);
  write_file(path, format == io::FileFormat::json ? json_text(model) : npz_text(model));
}

void write_mixture(const std::string& path, const MixtureFit& fit) {
  if (model_format("write_mixture", path) != io::FileFormat::smoe) return write_mixture(path, fit.model);
  if (fit.bytes.empty()) throw_argument("write_mixture", "fit", "bytes of a .smoe file", "none");
  write_bytes(path, fit.bytes);
}

}  // namespace holotone
