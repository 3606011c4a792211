// Encoding and decoding of models: header, checksum, checks of hostile files.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/crc32.hpp>
#include <holotone/core/error.hpp>
#include <holotone/smoe/codec.hpp>
#include <holotone/smoe/codec/codec_detail.hpp>
#include <string>

namespace holotone {
namespace {

using smoe::CodedModel;

constexpr std::array<std::uint8_t, 8> magic{0x89, 'S', 'M', 'O', 'E', '\r', '\n', 0x1a};
constexpr int version = 1;
constexpr std::uint8_t lossless_flag = 1;
constexpr std::uint8_t linear_flag = 2;
constexpr std::size_t checksum_bytes = 4;
/// Largest number of components allowed in every file; a file with more needs at least one byte of coded numbers for
/// each. This bounds the memory and time that a short file can cause. The coder itself gives no such bound: its
/// likeliest bit costs 0.0005 bits, a component of many equal ones 0.007.
constexpr std::int64_t free_components = 65536;
constexpr double qualities_a_unit = 16;  // tried by encode_smoe_bytes

/// Appends little-endian numbers.
class Writer {
 public:
  template <class T>
  void put(T value) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    Bits bits = 0;
    if constexpr (std::is_floating_point_v<T>) {
      bits = std::bit_cast<Bits>(value);
    } else {
      bits = static_cast<Bits>(value);
    }
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes.push_back(static_cast<std::byte>((bits >> (8 * i)) & 0xff));
  }
  std::vector<std::byte> bytes;
};

/// Reads little-endian numbers.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string_view name) : bytes_(bytes), name_(name) {}
  template <class T>
  T take(std::string_view what) {
    if (bytes_.size() - at_ < sizeof(T)) {
      throw_io(name_, fmt::format("{} ({} bytes at byte {})", what, sizeof(T), at_),
               fmt::format("{} left", bytes_.size() - at_));
    }
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) bits |= static_cast<Bits>(bytes_[at_ + i]) << (8 * i);
    at_ += sizeof(T);
    if constexpr (std::is_floating_point_v<T>) {
      return std::bit_cast<T>(bits);
    } else {
      return static_cast<T>(bits);
    }
  }
  /// Reads a whole number in [low, high].
  template <class T>
  std::int64_t within(std::string_view what, std::int64_t low, std::int64_t high) {
    const auto value = static_cast<std::int64_t>(take<T>(what));
    if (value < low || value > high) {
      throw_io(name_, fmt::format("{} from {} to {}", what, low, high), std::to_string(value));
    }
    return value;
  }
  /// Reads a float32 in [low, high].
  double step(std::string_view what, double low, double high) {
    const auto value = static_cast<double>(take<float>(what));
    if (!(value >= low && value <= high)) {
      throw_io(name_, fmt::format("{} from {:g} to {:g}", what, low, high), fmt::format("{:g}", value));
    }
    return value;
  }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  std::span<const std::byte> bytes_;
  std::string_view name_;
  std::size_t at_ = 0;
};

void put_steps(Writer& out, const CodedModel& coded) {
  const auto& steps = coded.info.steps;
  for (int axis = 0; axis < coded.info.dimensions; ++axis) {
    out.put(static_cast<float>(steps.centre[static_cast<std::size_t>(axis)]));
  }
  for (const double step : {steps.shape, steps.skew, steps.weight, steps.colour, steps.chroma, steps.slope,
                            steps.slope_chroma, steps.area_gain}) {
    out.put(static_cast<float>(step));
  }
  out.put(static_cast<std::int32_t>(coded.median_size));
  out.put(static_cast<std::int16_t>(coded.weight_of_shape));
  out.put(static_cast<std::uint8_t>(coded.curve_bits));
  for (const auto origin : coded.origin) out.put(origin);
  for (const auto trust : coded.trust) out.put(trust);
}

void take_steps(Reader& in, CodedModel& coded) {
  constexpr double huge = 1e30;
  constexpr double tiny = 1e-30;
  constexpr auto max_median = static_cast<std::int64_t>(smoe::max_median_size);
  auto& steps = coded.info.steps;
  for (int axis = 0; axis < coded.info.dimensions; ++axis) {
    steps.centre[static_cast<std::size_t>(axis)] = in.step("a step of centres", tiny, huge);
  }
  steps.shape = in.step("a step of shapes", tiny, 16);
  steps.skew = in.step("a step of skews", tiny, 256);
  steps.weight = in.step("a step of weights", tiny, 64);
  steps.colour = in.step("a step of colours", tiny, 1024);
  steps.chroma = in.step("a step of chroma", tiny, 1024);
  steps.slope = in.step("a step of slopes", tiny, 1024);
  steps.slope_chroma = in.step("a step of slopes' chroma", tiny, 1024);
  steps.area_gain = in.step("a gain", 0, 1);
  coded.median_size = static_cast<int>(in.within<std::int32_t>("a median size", -max_median, max_median));
  coded.weight_of_shape = static_cast<int>(in.within<std::int16_t>("a predictor", -32768, 32767));
  coded.curve_bits = static_cast<int>(in.within<std::uint8_t>("bits of a coordinate", 0, 23));
  for (auto& origin : coded.origin) {
    origin = static_cast<std::int32_t>(in.within<std::int32_t>("an origin", -(1 << 22), 1 << 22));
  }
  for (int p = 0; p < coded.layout().size(); ++p) {
    coded.trust.push_back(static_cast<std::uint8_t>(in.within<std::uint8_t>("a predictor's weight", 0, 16)));
  }
}

/// Header, and the bytes of coded numbers after it.
struct Parsed {
  CodedModel coded;
  std::span<const std::byte> numbers;
};

void require_checksum(std::span<const std::byte> bytes, std::string_view name) {
  const auto body = bytes.first(bytes.size() - checksum_bytes);
  Reader tail(bytes.last(checksum_bytes), name);
  const auto stated = tail.take<std::uint32_t>("a checksum");
  const auto sum = crc32(body);
  if (sum != stated) throw_io(name, fmt::format("checksum {:08x}", stated), fmt::format("{:08x}", sum));
}

Parsed parse(std::span<const std::byte> bytes, std::string_view name) {
  if (!is_smoe(bytes)) throw_io(name, "a .smoe file", bytes.empty() ? "no bytes" : "one that begins otherwise");
  Reader in(bytes, name);
  in.take<std::uint64_t>("the signature");
  const auto own_version = in.within<std::uint16_t>("version", 0, 65535);
  if (own_version != version) throw_io(name, fmt::format("version {}", version), std::to_string(own_version));
  Parsed parsed;
  auto& info = parsed.coded.info;
  const auto flags = in.within<std::uint8_t>("flags", 0, lossless_flag | linear_flag);
  info.lossless = (flags & lossless_flag) != 0;
  info.linear = (flags & linear_flag) != 0;
  info.dimensions = static_cast<int>(in.within<std::uint8_t>("dimensions", 1, max_smoe_dimensions));
  info.channels = static_cast<int>(in.within<std::uint8_t>("channels", 1, max_smoe_channels));
  const auto size = in.take<std::uint64_t>("the file's size");
  if (size != bytes.size()) throw_io(name, fmt::format("{} bytes", size), fmt::format("{}", bytes.size()));
  const auto count = in.take<std::uint64_t>("a count of components");
  for (int axis = 0; axis < info.dimensions; ++axis) {
    const auto low = in.take<double>("a box");
    const auto high = in.take<double>("a box");
    if (!(std::isfinite(low) && std::isfinite(high) && low < high)) {
      throw_io(name, "a box of positive sides", fmt::format("{:g} to {:g} on axis {}", low, high, axis));
    }
    info.low[static_cast<std::size_t>(axis)] = low;
    info.high[static_cast<std::size_t>(axis)] = high;
  }
  if (!info.lossless) take_steps(in, parsed.coded);
  if (bytes.size() < in.at() + checksum_bytes) throw_io(name, "a checksum", "the file's end");
  require_checksum(bytes, name);
  parsed.numbers = bytes.subspan(in.at(), bytes.size() - checksum_bytes - in.at());
  const auto most = std::min(max_smoe_components, std::max(free_components, std::ssize(parsed.numbers)));
  if (count < 1 || count > static_cast<std::uint64_t>(most)) {
    throw_io(name, fmt::format("1 to {} components in {} bytes", most, parsed.numbers.size()),
             fmt::format("{}", count));
  }
  info.count = static_cast<std::int64_t>(count);
  return parsed;
}

std::vector<std::byte> file_of(const CodedModel& coded) {
  Writer out;
  for (const auto byte : magic) out.put(byte);
  out.put(static_cast<std::uint16_t>(version));
  out.put(static_cast<std::uint8_t>((coded.info.lossless ? lossless_flag : 0) | (coded.info.linear ? linear_flag : 0)));
  out.put(static_cast<std::uint8_t>(coded.info.dimensions));
  out.put(static_cast<std::uint8_t>(coded.info.channels));
  const std::size_t size_at = out.bytes.size();
  out.put(std::uint64_t{0});
  out.put(static_cast<std::uint64_t>(coded.info.count));
  for (int axis = 0; axis < coded.info.dimensions; ++axis) {
    out.put(coded.info.low[static_cast<std::size_t>(axis)]);
    out.put(coded.info.high[static_cast<std::size_t>(axis)]);
  }
  if (!coded.info.lossless) put_steps(out, coded);
  auto numbers = smoe::write_numbers(coded);
  const auto least = coded.info.count > free_components ? static_cast<std::size_t>(coded.info.count) : 0;
  if (numbers.size() < least) numbers.resize(least);
  out.bytes.insert(out.bytes.end(), numbers.begin(), numbers.end());
  Writer size;
  size.put(static_cast<std::uint64_t>(out.bytes.size() + checksum_bytes));
  std::copy(size.bytes.begin(), size.bytes.end(), out.bytes.begin() + static_cast<std::ptrdiff_t>(size_at));
  out.put(crc32(out.bytes));
  return std::move(out.bytes);
}

}  // namespace

std::vector<std::byte> smoe::file_bytes(CodedModel& coded) {
  choose_predictors(coded);
  return file_of(coded);
}

SmoeSteps smoe_steps(const SmoeModel& model, double quality) {
  require_model("smoe_steps", model);
  require_range("smoe_steps", "quality", quality, 0, best_smoe_quality);
  const double scale = std::exp2((50 - quality) / 10);
  SmoeSteps steps;
  for (int axis = 0; axis < model.dimensions; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    // Axes 0 and 1: pixels. Others: fractions of the distance between the outermost views.
    const double unit = axis < 2 ? 0.3 : (model.high[a] - model.low[a]) / 32;
    const double reach = std::max({std::abs(model.low[a]), std::abs(model.high[a]), model.high[a] - model.low[a]});
    steps.centre[a] = std::max(unit * scale, reach * 0x1p-19);
  }
  for (double* const step :
       {&steps.shape, &steps.skew, &steps.weight, &steps.colour, &steps.chroma, &steps.slope, &steps.slope_chroma}) {
    *step *= scale;
  }
  return steps;
}

std::vector<std::byte> encode_smoe(const SmoeModel& model, const SmoeCodecOptions& options) {
  require_model("encode_smoe", model);
  if (options.lossless) return file_of(smoe::exact_numbers(model));
  CodedModel coded = smoe::quantise(model, options.steps);
  return smoe::file_bytes(coded);
}

SmoeModel decode_smoe(std::span<const std::byte> bytes, std::string_view name) {
  auto [coded, numbers] = parse(bytes, name);
  smoe::read_numbers(coded, numbers, name);
  SmoeModel model = coded.info.lossless ? smoe::exact_floats(coded) : smoe::dequantise(coded);
  try {
    require_model("model", model);
  } catch (const Error& error) {
    throw Error(ErrorCode::io, fmt::format("{}: {}", name, error.what()));
  }
  return model;
}

SmoeFileInfo smoe_file_info(std::span<const std::byte> bytes, std::string_view name) {
  return parse(bytes, name).coded.info;
}

bool is_smoe(std::span<const std::byte> bytes) {
  return bytes.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), bytes.begin(),
                    [](std::uint8_t a, std::byte b) { return a == static_cast<std::uint8_t>(b); });
}

SmoeModel quantised(const SmoeModel& model, const SmoeCodecOptions& options) {
  require_model("quantised", model);
  return options.lossless ? model : smoe::dequantise(smoe::quantise(model, options.steps));
}

SmoeEncoded encode_smoe_bytes(const SmoeModel& model, std::int64_t max_bytes) {
  constexpr const char* where = "encode_smoe_bytes";
  const auto options_at = [&](int index) {
    return SmoeCodecOptions{.lossless = false, .steps = smoe_steps(model, index / qualities_a_unit)};
  };
  const auto at = [&](const SmoeModel& number, int index) {
    return SmoeEncoded{encode_smoe(number, options_at(index)), index / qualities_a_unit};
  };
  const auto fail = [&](std::size_t least) {
    throw_argument(where, "max_bytes",
                   fmt::format("at least {} for {} component{}", least, model.count(), model.count() == 1 ? "" : "s"),
                   std::to_string(max_bytes));
  };
  SmoeEncoded best = at(model, 0);
  if (std::ssize(best.bytes) > max_bytes) fail(best.bytes.size());
  int low = 0;
  int high = static_cast<int>(best_smoe_quality * qualities_a_unit) + 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    SmoeEncoded one = at(model, middle);
    if (std::ssize(one.bytes) <= max_bytes) {
      best = std::move(one);
      low = middle;
    } else {
      high = middle;
    }
  }
  return best;
}

}  // namespace holotone
