#pragma once
// Numbers of files before they are a field, and how they become one. Not for users.
#include <cstdint>
#include <functional>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// The two-dimensional array of a file, {ny, nx}: complex or real numbers.
struct FieldNumbers {
  Array<std::complex<float>, 2> values;  ///< complex numbers; empty: they are real
  Array<double, 2> real;
  std::string type;    ///< of real numbers: "float32", "uint8"
  bool whole = false;  ///< real numbers of an integer type
  Metadata metadata;
  std::vector<std::string> notes;
};

using ReadNumbers = std::function<FieldNumbers(const std::string& path)>;

/// Reads the numbers of a field's file, or of a picture of one channel: codes from 0 to 1. Throws as read_field.
FieldNumbers read_numbers(const std::string& path);

/// The same of HDF5 and MATLAB files in a child `program`, or in this process if it is empty. Defined in guarded.cpp.
FieldNumbers read_numbers_guarded(const std::string& path, const std::string& program);

/// The field of a file, and of the others that the options name. Throws io and invalid_argument as read_field.
FieldFile compose_field(const std::string& path, const FieldReadOptions& options, const ReadNumbers& read);

/// True if real numbers, or those of several files, become the field.
bool is_given(const FieldReadOptions& options);

/// Throws io: the file's numbers are real, of `type`, and it is not said what they are.
[[noreturn]] void throw_real(std::string_view path, std::string_view type, Shape<2> shape);

/// True for the error of real numbers of which it is not said what they are.
bool asks_what_numbers_are(const Error& error);

/// An array of a file of several.
struct StoredArray {
  enum class Kind { complex, real, other };
  std::string name;                    ///< "/group/name" of HDF5, "name" of MATLAB 5
  std::vector<std::uint64_t> extents;  ///< in the order of {ny, nx}, or {n, ny, nx} of n arrays
  Kind kind = Kind::other;
  std::string type;
};

struct ChosenArray {
  std::size_t index = 0;
  std::optional<std::int64_t> slice;  ///< of the first of three extents
  std::string also{};                 ///< other arrays of the file, if no part names the chosen one; empty without
};

/// True for the name of an array that says something of the array `name` beside it: NAME_errors, NAME_mask.
bool belongs_to_array(std::string_view member, std::string_view name);

/// Adds a note of the pixels whose value is the largest of an integer type of 32 or more bits, which marks them.
void note_largest_values(FieldNumbers& numbers, std::string_view type, std::string_view path);

/// The note of ChosenArray::also.
std::string also_note(std::string_view name, std::string_view also, std::string_view path);

/// Chooses the array that a part names ("/group/name", "name", "name:3"). Without a part: one called "field", the only
/// complex one of two extents, or without any of these the only real one, unless its name says that it is a mask or a
/// small copy of another array. Throws io with a list of all arrays.
ChosenArray choose_array(const std::vector<StoredArray>& arrays, std::string_view part, std::string_view path);

/// Kinds of files that are, or look like, those of MATLAB and Octave.
enum class MatlabKind {
  none,
  level4,       ///< version 4
  level5,       ///< version 5, of save -v6 and -v7
  octave_text,  ///< text of Octave
  octave_binary
};

/// Kind by a file's first bytes; HDF5 (-v7.3) is none. `name`: a version 4 file has no signature and counts if it ends
/// in .mat.
MatlabKind matlab_kind(std::string_view first, std::string_view name);
/// Number of first bytes that matlab_kind takes.
inline constexpr std::size_t matlab_head_bytes = 128;

/// Throws io for a file of MATLAB or Octave that is not read. Returns true for version 5.
bool is_matlab5(const std::string& file, std::string_view path);

/// Reads a MATLAB 5 file by matio, which is not safe on hostile files. Throws unsupported in a build without it.
FieldNumbers read_matlab5(const std::string& path);

FieldNumbers read_hdf5_numbers(const std::string& path);
FieldNumbers read_npy_numbers(std::string_view bytes, std::string_view path);

/// Returns uninitialised real numbers. Throws io as make_field.
Array<double, 2> make_real(std::uint64_t ny, std::uint64_t nx, std::string_view path);

/// Text of an array's shape and type: "{4, 6} complex64".
std::string array_text(const StoredArray& array);

}  // namespace holotone::io
