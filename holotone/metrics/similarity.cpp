#include <array>
#include <cmath>
#include <holotone/metrics/loops_detail.hpp>
#include <holotone/metrics/similarity.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace holotone {
namespace {

template <std::size_t Rank>
void require_pair(std::string_view where, const View<const float, Rank>& a, const View<const float, Rank>& b) {
  if (a.empty()) throw_argument(where, "a", "a picture", "none");
  require_device(where, "a", Device{}, a.device());
  require_view(where, "b", b, a.shape(), Device{});
}

/// The Gaussian window along one axis; sums to 1.
std::vector<double> make_window(const SsimOptions& options) {
  std::vector<double> window;
  for (int i = -options.radius; i <= options.radius; ++i) {
    window.push_back(std::exp(-i * i / (2 * options.sigma * options.sigma)));
  }
  const double sum = std::accumulate(window.begin(), window.end(), 0.0);
  for (auto& value : window) value /= sum;
  return window;
}

/// Moments under the window: a, b, a^2, b^2 and a b.
using Moments = std::array<double, 5>;

struct Constants {
  double c1;
  double c2;
};

double similarity(const Moments& m, const Constants& c) {
  const double variance_a = m[2] - m[0] * m[0];
  const double variance_b = m[3] - m[1] * m[1];
  const double covariance = m[4] - m[0] * m[1];
  return (2 * m[0] * m[1] + c.c1) * (2 * covariance + c.c2) /
         ((m[0] * m[0] + m[1] * m[1] + c.c1) * (variance_a + variance_b + c.c2));
}

/// Sums the similarities over one row of window positions: moments along columns first, then along the row.
double row_sum(View<const float, 2> a, View<const float, 2> b, std::int64_t row, const std::vector<double>& window,
               const Constants& constants) {
  const std::int64_t nx = a.shape()[1];
  const auto size = static_cast<std::int64_t>(window.size());
  std::vector<Moments> columns(static_cast<std::size_t>(nx), Moments{});
  for (std::int64_t y = 0; y < size; ++y) {
    const double weight = window[static_cast<std::size_t>(y)];
    const float* const line_a = a.data() + (row + y) * nx;
    const float* const line_b = b.data() + (row + y) * nx;
    for (std::int64_t x = 0; x < nx; ++x) {
      const auto u = static_cast<double>(line_a[x]);
      const auto v = static_cast<double>(line_b[x]);
      auto& m = columns[static_cast<std::size_t>(x)];
      m[0] += weight * u;
      m[1] += weight * v;
      m[2] += weight * u * u;
      m[3] += weight * v * v;
      m[4] += weight * u * v;
    }
  }
  double sum = 0;
  for (std::int64_t x = 0; x + size <= nx; ++x) {
    Moments m{};
    for (std::int64_t i = 0; i < size; ++i) {
      const auto& column = columns[static_cast<std::size_t>(x + i)];
      for (std::size_t k = 0; k < m.size(); ++k) m[k] += window[static_cast<std::size_t>(i)] * column[k];
    }
    sum += similarity(m, constants);
  }
  return sum;
}

/// Y, Cb and Cr of a pixel; Y alone of a grey one.
std::array<double, 3> luma_chroma(const float* pixel, bool colour) {
  const auto red = static_cast<double>(pixel[0]);
  if (!colour) return {red, 0, 0};
  const auto blue = static_cast<double>(pixel[2]);
  const double luma = 0.2126 * red + 0.7152 * static_cast<double>(pixel[1]) + 0.0722 * blue;
  return {luma, (blue - luma) / 1.8556, (red - luma) / 1.5748};
}

}  // namespace

double mean_square_error(View<const float, 2> a, View<const float, 2> b) {
  require_pair("mean_square_error", a, b);
  const auto u = a.host();
  const auto v = b.host();
  double sum = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double difference = static_cast<double>(u[i]) - static_cast<double>(v[i]);
    sum += difference * difference;
  }
  return sum / static_cast<double>(u.size());
}

double psnr_db(double mean_square_error, double peak) {
  require_positive("psnr_db", "peak", peak);
  require_range("psnr_db", "mean_square_error", mean_square_error, 0, std::numeric_limits<double>::max());
  if (mean_square_error == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(peak * peak / mean_square_error);
}

double ssim(View<const float, 2> a, View<const float, 2> b, const SsimOptions& options) {
  constexpr std::string_view where = "ssim";
  require_pair(where, a, b);
  require_positive(where, "range", options.range);
  require_positive(where, "sigma", options.sigma);
  require_range(where, "radius", options.radius, 0, 1000);
  require_range(where, "k1", options.k1, 0, 1);
  require_range(where, "k2", options.k2, 0, 1);
  const auto window = make_window(options);
  const auto size = static_cast<std::int64_t>(window.size());
  const auto [ny, nx] = a.shape();
  if (ny < size || nx < size) {
    throw_argument(where, "a", "at least " + std::to_string(size) + " pixels a side", to_string<2>(a.shape()));
  }
  const auto square = [](double value) { return value * value; };
  const Constants constants{square(options.k1 * options.range), square(options.k2 * options.range)};
  // Row sums are added in order, so that the result is independent of the number of threads.
  std::vector<double> sums(static_cast<std::size_t>(ny - size + 1));
  metrics::loop(ny - size + 1, a.size(),
                [&](std::int64_t row) { sums[static_cast<std::size_t>(row)] = row_sum(a, b, row, window, constants); });
  const double places = static_cast<double>(ny - size + 1) * static_cast<double>(nx - size + 1);
  return std::accumulate(sums.begin(), sums.end(), 0.0) / places;
}

ColourSimilarity colour_similarity(View<const float, 3> a, View<const float, 3> b) {
  constexpr std::string_view where = "colour_similarity";
  require_pair(where, a, b);
  const auto [ny, nx, channels] = a.shape();
  require_range(where, "channels", static_cast<double>(channels), 1, 4);
  const bool colour = channels >= 3;
  std::array<Array<float, 2>, 2> luma{Array<float, 2>({ny, nx}), Array<float, 2>({ny, nx})};
  std::array<double, 3> squares{};  // of Y, Cb and Cr
  for (std::int64_t i = 0; i < ny * nx; ++i) {
    std::array<std::array<double, 3>, 2> moments{};
    for (std::size_t k = 0; k < 2; ++k) {
      moments[k] = luma_chroma((k == 0 ? a : b).data() + i * channels, colour);
      luma[k].data()[i] = static_cast<float>(moments[k][0]);
    }
    for (std::size_t c = 0; c < 3; ++c) squares[c] += (moments[0][c] - moments[1][c]) * (moments[0][c] - moments[1][c]);
  }
  const auto pixels = static_cast<double>(ny * nx);
  const auto psnr = [&](std::size_t c) { return psnr_db(squares[c] / pixels); };
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  ColourSimilarity result{psnr(0), none, none, none, none};
  if (colour) {
    result.psnr_cb_db = psnr(1);
    result.psnr_cr_db = psnr(2);
    result.psnr_ycbcr_db = (6 * result.psnr_y_db + result.psnr_cb_db + result.psnr_cr_db) / 8;
  }
  constexpr std::int64_t window = 2 * SsimOptions().radius + 1;
  if (ny >= window && nx >= window) result.ssim_y = ssim(luma[0].view(), luma[1].view());
  return result;
}

}  // namespace holotone
