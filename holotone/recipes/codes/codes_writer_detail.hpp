#pragma once
// Files of codes, written while the next rows are made. Not for users.
#include <cstdint>
#include <future>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/io/images/image.hpp>
#include <memory>
#include <string>

namespace holotone {

class ImageRowsWriter;

/// Writes 8-bit codes from top to bottom under a temporary name that finish() replaces: PNG in blocks of rows; TIFF,
/// BMP and NPY ({ny, nx}, uint8) at once.
class CodesWriter {
 public:
  /// True for file names whose format is written by rows, from top to bottom.
  static bool takes_rows(const std::string& path);
  /// True for files that BandsRun writes instead, by rows in any order: .tif and .npy that are not compressed.
  static bool takes_any_order(const std::string& path, const ImageWriteOptions& writing);

  /// `by_rows`: writes rows as they arrive if the format allows it.
  CodesWriter(std::string path, Shape<2> shape, Metadata metadata, bool by_rows, const ImageWriteOptions& writing);
  ~CodesWriter();
  CodesWriter(const CodesWriter&) = delete;
  CodesWriter& operator=(const CodesWriter&) = delete;

  /// Buffer for the codes of the next rows, to be filled before write(). It holds them until the next but one is asked
  /// for.
  View<std::uint8_t, 2> next(std::int64_t rows);
  /// Writes the rows, by a thread of their own while the next are made. Throws what writing the rows before threw.
  void write();
  void finish();

 private:
  std::string path_;
  Shape<2> shape_;
  Metadata metadata_;
  ImageWriteOptions writing_;
  std::unique_ptr<ImageRowsWriter> rows_;
  Array<std::uint8_t, 3> pixels_;   ///< of the current rows, or of all
  Array<std::uint8_t, 3> written_;  ///< of the rows before, while they are written
  std::int64_t first_row_ = 0;
  std::int64_t next_rows_ = 0;
  std::future<void> writing_rows_;  ///< ended before the arrays
};

}  // namespace holotone
