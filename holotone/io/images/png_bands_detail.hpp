#pragma once
// A PNG file compressed by all threads: bands of rows are deflated separately and joined in one stream. Not for users.
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/io/images/png_pack_detail.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace holotone::io {

/// A band has the fewest rows whose codes are more than this: a picture of 1920 x 1080 codes occupies 16 threads.
inline constexpr std::size_t png_band_bytes = 1 << 17;

struct PngBandsHeader {
  Shape<3> shape{};                  ///< {ny, nx, channels}
  int bits = 8;                      ///< bits of a code: 8 or 16, or of one channel 1, 2 or 4, packed
  std::optional<int> compression{};  ///< zlib level; none: chosen for each band
};

/// Writes PNG data. The bytes depend only on the rows, not on the number of threads or the size of the portions.
class PngBands {
 public:
  using Sink = std::function<void(std::string_view)>;
  /// Writes the file's beginning to `sink`. Throws invalid_argument naming `where` as PngText, and for rows of 1 GiB
  /// or more.
  PngBands(std::string_view where, std::string_view path, const PngBandsHeader& header, const Metadata& metadata,
           Sink sink);
  /// Writes `count` rows of codes in native order.
  void write(const void* rows, std::int64_t count);
  /// Writes the file's end. Call it after the last row.
  void finish();

 private:
  [[nodiscard]] PngBand band(std::size_t index) const;
  void flush(bool last);

  std::string path_;
  PngBandsHeader header_;
  Sink sink_;
  std::size_t row_bytes_ = 0;
  std::size_t band_bytes_ = 0;  // whole rows
  std::size_t max_pending_ = 0;
  std::string pending_;    // rows not yet compressed
  std::string above_;      // the row above them; empty: none
  std::string before_;     // the filtered bytes before them
  std::uint32_t sum_ = 1;  // Adler-32 of the bands written so far
};

}  // namespace holotone::io
