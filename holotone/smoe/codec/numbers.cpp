// Coding of a quantized model: prediction from preceding components, residuals by adaptive probabilities.
#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/smoe/codec/codec_detail.hpp>
#include <holotone/smoe/codec/range_coder.hpp>
#include <memory>

namespace holotone::smoe {
namespace {

constexpr int longest = 47;  // largest bit length of a coded magnitude
constexpr int models = 4;    // probabilities mixed for a bit
constexpr int fraction = 8;  // fractional bits of predictions, in steps of a median component
constexpr int max_neighbours = 4;
constexpr int cell_room = 4;  // components stored by a cell of the neighbour search

// Bits of a number: zero flag, sign, bit length in unary, the two bits below the leading one, the rest.
constexpr int zero_node = 0;
constexpr int sign_node = 1;
constexpr int length_node = 2;
constexpr int second_node = length_node + longest;
constexpr int nodes = second_node + 3 * (longest + 1);
constexpr int mixed_nodes = 24;  // number of mixers; later nodes share the last one

using Nodes = std::array<AdaptiveBit, nodes>;

/// Adaptive model of one kind of number.
class NumberModel {
 public:
  /// Contexts select the probabilities of each model: 0 <= contexts[i] < max_contexts.
  static constexpr int max_contexts = 18;
  NumberModel() : nodes_(static_cast<std::size_t>(models * max_contexts)) {}

  template <class Coder>
  std::int64_t code(Coder& coder, std::int64_t value, const std::array<int, models>& contexts, bool has_sign) {
    for (int i = 0; i < models; ++i) {
      auto& node = nodes_[static_cast<std::size_t>(i * max_contexts + contexts[static_cast<std::size_t>(i)])];
      if (!node) node = std::make_unique<Nodes>();  // allocated on use: a small file has few contexts
      own_[static_cast<std::size_t>(i)] = node.get();
    }
    if (bit(coder, value == 0, zero_node)) return 0;
    const bool negative = has_sign && bit(coder, value < 0, sign_node);
    const auto magnitude = static_cast<std::uint64_t>(value < 0 ? -value : value);
    const int own_length = static_cast<int>(std::bit_width(magnitude));
    int length = 1;
    while (length < longest && bit(coder, own_length > length, length_node + length - 1)) ++length;
    std::uint64_t result = 1;
    int left = length - 1;
    for (int i = 0; i < 2 && left > 0; ++i) {
      --left;
      const int node = second_node + 3 * length + (i == 0 ? 0 : 1 + static_cast<int>(result & 1));
      result = 2 * result + (bit(coder, ((magnitude >> left) & 1) != 0, node) ? 1 : 0);
    }
    while (left > 0) {
      const int count = std::min(left, 16);
      left -= count;
      const auto part = static_cast<std::uint32_t>((magnitude >> left) & ((std::uint64_t{1} << count) - 1));
      result = (result << count) | coder.code_raw(part, count);
    }
    return negative ? -static_cast<std::int64_t>(result) : static_cast<std::int64_t>(result);
  }

 private:
  template <class Coder>
  bool bit(Coder& coder, bool value, int node) {
    std::array<AdaptiveBit*, models> chances{};
    for (std::size_t i = 0; i < models; ++i) chances[i] = &(*own_[i])[static_cast<std::size_t>(node)];
    auto& mixer = mixers_[static_cast<std::size_t>(std::min(node, mixed_nodes - 1))];
    const bool coded = coder.code(value, mixer.chance(chances));
    mixer.learn(coded);
    for (auto* chance : chances) chance->learn(coded);
    return coded;
  }

  std::vector<std::unique_ptr<Nodes>> nodes_;
  std::array<ChanceMixer<models>, mixed_nodes> mixers_;
  std::array<Nodes*, models> own_{};
};

int bit_length(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::abs(value))));
}

/// Search for preceding components near a component.
class Neighbourhood {
 public:
  explicit Neighbourhood(const CodedModel& coded)
      : side_bits_(std::min(coded.curve_bits,
                            static_cast<int>(std::bit_width(static_cast<std::uint64_t>(coded.info.count)) + 1) / 2)),
        shift_(coded.curve_bits - side_bits_),
        cells_(std::size_t{1} << (2 * side_bits_)) {}

  struct Near {
    std::int64_t component;
    std::int64_t square;  ///< squared distance, in steps
  };

  /// Finds the nearest stored components in 3 x 3 cells, nearest first, ties by later first. Returns their number.
  int find(const std::array<std::uint32_t, 2>& at, std::array<Near, max_neighbours>& nearest) const {
    int count = 0;
    const std::int64_t side = std::int64_t{1} << side_bits_;
    const std::int64_t column = at[0] >> shift_;
    const std::int64_t row = at[1] >> shift_;
    for (std::int64_t y = std::max<std::int64_t>(row - 1, 0); y <= std::min(row + 1, side - 1); ++y) {
      for (std::int64_t x = std::max<std::int64_t>(column - 1, 0); x <= std::min(column + 1, side - 1); ++x) {
        const Cell& cell = cells_[static_cast<std::size_t>(y * side + x)];
        for (std::uint32_t i = 0; i < std::min<std::uint32_t>(cell.count, cell_room); ++i) {
          insert(cell.members[i], at, nearest, count);
        }
      }
    }
    return count;
  }

  void add(const std::array<std::uint32_t, 2>& at, std::int64_t component) {
    Cell& cell = cells_[(static_cast<std::size_t>(at[1] >> shift_) << side_bits_) + (at[0] >> shift_)];
    cell.members[cell.count % cell_room] = {at, static_cast<std::int32_t>(component)};
    ++cell.count;
  }

 private:
  struct Member {
    std::array<std::uint32_t, 2> at;
    std::int32_t component;  // max_smoe_components fits
  };
  struct Cell {
    std::array<Member, cell_room> members;
    std::uint32_t count = 0;
  };

  static void insert(const Member& member, const std::array<std::uint32_t, 2>& at,
                     std::array<Near, max_neighbours>& nearest, int& count) {
    const std::int64_t dx = std::int64_t{member.at[0]} - at[0];
    const std::int64_t dy = std::int64_t{member.at[1]} - at[1];
    const Near one{member.component, dx * dx + dy * dy};
    const auto before = [](const Near& a, const Near& b) {
      return a.square != b.square ? a.square < b.square : a.component > b.component;
    };
    int place = count;
    while (place > 0 && before(one, nearest[static_cast<std::size_t>(place - 1)])) --place;
    if (place == max_neighbours) return;
    count = std::min(count + 1, max_neighbours);
    for (int i = count - 1; i > place; --i)
      nearest[static_cast<std::size_t>(i)] = nearest[static_cast<std::size_t>(i - 1)];
    nearest[static_cast<std::size_t>(place)] = one;
  }

  int side_bits_;
  int shift_;
  std::vector<Cell> cells_;
};

/// Substitute for a coder: codes nothing, accumulates the regression of numbers on their neighbours' mean.
struct Survey {
  std::vector<double> agreement;  ///< sums of (neighbours' mean - mean) (number - mean)
  std::vector<double> spread;     ///< sums of (neighbours' mean - mean)^2
};

/// Substitute for a coder: codes nothing, stores the prediction of each number.
struct Expectations {
  std::vector<std::int64_t> numbers;
};

/// Codes components one after another; a decoder fills them.
template <class Coder>
class ComponentCoder {
 public:
  ComponentCoder(Coder& coder, CodedModel& coded)
      : coder_(coder),
        coded_(coded),
        layout_(coded.layout()),
        size_(layout_.size()),
        numbers_(static_cast<std::size_t>(size_)),
        mean_(static_cast<std::size_t>(size_)),
        residual_(static_cast<std::size_t>(size_)),
        loudness_(coded.values.size()),
        exponent_(static_cast<std::size_t>(coded.info.count)),
        near_(coded) {}

  /// False if a number is out of range: the stream is corrupt.
  bool code(std::int64_t j) {
    std::int32_t* const numbers = coded_.values.data() + j * size_;
    if (!code_place(numbers)) return false;
    std::array<std::uint32_t, 2> at{};
    for (int axis = 0; axis < std::min(2, layout_.dimensions); ++axis) {
      at[static_cast<std::size_t>(axis)] =
          static_cast<std::uint32_t>(numbers[axis] - coded_.origin[static_cast<std::size_t>(axis)]);
    }
    found_ = near_.find(at, nearest_);
    for (int p = 2; p < layout_.dimensions; ++p) {
      if (!code_number(j, p, numbers)) return false;
    }
    for (int p = layout_.shape(); p < layout_.colour(); ++p) {
      if (!code_number(j, p, numbers)) return false;
    }
    if (!code_number(j, layout_.weight(), numbers)) return false;
    exponent_[static_cast<std::size_t>(j)] = static_cast<std::int8_t>(size_exponent(coded_, numbers));
    for (int p = layout_.colour(); p < size_; ++p) {
      if (!code_number(j, p, numbers)) return false;
    }
    near_.add(at, j);
    return true;
  }

 private:
  bool code_place(std::int32_t* numbers) {
    if constexpr (std::is_same_v<Coder, Survey> || std::is_same_v<Coder, Expectations>) {
      return true;
    } else {
      return code_gap(numbers);
    }
  }

  bool code_gap(std::int32_t* numbers) {
    const std::uint64_t place = curve_place(coded_, numbers);
    const int scale = bit_length(static_cast<std::int64_t>(gap_mean_ >> 4));
    const std::array<int, models> contexts{0, std::min(scale, 17), std::min(bit_length(last_gap_), 17), 0};
    const auto gap = gap_model_.code(coder_, static_cast<std::int64_t>(place - last_place_), contexts, false);
    last_gap_ = gap;
    gap_mean_ += (gap * 16 - gap_mean_) / 4;
    last_place_ += static_cast<std::uint64_t>(gap);
    if ((last_place_ >> (coded_.curve_bits * (layout_.dimensions > 1 ? 2 : 1))) != 0) return false;
    const auto at = curve_point(coded_, last_place_);
    for (int axis = 0; axis < std::min(2, layout_.dimensions); ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      numbers[axis] = static_cast<std::int32_t>(at[a]) + coded_.origin[a];
    }
    return true;
  }

  /// Number p of component j less its lift, in steps of a median component, in 2^-8.
  [[nodiscard]] std::int64_t scaled(std::int64_t j, int p) const {
    const std::int32_t* const numbers = coded_.values.data() + j * size_;
    const std::int64_t value = numbers[p] - lift(numbers, p);
    return value * (std::int64_t{1} << shift(j, p));
  }
  [[nodiscard]] int shift(std::int64_t j, int p) const {
    return p < layout_.colour() ? fraction : fraction - exponent_[static_cast<std::size_t>(j)];
  }
  /// Prediction of a weight from the shape; 0 for other numbers.
  [[nodiscard]] std::int64_t lift(const std::int32_t* numbers, int p) const {
    if (p != layout_.weight()) return 0;
    std::int64_t sum = 0;
    for (int axis = 0; axis < layout_.dimensions; ++axis) sum += numbers[layout_.shape(axis, axis)];
    return (sum * coded_.weight_of_shape) >> fraction;
  }

  /// Weighted mean over the neighbours; weights fall with the squared distance.
  [[nodiscard]] std::int64_t around(int p) const {
    std::int64_t sum = 0;
    std::int64_t weights = 0;
    for (int i = 0; i < found_; ++i) {
      const auto& near = nearest_[static_cast<std::size_t>(i)];
      const std::int64_t weight = ((nearest_[0].square + 1) * 4096) / (near.square + 1);
      sum += weight * scaled(near.component, p);
      weights += weight;
    }
    return sum / weights;
  }
  [[nodiscard]] std::int64_t foretold(int p) const {
    const auto at = static_cast<std::size_t>(p);
    if (found_ == 0) return mean_[at];
    return mean_[at] + (((around(p) - mean_[at]) * coded_.trust[at]) >> 4);
  }

  [[nodiscard]] std::array<int, models> contexts_of(std::int64_t j, int p) const {
    std::array<int, models> contexts{};
    int loud = 0;
    for (int i = 0; i < found_; ++i) {
      loud += loudness_[static_cast<std::size_t>(nearest_[static_cast<std::size_t>(i)].component * size_ + p)];
    }
    contexts[1] = std::min(bit_length(loud), 8);
    std::int64_t other = 0;  // residual of a correlated number of this component
    if (p >= layout_.slope() + layout_.dimensions) {
      other = residual_[static_cast<std::size_t>(layout_.slope() + (p - layout_.slope()) % layout_.dimensions)];
    } else if (p >= layout_.slope() || p > layout_.colour()) {
      other = residual_[static_cast<std::size_t>(layout_.colour())];
    } else if (p > layout_.shape() && p < layout_.colour()) {
      other = residual_[static_cast<std::size_t>(p - 1)];
    }
    contexts[2] = std::min(bit_length(other), 8) + (other < 0 ? 9 : 0);
    contexts[3] = p < layout_.colour() ? 0 : exponent_[static_cast<std::size_t>(j)] + 8;
    return contexts;
  }

  bool code_number(std::int64_t j, int p, std::int32_t* numbers) {
    const auto at = static_cast<std::size_t>(p);
    if constexpr (std::is_same_v<Coder, Survey>) {
      if (found_ > 0) {
        const auto near = static_cast<double>(around(p) - mean_[at]);
        coder_.agreement[at] += near * static_cast<double>(scaled(j, p) - mean_[at]);
        coder_.spread[at] += near * near;
      }
      learn_mean(j, p);
      return true;
    } else if constexpr (std::is_same_v<Coder, Expectations>) {
      coder_.numbers[static_cast<std::size_t>(j * size_ + p)] = base_of(j, p, numbers);
      learn_mean(j, p);
      return true;
    } else {
      return code_residual(j, p, numbers);
    }
  }

  [[nodiscard]] std::int64_t base_of(std::int64_t j, int p, const std::int32_t* numbers) const {
    const int bits = shift(j, p);
    return ((foretold(p) + ((std::int64_t{1} << bits) >> 1)) >> bits) + lift(numbers, p);
  }

  bool code_residual(std::int64_t j, int p, std::int32_t* numbers) {
    const auto at = static_cast<std::size_t>(p);
    const std::int64_t base = base_of(j, p, numbers);
    const std::int64_t residual = numbers_[at].code(coder_, numbers[p] - base, contexts_of(j, p), true);
    const std::int64_t value = base + residual;
    if (std::abs(value) > max_steps) return false;
    numbers[p] = static_cast<std::int32_t>(value);
    residual_[at] = residual;
    loudness_[static_cast<std::size_t>(j * size_ + p)] =
        static_cast<std::uint8_t>(std::min<std::int64_t>(std::abs(residual), 255));
    learn_mean(j, p);
    return true;
  }

  void learn_mean(std::int64_t j, int p) {
    auto& mean = mean_[static_cast<std::size_t>(p)];
    mean += (scaled(j, p) - mean) / std::min<std::int64_t>(j + 1, 64);
  }

  Coder& coder_;
  CodedModel& coded_;
  CodedLayout layout_;
  int size_;
  std::vector<NumberModel> numbers_;
  NumberModel gap_model_;
  std::uint64_t last_place_ = 0;
  std::int64_t last_gap_ = 0;
  std::int64_t gap_mean_ = 0;
  std::vector<std::int64_t> mean_;
  std::vector<std::int64_t> residual_;  ///< residuals of this component
  std::vector<std::uint8_t> loudness_;  ///< magnitudes of all residuals, at most 255
  std::vector<std::int8_t> exponent_;
  Neighbourhood near_;
  std::array<Neighbourhood::Near, max_neighbours> nearest_{};
  int found_ = 0;
};

/// Applies the orientation of quarter (x, y) of the Hilbert curve to the lower bits of a point.
void turn_quarter(std::array<std::uint32_t, 2>& at, int level, std::uint32_t x, std::uint32_t y) {
  if (y != 0) return;
  const std::uint32_t below = (std::uint32_t{1} << level) - 1;
  if (x != 0) {
    at[0] ^= below;
    at[1] ^= below;
  }
  std::swap(at[0], at[1]);
}

/// Codes each float's difference from that of the preceding component.
template <class Coder>
bool code_exact(Coder& coder, CodedModel& coded) {
  const int size = coded.layout().size();
  std::vector<NumberModel> numbers(static_cast<std::size_t>(size));
  std::vector<int> loudness(static_cast<std::size_t>(size));
  for (std::int64_t j = 0; j < coded.info.count; ++j) {
    for (int p = 0; p < size; ++p) {
      std::int32_t* const number = coded.values.data() + j * size + p;
      const std::int64_t before = j > 0 ? number[-size] : 0;
      int& loud = loudness[static_cast<std::size_t>(p)];
      const std::int64_t residual =
          numbers[static_cast<std::size_t>(p)].code(coder, *number - before, {0, loud / 2, 0, 0}, true);
      const std::int64_t value = before + residual;
      if (value != static_cast<std::int32_t>(value)) return false;
      *number = static_cast<std::int32_t>(value);
      loud = std::min(bit_length(residual), 34);
    }
    if constexpr (std::is_same_v<Coder, RangeDecoder>) {
      if (coder.exhausted()) return false;
    }
  }
  return true;
}

}  // namespace

std::uint64_t curve_place(const CodedModel& coded, const std::int32_t* values) {
  std::array<std::uint32_t, 2> at{};
  for (int axis = 0; axis < std::min(2, coded.info.dimensions); ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    at[a] = static_cast<std::uint32_t>(values[axis] - coded.origin[a]);
  }
  if (coded.info.dimensions == 1) return at[0];
  std::uint64_t place = 0;
  for (int level = coded.curve_bits - 1; level >= 0; --level) {
    const std::uint32_t x = (at[0] >> level) & 1;
    const std::uint32_t y = (at[1] >> level) & 1;
    place = 4 * place + ((3 * x) ^ y);
    turn_quarter(at, level, x, y);
  }
  return place;
}

std::array<std::uint32_t, 2> curve_point(const CodedModel& coded, std::uint64_t place) {
  if (coded.info.dimensions == 1) return {static_cast<std::uint32_t>(place), 0};
  std::array<std::uint32_t, 2> at{};
  for (int level = 0; level < coded.curve_bits; ++level) {
    const auto quarter = static_cast<std::uint32_t>((place >> (2 * level)) & 3);
    const std::uint32_t x = quarter >> 1;
    const std::uint32_t y = (quarter ^ x) & 1;
    turn_quarter(at, level, x, y);
    at[0] |= x << level;
    at[1] |= y << level;
  }
  return at;
}

void choose_predictors(CodedModel& coded) {
  const auto layout = coded.layout();
  const auto size = static_cast<std::size_t>(layout.size());
  double shape_mean = 0;
  double weight_mean = 0;
  const auto shape_at = [&](std::int64_t j) {
    double sum = 0;
    const std::int32_t* const numbers = coded.values.data() + j * layout.size();
    for (int axis = 0; axis < layout.dimensions; ++axis) sum += static_cast<double>(numbers[layout.shape(axis, axis)]);
    return sum;
  };
  const auto weight_at = [&](std::int64_t j) {
    return static_cast<double>(coded.values[static_cast<std::size_t>(j * layout.size() + layout.weight())]);
  };
  const std::int64_t count = coded.info.count;
  for (std::int64_t j = 0; j < count; ++j) {
    shape_mean += shape_at(j) / static_cast<double>(count);
    weight_mean += weight_at(j) / static_cast<double>(count);
  }
  double agreement = 0;
  double spread = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    agreement += (shape_at(j) - shape_mean) * (weight_at(j) - weight_mean);
    spread += (shape_at(j) - shape_mean) * (shape_at(j) - shape_mean);
  }
  constexpr double most = 32767;
  coded.weight_of_shape =
      spread > 0 ? static_cast<int>(std::clamp(std::floor(agreement / spread * 256 + 0.5), -most, most)) : 0;
  coded.trust.assign(size, 0);
  Survey survey{std::vector<double>(size), std::vector<double>(size)};
  const auto components = std::make_unique<ComponentCoder<Survey>>(survey, coded);
  for (std::int64_t j = 0; j < count; ++j) components->code(j);
  for (std::size_t p = 0; p < size; ++p) {
    if (survey.spread[p] <= 0) continue;
    coded.trust[p] =
        static_cast<std::uint8_t>(std::clamp(16 * survey.agreement[p] / survey.spread[p] + 0.5, 0.0, 16.0));
  }
}

std::vector<std::int64_t> expected_numbers(const CodedModel& coded) {
  Expectations expectations{std::vector<std::int64_t>(coded.values.size())};
  CodedModel model = coded;
  const auto components = std::make_unique<ComponentCoder<Expectations>>(expectations, model);
  for (std::int64_t j = 0; j < coded.info.count; ++j) components->code(j);
  return std::move(expectations.numbers);
}

std::vector<std::byte> write_numbers(const CodedModel& coded) {
  RangeEncoder encoder;
  CodedModel model = coded;
  if (coded.info.lossless) {
    code_exact(encoder, model);
  } else {
    const auto components = std::make_unique<ComponentCoder<RangeEncoder>>(encoder, model);
    for (std::int64_t j = 0; j < coded.info.count; ++j) components->code(j);
  }
  return encoder.finish();
}

void read_numbers(CodedModel& coded, std::span<const std::byte> bytes, std::string_view name) {
  RangeDecoder decoder(bytes);
  coded.values.assign(static_cast<std::size_t>(coded.info.count * coded.layout().size()), 0);
  const auto fail = [&](std::int64_t j) {
    throw_io(name, fmt::format("numbers of {} component{}", coded.info.count, coded.info.count == 1 ? "" : "s"),
             fmt::format("bits that are none in component {}", j));
  };
  if (coded.info.lossless) {
    if (!code_exact(decoder, coded) || decoder.exhausted()) fail(0);
  } else {
    const auto components = std::make_unique<ComponentCoder<RangeDecoder>>(decoder, coded);
    for (std::int64_t j = 0; j < coded.info.count; ++j) {
      if (!components->code(j) || decoder.exhausted()) fail(j);
    }
  }
  for (const std::byte byte : decoder.rest()) {
    if (byte != std::byte{0}) throw_io(name, "zeros behind the last component", "others");
  }
}

}  // namespace holotone::smoe
