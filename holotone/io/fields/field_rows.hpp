#pragma once
#include <complex>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/rows_options.hpp>
#include <memory>
#include <string>

namespace holotone {

/// Writes a complex field {ny, nx} of any size by blocks of rows. The file is the same as write_field's, byte for byte
/// (.h5, .hdf5: dataset "field"; .npy: complex64).
///
/// The rows go to `.NAME.part` in the file's folder, renamed by finish(). `.NAME.part.rows` stores a checksum of each
/// complete row, so that a row cut short by a signal or a power failure is not accepted. Space for the whole file is
/// checked before the first row, and allocated if the file system supports it. A lock excludes a second writer of the
/// same name. Memory: a few kilobytes and 8 bytes a row.
class FieldRowsWriter {
 public:
  /// Throws io in one line if the folder does not exist or is not writable, if another process or object is writing
  /// the file, or if space is insufficient (with the bytes needed, free and missing). Throws invalid_argument for
  /// extents outside 1 to 2^26 or a metadata key that the format does not support; unsupported for another extension
  /// or without libhdf5. `progress` reports the rows that a resumed run checks.
  FieldRowsWriter(const std::string& path, Shape<2> shape, const Metadata& metadata, const RowsOptions& options = {},
                  Progress& progress = Progress::none());
  /// Removes unfinished rows, or keeps them if `resume` is set.
  ~FieldRowsWriter();
  FieldRowsWriter(const FieldRowsWriter&) = delete;
  FieldRowsWriter& operator=(const FieldRowsWriter&) = delete;

  [[nodiscard]] Shape<2> shape() const;
  /// Returns the number of complete rows from the top: a loop from top to bottom continues here.
  [[nodiscard]] std::int64_t rows_done() const;
  [[nodiscard]] bool is_done(std::int64_t row) const;
  /// A random number of the unfinished file: a new one, to be asked for before others join it; theirs is the same.
  std::uint64_t token();
  /// True if unfinished rows of another key, shape or metadata were discarded.
  [[nodiscard]] bool discarded() const;
  /// Writes rows first_row to first_row + values.shape()[0] - 1, each of nx values in host memory; replaces rows
  /// written before. From one thread at a time. Throws io if the disk is full (earlier rows stay complete),
  /// invalid_argument for rows outside the field or of another width.
  void write(std::int64_t first_row, View<const std::complex<float>, 2> values);
  /// Takes `rows` rows from first_row on, which a joined writer has written, as done.
  void set_done(std::int64_t first_row, std::int64_t rows);
  /// CRC-32 (ISO 3309, as in zlib) of the bytes of `rows` complete rows from first_row on, little-endian. Before
  /// finish(). Throws invalid_argument if one is missing.
  [[nodiscard]] std::uint32_t checksum(std::int64_t first_row, std::int64_t rows) const;
  /// Flushes to the disk and renames. Throws io, invalid_argument if a row is missing. May be called once.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a complex field of any size by blocks of rows.
///
/// Formats of HDF5 and NPY as in read_field, without its size limit; OHC, MATLAB 5, columns-first NPY and what the
/// options make of real numbers with that limit. A
/// child process inspects an HDF5 file with libhdf5 (see guarded.hpp) and reports the position of the rows. This
/// process then reads them from the file without libhdf5. A child also unpacks rows that are chunked or packed, up to
/// 256 MiB at once, which are cached until others are requested. Not for several threads at once.
class FieldRowsReader {
 public:
  /// `program`: current_program() if its main begins with guarded_child. Empty: libhdf5 runs in this process, which is
  /// safe only for trusted files. Throws io with file, expected and got.
  explicit FieldRowsReader(const std::string& path, std::string program = {}, const FieldReadOptions& options = {});
  ~FieldRowsReader();
  FieldRowsReader(const FieldRowsReader&) = delete;
  FieldRowsReader& operator=(const FieldRowsReader&) = delete;

  [[nodiscard]] Shape<2> shape() const;
  [[nodiscard]] const Metadata& metadata() const;
  /// What the file leaves open and how it is read.
  [[nodiscard]] const std::vector<std::string>& notes() const;
  /// Fills `values` {n, nx} in host memory with rows first_row to first_row + n - 1. Throws io if the file is not
  /// readable or has become shorter, invalid_argument for rows outside the field or of another width.
  void read(std::int64_t first_row, View<std::complex<float>, 2> values) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
