#pragma once
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/row_range.hpp>
#include <string>

namespace holotone::cli {

/// Pixels of a file of codes.
struct CodePixels {
  Shape<2> shape;  ///< {ny, nx}
  int bits = 8;    ///< above 8: 16-bit pixels
  bool packed16 = false;
  ImageWriteOptions writing{};
};

/// Number of rows that are computed at once: about 16 MiB of phases.
std::int64_t rows_at_once(const Shape<2>& shape);

/// Throws out_of_memory if `more` bytes and what the writer holds of formats other than PNG do not fit.
void require_memory_for_codes(const std::string& path, const CodePixels& pixels, double more);

/// Writes a picture of codes from top to bottom under a temporary name: PNG by rows, other formats at once.
/// `codes_of(part)` returns the codes of rows.
void write_codes(const std::string& path, const CodePixels& pixels, const Metadata& metadata,
                 const std::function<Array<std::uint16_t, 2>(const RowRange&)>& codes_of);

}  // namespace holotone::cli
