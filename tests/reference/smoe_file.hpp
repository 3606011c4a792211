#pragma once
// A decoder of .smoe files, written only from holotone/smoe/codec/FORMAT.md: plain loops, tables of maps, slow.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace reference {

struct SmoeFile {
  int d = 0;
  int q = 0;
  int flags = 0;
  std::vector<double> low;
  std::vector<double> high;
  std::vector<float> log_weight;
  std::vector<float> centre;
  std::vector<float> covariance;
  std::vector<float> colour;
  std::vector<float> slope;
};

class SmoeFileReader {
 public:
  explicit SmoeFileReader(std::vector<unsigned char> bytes) : bytes_(std::move(bytes)) {}

  SmoeFile read() {
    header();
    values_.assign(static_cast<std::size_t>(count_), std::vector<long long>(static_cast<std::size_t>(kinds_)));
    for (int i = 0; i < 4; ++i) code_ = code_ * 256 + next();
    if ((file_.flags & 1) != 0) {
      exact();
    } else {
      quantised();
    }
    return file_;
  }

 private:
  using Integer = long long;

  template <class T>
  T take() {
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);  // the tests run on little-endian machines
    at_ += sizeof value;
    return value;
  }

  void header() {
    at_ = 10;
    file_.flags = take<std::uint8_t>();
    const int d = file_.d = take<std::uint8_t>();
    const int q = file_.q = take<std::uint8_t>();
    if (take<std::uint64_t>() != bytes_.size()) throw std::runtime_error("size");
    count_ = static_cast<Integer>(take<std::uint64_t>());
    for (int a = 0; a < d; ++a) {
      file_.low.push_back(take<double>());
      file_.high.push_back(take<double>());
    }
    kinds_ = d + 1 + d * (d + 1) / 2 + q + q * d;
    if ((file_.flags & 1) != 0) return;
    for (int a = 0; a < d; ++a) s_centre_.push_back(take<float>());
    for (double& s : s_) s = static_cast<double>(take<float>());
    median_ = take<std::int32_t>();
    weight_of_shape_ = take<std::int16_t>();
    curve_bits_ = take<std::uint8_t>();
    for (Integer& o : origin_) o = take<std::int32_t>();
    for (int p = 0; p < kinds_; ++p) trust_.push_back(take<std::uint8_t>());
  }

  // ---- bits
  unsigned next() { return at_ < bytes_.size() - 4 ? bytes_[at_++] : 0; }

  bool bit(unsigned p) {
    const std::uint32_t part = (range_ >> 16) * p;
    const bool one = code_ < part;
    if (one) {
      range_ = part;
    } else {
      code_ -= part;
      range_ -= part;
    }
    while (range_ < (1U << 24)) {
      range_ *= 256;
      code_ = code_ * 256 + next();
    }
    return one;
  }

  struct Chance {
    std::uint64_t c = 1 << 21;
    std::uint64_t n = 0;
    [[nodiscard]] unsigned p() const { return static_cast<unsigned>(std::clamp<std::uint64_t>(c >> 6, 1, 65535)); }
    void learn(bool one) {
      const std::uint64_t rate = (1 << 17) / (2 * n + 4);
      if (one) {
        c += (((1 << 22) - 1 - c) * rate) >> 16;
      } else {
        c -= (c * rate) >> 16;
      }
      n = std::min<std::uint64_t>(n + 1, 250);
    }
  };

  static Integer logistic(Integer odds) {
    static const Integer table[] = {22,    36,    60,    98,    162,   267,   439,   720,   1179,  1921,  3108,
                                    4971,  7812,  11955, 17625, 24743, 32768, 40793, 47911, 53581, 57724, 60565,
                                    62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514};
    const Integer f = (odds + 2048) % 128;
    const Integer left = (odds + 2048) / 128;
    return (table[left] * (128 - f) + table[left + 1] * f) >> 7;
  }

  static Integer to_odds(unsigned p) {
    static std::map<unsigned, Integer> known;
    const auto [entry, is_new] = known.emplace(p >> 4, 2047);
    if (is_new) {
      for (Integer odds = 2047; odds >= -2047; --odds) {
        if (logistic(odds) >= static_cast<Integer>(16 * (p >> 4) + 8)) entry->second = odds;
      }
    }
    return entry->second;
  }

  using Contexts = std::array<Integer, 4>;

  bool node(int kind, const Contexts& contexts, int number) {
    auto& w =
        weights_
            .emplace(std::array<int, 2>{kind, std::min(number, 23)}, std::array<Integer, 4>{17500, 17500, 17500, 17500})
            .first->second;
    std::array<Chance*, 4> chances{};
    std::array<Integer, 4> odds{};
    Integer sum = 0;
    for (int i = 0; i < 4; ++i) {
      const auto k = static_cast<std::size_t>(i);
      chances[k] = &chances_[{kind, i, static_cast<int>(contexts[k]), number}];
      odds[k] = to_odds(chances[k]->p());
      sum += w[k] * odds[k];
    }
    const Integer mixed = sum < -(2047LL << 16) ? -2047 : sum > (2047LL << 16) ? 2047 : sum >> 16;
    const Integer p = logistic(mixed);
    const bool one = bit(static_cast<unsigned>(p));
    const Integer error = (one ? 65535 : 0) - p;
    for (std::size_t k = 0; k < 4; ++k) {
      w[k] = std::clamp<Integer>(w[k] + ((3 * odds[k] * error) >> 16), -(1 << 22), 1 << 22);
      chances[k]->learn(one);
    }
    return one;
  }

  Integer number(int kind, const Contexts& contexts, bool has_sign) {
    if (node(kind, contexts, 0)) return 0;
    const bool below = has_sign && node(kind, contexts, 1);
    int length = 1;
    while (length < 47 && node(kind, contexts, 1 + length)) ++length;
    Integer m = 1;
    for (int k = 1; k < length; ++k) {
      bool one = false;
      if (k == 1) one = node(kind, contexts, 49 + 3 * length);
      if (k == 2) one = node(kind, contexts, 49 + 3 * length + 1 + static_cast<int>(m % 2));
      if (k > 2) one = bit(1 << 15);
      m = 2 * m + (one ? 1 : 0);
    }
    return below ? -m : m;
  }

  static Integer bits(Integer v) {
    Integer length = 0;
    for (v = std::abs(v); v > 0; v /= 2) ++length;
    return length;
  }

  // ---- components
  [[nodiscard]] int at_weight() const { return file_.d; }
  [[nodiscard]] int at_shape(int row, int column) const {
    int at = file_.d + 1;
    for (int i = file_.d - 1; i > row; --i) at += file_.d - i;
    return at + column - row;
  }
  [[nodiscard]] int at_colour() const { return file_.d + 1 + file_.d * (file_.d + 1) / 2; }
  [[nodiscard]] int at_slope() const { return at_colour() + file_.q; }

  void exact() {
    std::vector<Integer> before(static_cast<std::size_t>(kinds_));
    std::vector<Integer> residual(static_cast<std::size_t>(kinds_));
    for (auto& entry : values_) {
      for (std::size_t p = 0; p < entry.size(); ++p) {
        residual[p] = number(static_cast<int>(p), {0, std::min<Integer>(bits(residual[p]), 34) / 2, 0, 0}, true);
        before[p] += residual[p];
        entry[p] = before[p];
        auto word = static_cast<std::int32_t>(before[p]);
        if (word < 0) word ^= 0x7fffffff;
        float value = 0;
        std::memcpy(&value, &word, 4);
        const int kind = static_cast<int>(p);
        auto& list = kind < file_.d        ? file_.centre
                     : kind == at_weight() ? file_.log_weight
                     : kind < at_colour()  ? file_.covariance
                     : kind < at_slope()   ? file_.colour
                                           : file_.slope;
        list.push_back(value);
      }
    }
  }

  struct Placed {
    Integer x;
    Integer y;
    std::size_t component;
  };

  void quantised() {
    const int d = file_.d;
    Integer length = bits(count_);
    const Integer g = std::min<Integer>(curve_bits_, (length + 1) / 2);
    std::map<std::array<Integer, 2>, std::vector<Placed>> cells;
    std::vector<Integer> mean(static_cast<std::size_t>(kinds_));
    Integer place = 0;
    Integer gap = 0;
    Integer gap_mean = 0;
    for (std::size_t j = 0; j < values_.size(); ++j) {
      auto& entry = values_[j];
      gap = number(kinds_, {0, std::min<Integer>(bits(gap_mean >> 4), 17), std::min<Integer>(bits(gap), 17), 0}, false);
      gap_mean += (16 * gap - gap_mean) / 4;
      place += gap;
      const Placed here = placed(place, j);
      entry[0] = here.x + origin_[0];
      if (d > 1) entry[1] = here.y + origin_[1];
      const auto near = neighbours(cells, here, curve_bits_ - g);
      e_.push_back(0);
      loud_.emplace_back(static_cast<std::size_t>(kinds_));
      std::vector<Integer> residual(static_cast<std::size_t>(kinds_));
      std::vector<int> order;
      for (int p = 2; p < d; ++p) order.push_back(p);
      for (int p = d + 1; p < at_colour(); ++p) order.push_back(p);
      order.push_back(at_weight());
      for (int p = at_colour(); p < kinds_; ++p) order.push_back(p);
      for (const int p : order) {
        if (p == at_colour()) e_[j] = exponent(entry);
        code(j, p, near, here, mean, residual);
      }
      auto& cell = cells[{here.x >> (curve_bits_ - g), here.y >> (curve_bits_ - g)}];
      cell.push_back(here);
      if (cell.size() > 4) cell.erase(cell.begin());
      put(entry, e_[j]);
    }
  }

  [[nodiscard]] Placed placed(Integer place, std::size_t j) const {
    if (file_.d == 1) return {place, 0, j};
    Integer x = 0;
    Integer y = 0;
    for (int l = 0; l < curve_bits_; ++l) {  // the steps of the way there, backwards
      const Integer pair = (place >> (2 * l)) & 3;
      const Integer bit_x = pair / 2;
      const Integer bit_y = (pair ^ bit_x) & 1;
      const Integer below = (Integer{1} << l) - 1;
      if (bit_y == 0) {
        std::swap(x, y);
        if (bit_x == 1) {
          x = below - x;
          y = below - y;
        }
      }
      x += bit_x << l;
      y += bit_y << l;
    }
    return {x, y, j};
  }

  static Integer square(const Placed& a, const Placed& b) {
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
  }

  [[nodiscard]] static std::vector<Placed> neighbours(
      const std::map<std::array<Integer, 2>, std::vector<Placed>>& cells, const Placed& here, Integer shift) {
    std::vector<Placed> near;
    for (Integer y = -1; y <= 1; ++y) {
      for (Integer x = -1; x <= 1; ++x) {
        const auto cell = cells.find({(here.x >> shift) + x, (here.y >> shift) + y});
        if (cell != cells.end()) near.insert(near.end(), cell->second.begin(), cell->second.end());
      }
    }
    std::sort(near.begin(), near.end(), [&](const Placed& a, const Placed& b) {
      return square(a, here) != square(b, here) ? square(a, here) < square(b, here) : a.component > b.component;
    });
    near.resize(std::min<std::size_t>(near.size(), 4));
    return near;
  }

  [[nodiscard]] Integer lift(std::size_t j, int p) const {
    if (p != at_weight()) return 0;
    Integer sum = 0;
    for (int i = 0; i < file_.d; ++i) sum += values_[j][static_cast<std::size_t>(at_shape(i, i))];
    return (sum * weight_of_shape_) >> 8;
  }
  [[nodiscard]] Integer scaled(std::size_t j, int p) const {
    const Integer e = p < at_colour() ? 0 : e_[j];
    return (values_[j][static_cast<std::size_t>(p)] - lift(j, p)) * (Integer{1} << (8 - e));
  }

  void code(std::size_t j, int p, const std::vector<Placed>& near, const Placed& here, std::vector<Integer>& mean,
            std::vector<Integer>& residual) {
    const auto at = static_cast<std::size_t>(p);
    const Integer e = p < at_colour() ? 0 : e_[j];
    Integer expected = mean[at];
    Integer loud = 0;
    if (!near.empty()) {
      Integer sum = 0;
      Integer weights = 0;
      for (const auto& one : near) {
        const Integer weight = ((square(near[0], here) + 1) * 4096) / (square(one, here) + 1);
        sum += weight * scaled(one.component, p);
        weights += weight;
        loud += loud_[one.component][at];
      }
      expected += ((sum / weights - mean[at]) * trust_[at]) >> 4;
    }
    const Integer half = (Integer{1} << (8 - e)) >> 1;
    const Integer base = ((expected + half) >> (8 - e)) + lift(j, p);
    Integer r = 0;
    if (p >= at_slope() + file_.d) {
      r = residual[static_cast<std::size_t>(at_slope() + (p - at_slope()) % file_.d)];
    } else if (p >= at_slope() || p > at_colour()) {
      r = residual[static_cast<std::size_t>(at_colour())];
    } else if (p > file_.d + 1 && p < at_colour()) {
      r = residual[at - 1];
    }
    const Contexts contexts{0, std::min<Integer>(bits(loud), 8), std::min<Integer>(bits(r), 8) + (r < 0 ? 9 : 0),
                            p < at_colour() ? 0 : e + 8};
    residual[at] = number(p, contexts, true);
    values_[j][at] = base + residual[at];
    loud_[j][at] = std::min<Integer>(std::abs(residual[at]), 255);
    mean[at] += (scaled(j, p) - mean[at]) / std::min<Integer>(static_cast<Integer>(j) + 1, 64);
  }

  [[nodiscard]] Integer exponent(const std::vector<Integer>& numbers) const {
    double sum = 0;
    for (int i = 0; i < file_.d; ++i) sum += static_cast<double>(numbers[static_cast<std::size_t>(at_shape(i, i))]);
    const double v = sum * s_[0];
    const double w = (static_cast<double>(numbers[static_cast<std::size_t>(at_weight())]) * s_[2]) * 1.4426950408889634;
    const double e = (0.5 * s_[7]) * (v + w) - static_cast<double>(median_) / 256;
    return static_cast<Integer>(std::clamp(std::floor(e + 0.5), -8.0, 8.0));
  }

  // ---- floats
  static double power_of_two(double x) {
    const double w = std::floor(x + 0.5);
    const double t = (x - w) * 0.69314718055994531;
    double p = 1;
    for (int k = 15; k >= 1; --k) p = 1 + (t / k) * p;
    return std::ldexp(p, static_cast<int>(w));
  }

  void colours_back(std::vector<double>& y) const {
    if (file_.q < 3) return;
    const double m = 0.57735026918962576 * y[0];
    const double a = 0.70710678118654752 * y[1];
    const double b = 0.40824829046386302 * y[2];
    y[0] = (m + a) + b;
    y[1] = m - (b + b);
    y[2] = (m - a) + b;
  }

  void put(const std::vector<Integer>& numbers, Integer e) {
    const int d = file_.d;
    const int q = file_.q;
    const auto n = [&](int p) { return static_cast<double>(numbers[static_cast<std::size_t>(p)]); };
    for (int a = 0; a < d; ++a) {
      const auto i = static_cast<std::size_t>(a);
      file_.centre.push_back(static_cast<float>(file_.low[i] + (n(a) + 0.5) * s_centre_[i]));
    }
    file_.log_weight.push_back(static_cast<float>(n(at_weight()) * s_[2]));
    double u[4][4] = {};
    for (int i = 0; i < d; ++i) {
      u[i][i] = power_of_two(n(at_shape(i, i)) * s_[0]);
      for (int k = i + 1; k < d; ++k) u[i][k] = (n(at_shape(i, k)) * s_[1]) * u[i][i];
    }
    for (int i = 0; i < d; ++i) {
      for (int k = 0; k <= i; ++k) {
        double sum = 0;
        for (int m = i; m < d; ++m) sum += u[i][m] * u[k][m];
        file_.covariance.push_back(static_cast<float>(sum));
      }
    }
    const double size = std::ldexp(1.0, static_cast<int>(-e));
    const auto is_chroma = [&](int c) { return q >= 3 && (c == 1 || c == 2); };
    std::vector<double> y;
    for (int c = 0; c < q; ++c) y.push_back(n(at_colour() + c) * ((is_chroma(c) ? s_[4] : s_[3]) * size));
    colours_back(y);
    for (const double value : y) file_.colour.push_back(static_cast<float>(value));
    std::vector<std::vector<double>> slope(static_cast<std::size_t>(d));
    for (int k = 0; k < d; ++k) {
      auto& own_slope = slope[static_cast<std::size_t>(k)];
      for (int c = 0; c < q; ++c) {
        own_slope.push_back(n(at_slope() + c * d + k) * ((is_chroma(c) ? s_[6] : s_[5]) * size));
      }
      colours_back(own_slope);
      for (int c = 0; c < q; ++c) {
        double& value = own_slope[static_cast<std::size_t>(c)];
        for (int i = 0; i < k; ++i) value -= slope[static_cast<std::size_t>(i)][static_cast<std::size_t>(c)] * u[i][k];
        value /= u[k][k];
      }
    }
    for (int c = 0; c < q; ++c) {
      for (int k = 0; k < d; ++k) {
        file_.slope.push_back(static_cast<float>(slope[static_cast<std::size_t>(k)][static_cast<std::size_t>(c)]));
      }
    }
  }

  std::vector<unsigned char> bytes_;
  std::size_t at_ = 0;
  SmoeFile file_;
  Integer count_ = 0;
  int kinds_ = 0;
  std::vector<double> s_centre_;
  std::array<double, 8> s_{};  // shape, skew, weight, colour, chroma, slope, slope_chroma, gain
  Integer median_ = 0;
  Integer weight_of_shape_ = 0;
  int curve_bits_ = 0;
  std::array<Integer, 2> origin_{};
  std::vector<Integer> trust_;
  std::uint32_t code_ = 0;
  std::uint32_t range_ = 0xffffffff;
  std::map<std::array<int, 4>, Chance> chances_;
  std::map<std::array<int, 2>, std::array<Integer, 4>> weights_;
  std::vector<std::vector<Integer>> values_;
  std::vector<Integer> e_;
  std::vector<std::vector<Integer>> loud_;
};

}  // namespace reference
