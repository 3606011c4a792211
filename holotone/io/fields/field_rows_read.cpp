#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/rows_file_detail.hpp>
#include <optional>
#include <vector>

namespace holotone {
namespace {

constexpr std::uint64_t longest_value = 1 << 16;  // distance between values in bytes, for compounds with more members
constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;
constexpr std::int64_t child_bytes = std::int64_t{256} << 20;  // rows read at once by a child

using Values = View<std::complex<float>, 2>;

// True if the bytes of the file are those of the values in memory.
bool is_plain(const io::FieldLayout& layout) {
  return !layout.columns_first && layout.value_bytes == sizeof(std::complex<float>) && layout.real_at == 0 &&
         layout.imaginary_at == sizeof(float) && layout.number_bytes == sizeof(float) &&
         layout.order == std::endian::native;
}

std::complex<float> load_value(const char* value, const io::FieldLayout& layout) {
  const auto number = [&](std::uint64_t at) {
    return layout.number_bytes == 4 ? io::load<float>(value + at, layout.order)
                                    : static_cast<float>(io::load<double>(value + at, layout.order));
  };
  return {number(layout.real_at), number(layout.imaginary_at)};
}

// Reads `count` consecutive values of the file, from value `first`, to target, target + step, ...
void read_run(const io::FileHandle& file, const io::FieldLayout& layout, const std::string& path, std::int64_t first,
              std::int64_t count, std::complex<float>* target, std::int64_t step) {
  const auto most = static_cast<std::int64_t>(std::max<std::uint64_t>(piece_bytes / layout.value_bytes, 1));
  std::vector<char> piece;
  for (std::int64_t begin = 0; begin < count; begin += most) {
    const std::int64_t part = std::min(most, count - begin);
    piece.resize(static_cast<std::size_t>(part) * layout.value_bytes);
    const std::uint64_t at = layout.data_begin + static_cast<std::uint64_t>(first + begin) * layout.value_bytes;
    io::require_bytes(file, piece.data(), piece.size(), at, path);
    for (std::int64_t i = 0; i < part; ++i) {
      target[(begin + i) * step] =
          load_value(piece.data() + static_cast<std::uint64_t>(i) * layout.value_bytes, layout);
    }
  }
}

}  // namespace

struct FieldRowsReader::State {
  std::string path;
  std::string program;
  io::FileHandle file;
  io::FieldLayout layout;
  std::optional<FieldFile> whole;          // for formats that are read at once
  Array<std::complex<float>, 2> unpacked;  // last rows read by a child
  std::int64_t first_unpacked = 0;

  void open(const FieldReadOptions& options);
  void read_here(std::int64_t first_row, Values values) const;
  void unpack(std::int64_t first_row, std::int64_t wanted);
  void read_unpacked(std::int64_t first_row, Values values);
};

void FieldRowsReader::State::open(const FieldReadOptions& options) {
  std::uint64_t bytes = 0;
  const auto name = io::split_part(path).file;
  file = io::open_file(name, bytes);
  const bool by_rows = !io::is_given(options) && !io::is_matlab5(name, path);
  if (by_rows && is_hdf5(path)) {
    layout = io::hdf5_layout_guarded(path, program);
  } else if (by_rows && io::is_npy(io::read_first_bytes(name, 6)) && name == path) {
    layout = io::npy_layout(path);
  } else {
    const auto read = [this](const std::string& one) { return io::read_numbers_guarded(one, program); };
    whole = io::compose_field(path, options, read);
    layout.shape = whole->values.shape();
    layout.metadata = whole->metadata;
    layout.notes = whole->notes;
    return;
  }
  if (!layout.real_type.empty()) io::throw_real(path, layout.real_type, layout.shape);
  io::check_layout(layout, bytes, path);
}

void FieldRowsReader::State::read_here(std::int64_t first_row, Values values) const {
  const auto [ny, nx] = layout.shape;
  const auto [rows, columns] = values.shape();
  if (is_plain(layout)) {
    const std::uint64_t at = layout.data_begin + static_cast<std::uint64_t>(first_row * nx) * layout.value_bytes;
    io::require_bytes_by_all(file, reinterpret_cast<char*>(values.data()), values.host().size_bytes(), at, path);
  } else if (layout.columns_first) {
    for (std::int64_t col = 0; col < columns; ++col) {
      read_run(file, layout, path, col * ny + first_row, rows, values.data() + col, columns);
    }
  } else {
    read_run(file, layout, path, first_row * nx, values.size(), values.data(), 1);
  }
}

// Unpacks the wanted rows from first_row on, at least to the end of the chunk of first_row, and at most child_bytes.
void FieldRowsReader::State::unpack(std::int64_t first_row, std::int64_t wanted) {
  const auto [ny, nx] = layout.shape;
  const std::int64_t chunk = std::max<std::int64_t>(layout.chunk_rows, 1);
  const std::int64_t most =
      std::max<std::int64_t>(child_bytes / static_cast<std::int64_t>(sizeof(std::complex<float>)) / nx, 1);
  const std::int64_t chunk_end = (first_row / chunk + 1) * chunk;
  const std::int64_t end = std::min({std::max(first_row + wanted, chunk_end), first_row + most, ny});
  const Shape<2> shape = {end - first_row, nx};
  unpacked = {};
  unpacked = io::read_hdf5_rows_guarded(path, program, first_row, shape).values;
  if (unpacked.shape() != shape) {
    throw_io(path, fmt::format("rows of shape {}", to_string<2>(shape)), to_string<2>(unpacked.shape()));
  }
  first_unpacked = first_row;
}

void FieldRowsReader::State::read_unpacked(std::int64_t first_row, Values values) {
  const auto [rows, nx] = values.shape();
  for (std::int64_t done = 0; done < rows;) {
    const std::int64_t row = first_row + done;
    if (row < first_unpacked || row >= first_unpacked + unpacked.shape()[0]) unpack(row, rows - done);
    const std::int64_t count = std::min(rows - done, first_unpacked + unpacked.shape()[0] - row);
    std::copy_n(unpacked.data() + (row - first_unpacked) * nx, count * nx, values.data() + done * nx);
    done += count;
  }
}

FieldRowsReader::FieldRowsReader(const std::string& path, std::string program, const FieldReadOptions& options)
    : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->program = std::move(program);
  state_->open(options);
}

FieldRowsReader::~FieldRowsReader() = default;

Shape<2> FieldRowsReader::shape() const { return state_->layout.shape; }

const Metadata& FieldRowsReader::metadata() const { return state_->layout.metadata; }

const std::vector<std::string>& FieldRowsReader::notes() const { return state_->layout.notes; }

void FieldRowsReader::read(std::int64_t first_row, View<std::complex<float>, 2> values) const {
  io::check_rows_of_field("FieldRowsReader::read", shape(), first_row, values.shape());
  const auto target = values.host();
  if (target.empty()) return;
  if (state_->whole) {
    const auto* const source = state_->whole->values.data() + first_row * shape()[1];
    std::copy(source, source + target.size(), target.begin());
  } else if (state_->layout.packed) {
    state_->read_unpacked(first_row, values);
  } else {
    state_->read_here(first_row, values);
  }
}

namespace io {

void check_layout(const FieldLayout& layout, std::uint64_t file_bytes, std::string_view path) {
  const auto refuse = [&](std::string_view got) { throw_io(path, "a field that lies in the file", got); };
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  const std::string shape_text = fmt::format("shape {}", to_string<2>(layout.shape));
  if (layout.shape[0] < 1 || layout.shape[1] < 1) throw_io(path, "at least 1 value", shape_text);
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(layout.shape[0]), static_cast<std::uint64_t>(layout.shape[1]),
                             &count) ||
      count > std::uint64_t{1} << 55) {
    refuse(shape_text);
  }
  if (layout.packed) return;
  const bool known = layout.number_bytes == 4 || layout.number_bytes == 8;
  const auto within = [&](std::uint64_t at) {
    return layout.value_bytes >= layout.number_bytes && at <= layout.value_bytes - layout.number_bytes;
  };
  if (!known || !within(layout.real_at) || !within(layout.imaginary_at) || layout.value_bytes > longest_value) {
    refuse(fmt::format("values of {} bytes", layout.value_bytes));
  }
  if (__builtin_mul_overflow(count, layout.value_bytes, &bytes) || bytes > file_bytes ||
      layout.data_begin > file_bytes - bytes) {
    refuse(fmt::format("{}, {} bytes each from byte {}, in a file of {}", shape_text, layout.value_bytes,
                       layout.data_begin, counted(file_bytes, "byte")));
  }
}

}  // namespace io
}  // namespace holotone
