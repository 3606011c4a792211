// The exponential of semicircle: its transform, its errors, its choice for a tolerance, its polynomials.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/nufft/window.hpp>
#include <map>
#include <mutex>
#include <numbers>
#include <tuple>
#include <utility>

namespace holotone {
namespace {

constexpr int widest = 16;
constexpr std::size_t max_aliases = 3;
constexpr double highest_alias = max_aliases + 0.5;
constexpr int frequencies = 16;
/// Share of the sum that adding one of many equal float32 numbers loses (measured for 1,000 to 100,000 of them).
constexpr double loss_an_addition = 6.3e-9;

struct LegendreNode {
  double place;  ///< in [-1, 1]
  double weight;
};

/// Nodes of Gauss-Legendre quadrature, by Newton's method.
std::vector<LegendreNode> make_legendre_nodes(int count) {
  std::vector<LegendreNode> nodes;
  for (int i = 0; i < count; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (count + 0.5));
    double slope = 0;
    for (int step = 0; step < 6; ++step) {
      double before = 1;
      double here = x;
      for (int k = 2; k <= count; ++k) {
        before = std::exchange(here, ((2 * k - 1) * x * here - (k - 1) * before) / k);
      }
      slope = count * (x * here - before) / (x * x - 1);
      x -= here / slope;
    }
    nodes.push_back({x, 2 / ((1 - x * x) * slope * slope)});
  }
  return nodes;
}

/// The same, kept for the process: the search for a window asks for the same counts again and again.
const std::vector<LegendreNode>& legendre_nodes(int count) {
  static std::mutex mutex;
  static std::map<int, std::vector<LegendreNode>> known;
  const std::scoped_lock lock(mutex);
  auto found = known.find(count);
  if (found == known.end()) found = known.emplace(count, make_legendre_nodes(count)).first;
  return found->second;
}

// beta = shape * pi * width * (1 - 1 / (2 upsampling)): where phihat has fallen to the level of the jump at the
// window's ends at the lowest aliased frequency, a little inside the cut-off at shape = 1.
double beta_of(double shape, int width, double upsampling) {
  return shape * std::numbers::pi * width * (1 - 0.5 / upsampling);
}

/// Returns the window of least error with a shape between 0.85 and 1.05, by golden section.
SpreadWindow best_window(int width, double upsampling, int axes, WindowError error) {
  const auto error_at = [&](const SpreadWindow& window) { return window_error(window, axes, error); };
  const auto at = [&](double shape) { return SpreadWindow{width, beta_of(shape, width, upsampling), upsampling}; };
  constexpr double ratio = 0.618033988749895;
  double low = 0.85;
  double high = 1.05;
  double inner_low = high - ratio * (high - low);
  double inner_high = low + ratio * (high - low);
  double error_low = error_at(at(inner_low));
  double error_high = error_at(at(inner_high));
  while (high - low > 2e-3) {
    if (error_low < error_high) {
      high = inner_high;
      inner_high = inner_low;
      error_high = error_low;
      inner_low = high - ratio * (high - low);
      error_low = error_at(at(inner_low));
    } else {
      low = inner_low;
      inner_low = inner_high;
      error_low = error_high;
      inner_high = low + ratio * (high - low);
      error_high = error_at(at(inner_high));
    }
  }
  return at((low + high) / 2);
}

}  // namespace

double window_value(const SpreadWindow& window, double distance) {
  const double u = 2 * distance / window.width;
  return u * u > 1 ? 0 : std::exp(window.beta * (std::sqrt(1 - u * u) - 1));
}

// The substitution d = (width / 2) sin a makes the integrand analytic on [0, pi / 2]: Gauss-Legendre converges faster
// than any power once it resolves the cosine. Nodes stand for d and -d.
WindowTransform::WindowTransform(const SpreadWindow& window, double highest_frequency) {
  const double half = window.width / 2.0;
  const int count = 16 + static_cast<int>(std::numbers::pi * highest_frequency * half + 0.25 * window.beta);
  for (const auto& [place, weight] : legendre_nodes(count)) {
    const double angle = 0.25 * std::numbers::pi * (1 + place);
    const double step = 0.25 * std::numbers::pi * weight;
    const double cosine = std::cos(angle);
    Node node{2 * std::numbers::pi * half * std::sin(angle),
              2 * std::exp(window.beta * (cosine - 1)) * cosine * step * half,
              {},
              {}};
    for (std::size_t m = 0; m < max_aliases; ++m) {
      node.alias_cos[m] = std::cos(node.turns * static_cast<double>(m + 1));
      node.alias_sin[m] = std::sin(node.turns * static_cast<double>(m + 1));
    }
    nodes_.push_back(node);
  }
}

double WindowTransform::operator()(double frequency) const {
  double sum = 0;
  for (const auto& node : nodes_) sum += node.weight * std::cos(node.turns * frequency);
  return sum;
}

double WindowTransform::aliases(double frequency, int power) const {
  std::array<double, max_aliases> even{};  // phihat(f + m) = even - odd, phihat(f - m) = even + odd
  std::array<double, max_aliases> odd{};
  double derivative = 0;
  for (const auto& node : nodes_) {
    const double cosine = node.weight * std::cos(node.turns * frequency);
    const double sine = node.weight * std::sin(node.turns * frequency);
    derivative += cosine;
    for (std::size_t m = 0; m < max_aliases; ++m) {
      even[m] += cosine * node.alias_cos[m];
      odd[m] += sine * node.alias_sin[m];
    }
  }
  double sum = 0;
  for (std::size_t m = 0; m < max_aliases; ++m) {
    for (const double value : {even[m] - odd[m], even[m] + odd[m]}) sum += power == 1 ? std::abs(value) : value * value;
  }
  return sum / (power == 1 ? std::abs(derivative) : derivative * derivative);
}

double window_transform(const SpreadWindow& window, double frequency) {
  return WindowTransform(window, std::abs(frequency))(frequency);
}

double window_error(const SpreadWindow& window) {
  const WindowTransform transform(window, highest_alias);
  // The error rises steeply towards the last mode: frequencies are densest there.
  double mean = 0;
  double total = 0;
  for (int i = 0; i < frequencies; ++i) {
    const double angle = 0.5 * std::numbers::pi * (i + 0.5) / frequencies;
    const double frequency = std::sin(angle) * 0.5 / window.upsampling;
    const double weight = std::cos(angle);
    mean += weight * transform.aliases(frequency, 2);
    total += weight;
  }
  return std::sqrt(mean / total);
}

double window_worst_error(const SpreadWindow& window) {
  const WindowTransform transform(window, highest_alias);
  constexpr int steps = 4 * frequencies;
  double worst = 0;
  for (int i = 0; i <= steps; ++i) {
    const double frequency = 0.5 / window.upsampling * i / steps;
    worst = std::max(worst, transform.aliases(frequency, 1));
  }
  return worst;
}

double window_error(const SpreadWindow& window, int axes, WindowError error) {
  if (error == WindowError::worst) return std::pow(1 + window_worst_error(window), axes) - 1;
  return std::sqrt(static_cast<double>(axes)) * window_error(window);
}

double window_noise_gain(const SpreadWindow& window) {
  const WindowTransform transform(window, 0.5);
  double power = 0;
  double inverse = 0;
  for (int i = 0; i < frequencies; ++i) {
    const double value = transform((i + 0.5) / frequencies * 0.5 / window.upsampling);
    power += value * value / frequencies;
    inverse += 1 / (value * value) / frequencies;
  }
  return std::sqrt(power * inverse);
}

std::int64_t longest_float_sum(const SpreadWindow& window, double error, int axes) {
  return std::max<std::int64_t>(1,
                                std::llround(error / (loss_an_addition * std::pow(window_noise_gain(window), axes))));
}

SpreadWindow choose_window(double tolerance, double upsampling, int axes, WindowError error) {
  // The windows of a process are few, and a search takes milliseconds.
  static std::mutex mutex;
  static std::map<std::tuple<double, double, int, WindowError>, SpreadWindow> known;
  const std::tuple key{tolerance, upsampling, axes, error};
  {
    const std::scoped_lock lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  // Errors fall by about exp(-pi sqrt(1 - 1 / upsampling)) per node: the search begins a little below that width.
  const double fall = std::numbers::pi * std::sqrt(1 - 1 / upsampling);
  const int guess = static_cast<int>(std::log(1 / tolerance) / fall) - 1;
  double reached = 0;
  for (int width = std::clamp(guess, 2, widest); width <= widest; ++width) {
    const SpreadWindow window = best_window(width, upsampling, axes, error);
    reached = window_error(window, axes, error);
    if (reached > tolerance) continue;
    const std::scoped_lock lock(mutex);
    return known[key] = window;
  }
  throw_argument("choose_window", "tolerance", fmt::format("at least {:.1e} for upsampling {:g}", reached, upsampling),
                 fmt::format("{:g}", tolerance));
}

WindowPolynomial window_polynomial(const SpreadWindow& window, double error) {
  const int width = window.width;
  const int stride = (width + 3) / 4 * 4;
  const auto value = [&](int node, double t) { return window_value(window, node - width / 2.0 + (1 + t) / 2); };
  WindowPolynomial result;
  for (int degree = 3; degree <= 24; ++degree) {
    const int count = degree + 1;
    result = {degree, stride, std::vector<double>(static_cast<std::size_t>(count * stride), 0.0)};
    double worst = 0;
    for (int node = 0; node < width; ++node) {
      // Interpolation at Chebyshev points, first as a Chebyshev series, then as powers.
      std::vector<double> series(static_cast<std::size_t>(count), 0.0);
      for (int k = 0; k < count; ++k) {
        for (int i = 0; i < count; ++i) {
          const double angle = std::numbers::pi * (i + 0.5) / count;
          series[static_cast<std::size_t>(k)] +=
              (k == 0 ? 1.0 : 2.0) / count * value(node, std::cos(angle)) * std::cos(k * angle);
        }
      }
      std::vector<double> before(static_cast<std::size_t>(count), 0.0);
      std::vector<double> here(static_cast<std::size_t>(count), 0.0);
      before[0] = 1;
      if (count > 1) here[1] = 1;
      const auto add = [&](const std::vector<double>& polynomial, double factor) {
        for (int k = 0; k < count; ++k) {
          result.coefficient[static_cast<std::size_t>(k * stride + node)] +=
              factor * polynomial[static_cast<std::size_t>(k)];
        }
      };
      add(before, series[0]);
      for (int k = 1; k < count; ++k) {
        add(here, series[static_cast<std::size_t>(k)]);
        std::vector<double> next(static_cast<std::size_t>(count), 0.0);
        for (int i = 0; i < count; ++i) {
          next[static_cast<std::size_t>(i)] =
              (i > 0 ? 2 * here[static_cast<std::size_t>(i - 1)] : 0) - before[static_cast<std::size_t>(i)];
        }
        before = here;
        here = next;
      }
      for (int i = 0; i <= 64; ++i) {
        const double t = -1 + 2 * (i + 0.5) / 65;
        double sum = 0;
        for (int k = degree; k >= 0; --k)
          sum = sum * t + result.coefficient[static_cast<std::size_t>(k * stride + node)];
        worst = std::max(worst, std::abs(sum - value(node, t)));
      }
    }
    if (worst < error) return result;
  }
  return result;
}

}  // namespace holotone
