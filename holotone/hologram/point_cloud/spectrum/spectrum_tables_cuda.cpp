#include <algorithm>
#include <holotone/hologram/point_cloud/spectrum/spectrum_tables_cuda.hpp>
#include <numeric>
#include <vector>

namespace holotone::point_cloud {

SpectrumEnd::SpectrumEnd(const SpectrumLayout& layout, const FastGrid& grid)
    : half_rows(static_cast<int>(layout.half[0])),
      half_columns(static_cast<int>(layout.half[1])),
      rows(static_cast<int>(layout.period[0])),
      columns(static_cast<int>(layout.period[1])),
      row_step(layout.frequency(0, 1)),
      column_step(layout.frequency(1, 1)),
      row_turns_step(1 / grid.steps_y),
      full(1 / layout.wavelength_m),
      least_square((1 - cone_end * cone_end) * full * full),
      steep_squares(cone_begin * cone_begin * full * full),
      middle_m(layout.middle_m),
      scale((layout.falloff ? 1 : full * grid.largest_m) /
            (static_cast<double>(element_count(layout.period)) * layout.pitch_m * layout.pitch_m)),
      falloff(layout.falloff) {}

void SpectrumTables::make(const SpectrumGrid& choice) {
  grid_ = choice.grid;
  reserve(wave_tiles_, std::ssize(choice.tiles), queue_);
  copy_bytes(wave_tiles_.data(), queue_.device(), choice.tiles.data(), Device{}, choice.tiles.size() * sizeof(WaveTile),
             queue_);
  grid_.wave_tiles = wave_tiles_.data();
  const WindowTransform transform(choice.window, 0.5);
  const auto factor = [&](double frequency) { return static_cast<float>(1 / transform(frequency)); };
  std::vector<float> host;
  for (int i = 0; i < grid_.tile_width; ++i) host.push_back(factor((i - grid_.tile_width / 2) / grid_.steps_x));
  for (int i = 0; i < grid_.tile_height; ++i) host.push_back(factor((i - grid_.tile_height / 2) / grid_.steps_y));
  const auto rows_begin = host.begin() + grid_.tile_width;
  largest_column_factor_ = *std::max_element(host.begin(), rows_begin);
  largest_row_factor_ = *std::max_element(rows_begin, host.end());
  row_factor_sum_ = std::accumulate(rows_begin, host.end(), 0.0F);
  const double half_range = 0.5 / choice.window.upsampling;
  for (int i = 0; i < FastFactors::table_size + 2; ++i)
    host.push_back(factor(half_range * i / FastFactors::table_size));
  const std::size_t lights = host.size();
  for (const std::size_t axis : {0, 1}) {
    const auto light = axis_light(choice.layout, axis);
    host.insert(host.end(), light.begin(), light.end());
  }
  reserve(tables_, std::ssize(host), queue_);
  copy_bytes(tables_.data(), queue_.device(), host.data(), Device{}, host.size() * sizeof(float), queue_);
  queue_.synchronize();
  const float* const base = tables_.data();
  factors_ = {base, base + grid_.tile_width, base + grid_.tile_width + grid_.tile_height,
              static_cast<float>(FastFactors::table_size / half_range)};
  end_.emplace(choice.layout, grid_);
  end_->row_light = base + lights;
  end_->column_light = end_->row_light + 2 * choice.layout.half[0] + 1;
}

}  // namespace holotone::point_cloud
