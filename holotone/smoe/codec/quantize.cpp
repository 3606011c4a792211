// Quantization of models and its inverse.
// Needs -ffp-contract=off: a file decodes to the same floats on every machine, by IEEE operations in the order written.
#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/codec/codec_detail.hpp>
#include <limits>
#include <numeric>

namespace holotone::smoe {
namespace {

constexpr const char* where = "encode_smoe";
constexpr double max_log2_deviation = 40;
constexpr double max_skew = 256;
constexpr double widest_colour_step = 1024;
constexpr double max_place = 0x1p22 - 1;  // steps are distinct in float32
constexpr double log2_e = 1.4426950408889634;
constexpr double third = 0.57735026918962576;  // 1 / sqrt(3)
constexpr double half = 0.70710678118654752;   // 1 / sqrt(2)
constexpr double sixth = 0.40824829046386302;  // 1 / sqrt(6)

Channels recorrelated(const Channels& c, int channels) {
  if (channels < 3) return c;
  const double mean = third * c[0];
  const double across = half * c[1];
  const double green = sixth * c[2];
  return {(mean + across) + green, mean - (green + green), (mean - across) + green, c[3]};
}

/// U of R = U U^T from a component's quantized numbers.
Matrix upper_factor(const CodedModel& coded, const std::int32_t* values) {
  const auto layout = coded.layout();
  const int d = layout.dimensions;
  Matrix u{};
  for (int row = 0; row < d; ++row) {
    u[row][row] = exact_exp2(static_cast<double>(values[layout.shape(row, row)]) * coded.info.steps.shape);
    for (int column = row + 1; column < d; ++column) {
      u[row][column] = (static_cast<double>(values[layout.shape(row, column)]) * coded.info.steps.skew) * u[row][row];
    }
  }
  return u;
}

/// U of R = U U^T.
Matrix upper_factor(const Matrix& r, int d) {
  Matrix reversed{};
  for (int row = 0; row < d; ++row) {
    for (int column = 0; column < d; ++column) reversed[row][column] = r[d - 1 - row][d - 1 - column];
  }
  const Matrix l = cholesky(reversed, d).value_or(Matrix{});  // the model was checked
  Matrix u{};
  for (int row = 0; row < d; ++row) {
    for (int column = row; column < d; ++column) u[row][column] = l[d - 1 - row][d - 1 - column];
  }
  return u;
}

/// Log2 of sqrt(det R).
double log2_volume(const CodedModel& coded, const std::int32_t* values) {
  const auto layout = coded.layout();
  double sum = 0;
  for (int axis = 0; axis < layout.dimensions; ++axis) sum += static_cast<double>(values[layout.shape(axis, axis)]);
  return sum * coded.info.steps.shape;
}

/// Log2 of sqrt((pi sqrt(det R))^area_gain).
double log2_size(const CodedModel& coded, const std::int32_t* values) {
  const auto& steps = coded.info.steps;
  const double weight = static_cast<double>(values[coded.layout().weight()]) * steps.weight;
  return (0.5 * steps.area_gain) * (log2_volume(coded, values) + weight * log2_e);
}

std::int32_t to_steps(double value, double step) {
  constexpr double most = max_steps;
  return static_cast<std::int32_t>(std::clamp(std::floor(value / step + 0.5), -most, most));
}

/// Quantizes a slope with a dead zone of 2/3 step: most slopes are small, and the bits saved outweigh the added error.
std::int32_t steps_of_slope(double value, double step) {
  return std::abs(value) < step * (2.0 / 3) ? 0 : to_steps(value, step);
}

double kept(std::string_view name, double step, double low, double high) {
  require_range(where, fmt::format("steps.{}", name), step, low, high);
  return static_cast<double>(static_cast<float>(step));
}

SmoeSteps kept_steps(const SmoeModel& model, const SmoeSteps& steps) {
  constexpr double least = 0x1p-20;
  SmoeSteps kept_steps;
  for (int axis = 0; axis < model.dimensions; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    // Steps must be distinct in float32: otherwise quantizing twice would differ from quantizing once.
    const double reach = std::max({std::abs(model.low[a]), std::abs(model.high[a]), model.high[a] - model.low[a]});
    kept_steps.centre[a] = kept("centre", steps.centre[a], reach * 0x1p-20, reach * 0x1p20);
  }
  kept_steps.shape = kept("shape", steps.shape, least, 16);
  kept_steps.skew = kept("skew", steps.skew, least, 256);
  kept_steps.weight = kept("weight", steps.weight, least, 64);
  kept_steps.colour = kept("colour", steps.colour, least, widest_colour_step);
  kept_steps.chroma = kept("chroma", steps.chroma, least, widest_colour_step);
  kept_steps.slope = kept("slope", steps.slope, least, widest_colour_step);
  kept_steps.slope_chroma = kept("slope_chroma", steps.slope_chroma, least, widest_colour_step);
  kept_steps.area_gain = kept("area_gain", steps.area_gain, 0, 1);
  return kept_steps;
}

using Triangle = std::array<float, triangle_size(max_smoe_dimensions)>;

/// Quantizes a covariance. One that is not positive definite gives the least deviations without skew, which
/// quantise_gate detects.
void quantise_shape(const CodedModel& coded, const float* covariance, std::int32_t* values) {
  const auto layout = coded.layout();
  const auto& steps = coded.info.steps;
  const Matrix u = upper_factor(symmetric(covariance, layout.dimensions), layout.dimensions);
  for (int row = 0; row < layout.dimensions; ++row) {
    const double deviation = std::clamp(std::log2(u[row][row]), -max_log2_deviation, max_log2_deviation);
    values[layout.shape(row, row)] = to_steps(deviation, steps.shape);
  }
  // Preserves the shear U_ik / U_kk, not U_ik / U_ii: in a long, slanted component errors of the shear are visible, and
  // rounding of its widths would shear it.
  const Matrix kept = upper_factor(coded, values);
  for (int row = 0; row < layout.dimensions; ++row) {
    for (int column = row + 1; column < layout.dimensions; ++column) {
      const double shear = u[column][column] > 0 ? u[row][column] / u[column][column] : 0;
      const double skew = std::clamp(shear * kept[column][column] / kept[row][row], -max_skew, max_skew);
      values[layout.shape(row, column)] = to_steps(skew, steps.skew);
    }
  }
}

void put_covariance(const CodedModel& coded, const std::int32_t* values, float* covariance) {
  const int d = coded.info.dimensions;
  const Matrix u = upper_factor(coded, values);
  for (int row = 0; row < d; ++row) {
    for (int column = 0; column <= row; ++column) {
      double sum = 0;
      for (int k = row; k < d; ++k) sum += u[row][k] * u[column][k];
      *covariance++ = static_cast<float>(sum);
    }
  }
}

/// Quantizes centre, weight and shape of component j of the model.
void quantise_gate(const SmoeModel& model, std::int64_t j, CodedModel& coded, std::int32_t* values) {
  const auto layout = coded.layout();
  const auto& steps = coded.info.steps;
  const int d = layout.dimensions;
  for (int axis = 0; axis < d; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const double place =
        (static_cast<double>(model.centre[static_cast<std::size_t>(j * d + axis)]) - model.low[a]) / steps.centre[a];
    values[axis] = static_cast<std::int32_t>(std::floor(std::clamp(place, -max_place, max_place)));
  }
  values[layout.weight()] = to_steps(static_cast<double>(model.log_weight[static_cast<std::size_t>(j)]), steps.weight);
  quantise_shape(coded, model.covariance.data() + j * triangle_size(d), values);
  // Float32 cannot represent every covariance. Numbers slightly off are replaced by those of the stored covariance,
  // until quantization reproduces them. If that does not converge, the skew is halved.
  constexpr int max_taken = 8;
  constexpr std::int32_t little = 16;
  Triangle stored{};
  std::vector<std::int32_t> again(values, values + layout.size());
  for (int attempt = 0; attempt < max_taken + 32; ++attempt) {
    put_covariance(coded, values, stored.data());
    quantise_shape(coded, stored.data(), again.data());
    std::int32_t max_off = 0;
    for (int p = layout.shape(); p < layout.colour(); ++p) {
      max_off = std::max(max_off, std::abs(values[p] - again[static_cast<std::size_t>(p)]));
    }
    if (max_off == 0) return;
    if (max_off <= little && attempt < max_taken) {
      std::copy(again.begin() + layout.shape(), again.begin() + layout.colour(), values + layout.shape());
      continue;
    }
    for (int row = 0; row < d; ++row) {
      for (int column = row + 1; column < d; ++column) values[layout.shape(row, column)] /= 2;
    }
  }
}

void put_gate(const CodedModel& coded, const std::int32_t* values, std::int64_t j, SmoeModel& model) {
  const auto layout = coded.layout();
  const auto& steps = coded.info.steps;
  const int d = layout.dimensions;
  for (int axis = 0; axis < d; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    model.centre[static_cast<std::size_t>(j * d + axis)] =
        static_cast<float>(coded.info.low[a] + (static_cast<double>(values[axis]) + 0.5) * steps.centre[a]);
  }
  model.log_weight[static_cast<std::size_t>(j)] =
      static_cast<float>(static_cast<double>(values[layout.weight()]) * steps.weight);
  put_covariance(coded, values, model.covariance.data() + j * triangle_size(d));
}

/// Moves the expert of component j of `model`, as the same plane, to the centre of component k of `coded_gates`.
void move_expert(const SmoeModel& model, std::int64_t j, SmoeModel& coded_gates, std::int64_t k) {
  const int d = model.dimensions;
  const int q = model.channels;
  for (int c = 0; c < q; ++c) {
    double colour = static_cast<double>(model.colour[static_cast<std::size_t>(j * q + c)]);
    for (int axis = 0; axis < d; ++axis) {
      const float slope = model.slope[static_cast<std::size_t>((j * q + c) * d + axis)];
      colour += static_cast<double>(slope) *
                (static_cast<double>(coded_gates.centre[static_cast<std::size_t>(k * d + axis)]) -
                 static_cast<double>(model.centre[static_cast<std::size_t>(j * d + axis)]));
      coded_gates.slope[static_cast<std::size_t>((k * q + c) * d + axis)] = slope;
    }
    coded_gates.colour[static_cast<std::size_t>(k * q + c)] = static_cast<float>(
        std::clamp(colour, -double{std::numeric_limits<float>::max()}, double{std::numeric_limits<float>::max()}));
  }
}

/// Calls body(index in the values, number, step) for each number of an expert.
template <class Body>
void over_expert(const SmoeModel& gates, std::int64_t j, const CodedModel& coded, const std::int32_t* values,
                 const Body& body) {
  const auto layout = coded.layout();
  const int d = layout.dimensions;
  const int q = layout.channels;
  const auto frame = expert_frame(coded, values);
  Channels colour{};
  for (int c = 0; c < q; ++c)
    colour[static_cast<std::size_t>(c)] = static_cast<double>(gates.colour[static_cast<std::size_t>(j * q + c)]);
  colour = decorrelated(colour, q);
  for (int c = 0; c < q; ++c) {
    body(layout.colour() + c, colour[static_cast<std::size_t>(c)], frame.colour[static_cast<std::size_t>(c)]);
  }
  for (int column = 0; column < d; ++column) {
    Channels over{};
    for (int c = 0; c < q; ++c) {
      for (int row = 0; row <= column; ++row) {
        over[static_cast<std::size_t>(c)] +=
            static_cast<double>(gates.slope[static_cast<std::size_t>((j * q + c) * d + row)]) * frame.u[row][column];
      }
    }
    over = decorrelated(over, q);
    for (int c = 0; c < q; ++c) {
      body(layout.slope() + c * d + column, over[static_cast<std::size_t>(c)],
           frame.slope[static_cast<std::size_t>(c)]);
    }
  }
}

void quantise_expert(const SmoeModel& gates, std::int64_t j, const CodedModel& coded, std::int32_t* values) {
  const auto layout = coded.layout();
  over_expert(gates, j, coded, values, [&](int at, double number, double step) {
    values[at] = at < layout.slope() ? to_steps(number, step) : steps_of_slope(number, step);
  });
}

/// Widens the steps of colours or slopes if a number would exceed max_steps: colours far outside 0 to 1.
void widen_steps(const SmoeModel& gates, const std::vector<std::int32_t>& values, CodedModel& coded) {
  const auto layout = coded.layout();
  double colour = 0;
  double slope = 0;
  for (std::int64_t j = 0; j < gates.count(); ++j) {
    over_expert(gates, j, coded, values.data() + j * layout.size(), [&](int at, double number, double step) {
      double& most = at < layout.slope() ? colour : slope;
      most = std::max(most, std::abs(number) / step);
    });
  }
  auto& steps = coded.info.steps;
  const auto widen = [](double most, double& first, double& second) {
    if (!(most > max_steps)) return;
    for (double* const step : {&first, &second}) {
      *step = static_cast<double>(static_cast<float>(std::min(*step * 2 * most / max_steps, widest_colour_step)));
    }
  };
  widen(colour, steps.colour, steps.chroma);
  widen(slope, steps.slope, steps.slope_chroma);
}

void put_expert(const CodedModel& coded, const std::int32_t* values, std::int64_t j, SmoeModel& model) {
  const auto layout = coded.layout();
  const int d = layout.dimensions;
  const int q = layout.channels;
  const auto frame = expert_frame(coded, values);
  Channels colour{};
  for (int c = 0; c < q; ++c) {
    colour[static_cast<std::size_t>(c)] =
        static_cast<double>(values[layout.colour() + c]) * frame.colour[static_cast<std::size_t>(c)];
  }
  colour = recorrelated(colour, q);
  for (int c = 0; c < q; ++c) {
    model.colour[static_cast<std::size_t>(j * q + c)] = static_cast<float>(colour[static_cast<std::size_t>(c)]);
  }
  std::array<Channels, max_smoe_dimensions> slope{};  // solved for slope: slope U = stored numbers, column by column
  for (int column = 0; column < d; ++column) {
    auto& column_slope = slope[static_cast<std::size_t>(column)];
    for (int c = 0; c < q; ++c) {
      column_slope[static_cast<std::size_t>(c)] =
          static_cast<double>(values[layout.slope() + c * d + column]) * frame.slope[static_cast<std::size_t>(c)];
    }
    column_slope = recorrelated(column_slope, q);
    for (int c = 0; c < q; ++c) {
      const auto channel = static_cast<std::size_t>(c);
      for (int row = 0; row < column; ++row)
        column_slope[channel] -= slope[static_cast<std::size_t>(row)][channel] * frame.u[row][column];
      column_slope[channel] /= frame.u[column][column];
      model.slope[static_cast<std::size_t>((j * q + c) * d + column)] = static_cast<float>(column_slope[channel]);
    }
  }
}

/// Sets the origin, the minima of the first two coordinates, and the bits of the largest offset from it.
void place_curve(CodedModel& coded) {
  const int size = coded.layout().size();
  std::uint32_t most = 0;
  for (int axis = 0; axis < std::min(2, coded.info.dimensions); ++axis) {
    std::int32_t low = std::numeric_limits<std::int32_t>::max();
    std::int32_t high = std::numeric_limits<std::int32_t>::min();
    for (std::int64_t j = 0; j < coded.info.count; ++j) {
      const std::int32_t value = coded.values[static_cast<std::size_t>(j * size + axis)];
      low = std::min(low, value);
      high = std::max(high, value);
    }
    coded.origin[static_cast<std::size_t>(axis)] = low;
    most = std::max(most, static_cast<std::uint32_t>(std::int64_t{high} - low));
  }
  coded.curve_bits = static_cast<int>(std::bit_width(most));
}

/// The file's order: along the curve, then by the other numbers of the gates.
std::vector<std::int64_t> curve_order(const CodedModel& coded) {
  const auto layout = coded.layout();
  std::vector<std::uint64_t> place(static_cast<std::size_t>(coded.info.count));
  const auto values = [&](std::int64_t j) { return coded.values.data() + j * layout.size(); };
  for (std::int64_t j = 0; j < coded.info.count; ++j)
    place[static_cast<std::size_t>(j)] = curve_place(coded, values(j));
  std::vector<std::int64_t> order(place.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const auto pa = place[static_cast<std::size_t>(a)];
    const auto pb = place[static_cast<std::size_t>(b)];
    if (pa != pb) return pa < pb;
    return std::lexicographical_compare(values(a), values(a) + layout.colour(), values(b), values(b) + layout.colour());
  });
  return order;
}

void find_median(CodedModel& coded) {
  const int size = coded.layout().size();
  std::vector<double> sizes;
  sizes.reserve(static_cast<std::size_t>(coded.info.count));
  for (std::int64_t j = 0; j < coded.info.count; ++j) sizes.push_back(log2_size(coded, coded.values.data() + j * size));
  const auto middle = sizes.begin() + std::ssize(sizes) / 2;
  std::nth_element(sizes.begin(), middle, sizes.end());
  coded.median_size = static_cast<int>(std::clamp(std::floor(*middle * 256 + 0.5), -max_median_size, max_median_size));
}

}  // namespace

Channels decorrelated(const Channels& c, int channels) {
  if (channels < 3) return c;
  return {third * ((c[0] + c[1]) + c[2]), half * (c[0] - c[2]), sixth * ((c[0] + c[2]) - (c[1] + c[1])), c[3]};
}

double exact_exp2(double x) {
  const double whole = std::floor(x + 0.5);
  const double t = (x - whole) * 0.69314718055994531;  // |t| <= ln(2) / 2
  double sum = 1;
  for (int k = 15; k >= 1; --k) sum = 1 + (t / static_cast<double>(k)) * sum;
  return std::ldexp(sum, static_cast<int>(whole));
}

int size_exponent(const CodedModel& coded, const std::int32_t* values) {
  const double over = log2_size(coded, values) - static_cast<double>(coded.median_size) * 0x1p-8;
  return static_cast<int>(std::clamp(std::floor(over + 0.5), -8.0, 8.0));
}

ExpertFrame expert_frame(const CodedModel& coded, const std::int32_t* values) {
  ExpertFrame frame;
  frame.u = upper_factor(coded, values);
  const double scale = std::ldexp(1.0, -size_exponent(coded, values));
  const auto& steps = coded.info.steps;
  for (int c = 0; c < coded.info.channels; ++c) {
    const bool is_chroma = coded.info.channels >= 3 && (c == 1 || c == 2);
    const auto channel = static_cast<std::size_t>(c);
    frame.colour[channel] = (is_chroma ? steps.chroma : steps.colour) * scale;
    frame.slope[channel] = (is_chroma ? steps.slope_chroma : steps.slope) * scale;
  }
  return frame;
}

CodedModel quantise(const SmoeModel& model, const SmoeSteps& steps, SmoeModel* floats) {
  CodedModel coded;
  coded.info = make_info(model);
  coded.info.steps = kept_steps(model, steps);
  const auto layout = coded.layout();
  std::vector<std::int32_t> values(static_cast<std::size_t>(model.count() * layout.size()));
  coded.values.resize(values.size());
  for (std::int64_t j = 0; j < model.count(); ++j)
    quantise_gate(model, j, coded, coded.values.data() + j * layout.size());
  place_curve(coded);
  find_median(coded);
  const auto order = curve_order(coded);
  SmoeModel gates = empty_model(coded.info);
  for (std::int64_t k = 0; k < model.count(); ++k) {
    const std::int64_t j = order[static_cast<std::size_t>(k)];
    std::int32_t* const numbers = values.data() + k * layout.size();
    std::copy_n(coded.values.data() + j * layout.size(), layout.size(), numbers);
    put_gate(coded, numbers, k, gates);
    move_expert(model, j, gates, k);
  }
  widen_steps(gates, values, coded);
  for (std::int64_t k = 0; k < model.count(); ++k) quantise_expert(gates, k, coded, values.data() + k * layout.size());
  coded.values = std::move(values);
  if (floats != nullptr) *floats = std::move(gates);
  return coded;
}

SmoeModel quantised_gates(const SmoeModel& model, const SmoeSteps& steps) {
  CodedModel coded;
  coded.info = make_info(model);
  coded.info.steps = kept_steps(model, steps);
  SmoeModel gates = empty_model(coded.info);
  const int size = coded.layout().size();
  constexpr std::int64_t block = 64;
  parallel_for(0, (model.count() + block - 1) / block, [&](std::int64_t i) {
    std::vector<std::int32_t> values(static_cast<std::size_t>(size));
    for (std::int64_t j = i * block; j < std::min(model.count(), (i + 1) * block); ++j) {
      quantise_gate(model, j, coded, values.data());
      put_gate(coded, values.data(), j, gates);
      move_expert(model, j, gates, j);
    }
  });
  return gates;
}

SmoeModel dequantise(const CodedModel& coded) {
  SmoeModel model = empty_model(coded.info);
  const int size = coded.layout().size();
  for (std::int64_t j = 0; j < model.count(); ++j) {
    put_gate(coded, coded.values.data() + j * size, j, model);
    put_expert(coded, coded.values.data() + j * size, j, model);
  }
  return model;
}

}  // namespace holotone::smoe
