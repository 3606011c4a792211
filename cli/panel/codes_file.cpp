#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/paths.hpp>
#include <cli/panel/codes_file.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/images/image_rows.hpp>

namespace holotone::cli {
namespace {

bool takes_rows(const std::string& path) { return io::has_format(path, io::FileFormat::png); }

/// Calls use(rows) with the codes as pixels {n, nx, channels} of their type.
template <class Use>
void as_pixels(const Array<std::uint16_t, 2>& codes, const CodePixels& pixels, const Use& use) {
  const auto [rows, nx] = codes.shape();
  if (pixels.packed16) {
    const auto packed = pack_16bit(codes.view());
    use(packed.view());
  } else if (pixels.bits > 8) {
    use(View<const std::uint16_t, 3>(codes.data(), {rows, nx, 1}));
  } else {
    Array<std::uint8_t, 3> narrow({rows, nx, 1});
    std::ranges::transform(codes.host(), narrow.data(), [](std::uint16_t c) { return static_cast<std::uint8_t>(c); });
    use(View<const std::uint8_t, 3>(narrow.view()));
  }
}

/// Whole picture of pixels of type T.
template <class T>
void write_whole(const std::string& path, const CodePixels& pixels, const Metadata& metadata,
                 const std::function<Array<std::uint16_t, 2>(const RowRange&)>& codes_of) {
  const auto [ny, nx] = pixels.shape;
  Array<T, 3> all({ny, nx, pixels.packed16 ? 3 : 1});
  const std::int64_t at_once = rows_at_once(pixels.shape);
  T* to = all.data();
  for (std::int64_t first = 0; first < ny; first += at_once) {
    check_cancelled("writing");
    as_pixels(codes_of({first, std::min(at_once, ny - first)}), pixels,
              [&](const auto& rows) { to = std::ranges::copy_n(rows.data(), rows.size(), to).out; });
  }
  write_image(path, {std::move(all), metadata}, pixels.writing);
}

}  // namespace

std::int64_t rows_at_once(const Shape<2>& shape) {
  constexpr std::int64_t pixels = std::int64_t{1} << 22;
  return std::clamp<std::int64_t>(pixels / shape[1], 1, shape[0]);
}

void require_memory_for_codes(const std::string& path, const CodePixels& pixels, double more) {
  const auto [ny, nx] = pixels.shape;
  const double block = static_cast<double>(rows_at_once(pixels.shape)) * static_cast<double>(nx) * 24;
  const int bytes = pixels.packed16 ? 3 : pixels.bits > 8 ? 2 : 1;
  const double whole = takes_rows(path) ? 0 : 2.0 * bytes * static_cast<double>(ny) * static_cast<double>(nx);
  require_memory("panel", block + whole + more, "the picture", takes_rows(path) ? "" : "PNG is written by rows");
}

void write_codes(const std::string& path, const CodePixels& pixels, const Metadata& metadata,
                 const std::function<Array<std::uint16_t, 2>(const RowRange&)>& codes_of) {
  UnfinishedRun::will_write(path);
  const bool words = pixels.bits > 8 && !pixels.packed16;
  if (!takes_rows(path)) {
    if (words) return write_whole<std::uint16_t>(path, pixels, metadata, codes_of);
    return write_whole<std::uint8_t>(path, pixels, metadata, codes_of);
  }
  const auto [ny, nx] = pixels.shape;
  ImageRowsWriter writer(path, {ny, nx, pixels.packed16 ? 3 : 1}, words ? 16 : 8, metadata, pixels.writing);
  const std::int64_t at_once = rows_at_once(pixels.shape);
  for (std::int64_t first = 0; first < ny; first += at_once) {
    check_cancelled("writing");
    as_pixels(codes_of({first, std::min(at_once, ny - first)}), pixels, [&](const auto& rows) { writer.write(rows); });
  }
  writer.finish();
}

}  // namespace holotone::cli
