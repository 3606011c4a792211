#include <cmath>
#include <fmt/format.h>
#include <holotone/fft/line_plan.hpp>
#include <holotone/fft/padded_filter_opencl.hpp>
#include <numbers>

namespace holotone::fft {
namespace {

using Complex = PaddedFilter::Complex;

constexpr auto source = "holotone/fft/padded_filter_opencl.cl";
constexpr int most_items = 512;  ///< of a group: more leave too few registers to an item
constexpr int most_values = 16;  ///< of an item

/// exp(-2 pi i n / length)
Array<Complex, 1> roots_of(std::int64_t length, const Queue& queue) {
  std::vector<Complex> host(static_cast<std::size_t>(length));
  for (std::size_t n = 0; n < host.size(); ++n) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(length);
    host[n] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }
  Array<Complex, 1> roots({length}, queue);
  copy_bytes(roots.data(), queue.device(), host.data(), Device{}, roots.bytes(), queue);
  return roots;
}

/// Local memory of a line: PITCH of padded_filter_opencl.cl at most.
std::size_t local_bytes(int length) { return sizeof(float) * static_cast<std::size_t>(length + length / 16 + 64); }

}  // namespace

struct PaddedFilter::Axis {
  LinePlan plan;
  int lines = 0;  ///< lines of a group

  /// `count` lines in groups of equal size if `whole`.
  static std::optional<Axis> make(std::int64_t padded, std::int64_t count, bool whole, const Queue& queue) {
    const cl::Device device = opencl::device_of(queue);
    const auto group = std::min<std::size_t>(most_items, opencl::info<CL_DEVICE_MAX_WORK_GROUP_SIZE>(device));
    const std::size_t local = opencl::info<CL_DEVICE_LOCAL_MEM_SIZE>(device);
    auto plan = padded % 2 == 0 ? plan_line(padded / 2, static_cast<int>(group), most_values) : std::nullopt;
    if (!plan) return std::nullopt;
    for (const int lines : {4, 2, 1}) {
      if (whole && count % lines != 0) continue;
      const auto own = static_cast<std::size_t>(lines);
      if (own * static_cast<std::size_t>(plan->items) > group || own * local_bytes(plan->length) > local) continue;
      return Axis{*plan, lines};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<std::string> options(bool rows, int strip) const {
    std::vector<std::string> all{fmt::format("-DROWS={:d}", rows),      fmt::format("-DHALF={}", plan.length),
                                 fmt::format("-DITEMS={}", plan.items), fmt::format("-DVALUES={}", plan.values),
                                 fmt::format("-DLINES={}", lines),      fmt::format("-DSTRIP={}", strip)};
    const std::size_t steps = plan.radices.size();
    for (std::size_t i = 0; i < most_steps; ++i) {
      all.push_back(fmt::format("-DRADIX_{}={}", i + 1, i < steps ? plan.radices[i] : 1));
      all.push_back(fmt::format("-DBACK_{}={}", i + 1, i < steps ? plan.radices[steps - 1 - i] : 1));
    }
    return all;
  }

  [[nodiscard]] std::size_t items() const { return static_cast<std::size_t>(plan.items * lines); }
};

std::unique_ptr<PaddedFilter> PaddedFilter::make(Shape<2> field, Shape<2> padded, const Queue& queue) {
  if (padded[0] < 2 * field[0] || padded[1] < 2 * field[1]) return nullptr;
  const auto columns = Axis::make(padded[0], padded[1], true, queue);
  const auto rows = Axis::make(padded[1], field[0], false, queue);
  if (!columns || !rows) return nullptr;
  return std::unique_ptr<PaddedFilter>(new PaddedFilter(field, *rows, *columns, queue));
}

PaddedFilter::PaddedFilter(Shape<2> field, const Axis& rows, const Axis& columns, const Queue& queue)
    : field_(field),
      padded_{2 * columns.plan.length, 2 * rows.plan.length},
      row_items_(rows.items()),
      column_items_(columns.items()),
      row_groups_(static_cast<std::size_t>((field[0] + rows.lines - 1) / rows.lines)),
      column_groups_(static_cast<std::size_t>(padded_[1] / columns.lines)),
      rows_forward_(queue, source, "rows_forward", rows.options(true, columns.lines)),
      rows_back_(queue, source, "rows_back", rows.options(true, columns.lines)),
      columns_(queue, source, "columns", columns.options(false, columns.lines)),
      roots_x_(roots_of(padded_[1], queue)),
      roots_y_(roots_of(padded_[0], queue)),
      strips_({field[0] * padded_[1]}, queue) {}

void PaddedFilter::execute(const Complex* input, const Complex* transfer, Complex* field, float* intensity) {
  const auto ny = static_cast<cl_int>(field_[0]);
  const auto nx = static_cast<cl_int>(field_[1]);
  const auto lx = static_cast<cl_int>(padded_[1]);
  const opencl::Range of_rows{row_groups_ * row_items_, 1, 1};
  const Complex* const strips = strips_.data();
  rows_forward_(of_rows, {row_items_, 1, 1}, input, strips, static_cast<const Complex*>(roots_x_.data()), ny, nx);
  columns_({column_groups_ * column_items_, 1, 1}, {column_items_, 1, 1}, strips, transfer,
           static_cast<const Complex*>(roots_y_.data()), ny, lx);
  rows_back_(of_rows, {row_items_, 1, 1}, strips, field, intensity, static_cast<const Complex*>(roots_x_.data()), ny,
             nx);
}

std::size_t PaddedFilter::workspace_bytes() const { return roots_x_.bytes() + roots_y_.bytes() + strips_.bytes(); }

}  // namespace holotone::fft
