// Source: KHR_mesh_quantization (Khronos, 2020), and glTF 2.0, sections 3.6 and 4.4.
#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/base64_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/named_file_detail.hpp>
#include <holotone/io/points/gltf_json_detail.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <limits>
#include <map>
#include <string_view>

namespace holotone::io {
namespace {

constexpr std::size_t glb_head = 20;   // of the file, and of its first chunk
constexpr std::size_t chunk_head = 8;  // length and type

/// Bytes of the first chunk of a GLB: its JSON.
std::size_t json_length(std::string_view bytes, const std::string& path) {
  const std::size_t length = bytes.size() < glb_head ? 0 : load<std::uint32_t>(bytes.data() + 12, std::endian::little);
  if (bytes.size() < glb_head + length) throw_io(path, "the JSON of a GLB", "a shorter file");
  return length;
}

std::string decode_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto digit = digits.find(c);
    if (digit == std::string_view::npos) break;  // padding
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFFU);
  }
  return bytes;
}

class Buffers {
 public:
  Buffers(const Json& root, const std::string& path) : root_(root), path_(path) {}

  std::string_view bytes(std::size_t index) {
    const auto known = loaded_.find(index);
    return known != loaded_.end() ? known->second : loaded_.emplace(index, load_buffer(index)).first->second;
  }

 private:
  std::string load_buffer(std::size_t index) const {
    const Json& list = list_in(root_, "buffers");
    if (index >= list.size()) throw_io(path_, fmt::format("buffers below {}", list.size()), fmt::format("{}", index));
    const Json& uri = member_in(list[index], "uri");
    if (!uri.is_string()) return load_chunk(index);
    const auto text = uri.get<std::string>();
    if (text.starts_with("data:")) {
      const auto comma = text.find(',');
      if (comma == std::string::npos || !text.substr(0, comma).ends_with(";base64")) {
        throw_io(path_, "data of a buffer in base64", in_quotes(text.substr(0, 40)));
      }
      return decode_base64(std::string_view(text).substr(comma + 1));
    }
    const std::uint64_t plain = named_file_bytes(path_, text);
    const std::string name = plain > 0 ? text : without_percents(text);
    const std::uint64_t size = plain > 0 ? plain : named_file_bytes(path_, name);
    const FileHandle file = open_named_file(path_, name, "buffer");
    std::string bytes(static_cast<std::size_t>(size), '\0');
    require_bytes(file, bytes.data(), size, 0, name);
    return bytes;
  }

  /// The binary chunk of a GLB.
  std::string load_chunk(std::size_t index) const {
    std::string bytes = read_bytes(path_);
    if (index != 0 || !bytes.starts_with("glTF")) throw_io(path_, fmt::format("data of buffer {}", index), "none");
    const std::size_t begin = glb_head + json_length(bytes, path_);
    const std::size_t length =
        bytes.size() < begin + chunk_head ? 0 : load<std::uint32_t>(bytes.data() + begin, std::endian::little);
    if (bytes.size() < begin + chunk_head + length) throw_io(path_, "the binary chunk of a GLB", "a shorter file");
    return bytes.substr(begin + chunk_head, length);
  }

  const Json& root_;
  const std::string& path_;
  std::map<std::size_t, std::string> loaded_;
};

template <class T>
float to_float(const char* data, bool normalized) {
  const double value = load<T>(data, std::endian::little);
  if (!normalized) return static_cast<float>(value);
  return static_cast<float>(std::max(value / std::numeric_limits<T>::max(), -1.0));
}

float load_component(const char* data, std::uint64_t type, bool normalized) {
  switch (type) {
    case 5120: return to_float<std::int8_t>(data, normalized);
    case 5121: return to_float<std::uint8_t>(data, normalized);
    case 5122: return to_float<std::int16_t>(data, normalized);
    default: return to_float<std::uint16_t>(data, normalized);
  }
}

/// The floats of an accessor, as bytes.
std::string read_floats(const Json& root, std::size_t index, Buffers& buffers, const std::string& path) {
  constexpr std::uint64_t none = std::uint64_t{1} << 40;  // above every size
  const Json& accessor = list_in(root, "accessors")[index];
  const std::uint64_t type = number_in(accessor, "componentType", 0);
  const std::uint64_t count = std::min(number_in(accessor, "count", 0), none);
  const Json& views = list_in(root, "bufferViews");
  const std::uint64_t view_number = number_in(accessor, "bufferView", none);
  const auto fail = [&](std::string_view expected, const std::string& got) {
    throw_io(path, fmt::format("{} of accessor {}", expected, index), got);
  };
  if (type < 5120 || type > 5123) fail("integers of 8 or 16 bits", fmt::format("component type {}", type));
  if (member_in(accessor, "type") != "VEC3") fail("vectors of three integers", member_in(accessor, "type").dump());
  if (!member_in(accessor, "sparse").is_null()) fail("all integers in the bufferView", "sparse ones");
  if (view_number >= views.size()) fail("a bufferView", "none");
  const Json& view = views[static_cast<std::size_t>(view_number)];
  const std::uint64_t size = type < 5122 ? 1 : 2;
  const std::uint64_t stride = number_in(view, "byteStride", 3 * size);
  const std::uint64_t begin = number_in(view, "byteOffset", 0);
  const std::uint64_t offset = number_in(accessor, "byteOffset", 0);
  const std::uint64_t length = number_in(view, "byteLength", 0);
  const auto bytes = buffers.bytes(static_cast<std::size_t>(number_in(view, "buffer", none)));
  const bool fits = stride >= 3 * size && stride <= 255 && count > 0 && offset <= length && length <= bytes.size() &&
                    begin <= bytes.size() - length && (count - 1) * stride + 3 * size <= length - offset;
  if (!fits) fail("bytes in the buffer for all integers", fmt::format("{} of {} bytes each", count, stride));
  const bool normalized = member_in(accessor, "normalized") == true;
  std::string floats;
  floats.reserve(static_cast<std::size_t>(12 * count));
  const char* at = bytes.data() + begin + offset;
  for (std::uint64_t i = 0; i < count; ++i, at += stride) {
    for (std::uint64_t k = 0; k < 3; ++k) store(floats, load_component(at + k * size, type, normalized));
  }
  return floats;
}

}  // namespace

std::string gltf_of_floats(const std::string& path, Json root, const std::vector<std::size_t>& accessors) {
  Buffers buffers(root, path);
  const std::size_t buffer = list_in(root, "buffers").size();
  std::string all;
  for (const std::size_t index : accessors) {
    const std::string floats = read_floats(root, index, buffers, path);
    root["accessors"][index] = {{"bufferView", list_in(root, "bufferViews").size()},
                                {"componentType", 5126},
                                {"count", floats.size() / 12},
                                {"type", "VEC3"}};
    root["bufferViews"].push_back({{"buffer", buffer}, {"byteOffset", all.size()}, {"byteLength", floats.size()}});
    all += floats;
  }
  root["buffers"].push_back(
      {{"byteLength", all.size()}, {"uri", "data:application/octet-stream;base64," + base64(all)}});
  std::string json = root.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string first = read_first_bytes(path, 4);
  if (first != "glTF") return json;
  const std::string bytes = read_bytes(path);
  const std::string_view rest = std::string_view(bytes).substr(glb_head + json_length(bytes, path));
  json.resize((json.size() + 3) / 4 * 4, ' ');
  std::string whole = "glTF";
  store(whole, std::uint32_t{2});
  store(whole, static_cast<std::uint32_t>(glb_head + json.size() + rest.size()));
  store(whole, static_cast<std::uint32_t>(json.size()));
  whole += "JSON";
  whole += json;
  whole += rest;
  return whole;
}

}  // namespace holotone::io
