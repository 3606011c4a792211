#pragma once
// A PNG file encoded row by row, in memory. Not for users.
#include <cstdint>
#include <holotone/core/metadata.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace holotone::io {

struct PngRowsHeader {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;  ///< 1 grey, 3 RGB
  int bits = 8;      ///< 8, or 1 for grey
  int compression = 6;
  std::int64_t pixels_a_metre = 0;  ///< 0: not stated
  Metadata metadata{};
};

/// Encodes `height` rows and returns the file's bytes. Throws io naming `name`, invalid_argument as PngText,
/// out_of_memory.
class PngRows {
 public:
  PngRows(std::string_view name, const PngRowsHeader& header);
  ~PngRows();
  PngRows(const PngRows&) = delete;
  PngRows& operator=(const PngRows&) = delete;
  void write(const std::uint8_t* row);
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone::io
