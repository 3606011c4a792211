#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/io/fields/field_units_detail.hpp>
#include <holotone/io/fields/hdf5_attributes_detail.hpp>
#include <holotone/io/fields/hdf5_axes_detail.hpp>
#include <holotone/io/fields/hdf5_beside_detail.hpp>
#include <holotone/io/fields/hdf5_datasets_detail.hpp>
#include <holotone/io/fields/hdf5_handle_detail.hpp>
#include <holotone/io/fields/hdf5_image_detail.hpp>
#include <holotone/io/fields/hdf5_packing_detail.hpp>
#include <holotone/io/fields/hdf5_storage_detail.hpp>
#include <holotone/io/fields/hdf5_unknown_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <holotone/io/rows_file_detail.hpp>
#include <optional>
#include <vector>
#endif

namespace holotone::io {

#if HOLOTONE_HDF5
namespace {

// Of what counts as a pitch, since a grid's steps may be no lengths.
constexpr double min_pitch_m = 1e-9;
constexpr double max_pitch_m = 1e-2;

// The field of an HDF5 file, opened and checked, with its values not read yet.
struct OpenField {
  Hdf5Session session;
  FilePart named;
  Hdf5Handle file;
  Hdf5Choice choice;
  Hdf5Axes axes;
  Hdf5Packing packing;
  std::string image_note;
  std::string gap_note;
  std::string unknown_note;
  std::string padding_note;
  Shape<2> shape{};

  explicit OpenField(const std::string& path)
      : named(split_part(path)),
        file(open_file(named.file, path)),
        choice(open_stored_dataset(file.get(), named.part, path)),
        axes(read_hdf5_axes(choice, path)),
        packing(read_hdf5_packing(choice, path)),
        image_note(check_hdf5_image(choice, path)),
        gap_note(note_hdf5_gaps(choice.dataset.get(), choice.extents, path, choice.name)),
        unknown_note(note_hdf5_unknown(choice, path)),
        padding_note(note_hdf5_padding(choice, path)) {
    const auto& extents = choice.extents;
    const auto rows = static_cast<std::int64_t>(extents[extents.size() - 2]);
    const auto columns = static_cast<std::int64_t>(extents[extents.size() - 1]);
    shape = axes.columns_first ? Shape<2>{columns, rows} : Shape<2>{rows, columns};
  }

  static Hdf5Choice open_stored_dataset(hid_t file, std::string_view part, const std::string& path) {
    Hdf5Choice choice = open_hdf5_dataset(file, part, path);
    for (const auto extent : choice.extents) {
      if (extent == 0 || extent > INT64_MAX) {
        throw_io(path, "at least 1 value", fmt::format("shape {{{}}}", fmt::join(choice.extents, ", ")));
      }
    }
    check_hdf5_storage(choice.dataset.get(), choice.extents, path);
    check_cxi_image(choice, path);
    refuse_logarithm_name(path, choice.name);
    return choice;
  }

  static Hdf5Handle open_file(const std::string& name, const std::string& path) {
    read_first_bytes(name, 1);  // reports a missing or empty file more precisely than libhdf5
    Hdf5Handle file(H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.valid()) throw_io(path, "an HDF5 file", "one that is damaged or of another kind");
    return file;
  }

  [[nodiscard]] std::vector<std::string> notes(const std::string& path) const {
    std::vector<std::string> notes;
    if (!choice.also.empty()) notes.push_back(also_note(choice.name, choice.also, path));
    if (!padding_note.empty()) notes.push_back(padding_note);
    if (!axes.cause.empty()) {
      notes.push_back(fmt::format("{}: {}: {} is read as {} x {} (rows x columns)", path, axes.cause,
                                  printable(choice.name), shape[0], shape[1]));
    }
    if (!axes.origin_cause.empty()) {
      notes.push_back(fmt::format("{}: {} is read from its {}, {}", path, printable(choice.name), axes.origin_cause,
                                  axes.origin()));
    }
    if (!packing.is_plain()) {
      notes.push_back(fmt::format("{}: {} is read times {:g} plus {:g} ({})", path, printable(choice.name),
                                  packing.scale, packing.offset, packing.source));
    }
    notes.insert(notes.end(), axes.notes.begin(), axes.notes.end());
    if (!image_note.empty()) notes.push_back(image_note);
    if (!gap_note.empty()) notes.push_back(gap_note);
    if (!unknown_note.empty()) notes.push_back(unknown_note);
    return notes;
  }

  // Reads `count` rows from `first` on to `target`, of numbers of `type` in memory.
  template <class T>
  void read(hid_t type, std::int64_t first, std::int64_t count, T* target, const std::string& path) const {
    const std::size_t rank = choice.extents.size();
    const bool turned = axes.columns_first;
    std::vector<hsize_t> start(rank, 0);
    std::vector<hsize_t> extents(rank, 1);
    if (choice.slice) start[0] = static_cast<hsize_t>(*choice.slice);
    const std::size_t row_axis = rank - (turned ? 1 : 2);
    const std::size_t column_axis = rank - (turned ? 2 : 1);
    start[row_axis] = static_cast<hsize_t>(axes.rows_up ? shape[0] - first - count : first);
    extents[row_axis] = static_cast<hsize_t>(count);
    extents[column_axis] = static_cast<hsize_t>(shape[1]);
    const auto total = static_cast<hsize_t>(count * shape[1]);
    std::vector<T> columns(turned ? total : 0);
    const Hdf5Handle memory(H5Screate_simple(1, &total, nullptr), H5Sclose);
    const Hdf5Handle place(H5Dget_space(choice.dataset.get()), H5Sclose);
    if (!memory.valid() || !place.valid() ||
        H5Sselect_hyperslab(place.get(), H5S_SELECT_SET, start.data(), nullptr, extents.data(), nullptr) < 0 ||
        H5Dread(choice.dataset.get(), type, memory.get(), place.get(), H5P_DEFAULT, turned ? columns.data() : target) <
            0) {
      throw_io(path, "a readable dataset", "a damaged one");
    }
    for (std::int64_t row = 0; turned && row < count; ++row) {
      for (std::int64_t column = 0; column < shape[1]; ++column) {
        target[row * shape[1] + column] = columns[static_cast<std::size_t>(column * count + row)];
      }
    }
    for (std::int64_t row = 0; axes.rows_up && row < count / 2; ++row) {
      std::swap_ranges(target + row * shape[1], target + (row + 1) * shape[1], target + (count - 1 - row) * shape[1]);
    }
    for (std::int64_t row = 0; axes.columns_left && row < count; ++row) {
      std::reverse(target + row * shape[1], target + (row + 1) * shape[1]);
    }
  }

  void read_complex(std::int64_t first, FieldFile& field, const std::string& path) const {
    const auto type = complex_memory_type(choice.dataset.get());
    if (!type) throw_io(path, "complex numbers", choice.type);
    read(type->get(), first, field.values.shape()[0], field.values.data(), path);
  }

  void read_metadata(Metadata& metadata) const {
    read_hdf5_attributes(file.get(), metadata);
    std::erase_if(metadata, [](const auto& entry) { return is_unit_key(entry.first); });  // not of this dataset
    read_hdf5_attributes(choice.dataset.get(), metadata);
    for (const auto* key : {"MATLAB_class", "MATLAB_int_decode", "MATLAB_global"}) metadata.erase(key);
    const auto igor = read_attribute_texts(choice.dataset.get(), "IGORWaveUnits");  // of the numbers, then of each axis
    if (!igor.empty() && !igor.front().empty()) metadata.insert_or_assign("units", igor.front());
    erase_honoured(metadata);
    const double width = axes.sides_m[1];
    if (axes.has_square_pixels() && width >= min_pitch_m && width <= max_pitch_m) {
      metadata.insert({"pitch_m", number_text(width)});
    }
  }
};

// Sets the position and type of the values in `layout`. Returns false unless they lie row by row in the file as IEEE
// numbers.
bool find_values(const OpenField& open, FieldLayout& layout) {
  const Hdf5Handle list(H5Dget_create_plist(open.choice.dataset.get()), H5Pclose);
  const Hdf5Handle type(H5Dget_type(open.choice.dataset.get()), H5Tclose);
  const Hdf5Handle file_list(H5Fget_create_plist(open.file.get()), H5Pclose);
  hsize_t user_block = 0;
  if (!list.valid() || H5Pget_layout(list.get()) != H5D_CONTIGUOUS || !file_list.valid() ||
      H5Pget_userblock(file_list.get(), &user_block) < 0 || user_block != 0) {
    return false;
  }
  const haddr_t begin = H5Dget_offset(open.choice.dataset.get());
  const Hdf5Handle number(H5Tget_member_type(type.get(), 0), H5Tclose);
  const Hdf5Handle other(H5Tget_member_type(type.get(), 1), H5Tclose);
  if (begin == HADDR_UNDEF || !number.valid() || !other.valid() || H5Tequal(number.get(), other.get()) <= 0) {
    return false;
  }
  for (const auto& [known, order] : {std::pair{H5T_IEEE_F32LE, std::endian::little},
                                     {H5T_IEEE_F64LE, std::endian::little},
                                     {H5T_IEEE_F32BE, std::endian::big},
                                     {H5T_IEEE_F64BE, std::endian::big}}) {
    if (H5Tequal(number.get(), known) <= 0) continue;
    const std::uint64_t skipped = static_cast<std::uint64_t>(open.choice.slice.value_or(0) * element_count(open.shape));
    layout.data_begin = begin + skipped * H5Tget_size(type.get());
    layout.value_bytes = H5Tget_size(type.get());
    layout.real_at = H5Tget_member_offset(type.get(), 0);
    layout.imaginary_at = H5Tget_member_offset(type.get(), 1);
    layout.number_bytes = H5Tget_size(number.get());
    layout.order = order;
    return true;
  }
  return false;
}

std::int64_t chunk_rows_of(const OpenField& open) {
  const Hdf5Handle list(H5Dget_create_plist(open.choice.dataset.get()), H5Pclose);
  const std::size_t rank = open.choice.extents.size();
  std::vector<hsize_t> chunk(rank);
  if (!list.valid() || H5Pget_layout(list.get()) != H5D_CHUNKED ||
      H5Pget_chunk(list.get(), static_cast<int>(rank), chunk.data()) != static_cast<int>(rank)) {
    return 1;
  }
  const hsize_t rows = chunk[rank - (open.axes.columns_first ? 1 : 2)];
  return static_cast<std::int64_t>(std::min<hsize_t>(rows, static_cast<hsize_t>(open.shape[0])));
}

}  // namespace

FieldNumbers read_hdf5_numbers(const std::string& path) {
  const OpenField open(path);
  const auto ny = static_cast<std::uint64_t>(open.shape[0]);
  const auto nx = static_cast<std::uint64_t>(open.shape[1]);
  FieldNumbers numbers;
  if (open.choice.complex) {
    FieldFile field;
    field.values = make_field(ny, nx, path);
    open.read_complex(0, field, path);
    numbers.values = std::move(field.values);
  } else {
    numbers.type = open.choice.type;
    numbers.whole = open.choice.whole && open.packing.is_plain();
    numbers.real = make_real(ny, nx, path);
    open.read(H5T_NATIVE_DOUBLE, 0, open.shape[0], numbers.real.data(), path);
    note_largest_values(numbers, open.choice.type, path);
    open.packing.unpack(numbers.real, path);
  }
  open.read_metadata(numbers.metadata);
  const std::string unit = unit_of_name(open.choice.name);
  const bool is_stated =
      std::ranges::any_of(numbers.metadata, [](const auto& entry) { return is_unit_key(entry.first); });
  if (!open.choice.complex && !unit.empty() && !is_stated) numbers.metadata["units"] = unit;
  auto notes = open.notes(path);
  notes.insert(notes.end(), numbers.notes.begin(), numbers.notes.end());
  numbers.notes = std::move(notes);
  return numbers;
}

FieldLayout hdf5_layout(const std::string& path) {
  const OpenField open(path);
  FieldLayout layout;
  layout.shape = open.shape;
  if (!open.choice.complex) layout.real_type = open.choice.type;
  layout.columns_first = open.axes.columns_first;
  layout.packed = !open.choice.complex || open.axes.is_mirrored() || !find_values(open, layout);
  if (layout.packed) layout.chunk_rows = chunk_rows_of(open);
  open.read_metadata(layout.metadata);
  if (open.choice.complex) refuse_logarithms(path, layout.metadata);
  layout.notes = open.notes(path);
  return layout;
}

FieldFile read_hdf5_rows(const std::string& path, std::int64_t first_row, std::int64_t count) {
  const OpenField open(path);
  check_rows_of_field("read_hdf5_rows", open.shape, first_row, {count, open.shape[1]});
  FieldFile field;
  field.values = make_field(static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(open.shape[1]), path);
  open.read_complex(first_row, field, path);
  return field;
}
#else
FieldNumbers read_hdf5_numbers(const std::string& path) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with HDF5, got one without");
}

FieldLayout hdf5_layout(const std::string& path) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with HDF5, got one without");
}

FieldFile read_hdf5_rows(const std::string& path, std::int64_t, std::int64_t) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with HDF5, got one without");
}
#endif

}  // namespace holotone::io
