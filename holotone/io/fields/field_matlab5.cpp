#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>

#if HOLOTONE_MATIO
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/io/fields/field_units_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <matio.h>
#include <memory>
#include <mutex>
#endif

namespace holotone::io {

#if HOLOTONE_MATIO
namespace {

struct CloseMat {
  void operator()(mat_t* file) const { Mat_Close(file); }
};
struct FreeVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatFile = std::unique_ptr<mat_t, CloseMat>;
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

extern "C" {
static void ignore_message(int, char*) {}  // matio would print it
}

struct ClassName {
  matio_classes value;
  std::string_view name;
};
constexpr ClassName number_classes[] = {{MAT_C_DOUBLE, "float64"}, {MAT_C_SINGLE, "float32"}, {MAT_C_INT8, "int8"},
                                        {MAT_C_UINT8, "uint8"},    {MAT_C_INT16, "int16"},    {MAT_C_UINT16, "uint16"},
                                        {MAT_C_INT32, "int32"},    {MAT_C_UINT32, "uint32"},  {MAT_C_INT64, "int64"},
                                        {MAT_C_UINT64, "uint64"}};

/// Name, kind and extents of a variable: those of {n, ny, nx} for a MATLAB array of ny x nx x n.
StoredArray describe_variable(const matvar_t& variable) {
  constexpr int max_rank = 32;
  StoredArray array;
  array.name = variable.name == nullptr ? "" : variable.name;
  if (variable.dims != nullptr && variable.rank > 0 && variable.rank <= max_rank) {
    array.extents.assign(variable.dims, variable.dims + variable.rank);
  }
  if (array.extents.size() == 3) std::rotate(array.extents.begin(), array.extents.begin() + 2, array.extents.end());
  const auto* const known = std::ranges::find(number_classes, variable.class_type, &ClassName::value);
  if (known == std::end(number_classes)) {
    array.type = "of another class";
    return array;
  }
  const bool complex = variable.isComplex != 0;
  array.kind = complex ? StoredArray::Kind::complex : StoredArray::Kind::real;
  array.type = complex ? fmt::format("complex {}", known->name) : std::string(known->name);
  return array;
}

/// A number of matio's type, as double.
double load_value(const void* data, matio_types type, std::size_t at) {
  const auto number = [&]<class T>(T) { return static_cast<double>(static_cast<const T*>(data)[at]); };
  switch (type) {
    case MAT_T_DOUBLE: return number(double{});
    case MAT_T_SINGLE: return number(float{});
    case MAT_T_INT8: return number(std::int8_t{});
    case MAT_T_UINT8: return number(std::uint8_t{});
    case MAT_T_INT16: return number(std::int16_t{});
    case MAT_T_UINT16: return number(std::uint16_t{});
    case MAT_T_INT32: return number(std::int32_t{});
    case MAT_T_UINT32: return number(std::uint32_t{});
    case MAT_T_INT64: return number(std::int64_t{});
    default: return number(std::uint64_t{});
  }
}

MatFile open_matlab5(const std::string& file, const std::string& path) {
  MatFile mat(Mat_Open(file.c_str(), MAT_ACC_RDONLY));
  if (!mat || Mat_GetVersion(mat.get()) != MAT_FT_MAT5) throw_io(path, "a readable MATLAB 5 file", "a damaged one");
  return mat;
}

std::vector<StoredArray> list_variables(const FilePart& named, const std::string& path) {
  constexpr std::size_t max_variables = 1000;
  const MatFile mat = open_matlab5(named.file, path);
  std::vector<StoredArray> arrays;
  while (arrays.size() < max_variables) {
    const Variable variable(Mat_VarReadNextInfo(mat.get()));
    if (!variable) break;
    arrays.push_back(describe_variable(*variable));
  }
  return arrays;
}

/// Throws io for extents that the file's bytes cannot hold: matio would allocate memory for them.
void require_stored(const StoredArray& array, const FilePart& named, const std::string& path) {
  constexpr std::uint64_t largest_ratio = 1100;  // deflate reaches 1032; float64 may be stored as int8
  constexpr std::uint64_t growth = 8;
  std::uint64_t count = 1;
  bool over = false;
  for (const auto extent : array.extents) over = over || __builtin_mul_overflow(count, extent, &count);
  const std::uint64_t bytes = std::filesystem::file_size(named.file);
  if (!over && count / (largest_ratio * growth) <= bytes && count <= maximum_field_bytes / sizeof(double)) return;
  throw_io(path, fmt::format("data for {} {}", printable(array.name), array_text(array)),
           fmt::format("a file of {} bytes", bytes));
}

/// The variable with its data. Throws io unless these are as many as its extents say.
Variable read_variable(mat_t* mat, std::size_t index, const StoredArray& array, const std::string& path) {
  Variable variable;
  for (std::size_t i = 0; i <= index; ++i) variable.reset(Mat_VarReadNextInfo(mat));
  if (variable && Mat_VarReadDataAll(mat, variable.get()) == 0 && variable->data != nullptr) {
    const StoredArray now = describe_variable(*variable);
    std::uint64_t count = 1;
    for (const auto extent : array.extents) count *= extent;
    const bool whole =
        Mat_SizeOf(variable->data_type) > 0 && variable->nbytes / Mat_SizeOf(variable->data_type) >= count;
    if (now.extents == array.extents && now.kind == array.kind && whole) return variable;
  }
  throw_io(path, fmt::format("a readable variable {}", printable(array.name)), "a damaged one");
}

}  // namespace

FieldNumbers read_matlab5(const std::string& path) {
  static std::mutex mutex;  // matio's log is one for the process
  const std::scoped_lock lock(mutex);
  Mat_LogInitFunc("holotone", ignore_message);
  const FilePart named = split_part(path);
  const auto arrays = list_variables(named, path);
  const auto chosen = choose_array(arrays, named.part, path);
  const StoredArray& array = arrays[chosen.index];
  require_stored(array, named, path);
  refuse_logarithm_name(path, array.name);
  const std::uint64_t ny = array.extents[array.extents.size() - 2];
  const std::uint64_t nx = array.extents[array.extents.size() - 1];
  FieldNumbers numbers;
  if (!chosen.also.empty()) numbers.notes.push_back(also_note(array.name, chosen.also, path));
  if (array.kind == StoredArray::Kind::complex) {
    numbers.values = make_field(ny, nx, path);
  } else {
    numbers.type = array.type;
    numbers.whole = !array.type.starts_with("float");
    numbers.real = make_real(ny, nx, path);
  }
  const MatFile mat = open_matlab5(named.file, path);
  const Variable variable = read_variable(mat.get(), chosen.index, array, path);
  const std::size_t first = static_cast<std::size_t>(chosen.slice.value_or(0)) * ny * nx;
  const auto* const parts = static_cast<const mat_complex_split_t*>(variable->data);
  const bool complex = !numbers.values.empty();
  if (complex && (parts->Re == nullptr || parts->Im == nullptr)) {
    throw_io(path, fmt::format("a readable variable {}", printable(array.name)), "a damaged one");
  }
  for (std::uint64_t row = 0; row < ny; ++row) {
    for (std::uint64_t column = 0; column < nx; ++column) {
      const std::size_t at = first + column * ny + row;  // MATLAB's first index varies fastest
      const std::size_t to = row * nx + column;
      if (complex) {
        numbers.values.data()[to] = {static_cast<float>(load_value(parts->Re, variable->data_type, at)),
                                     static_cast<float>(load_value(parts->Im, variable->data_type, at))};
      } else {
        numbers.real.data()[to] = load_value(variable->data, variable->data_type, at);
      }
    }
  }
  note_largest_values(numbers, array.type, path);
  return numbers;
}
#else
FieldNumbers read_matlab5(const std::string& path) {
  throw Error(ErrorCode::unsupported,
              path + ": expected HDF5, as this build has no matio, got a MATLAB 5 file; save with -v7.3");
}
#endif

}  // namespace holotone::io
