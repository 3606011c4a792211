#pragma once
#include <complex>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <memory>
#include <string>

namespace holotone {

/// How a file of rows is written.
struct FieldRowsOptions {
  /// What the rows are made from: every parameter that changes them, as text or as a hash. Rows of another key are never
  /// continued.
  std::string key = {};
  /// Continue what a run of the same key, shape and metadata left, and leave what this one does not finish. Without it nothing
  /// is left, except by a process that was killed.
  bool resume = false;
};

/// Writes a complex field {ny, nx} of any size by blocks of rows, in the format that write_field makes (.h5, .hdf5: dataset
/// "field"; .npy: complex64), byte for byte.
///
/// The rows go to `.NAME.part` in the file's folder, renamed by finish(); `.NAME.part.rows` keeps a checksum of each row that is
/// complete, so that a row that was cut short, by a signal or a power failure, does not count. Space for the whole file is
/// asked for, and where the file system can do so taken, before the first row. A lock keeps a second writer from the same
/// name. Memory: a few kilobytes and 8 bytes a row.
class FieldRowsWriter {
 public:
  /// Throws io in one line if the folder does not exist or cannot be written, if another process or object is writing the file, or
  /// if there is not enough space (how much is needed, free and missing); invalid_argument for extents outside 1 to 2^26 or a
  /// metadata key the format cannot hold; unsupported for another extension or without libhdf5. `progress` hears of the rows that a
  /// resumed run checks.
  FieldRowsWriter(const std::string& path, Shape<2> shape, const Metadata& metadata,
                  const FieldRowsOptions& options = {}, Progress& progress = Progress::none());
  /// Removes what is not finished, or leaves it to be resumed.
  ~FieldRowsWriter();
  FieldRowsWriter(const FieldRowsWriter&) = delete;
  FieldRowsWriter& operator=(const FieldRowsWriter&) = delete;

  [[nodiscard]] Shape<2> shape() const;
  /// How many rows from the top are complete: where a loop from top to bottom goes on.
  [[nodiscard]] std::int64_t rows_done() const;
  [[nodiscard]] bool is_done(std::int64_t row) const;
  /// Writes rows first_row to first_row + values.shape()[0] - 1, each of nx values in host memory; again if they were written
  /// already. From one thread at a time. Throws io if the disk is full (the rows written before stay complete),
  /// invalid_argument for rows outside the field or of another width.
  void write(std::int64_t first_row, View<const std::complex<float>, 2> values);
  /// Flushes to the disk and renames. Throws io, invalid_argument if a row is missing. May be called once.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a complex field of any size by blocks of rows.
///
/// HDF5 and NPY as read_field takes them, without its limit of size, OHC and columns-first NPY within it. An HDF5 file is
/// looked at by libhdf5 in a child process (see io/guarded.hpp), which tells where the rows lie; these are then read from the
/// file here, without libhdf5. Rows that are chunked or packed are unpacked by such a child, up to 256 MiB of them
/// at once, which are kept until others are asked for. Not for several threads at once.
class FieldRowsReader {
 public:
  /// `program`: current_program() of one whose main begins with guarded_child, or empty to call libhdf5 in this process, which is
  /// safe only for files of one's own. Throws io naming the file, what was expected and what came.
  explicit FieldRowsReader(const std::string& path, std::string program = {});
  ~FieldRowsReader();
  FieldRowsReader(const FieldRowsReader&) = delete;
  FieldRowsReader& operator=(const FieldRowsReader&) = delete;

  [[nodiscard]] Shape<2> shape() const;
  [[nodiscard]] const Metadata& metadata() const;
  /// Fills `values` {n, nx} in host memory with rows first_row to first_row + n - 1. Throws io if the file cannot be read or has
  /// become shorter, invalid_argument for rows outside the field or of another width.
  void read(std::int64_t first_row, View<std::complex<float>, 2> values) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
