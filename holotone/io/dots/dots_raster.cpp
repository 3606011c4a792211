#include <algorithm>
#include <cmath>
#include <holotone/io/dots/dots_raster_detail.hpp>
#include <numbers>

namespace holotone::io {
namespace {

constexpr std::int64_t rows_a_band = 64;

/// Clamps a page coordinate to 0..most: coordinates outside draw nothing and would not fit integers.
std::int64_t clamped(double value, std::int64_t most) {
  return static_cast<std::int64_t>(std::clamp(value, 0.0, static_cast<double>(most)));
}

}  // namespace

double disc_area_below(double t) {
  t = std::clamp(t, -1.0, 1.0);
  return std::numbers::pi / 2 + t * std::sqrt(1 - t * t) + std::asin(t);
}

double disc_area_corner(double x, double y, double below_x, double below_y) {
  if (x <= -1 || y <= -1) return 0;
  if (x * x + y * y < 1) return (below_x + below_y) / 2 + x * y - std::numbers::pi / 4;
  // The corner is outside the disc, so it cuts off whole caps.
  if (x >= 0) return y >= 0 ? below_x + below_y - std::numbers::pi : below_y;
  return y >= 0 ? below_x : 0;
}

DotsRaster::DotsRaster(const DotsToWrite& job, const RasterGrid& grid) : job_(job), grid_(grid) {
  const auto bands = static_cast<std::size_t>((grid.ny + rows_a_band - 1) / rows_a_band);
  band_.nx = grid.nx;
  band_.max_rows = std::min(rows_a_band, grid.ny);
  const std::size_t planes = job.one_bit ? 1 : job.inks.size();
  band_.cover.resize(planes * static_cast<std::size_t>(band_.max_rows * grid.nx));
  band_begin_.assign(bands + 1, 0);
  const auto first_band = [&](const Disc& d) {
    const bool off = d.y + d.radius < 0 || d.y - d.radius > static_cast<double>(grid.ny) || d.x + d.radius < 0 ||
                     d.x - d.radius > static_cast<double>(grid.nx);
    if (off) return bands;
    return static_cast<std::size_t>(clamped(d.y - d.radius, grid.ny - 1) / rows_a_band);
  };
  for (std::size_t i = 0; i < job.count(); ++i) {
    const auto band = first_band(disc(i));
    if (band < bands) ++band_begin_[band + 1];
  }
  for (std::size_t b = 0; b < bands; ++b) band_begin_[b + 1] += band_begin_[b];
  order_.resize(band_begin_[bands]);
  auto next = band_begin_;
  for (std::size_t i = 0; i < job.count(); ++i) {
    const auto band = first_band(disc(i));
    if (band < bands) order_[next[band]++] = static_cast<std::uint32_t>(i);
  }
}

DotsRaster::Disc DotsRaster::disc(std::size_t i) const {
  return {static_cast<double>(job_.dots.position[2 * i]) * grid_.scale,
          static_cast<double>(job_.dots.position[2 * i + 1]) * grid_.scale,
          static_cast<double>(job_.radius_of(i)) * grid_.scale, job_.class_at(i)};
}

bool DotsRaster::next() {
  if (next_band_ + 1 >= band_begin_.size()) return false;
  band_.first_row = static_cast<std::int64_t>(next_band_) * rows_a_band;
  band_.rows = std::min(rows_a_band, grid_.ny - band_.first_row);
  std::fill(band_.cover.begin(), band_.cover.end(), 0.0F);
  for (std::size_t k = band_begin_[next_band_]; k < band_begin_[next_band_ + 1]; ++k) active_.push_back(order_[k]);
  for (const auto i : active_) {
    const Disc d = disc(i);
    if (job_.one_bit) {
      draw_bits(d);
    } else if (d.radius > 0) {
      draw_cover(d);
    }
  }
  ++next_band_;
  const auto end = static_cast<double>(next_band_ * rows_a_band);
  // One pixel more: a one-bit dot sets the pixel that contains it, even if rounding moves it.
  std::erase_if(active_, [&](std::uint32_t i) {
    const Disc d = disc(i);
    return d.y + d.radius + 1 < end;
  });
  return true;
}

void DotsRaster::draw_cover(const Disc& d) {
  const std::int64_t x0 = clamped(std::floor(d.x - d.radius), grid_.nx);
  const std::int64_t x1 = clamped(std::ceil(d.x + d.radius), grid_.nx);
  const std::int64_t y0 = std::max(clamped(std::floor(d.y - d.radius), grid_.ny), band_.first_row);
  const std::int64_t y1 = std::min(clamped(std::ceil(d.y + d.radius), grid_.ny), band_.first_row + band_.rows);
  if (x0 >= x1 || y0 >= y1) return;
  const auto columns = static_cast<std::size_t>(x1 - x0);
  edge_x_.resize(columns + 1);
  half_x_.resize(columns + 1);
  for (std::size_t k = 0; k <= columns; ++k) {
    edge_x_[k] = (static_cast<double>(x0) + static_cast<double>(k) - d.x) / d.radius;
    half_x_[k] = disc_area_below(edge_x_[k]);
  }
  const double area = d.radius * d.radius;
  for (std::int64_t y = y0; y < y1; ++y) {
    const double top = (static_cast<double>(y) - d.y) / d.radius;
    const double bottom = (static_cast<double>(y + 1) - d.y) / d.radius;
    const double below_top = disc_area_below(top);
    const double below_bottom = disc_area_below(bottom);
    const auto strip = [&](std::size_t k) {  // area of the disc between the row's edges, left of edge k
      return disc_area_corner(std::min(edge_x_[k], 1.0), std::min(bottom, 1.0), half_x_[k], below_bottom) -
             disc_area_corner(std::min(edge_x_[k], 1.0), std::min(top, 1.0), half_x_[k], below_top);
    };
    float* const target = band_.row(d.ink, y - band_.first_row) + x0;
    double left = strip(0);
    for (std::size_t k = 0; k < columns; ++k) {
      const double right = strip(k + 1);
      target[k] += static_cast<float>(std::max(right - left, 0.0) * area);
      left = right;
    }
  }
}

void DotsRaster::draw_bits(const Disc& d) {
  const std::int64_t last_row = band_.first_row + band_.rows;
  // The centre of pixel x is at x + 0.5.
  const std::int64_t y0 = std::max(clamped(std::ceil(d.y - d.radius - 0.5), grid_.ny), band_.first_row);
  const std::int64_t y1 = std::min(clamped(std::floor(d.y + d.radius - 0.5) + 1, grid_.ny), last_row);
  for (std::int64_t y = y0; y < y1; ++y) {
    const double dy = static_cast<double>(y) + 0.5 - d.y;
    const double half = std::sqrt(std::max(d.radius * d.radius - dy * dy, 0.0));
    const std::int64_t x0 = clamped(std::ceil(d.x - half - 0.5), grid_.nx);
    const std::int64_t x1 = clamped(std::floor(d.x + half - 0.5) + 1, grid_.nx);
    if (x0 < x1) std::fill(band_.row(0, y - band_.first_row) + x0, band_.row(0, y - band_.first_row) + x1, 1.0F);
  }
  if (d.radius <= 0 || d.x < 0 || d.y < 0 || d.x > static_cast<double>(grid_.nx) ||
      d.y > static_cast<double>(grid_.ny)) {
    return;
  }
  const std::int64_t x = std::min(static_cast<std::int64_t>(d.x), grid_.nx - 1);
  const std::int64_t y = std::min(static_cast<std::int64_t>(d.y), grid_.ny - 1);
  if (y >= band_.first_row && y < last_row) band_.row(0, y - band_.first_row)[x] = 1;
}

}  // namespace holotone::io
