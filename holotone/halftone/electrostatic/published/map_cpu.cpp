// Neighbours by the paper's map (Gwosdek et al., 5.2): one dot per cell.
#include <cmath>
#include <holotone/core/simd.hpp>
#include <holotone/halftone/electrostatic/engine_cpu.hpp>
#include <utility>

namespace holotone::electrostatic {
namespace {

/// Side of a cell in spacings of dots where the ink is densest: the map holds four times that density.
constexpr double map_side = 0.5;
constexpr double max_rows = 16384;
/// Number of cells to the right of the near field that are also searched, for dots whose own cell was occupied.
constexpr std::int64_t extra_cells = 2;
/// Number of cells searched for a free one before a dot is left out.
constexpr std::int64_t longest_way = 64;
constexpr std::uint32_t nobody = 0xFFFFFFFF;

class MapNeighbours final : public NeighbourSum {
 public:
  MapNeighbours(const Setup& setup, NearKernel kernel)
      : kernel_(std::move(kernel)),
        page_(setup.page),
        max_dots_(static_cast<double>(std::max<std::int64_t>(setup.maximum_dots, 1))),
        same_place_force_(static_cast<float>(setup.same_place_force)) {}

  void set_ink(const float* ink) override {
    const auto height = static_cast<double>(page_[0]);
    const auto width = static_cast<double>(page_[1]);
    side_ = std::max(map_side / std::sqrt(max_dots_ * densest_ink(page_, ink)), std::max(height, width) / max_rows);
    rows_ = static_cast<std::int64_t>(std::ceil(height / side_));
    columns_ = static_cast<std::int64_t>(std::ceil(width / side_));
    row_length_ = columns_ + longest_way;
    cell_.resize(static_cast<std::size_t>(rows_ * row_length_));
  }

  void add(const DotList& dots, const Cells&, float* force_x, float* force_y) override {
    fill(dots);
    parallel_for(0, rows_, [&](std::int64_t row) {
      for (std::int64_t column = 0; column < row_length_; ++column) {
        const std::uint32_t dot = cell_[static_cast<std::size_t>(row * row_length_ + column)];
        if (dot != nobody) add_one(dots, dot, force_x[dot], force_y[dot]);
      }
    });
    // Dots without a cell still receive the forces of the others.
    for (const std::uint32_t dot : left_out_) add_one(dots, dot, force_x[dot], force_y[dot]);
  }

  std::int64_t missed(const DotList& dots, const Cells& order) override {
    fill(dots);
    const auto cutoff = static_cast<float>(kernel_.cutoff);
    std::vector<std::int64_t> missed(static_cast<std::size_t>((dots.count + task_dots - 1) / task_dots));
    over_dots(dots.count, [&](std::int64_t task, std::int64_t begin, std::int64_t end) {
      std::int64_t sum = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const auto dot = static_cast<std::size_t>(i);
        const float x = dots.x[dot];
        const float y = dots.y[dot];
        const auto near = [&](std::size_t other) {
          const float dx = x - dots.x[other];
          const float dy = y - dots.y[other];
          return other != dot && dx * dx + dy * dy < cutoff * cutoff;
        };
        for (std::int64_t row = order.row(y - cutoff); row <= order.row(y + cutoff); ++row) {
          const std::int64_t last = order.start(row, order.column(x + cutoff) + 1);
          for (std::int64_t j = order.start(row, order.column(x - cutoff)); j < last; ++j) {
            sum += near(static_cast<std::size_t>(j)) ? 1 : 0;
          }
        }
        over_found(x, y, [&](std::uint32_t other) { sum -= near(other) ? 1 : 0; });
      }
      missed[static_cast<std::size_t>(task)] = sum;
    });
    std::int64_t sum = 0;
    for (const auto part : missed) sum += part;
    return sum;
  }

  [[nodiscard]] std::size_t bytes() const override {
    return (cell_.capacity() + left_out_.capacity()) * sizeof(std::uint32_t);
  }

 private:
  [[nodiscard]] std::int64_t place(float coordinate, std::int64_t count) const {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(coordinate) / side_), 0, count - 1);
  }

  /// Puts every dot into its cell or the next free one to the right. The list is sorted down the page, so the same dots
  /// give the same map.
  void fill(const DotList& dots) {
    std::fill(cell_.begin(), cell_.end(), nobody);
    left_out_.clear();
    for (std::int64_t i = 0; i < dots.count; ++i) {
      const auto dot = static_cast<std::size_t>(i);
      auto at = static_cast<std::size_t>(place(dots.y[dot], rows_) * row_length_ + place(dots.x[dot], columns_));
      const std::size_t end = at + longest_way;
      while (at < end && cell_[at] != nobody) ++at;
      if (at < end) {
        cell_[at] = static_cast<std::uint32_t>(i);
      } else {
        left_out_.push_back(static_cast<std::uint32_t>(i));
      }
    }
  }

  template <class Action>
  void over_found(float x, float y, const Action& action) const {
    const auto cutoff = static_cast<float>(kernel_.cutoff);
    const std::int64_t first = place(x - cutoff, columns_);
    const std::int64_t last = std::min(place(x + cutoff, columns_) + extra_cells, row_length_ - 1);
    for (std::int64_t row = place(y - cutoff, rows_); row <= place(y + cutoff, rows_); ++row) {
      const std::uint32_t* const cells = cell_.data() + row * row_length_;
      for (std::int64_t column = first; column <= last; ++column) {
        if (cells[column] != nobody) action(cells[column]);
      }
    }
  }

  void add_one(const DotList& dots, std::uint32_t dot, float& force_x, float& force_y) const {
    const float x = dots.x[dot];
    const float y = dots.y[dot];
    const auto limit = static_cast<float>(kernel_.cutoff * kernel_.cutoff);
    float sum_x = 0;
    float sum_y = 0;
    over_found(x, y, [&](std::uint32_t other) {
      const float dx = x - dots.x[other];
      const float dy = y - dots.y[other];
      const float v = dx * dx + dy * dy;
      if (other == dot || v >= limit) return;
      if (v <= static_cast<float>(same_place_px * same_place_px)) {
        add_same_place(dots.index[dot], dots.index[other], same_place_force_, sum_x, sum_y);
        return;
      }
      const float s = 1 - v / limit;
      float share = 0;
      for (std::size_t k = kernel_.coefficient.size(); k-- > 0;) share = (share + kernel_.coefficient[k]) * s;
      const float size = share / v;
      sum_x += size * dx;
      sum_y += size * dy;
    });
    force_x += sum_x;
    force_y += sum_y;
  }

  NearKernel kernel_;
  Shape<2> page_;
  double max_dots_;
  float same_place_force_;
  double side_ = 1;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t row_length_ = 0;
  std::vector<std::uint32_t> cell_;
  std::vector<std::uint32_t> left_out_;
};

}  // namespace

std::unique_ptr<NeighbourSum> neighbours_by_map(const Setup& setup, const NearKernel& kernel) {
  return std::make_unique<MapNeighbours>(setup, kernel);
}

}  // namespace holotone::electrostatic
