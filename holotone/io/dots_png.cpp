// Dots drawn as a PNG file, row by row.
#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/dots_formats_detail.hpp>
#include <holotone/io/dots_raster_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/scene_formats_detail.hpp>
#include <png.h>

namespace holotone::io {
namespace {

struct Sink {
  std::string* bytes;
  char message[128];
};

extern "C" {
static void append_to_raster(png_structp png, png_bytep data, std::size_t count) {
  auto* sink = static_cast<Sink*>(png_get_io_ptr(png));
  bool stored = true;
  try {
    sink->bytes->append(reinterpret_cast<const char*>(data), count);
  } catch (...) {
    stored = false;
  }
  if (!stored) png_error(png, "out of memory");
}
static void keep_raster(png_structp) {}
static void keep_raster_error(png_structp png, png_const_charp message) {
  auto* sink = static_cast<Sink*>(png_get_error_ptr(png));
  std::strncpy(sink->message, message, sizeof sink->message - 1);
  png_longjmp(png, 1);
}
static void ignore_raster_warning(png_structp, png_const_charp) {}
}

struct RasterHeader {
  png_uint_32 width, height;
  int bits, type, level;
  png_uint_32 pixels_a_metre;  // 0: not known
};

/// A PNG file whose rows come one after the other. libpng reports by longjmp, so that each step holds plain data alone.
class RowWriter {
 public:
  RowWriter(std::string_view path, const RasterHeader& header) : path_(path), sink_{&bytes_, {}} {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink_, keep_raster_error, ignore_raster_warning);
    info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
    if (info_ == nullptr) {
      png_destroy_write_struct(&png_, nullptr);
      throw Error(ErrorCode::out_of_memory, std::string(path) + ": no memory for libpng");
    }
    attempt([this, &header] {
      png_set_write_fn(png_, &sink_, append_to_raster, keep_raster);
      png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
      png_set_IHDR(png_, info_, header.width, header.height, header.bits, header.type, PNG_INTERLACE_NONE,
                   PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_set_compression_level(png_, header.level);
      png_set_filter(png_, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);  // mostly white: what zlib likes best
      if (header.pixels_a_metre > 0) {
        png_set_pHYs(png_, info_, header.pixels_a_metre, header.pixels_a_metre, PNG_RESOLUTION_METER);
      }
      png_write_info(png_, info_);
    });
  }
  ~RowWriter() { png_destroy_write_struct(&png_, &info_); }
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  void write(const std::uint8_t* row) {
    attempt([this, row] { png_write_row(png_, row); });
  }
  std::string finish() {
    attempt([this] { png_write_end(png_, info_); });
    return std::move(bytes_);
  }

 private:
  template <class Step>
  static bool survives(png_structp png, const Step& step) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    step();
    return true;
  }
  template <class Step>
  void attempt(const Step& step) {
    if (!survives(png_, step)) throw_io(path_, "the PNG file to be made", sink_.message);
  }
  std::string_view path_;
  std::string bytes_;
  Sink sink_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

/// sRGB codes of linear light, by table: a pixel costs no power.
class CodeTable {
 public:
  CodeTable() : codes_(steps + 1) {
    for (std::size_t i = 0; i <= steps; ++i) {
      const double v = static_cast<double>(i) / steps;
      const double s = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
      codes_[i] = static_cast<std::uint8_t>(std::lround(255 * s));
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

/// Rows of a band as 8-bit codes: each ink lets pass 1 - cover (1 - its own light).
void shade_row(const RasterBand& band, std::int64_t row, std::span<const Ink> inks, std::size_t channels,
               const CodeTable& code, std::vector<std::uint8_t>& target) {
  for (std::size_t channel = 0; channel < channels; ++channel) {
    std::vector<float> light(static_cast<std::size_t>(band.nx), 1.0F);
    for (std::size_t c = 0; c < inks.size(); ++c) {
      const float taken = 1 - linear_of_code(inks[c].srgb[channel], 255);
      const float* const cover = band.row(c, row);
      for (std::size_t x = 0; x < light.size(); ++x) light[x] *= 1 - std::min(cover[x], 1.0F) * taken;
    }
    for (std::size_t x = 0; x < light.size(); ++x) target[x * channels + channel] = code(light[x]);
  }
}

/// A row of bits, first pixel highest; ink is 0 as PNG's grey has it.
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
  RowWriter writer(path, {static_cast<png_uint_32>(grid.nx), static_cast<png_uint_32>(grid.ny), job.one_bit ? 1 : 8,
                          colour ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, job.compression,
                          static_cast<png_uint_32>(std::clamp(a_metre, 0.0, 2147483647.0))});
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
