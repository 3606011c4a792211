#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <holotone/io/guarded/guarded_dump_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <type_traits>
#include <vector>

namespace holotone::io {
namespace {

constexpr std::string_view magic = "HOLODMP1";
enum class Kind : std::uint32_t { error, scene, field, numbers, layout, pixels };
constexpr std::size_t longest_message = 2000;

template <class T>
void append(std::string& dump, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  dump.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
void append_array(std::string& dump, const T* values, std::size_t count) {
  append(dump, static_cast<std::uint64_t>(count));
  if (count > 0) dump.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

void append_text(std::string& dump, std::string_view text) { append_array(dump, text.data(), text.size()); }

void append_metadata(std::string& dump, const Metadata& metadata) {
  append(dump, static_cast<std::uint64_t>(metadata.size()));
  for (const auto& [key, value] : metadata) {
    append_text(dump, key);
    append_text(dump, value);
  }
}

void append_texts(std::string& dump, const std::vector<std::string>& texts) {
  append(dump, static_cast<std::uint64_t>(texts.size()));
  for (const auto& text : texts) append_text(dump, text);
}

std::string begin(Kind kind, std::size_t bytes) {
  std::string dump;
  dump.reserve(magic.size() + 256 + bytes);
  dump += magic;
  append(dump, kind);
  return dump;
}

// Converts any text of the child to one line of printable text.
std::string tame(std::string text) {
  if (text.size() > longest_message) text.resize(longest_message);
  for (auto& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

// Reads values from the front of a dump; every count is checked against the remaining bytes.
class Cursor {
 public:
  Cursor(std::string_view rest, std::string_view path) : rest_(rest), path_(path) {}

  template <class T>
  T take() {
    T value;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> take_array() {
    const auto raw = bytes(take_count(sizeof(T)) * sizeof(T));
    std::vector<T> values(raw.size() / sizeof(T));
    if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }
  Metadata take_metadata() {
    Metadata metadata;
    const auto entries = take<std::uint64_t>();
    for (std::uint64_t i = 0; i < entries; ++i) {  // each has at least 16 bytes, so the cursor ends a false count
      std::string key = take_text();
      metadata[std::move(key)] = take_text();
    }
    return metadata;
  }
  std::vector<std::string> take_texts() {
    const auto count = take<std::uint64_t>();
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < count; ++i) texts.push_back(tame(take_text()));  // of 8 bytes or more each
    return texts;
  }
  std::string take_text() { return std::string(bytes(take_count(1))); }
  std::string_view bytes(std::size_t count) {
    if (count > rest_.size()) fail(fmt::format("{} more bytes", count), fmt::format("{}", rest_.size()));
    const auto result = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return result;
  }
  void end() const {
    if (!rest_.empty()) fail("the end", fmt::format("{} more bytes", rest_.size()));
  }
  [[noreturn]] void fail(std::string_view expected, std::string_view got) const {
    throw_io(path_, fmt::format("the guarded reader to give {}", expected), got);
  }

 private:
  std::size_t take_count(std::size_t element_bytes) {
    const auto count = take<std::uint64_t>();
    if (count > rest_.size() / element_bytes) {
      fail(fmt::format("{} elements of {} bytes", count, element_bytes), fmt::format("{} bytes", rest_.size()));
    }
    return static_cast<std::size_t>(count);
  }
  std::string_view rest_;
  std::string_view path_;
};

Cursor open_dump(std::string_view dump, std::string_view path, Kind expected) {
  Cursor cursor(dump, path);
  if (dump.size() < magic.size() || cursor.bytes(magic.size()) != magic) cursor.fail("a dump", "something else");
  const auto kind = cursor.take<std::uint32_t>();
  if (kind == static_cast<std::uint32_t>(Kind::error)) {
    const auto code = cursor.take<std::uint32_t>();
    const auto message = tame(cursor.take_text());
    cursor.end();
    if (code > static_cast<std::uint32_t>(ErrorCode::device)) cursor.fail("an error code", fmt::format("{}", code));
    throw Error(static_cast<ErrorCode>(code), message);
  }
  if (kind != static_cast<std::uint32_t>(expected)) cursor.fail("the kind asked for", fmt::format("kind {}", kind));
  return cursor;
}

template <class T>
void require_per_vertex(const Cursor& cursor, std::string_view name, const std::vector<T>& values,
                        std::size_t vertices) {
  if (!values.empty() && values.size() != vertices) {
    cursor.fail(fmt::format("{} {}s", vertices, name), fmt::format("{}", values.size()));
  }
}

/// The matrix at the end of a dump, after its shape.
template <class T>
Array<T, 2> take_matrix(Cursor& cursor) {
  const auto shape = cursor.take<Shape<2>>();
  std::int64_t bytes = 0;
  if (shape[0] < 0 || shape[1] < 0 || __builtin_mul_overflow(shape[0], shape[1], &bytes) ||
      __builtin_mul_overflow(bytes, std::int64_t{sizeof(T)}, &bytes) || bytes > maximum_field_bytes) {
    cursor.fail("a shape", to_string<2>(shape));
  }
  const auto raw = cursor.bytes(static_cast<std::size_t>(bytes));
  cursor.end();
  Array<T, 2> values(shape);
  if (!raw.empty()) std::memcpy(static_cast<void*>(values.data()), raw.data(), raw.size());
  return values;
}

}  // namespace

std::string dump_scene(const Mesh& mesh) {
  const std::size_t floats = 3 * (mesh.position.size() + mesh.colour.size() + mesh.normal.size()) +
                             mesh.amplitude.size() + mesh.phase_rad.size();
  std::string dump = begin(Kind::scene, 4 * floats + 12 * mesh.triangle.size());
  append_array(dump, mesh.position.data(), mesh.position.size());
  append_array(dump, mesh.colour.data(), mesh.colour.size());
  append_array(dump, mesh.normal.data(), mesh.normal.size());
  append_array(dump, mesh.amplitude.data(), mesh.amplitude.size());
  append_array(dump, mesh.phase_rad.data(), mesh.phase_rad.size());
  append_array(dump, mesh.triangle.data(), mesh.triangle.size());
  append(dump, mesh.origin);
  append_text(dump, mesh.ignored);
  return dump;
}

std::string dump_field(const FieldFile& field) {
  std::string dump = begin(Kind::field, field.values.bytes());
  append_metadata(dump, field.metadata);
  append(dump, field.values.shape());
  dump.append(reinterpret_cast<const char*>(field.values.data()), field.values.bytes());
  return dump;
}

std::string dump_numbers(const FieldNumbers& numbers) {
  const bool real = !numbers.real.empty();
  const std::size_t bytes = real ? numbers.real.bytes() : numbers.values.bytes();
  std::string dump = begin(Kind::numbers, bytes);
  append_metadata(dump, numbers.metadata);
  append_texts(dump, numbers.notes);
  append_text(dump, numbers.type);
  append(dump, std::uint64_t{numbers.whole});
  append(dump, std::uint64_t{real});
  append(dump, real ? numbers.real.shape() : numbers.values.shape());
  const void* const data = real ? static_cast<const void*>(numbers.real.data()) : numbers.values.data();
  dump.append(static_cast<const char*>(data), bytes);
  return dump;
}

std::string dump_layout(const FieldLayout& layout) {
  std::string dump = begin(Kind::layout, 0);
  append_metadata(dump, layout.metadata);
  append(dump, layout.shape);
  append_texts(dump, layout.notes);
  append_text(dump, layout.real_type);
  append(dump, std::uint64_t{layout.columns_first});
  append(dump, std::uint64_t{layout.packed});
  append(dump, layout.chunk_rows);
  for (const std::uint64_t number : {layout.data_begin, layout.value_bytes, layout.real_at, layout.imaginary_at,
                                     layout.number_bytes, std::uint64_t{layout.order == std::endian::big}}) {
    append(dump, number);
  }
  return dump;
}

std::string dump_pixels(const Array<float, 3>& pixels) {
  std::string dump = begin(Kind::pixels, pixels.bytes());
  append(dump, pixels.shape());
  dump.append(reinterpret_cast<const char*>(pixels.data()), pixels.bytes());
  return dump;
}

std::string dump_error(ErrorCode code, std::string_view message) {
  std::string dump = begin(Kind::error, message.size());
  append(dump, static_cast<std::uint32_t>(code));
  append_text(dump, message);
  return dump;
}

Mesh parse_scene(std::string_view dump, std::string_view path) {
  Cursor cursor = open_dump(dump, path, Kind::scene);
  Mesh mesh;
  mesh.position = cursor.take_array<Vec3f>();
  mesh.colour = cursor.take_array<Vec3f>();
  mesh.normal = cursor.take_array<Vec3f>();
  mesh.amplitude = cursor.take_array<float>();
  mesh.phase_rad = cursor.take_array<float>();
  mesh.triangle = cursor.take_array<std::array<std::uint32_t, 3>>();
  mesh.origin = cursor.take<std::array<double, 3>>();
  mesh.ignored = tame(cursor.take_text());
  cursor.end();
  const std::size_t vertices = mesh.position.size();
  require_per_vertex(cursor, "colour", mesh.colour, vertices);
  require_per_vertex(cursor, "normal", mesh.normal, vertices);
  require_per_vertex(cursor, "amplitude", mesh.amplitude, vertices);
  require_per_vertex(cursor, "phase", mesh.phase_rad, vertices);
  for (const double at : mesh.origin) {
    if (!std::isfinite(at)) cursor.fail("a finite origin", fmt::format("{}", at));
  }
  for (const auto& triangle : mesh.triangle) {
    const auto largest = *std::max_element(triangle.begin(), triangle.end());
    if (largest >= vertices) cursor.fail(fmt::format("indices below {}", vertices), fmt::format("{}", largest));
  }
  return mesh;
}

FieldFile parse_field(std::string_view dump, std::string_view path) {
  Cursor cursor = open_dump(dump, path, Kind::field);
  FieldFile field;
  field.metadata = cursor.take_metadata();
  field.values = take_matrix<std::complex<float>>(cursor);
  return field;
}

Array<float, 3> parse_pixels(std::string_view dump, std::string_view path) {
  Cursor cursor = open_dump(dump, path, Kind::pixels);
  const auto shape = cursor.take<Shape<3>>();
  std::int64_t bytes = sizeof(float);
  for (const std::int64_t side : shape) {
    if (side < 1 || __builtin_mul_overflow(bytes, side, &bytes) || bytes > maximum_image_bytes) {
      cursor.fail("a shape", to_string<3>(shape));
    }
  }
  const auto raw = cursor.bytes(static_cast<std::size_t>(bytes));
  cursor.end();
  Array<float, 3> pixels(shape);
  std::memcpy(static_cast<void*>(pixels.data()), raw.data(), raw.size());
  return pixels;
}

FieldNumbers parse_numbers(std::string_view dump, std::string_view path) {
  Cursor cursor = open_dump(dump, path, Kind::numbers);
  FieldNumbers numbers;
  numbers.metadata = cursor.take_metadata();
  numbers.notes = cursor.take_texts();
  numbers.type = tame(cursor.take_text());
  numbers.whole = cursor.take<std::uint64_t>() != 0;
  if (cursor.take<std::uint64_t>() != 0) {
    numbers.real = take_matrix<double>(cursor);
  } else {
    numbers.values = take_matrix<std::complex<float>>(cursor);
  }
  return numbers;
}

FieldLayout parse_layout(std::string_view dump, std::string_view path) {
  Cursor cursor = open_dump(dump, path, Kind::layout);
  FieldLayout layout;
  layout.metadata = cursor.take_metadata();
  layout.shape = cursor.take<Shape<2>>();
  layout.notes = cursor.take_texts();
  layout.real_type = tame(cursor.take_text());
  layout.columns_first = cursor.take<std::uint64_t>() != 0;
  layout.packed = cursor.take<std::uint64_t>() != 0;
  layout.chunk_rows = cursor.take<std::int64_t>();
  for (auto* number :
       {&layout.data_begin, &layout.value_bytes, &layout.real_at, &layout.imaginary_at, &layout.number_bytes}) {
    *number = cursor.take<std::uint64_t>();
  }
  layout.order = cursor.take<std::uint64_t>() != 0 ? std::endian::big : std::endian::little;
  cursor.end();
  return layout;
}

}  // namespace holotone::io
