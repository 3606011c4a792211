#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/io/images/image.hpp>
#include <memory>
#include <string>

namespace holotone {

/// Writes a picture {ny, nx, channels} of any size from top to bottom as PNG (8 or 16 bit). The file is the same as
/// write_image's, byte for byte. Rows are compressed by all CPU threads; memory: about 1 MiB for each.
class ImageRowsWriter {
 public:
  /// `bits`: 8 or 16. Throws io if the folder does not exist or is not writable; unsupported for another extension
  /// than .png; invalid_argument for extents outside 1 to 2^31 - 1, rows of 1 GiB or more, channels outside 1 to 4, or
  /// a metadata key that PNG does not support.
  ImageRowsWriter(const std::string& path, Shape<3> shape, int bits, const Metadata& metadata,
                  const ImageWriteOptions& options = {});
  /// Removes an unfinished file.
  ~ImageRowsWriter();
  ImageRowsWriter(const ImageRowsWriter&) = delete;
  ImageRowsWriter& operator=(const ImageRowsWriter&) = delete;

  [[nodiscard]] Shape<3> shape() const;
  [[nodiscard]] std::int64_t rows_done() const;
  /// Writes the next rows {n, nx, channels} in host memory. Throws io if the disk is full, invalid_argument for
  /// another width, more rows than remain, or codes of other bits.
  void write(View<const std::uint8_t, 3> rows);
  void write(View<const std::uint16_t, 3> rows);
  /// Flushes to the disk and renames. Throws io, invalid_argument if rows are missing. May be called once.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a picture by blocks of rows. PNG without interlacing, palette and EXIF orientation is read row by row, every
/// other format of read_image at once.
class ImageRowsReader {
 public:
  /// Throws as read_image does; unsupported for float32.
  explicit ImageRowsReader(const std::string& path);
  ~ImageRowsReader();
  ImageRowsReader(const ImageRowsReader&) = delete;
  ImageRowsReader& operator=(const ImageRowsReader&) = delete;

  /// {ny, nx, channels}
  [[nodiscard]] Shape<3> shape() const;
  /// Bits of a code, as code_bits: 1, 2, 4, 8 or 16.
  [[nodiscard]] int bits() const;
  [[nodiscard]] const Metadata& metadata() const;
  /// Fills `rows` {n, nx, channels} in host memory with those from first_row. Skipped rows are decompressed and
  /// dropped; an earlier row restarts at the top. Throws io if the file is damaged, invalid_argument for rows outside
  /// the picture, another width, or codes of other bits.
  void read(std::int64_t first_row, View<std::uint8_t, 3> rows);
  void read(std::int64_t first_row, View<std::uint16_t, 3> rows);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
