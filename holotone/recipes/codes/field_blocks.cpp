#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/quantize/modulus_share.hpp>
#include <holotone/recipes/codes/field_blocks_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/off_axis.hpp>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

namespace holotone {
namespace {

double sum_of_squares(View<const Complex, 2> field) {
  const auto [ny, nx] = field.shape();
  std::vector<double> rows(static_cast<std::size_t>(ny));
  parallel_for(0, ny, [&, width = nx](std::int64_t row) {
    double sum = 0;
    for (std::int64_t x = 0; x < width; ++x) sum += std::norm(std::complex<double>(field(row, x)));
    rows[static_cast<std::size_t>(row)] = sum;
  });
  return std::accumulate(rows.begin(), rows.end(), 0.0);
}

ErrorDiffusionOptions with_rows(ErrorDiffusionOptions options, std::int64_t rows) {
  options.rows_at_once = rows;
  return options;
}

/// A microradian is far below the margin, and files and flags have few digits.
double rounded(double angle_rad) { return std::round(1e6 * angle_rad) / 1e6; }

}  // namespace

FieldBlocks::FieldBlocks(Read read, const FieldGrid& grid, const ReferenceBeam& beam, std::int64_t rows)
    : read_(std::move(read)), grid_(grid), beam_(beam), rows_(rows) {}

View<const Complex, 2> FieldBlocks::at(std::int64_t block) {
  if (block == held_) return values_.view();
  const Shape<2> shape{std::min(rows_, grid_.ny - first_row(block)), grid_.nx};
  held_ = -1;
  if (values_.shape() != shape) values_ = Array<Complex, 2>(shape);
  read_(first_row(block), values_.view());
  remove_beam(beam_, grid_, first_row(block), values_.view());
  held_ = block;
  return values_.view();
}

FieldScale find_scale(const std::string& path, FieldBlocks& blocks, const FieldGrid& grid,
                      const FieldScaleOptions& options, Progress& progress) {
  ModulusShare share(options.modulation, options.clip);
  double squares = 0;
  bool first = true;
  do {
    for (std::int64_t block = 0; block < blocks.count(); ++block) {
      progress.step("looking for the scale", block, blocks.count());
      share.add(blocks.at(block));
      if (!first) continue;
      squares += sum_of_squares(blocks.at(block));
      if (options.each) options.each(blocks.at(block));
    }
    first = false;
    if (const std::int64_t broken = share.broken(); broken >= 0) {
      throw_io(path, "finite values",
               fmt::format("one that is not at row {}, column {}", broken / grid.nx, broken % grid.nx));
    }
  } while (options.scale == 0 && share.another_pass());
  const double energy = squares / (static_cast<double>(grid.nx) * static_cast<double>(grid.ny));
  const double scale = options.scale > 0 ? options.scale : share.modulus();
  if (const double typical = std::max(scale, std::sqrt(energy)); typical > max_field_value)
    throw_io(path, fmt::format("values of at most {:g}", max_field_value), fmt::format("{:g}", typical));
  return {scale, energy};
}

BlockQuantizer::BlockQuantizer(ErrorDiffusionOptions options, const DiffusionWeights& weights, const FieldGrid& grid,
                               std::int64_t rows, Queue queue)
    : queue_(std::move(queue)), plan_(with_rows(std::move(options), rows), weights, grid.shape(), queue_) {
  if (queue_.device().backend == Backend::cpu) return;
  values_ = Array<Complex, 2>({rows, grid.nx}, queue_);
}

void BlockQuantizer::execute(std::int64_t first_row, View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
  const RowRange part{first_row, field.shape()[0]};
  if (queue_.device().backend == Backend::cpu) return plan_.execute(part, field, codes);
  // The last block may have fewer rows.
  const View<Complex, 2> values(values_.data(), field.shape(), queue_.device());
  copy<Complex, 2>(values, field, queue_);
  plan_.execute(part, values, codes);
  (void)plan_.report();  // waits: the field's memory is read
}

void BlockQuantizer::execute_to_host(std::int64_t first_row, View<const Complex, 2> field,
                                     View<std::uint8_t, 2> codes) {
  if (queue_.device().backend == Backend::cpu) return execute(first_row, field, codes);
  if (levels_.empty()) levels_ = Array<std::uint8_t, 2>(values_.shape(), queue_);
  const View<std::uint8_t, 2> levels(levels_.data(), field.shape(), queue_.device());
  execute(first_row, field, levels);
  copy<std::uint8_t, 2>(codes, levels, queue_);
  queue_.synchronize();
}

std::int64_t default_hogel_px(const Viewer& viewer, double pitch_m) {
  constexpr std::int64_t largest = 2048;
  constexpr std::int64_t smallest = 64;
  const double most = std::min(viewer.width_m, viewer.height_m) / (4 * pitch_m);
  std::int64_t side = largest;
  while (side > smallest && static_cast<double>(side) > most) side /= 2;
  return side;
}

std::int64_t find_block_rows(const FieldGrid& grid, std::int64_t side, std::int64_t workers) {
  if (side == 0 || side >= grid.ny) return grid.ny;
  const std::int64_t fit = std::max<std::int64_t>(1, max_block_pixels / (side * grid.nx));
  if (workers == 1) return grid.nx * grid.ny <= max_block_pixels ? grid.ny : side * fit;
  constexpr std::int64_t blocks_each = 4;
  const std::int64_t rows_of_hogels = (grid.ny + side - 1) / side;
  return side * std::clamp<std::int64_t>(rows_of_hogels / (blocks_each * workers), 1, fit);
}

double beam_margin(const FieldGrid& grid, std::int64_t side) {
  constexpr double longest_m = 780e-9;
  return std::min(0.5, std::max(1.0, longest_m / grid.wavelength_m) /
                           static_cast<double>(side > 0 ? side : std::min(grid.nx, grid.ny)));
}

std::optional<ReferenceBeam> separating_beam(const FieldGrid& grid, const Viewer& viewer, std::int64_t side) {
  const auto beam = off_axis_beam(grid, viewer, beam_margin(grid, side));
  if (!beam) return beam;
  return ReferenceBeam{rounded(beam->angle_x_rad), rounded(beam->angle_y_rad)};
}

void require_fringes(const ReferenceBeam& beam, const FieldGrid& grid) {
  constexpr double degrees = 180 / std::numbers::pi;
  const double finest = std::min(1.0, grid.wavelength_m / (2 * grid.pitch_m));
  for (const double angle : {beam.angle_x_rad, beam.angle_y_rad}) {
    if (std::abs(std::sin(angle)) <= finest * (1 + 1e-12)) continue;
    throw_argument("require_fringes", "beam",
                   fmt::format("at most {:.6g} deg either way, two pixels a fringe", degrees * std::asin(finest)),
                   fmt::format("{:.6g} deg", degrees * angle));
  }
}

}  // namespace holotone
