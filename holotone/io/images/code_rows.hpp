#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/io/rows_options.hpp>
#include <memory>
#include <string>

namespace holotone {

/// Writes codes {ny, nx} of any size by blocks of rows in any order, as FieldRowsWriter writes fields: unfinished rows
/// in `.NAME.part`, a checksum of each in `.NAME.part.rows`, space checked first, one writer at a time.
///
/// .tif, .tiff: uncompressed grey TIFF in strips of whole rows, BigTIFF above 3.9 GB (Adobe, TIFF 6.0, 1992; libtiff,
/// BigTIFF, 2007); .npy: uint8 or uint16. Rows lie one behind the other: a block of rows is one write, and readers can
/// map the file into memory.
class CodeRowsWriter {
 public:
  /// `bits`: 8 or 16 a code. Throws as FieldRowsWriter does; invalid_argument for extents outside 1 to 2^26, other
  /// bits, or a metadata key that the format does not support.
  CodeRowsWriter(const std::string& path, Shape<2> shape, int bits, const Metadata& metadata,
                 const RowsOptions& options = {}, Progress& progress = Progress::none());
  /// Removes unfinished rows, or keeps them if `resume` is set.
  ~CodeRowsWriter();
  CodeRowsWriter(const CodeRowsWriter&) = delete;
  CodeRowsWriter& operator=(const CodeRowsWriter&) = delete;

  [[nodiscard]] Shape<2> shape() const;
  /// Returns the number of complete rows from the top.
  [[nodiscard]] std::int64_t rows_done() const;
  [[nodiscard]] bool is_done(std::int64_t row) const;
  /// A random number of the unfinished file: a new one, to be asked for before others join it; theirs is the same.
  std::uint64_t token();
  /// True if unfinished rows of another key, shape or metadata were discarded.
  [[nodiscard]] bool discarded() const;
  /// Writes rows first_row to first_row + codes.shape()[0] - 1, each of nx codes in host memory; replaces rows written
  /// before. From one thread at a time. Throws io if the disk is full (earlier rows stay complete), invalid_argument
  /// for rows outside the file, another width or codes of other bits.
  void write(std::int64_t first_row, View<const std::uint8_t, 2> codes);
  void write(std::int64_t first_row, View<const std::uint16_t, 2> codes);
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

}  // namespace holotone
