// Dots drawn as a PNG file, row by row.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/colour.hpp>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/dots/dots_formats_detail.hpp>
#include <holotone/io/dots/dots_raster_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/png_rows_detail.hpp>

namespace holotone::io {
namespace {

/// Table of sRGB codes of linear light, so that a pixel needs no power function.
class CodeTable {
 public:
  CodeTable() : codes_(steps + 1) {
    for (std::size_t i = 0; i <= steps; ++i) {
      codes_[i] = static_cast<std::uint8_t>(std::lround(255 * linear_to_srgb(static_cast<double>(i) / steps)));
    }
  }
  [[nodiscard]] std::uint8_t operator()(float light) const {
    return codes_[static_cast<std::size_t>(std::clamp(light, 0.0F, 1.0F) * steps + 0.5F)];
  }

 private:
  static constexpr std::size_t steps = 65535;
  std::vector<std::uint8_t> codes_;
};

bool is_grey(const Ink& ink) { return ink.srgb[0] == ink.srgb[1] && ink.srgb[1] == ink.srgb[2]; }

/// Computes 8-bit codes of a row of a band. Each ink transmits 1 - cover (1 - its own light).
void shade_row(const RasterBand& band, std::int64_t row, std::span<const Ink> inks, std::size_t channels,
               const CodeTable& code, std::vector<std::uint8_t>& target) {
  for (std::size_t channel = 0; channel < channels; ++channel) {
    std::vector<float> light(static_cast<std::size_t>(band.nx), 1.0F);
    for (std::size_t c = 0; c < inks.size(); ++c) {
      const float taken = 1 - static_cast<float>(srgb_to_linear(inks[c].srgb[channel] / 255.0));
      const float* const cover = band.row(c, row);
      for (std::size_t x = 0; x < light.size(); ++x) light[x] *= 1 - std::min(cover[x], 1.0F) * taken;
    }
    for (std::size_t x = 0; x < light.size(); ++x) target[x * channels + channel] = code(light[x]);
  }
}

/// Packs a row to bits, first pixel in the highest bit. Ink is 0, which is black in PNG's grey.
void pack_row(const float* cover, std::int64_t nx, std::vector<std::uint8_t>& target) {
  std::fill(target.begin(), target.end(), std::uint8_t{0xff});
  for (std::int64_t x = 0; x < nx; ++x) {
    if (cover[x] > 0) target[static_cast<std::size_t>(x / 8)] &= static_cast<std::uint8_t>(~(0x80 >> (x % 8)));
  }
}

RasterGrid raster_grid(const DotsToWrite& job) {
  RasterGrid grid;
  grid.scale = job.dpi > 0 ? job.dpi / 0.0254 * job.pixel_m : 1;
  const double nx = std::max(1.0, std::round(job.dots.width * grid.scale));
  const double ny = std::max(1.0, std::round(job.dots.height * grid.scale));
  if (nx > INT32_MAX || ny > INT32_MAX || nx * ny > static_cast<double>(maximum_image_bytes)) {
    throw_argument("write_dots", "dpi",
                   fmt::format("a raster of at most {} pixels, {} a side", maximum_image_bytes, INT32_MAX),
                   fmt::format("{:.0f} x {:.0f}", nx, ny));
  }
  grid.nx = static_cast<std::int64_t>(nx);
  grid.ny = static_cast<std::int64_t>(ny);
  return grid;
}

}  // namespace

void write_dots_png(const std::string& path, const DotsToWrite& job, Progress& progress) {
  if (job.one_bit) {
    for (const auto& ink : job.inks) {
      if (ink.srgb != std::array<std::uint8_t, 3>{}) {
        throw Error(ErrorCode::unsupported, path + ": expected black ink alone for one bit a pixel, got " + ink.name);
      }
    }
  }
  const RasterGrid grid = raster_grid(job);
  const bool colour = !std::all_of(job.inks.begin(), job.inks.end(), is_grey);
  const std::size_t channels = colour ? 3 : 1;
  const double a_metre = job.size_known || job.dpi > 0 ? std::round(grid.scale / job.pixel_m) : 0;
  PngRows writer(path, {grid.nx, grid.ny, static_cast<int>(channels), job.one_bit ? 1 : 8, job.compression,
                        static_cast<std::int64_t>(std::clamp(a_metre, 0.0, 2147483647.0)), job.metadata});
  const CodeTable code;
  DotsRaster raster(job, grid);
  std::vector<std::uint8_t> row(job.one_bit ? static_cast<std::size_t>((grid.nx + 7) / 8)
                                            : static_cast<std::size_t>(grid.nx) * channels);
  while (raster.next()) {
    const RasterBand& band = raster.band();
    progress.step("drawing dots", band.first_row, grid.ny);
    for (std::int64_t y = 0; y < band.rows; ++y) {
      if (job.one_bit) {
        pack_row(band.row(0, y), grid.nx, row);
      } else {
        shade_row(band, y, job.inks, channels, code, row);
      }
      writer.write(row.data());
    }
  }
  write_file(path, writer.finish());
}

}  // namespace holotone::io
