#pragma once
// Discs on a grid of pixels, a band of rows at a time. Not for users.
#include <cstdint>
#include <holotone/io/dots/dots_formats_detail.hpp>
#include <vector>

namespace holotone::io {

struct RasterGrid {
  double scale = 1;  ///< raster pixels per pixel of the page
  std::int64_t nx = 1;
  std::int64_t ny = 1;
};

/// Rows first_row .. first_row + rows - 1: covered area of each pixel by the discs of each ink, above 1 where discs
/// overlap. In one-bit rasters plane 0 is 1 where a disc contains the pixel's centre.
struct RasterBand {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t nx = 0;
  std::int64_t max_rows = 0;
  std::vector<float> cover;
  [[nodiscard]] const float* row(std::size_t ink, std::int64_t y) const {
    return cover.data() + (static_cast<std::int64_t>(ink) * max_rows + y) * nx;
  }
  [[nodiscard]] float* row(std::size_t ink, std::int64_t y) {
    return cover.data() + (static_cast<std::int64_t>(ink) * max_rows + y) * nx;
  }
};

class DotsRaster {
 public:
  DotsRaster(const DotsToWrite& job, const RasterGrid& grid);
  /// Draws the next band. Returns false after the last.
  bool next();
  [[nodiscard]] const RasterBand& band() const { return band_; }

 private:
  struct Disc {
    double x, y, radius;  ///< in raster pixels
    std::size_t ink;
  };
  [[nodiscard]] Disc disc(std::size_t i) const;
  void draw_cover(const Disc& disc);
  void draw_bits(const Disc& disc);

  const DotsToWrite& job_;
  RasterGrid grid_;
  RasterBand band_;
  std::vector<std::uint32_t> order_;     // dots that touch the page, by their first band
  std::vector<std::size_t> band_begin_;  // in order_
  std::vector<std::uint32_t> active_;    // dots that overlap the present band
  std::size_t next_band_ = 0;
  std::vector<double> half_x_;  // area of the unit disc left of each pixel edge
  std::vector<double> edge_x_;
};

/// Returns the area of the unit disc with u <= t: pi / 2 + t sqrt(1 - t^2) + asin t.
double disc_area_below(double t);

/// Returns the area of the unit disc with u <= x and v <= y; below_x and below_y are disc_area_below of x and y.
double disc_area_corner(double x, double y, double below_x, double below_y);

}  // namespace holotone::io
