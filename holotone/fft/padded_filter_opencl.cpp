#include <cmath>
#include <fmt/format.h>
#include <holotone/fft/line_plan.hpp>
#include <holotone/fft/padded_filter_opencl.hpp>
#include <numbers>

namespace holotone::fft {
namespace {

using Complex = PaddedFilter::Complex;

constexpr auto source = "holotone/fft/padded_filter_opencl.cl";
constexpr int max_items = 512;  ///< of a group: more leave too few registers to an item
constexpr int max_values = 16;  ///< of an item

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

constexpr std::int64_t strip = 4;  ///< columns side by side between the passes

}  // namespace

struct PaddedFilter::Axis {
  LinePlan plan;
  int parts = 1;  ///< 2 halves the local memory in which values change places

  static std::optional<Axis> make(std::int64_t padded, const Queue& queue, std::size_t local_bytes) {
    const cl::Device device = opencl::device_of(queue);
    const auto items = std::min<std::size_t>(max_items, opencl::info<CL_DEVICE_MAX_WORK_GROUP_SIZE>(device));
    const auto local = std::min<std::size_t>(local_bytes, opencl::info<CL_DEVICE_LOCAL_MEM_SIZE>(device));
    auto plan = padded % 2 == 0 ? plan_line(padded / 2, static_cast<int>(items), max_values) : std::nullopt;
    if (!plan) return std::nullopt;
    const auto room = sizeof(Complex) * static_cast<std::size_t>((plan->length + 511) / 512 * 512);
    const auto kept = sizeof(Complex) * static_cast<std::size_t>(plan->items * plan->values);
    for (const int parts : {1, 2}) {
      if (room / static_cast<std::size_t>(parts) + kept <= local) return Axis{*plan, parts};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<std::string> options(bool rows) const {
    std::vector<std::string> all{fmt::format("-DROWS={:d}", rows),      fmt::format("-DHALF={}", plan.length),
                                 fmt::format("-DITEMS={}", plan.items), fmt::format("-DVALUES={}", plan.values),
                                 fmt::format("-DPARTS={}", parts),      fmt::format("-DSTRIP={}", strip)};
    const std::size_t steps = plan.radices.size();
    for (std::size_t i = 0; i < max_steps; ++i) {
      all.push_back(fmt::format("-DRADIX_{}={}", i + 1, i < steps ? plan.radices[i] : 1));
      all.push_back(fmt::format("-DBACK_{}={}", i + 1, i < steps ? plan.radices[steps - 1 - i] : 1));
    }
    return all;
  }
};

std::unique_ptr<PaddedFilter> PaddedFilter::make(Shape<2> field, Shape<2> padded, const Queue& queue,
                                                 std::size_t local_bytes) {
  if (padded[0] < 2 * field[0] || padded[1] < 2 * field[1]) return nullptr;
  const auto rows = Axis::make(padded[1], queue, local_bytes);
  const auto columns = Axis::make(padded[0], queue, local_bytes);
  if (!rows || !columns) return nullptr;
  return std::unique_ptr<PaddedFilter>(new PaddedFilter(field, *rows, *columns, queue));
}

PaddedFilter::PaddedFilter(Shape<2> field, const Axis& rows, const Axis& columns, const Queue& queue)
    : queue_(queue),
      field_(field),
      padded_{2 * columns.plan.length, 2 * rows.plan.length},
      row_items_(static_cast<std::size_t>(rows.plan.items)),
      column_items_(static_cast<std::size_t>(columns.plan.items)),
      rows_forward_(queue, source, "rows_forward", rows.options(true)),
      rows_back_(queue, source, "rows_back", rows.options(true)),
      columns_(queue, source, "columns", columns.options(false)),
      roots_x_(roots_of(padded_[1], queue)),
      roots_y_(roots_of(padded_[0], queue)),
      strips_({whole_strips() * strip * field[0]}, queue) {}

std::int64_t PaddedFilter::whole_strips() const { return (padded_[1] + strip - 1) / strip; }

void PaddedFilter::forward(const Complex* input) {
  rows_forward_(over_rows(), {row_items_, 1, 1}, input, strips_.data(), roots_x_.data(), static_cast<cl_int>(field_[0]),
                static_cast<cl_int>(field_[1]));
}

void PaddedFilter::apply(const Complex* transfer, Complex* field, float* intensity, bool keep) {
  const auto ny = static_cast<cl_int>(field_[0]);
  const auto nx = static_cast<cl_int>(field_[1]);
  const auto lx = static_cast<cl_int>(padded_[1]);
  if (keep && product_.empty()) product_ = Array<Complex, 1>(strips_.shape(), queue_);
  const opencl::Range over_columns{static_cast<std::size_t>(whole_strips() * strip) * column_items_, 1, 1};
  Array<Complex, 1>& target = keep ? product_ : strips_;
  columns_(over_columns, {column_items_, 1, 1}, strips_.data(), target.data(), transfer, roots_y_.data(), ny, lx);
  rows_back_(over_rows(), {row_items_, 1, 1}, target.data(), field, intensity, roots_x_.data(), ny, nx);
}

opencl::Range PaddedFilter::over_rows() const { return {static_cast<std::size_t>(field_[0]) * row_items_, 1, 1}; }

std::size_t PaddedFilter::workspace_bytes() const {
  return roots_x_.bytes() + roots_y_.bytes() + strips_.bytes() + product_.bytes();
}

}  // namespace holotone::fft
