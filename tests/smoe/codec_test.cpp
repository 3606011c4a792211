// Models as files: quantization bounds, exactness, size, order.
#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <holotone/smoe/codec.hpp>
#include <holotone/smoe/codec/codec_detail.hpp>
#include <holotone/smoe/render.hpp>
#include <map>
#include <tests/cases/smoe.hpp>
#include <tests/reference/smoe_file.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;
using support::expect_within;

SmoeModel made(int dimensions, int channels, std::int64_t components) {
  cases::SmoeCase c;
  c.dimensions = dimensions;
  c.channels = channels;
  c.components = components;
  return cases::make_smoe(c);
}

SmoeCodecOptions quality_options(const SmoeModel& model, double quality) {
  return {.lossless = false, .steps = smoe_steps(model, quality)};
}

/// Compares all bits.
bool same(const SmoeModel& a, const SmoeModel& b) {
  const auto bits = [](const std::vector<float>& x, const std::vector<float>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](float p, float q) {
      return std::bit_cast<std::uint32_t>(p) == std::bit_cast<std::uint32_t>(q);
    });
  };
  return a.dimensions == b.dimensions && a.channels == b.channels && a.linear == b.linear && a.low == b.low &&
         a.high == b.high && bits(a.log_weight, b.log_weight) && bits(a.centre, b.centre) &&
         bits(a.covariance, b.covariance) && bits(a.colour, b.colour) && bits(a.slope, b.slope);
}

/// Clears coordinates beyond the model's dimensions, which files do not store.
SmoeModel trimmed(SmoeModel model) {
  for (auto a = static_cast<std::size_t>(model.dimensions); a < max_smoe_dimensions; ++a)
    model.low[a] = model.high[a] = 0;
  return model;
}

TEST(SmoeCodec, LosslessKeepsEveryBitAndTheOrder) {
  for (int d = 1; d <= 4; ++d) {
    for (int q = 1; q <= 4; ++q) {
      auto model = trimmed(made(d, q, 70));
      model.linear = q == 2;
      model.colour[0] = -0.0F;
      model.slope[0] = std::numeric_limits<float>::denorm_min();
      model.colour.back() = std::numeric_limits<float>::max();
      model.slope.back() = std::numeric_limits<float>::lowest();
      const auto bytes = encode_smoe(model, {.lossless = true, .steps = {}});
      EXPECT_TRUE(same(decode_smoe(bytes, "file"), model)) << d << ", " << q;
      EXPECT_TRUE(smoe_file_info(bytes, "file").lossless);
    }
  }
}

TEST(SmoeCodec, QuantisedIsWhatTheFileGives) {
  for (int d = 1; d <= 4; ++d) {
    for (int q = 1; q <= 4; ++q) {
      for (const double quality : {0.0, 57.3, 100.0}) {
        const auto model = trimmed(made(d, q, 90));
        const auto options = quality_options(model, quality);
        const auto bytes = encode_smoe(model, options);
        const auto decoded = decode_smoe(bytes, "file");
        EXPECT_TRUE(same(decoded, quantised(model, options))) << d << ", " << q << ", " << quality;
        EXPECT_EQ(decoded.count(), model.count());
        const auto info = smoe_file_info(bytes, "file");
        EXPECT_EQ(info.count, model.count());
        EXPECT_FLOAT_EQ(static_cast<float>(info.steps.colour), static_cast<float>(options.steps.colour));
      }
    }
  }
}

// Compares a decoder written from holotone/smoe/codec/FORMAT.md with the library, bit by bit.
TEST(SmoeCodec, ADecoderWrittenFromThePageAgrees) {
  for (int d = 1; d <= 4; ++d) {
    for (int q = 1; q <= 4; ++q) {
      for (const bool lossless : {false, true}) {
        const auto model = made(d, q, 50);
        const auto bytes = encode_smoe(model, {.lossless = lossless, .steps = smoe_steps(model, 25.0 * q)});
        const auto* const raw = reinterpret_cast<const unsigned char*>(bytes.data());
        const auto file = reference::SmoeFileReader({raw, raw + bytes.size()}).read();
        SmoeModel read = decode_smoe(bytes, "file");
        const SmoeModel decoded = read;
        read.log_weight = file.log_weight;
        read.centre = file.centre;
        read.covariance = file.covariance;
        read.colour = file.colour;
        read.slope = file.slope;
        EXPECT_TRUE(same(read, decoded)) << d << ", " << q << (lossless ? ", lossless" : "");
      }
    }
  }
}

// Values change by at most half a step, except for the wider zero of slopes.
TEST(SmoeCodec, NumbersMoveByAtMostHalfAStep) {
  for (int d = 1; d <= 4; ++d) {
    const auto model = made(d, 3, 300);
    auto options = quality_options(model, 70);
    options.steps.area_gain = 0;
    SmoeModel exact;
    const auto coded = smoe::quantise(model, options.steps, &exact);
    const auto decoded = smoe::dequantise(coded);
    EXPECT_EQ(exact.covariance, decoded.covariance);
    EXPECT_EQ(exact.centre, decoded.centre);
    EXPECT_EQ(exact.log_weight, decoded.log_weight);
    double worst_colour = 0;
    double worst_slope = 0;
    for (std::int64_t j = 0; j < model.count(); ++j) {
      const auto l = *smoe::cholesky(smoe::symmetric(decoded.covariance.data() + j * triangle_size(d), d), d);
      double square = 0;
      for (int c = 0; c < 3; ++c) {
        const auto at = static_cast<std::size_t>(3 * j + c);
        square += std::pow(static_cast<double>(decoded.colour[at]) - static_cast<double>(exact.colour[at]), 2);
      }
      worst_colour = std::max(worst_colour, std::sqrt(square));
      for (int c = 0; c < 3; ++c) {  // colour change over a standard deviation: any square root of R gives the same
        double over = 0;
        for (int column = 0; column < d; ++column) {
          double sum = 0;
          for (int row = 0; row < d; ++row) {
            const auto at = static_cast<std::size_t>((3 * j + c) * d + row);
            sum += (static_cast<double>(decoded.slope[at]) - static_cast<double>(exact.slope[at])) * l[row][column];
          }
          over += sum * sum;
        }
        worst_slope = std::max(worst_slope, std::sqrt(over));
      }
    }
    const auto& s = options.steps;
    expect_within(fmt::format("{} dimensions, colours", d), worst_colour,
                  0.5 * std::sqrt(s.colour * s.colour + 2 * s.chroma * s.chroma) + 1e-6);
    expect_within(fmt::format("{} dimensions, slopes over a deviation", d), worst_slope,
                  2.0 / 3 * std::sqrt(d * (s.slope * s.slope + s.slope_chroma * s.slope_chroma)) + 1e-6);
  }
}

TEST(SmoeCodec, CentresShapesAndWeightsKeepTheirSteps) {
  for (int d = 1; d <= 4; ++d) {
    const auto model = made(d, 1, 200);
    const auto options = quality_options(model, 80);
    const auto coded = smoe::quantise(model, options.steps);
    const auto decoded = smoe::dequantise(coded);
    // Correspondence of components: those of the file are sorted, and no two have the same weight and centre.
    std::vector<bool> taken(static_cast<std::size_t>(model.count()));
    double worst_centre = 0;
    double worst_weight = 0;
    double worst_volume = 0;
    for (std::int64_t k = 0; k < decoded.count(); ++k) {
      std::int64_t best = -1;
      double nearest = INFINITY;
      for (std::int64_t j = 0; j < model.count(); ++j) {
        double away = 0;
        for (int a = 0; a < d; ++a) {
          away = std::max(away, std::abs(static_cast<double>(model.centre[static_cast<std::size_t>(j * d + a)]) -
                                         static_cast<double>(decoded.centre[static_cast<std::size_t>(k * d + a)])) /
                                    coded.info.steps.centre[static_cast<std::size_t>(a)]);
        }
        away += std::abs(static_cast<double>(model.log_weight[static_cast<std::size_t>(j)]) -
                         static_cast<double>(decoded.log_weight[static_cast<std::size_t>(k)])) /
                coded.info.steps.weight;
        if (away < nearest && !taken[static_cast<std::size_t>(j)]) {
          nearest = away;
          best = j;
        }
      }
      taken[static_cast<std::size_t>(best)] = true;
      for (int a = 0; a < d; ++a) {
        worst_centre =
            std::max(worst_centre, std::abs(static_cast<double>(model.centre[static_cast<std::size_t>(best * d + a)]) -
                                            static_cast<double>(decoded.centre[static_cast<std::size_t>(k * d + a)])) /
                                       coded.info.steps.centre[static_cast<std::size_t>(a)]);
      }
      worst_weight =
          std::max(worst_weight, std::abs(static_cast<double>(model.log_weight[static_cast<std::size_t>(best)]) -
                                          static_cast<double>(decoded.log_weight[static_cast<std::size_t>(k)])));
      const auto volume = [&](const SmoeModel& m, std::int64_t j) {
        const auto l = *smoe::cholesky(smoe::symmetric(m.covariance.data() + j * triangle_size(d), d), d);
        double sum = 0;
        for (int a = 0; a < d; ++a) sum += std::log2(l[a][a]);
        return sum;
      };
      worst_volume = std::max(worst_volume, std::abs(volume(model, best) - volume(decoded, k)));
    }
    expect_within(fmt::format("{} dimensions, centres in steps", d), worst_centre, 0.5 + 1e-3);
    expect_within(fmt::format("{} dimensions, weights", d), worst_weight, 0.5 * coded.info.steps.weight + 1e-6);
    expect_within(fmt::format("{} dimensions, log2 sqrt(det)", d), worst_volume,
                  0.5 * d * coded.info.steps.shape + 1e-4);
  }
}

// A refit of experts after quantization requires unchanged gates.
TEST(SmoeCodec, QuantisingGatesTwiceIsQuantisingThemOnce) {
  for (int d = 1; d <= 4; ++d) {
    for (const double quality : {5.0, 50.0, 95.0}) {
      auto model = made(d, 3, 250);
      if (d > 1) {  // thin oblique ones at the limit of float32, and equal ones
        for (int a = 0; a < triangle_size(d); ++a) {
          model.covariance[static_cast<std::size_t>(a)] = 1.0F;
        }
        for (int a = 0; a < d; ++a) model.covariance[static_cast<std::size_t>(triangle_size(a + 1) - 1)] = 1.00001F;
      }
      const auto options = quality_options(model, quality);
      SmoeModel gates;
      smoe::quantise(model, options.steps, &gates);
      require_model("gates", gates);
      const auto first = decode_smoe(encode_smoe(model, options), "file");
      EXPECT_EQ(gates.centre, first.centre);
      EXPECT_EQ(gates.covariance, first.covariance);
      EXPECT_EQ(gates.log_weight, first.log_weight);
      EXPECT_EQ(encode_smoe(gates, options), encode_smoe(model, options)) << d << ", " << quality;
      for (auto& colour : gates.colour) colour += 0.25F;  // another fit of the experts
      const auto second = decode_smoe(encode_smoe(gates, options), "file");
      EXPECT_EQ(second.centre, first.centre);
      EXPECT_EQ(second.covariance, first.covariance);
      EXPECT_EQ(second.log_weight, first.log_weight);
    }
  }
}

TEST(SmoeCodec, MovedGatesKeepTheirPlanes) {
  const auto model = made(2, 3, 1);
  const auto gates = smoe::quantised_gates(model, quality_options(model, 20).steps);
  ASSERT_NE(gates.centre, model.centre);
  for (int c = 0; c < 3; ++c) {
    const auto at = [&](const SmoeModel& m, double x, double y) {
      const auto i = static_cast<std::size_t>(c);
      return static_cast<double>(m.colour[i]) +
             static_cast<double>(m.slope[2 * i]) * (x - static_cast<double>(m.centre[0])) +
             static_cast<double>(m.slope[2 * i + 1]) * (y - static_cast<double>(m.centre[1]));
    };
    EXPECT_NEAR(at(model, 3, 7), at(gates, 3, 7), 1e-6);
    EXPECT_NEAR(at(model, 50, 40), at(gates, 50, 40), 1e-6);
  }
}

TEST(SmoeCodec, FinerStepsGiveBetterPictures) {
  const auto model = made(2, 3, 400);
  const SmoeView view{{45, 60}, {}, {}, {}};
  const auto picture = [&](const SmoeModel& m) {
    Array<float, 3> image({45, 60, 3});
    SmoeRenderer(m).render(view, image.view());
    return image;
  };
  const auto exact = picture(model);
  double before = INFINITY;
  std::size_t bytes_before = 0;
  for (const double quality : {20.0, 40.0, 60.0, 80.0, 100.0}) {
    const auto bytes = encode_smoe(model, quality_options(model, quality));
    const auto image = picture(decode_smoe(bytes, "file"));
    double square = 0;
    for (std::int64_t i = 0; i < image.size(); ++i) {
      square += std::pow(static_cast<double>(image.data()[i]) - static_cast<double>(exact.data()[i]), 2);
    }
    const double error = std::sqrt(square / static_cast<double>(image.size()));
    std::printf("quality %3.0f: %zu bytes, root mean square error %.2e\n", quality, bytes.size(), error);
    EXPECT_LT(error, 0.6 * before);
    EXPECT_GT(bytes.size(), bytes_before);
    before = error;
    bytes_before = bytes.size();
  }
  EXPECT_LT(before, 2e-3);
}

// Zeroth-order entropy in bits: the cost of a memoryless coder with known counts.
double order_zero_bits(const std::vector<std::int32_t>& values, int size, std::int64_t count, bool differences) {
  double bits = 0;
  for (int p = 0; p < size; ++p) {
    std::map<std::int64_t, std::int64_t> seen;
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t before = differences && j > 0 ? values[static_cast<std::size_t>((j - 1) * size + p)] : 0;
      ++seen[values[static_cast<std::size_t>(j * size + p)] - before];
    }
    for (const auto& [value, times] : seen) {
      bits -= static_cast<double>(times) * std::log2(static_cast<double>(times) / static_cast<double>(count));
    }
  }
  return bits;
}

TEST(SmoeCodec, TakesLessThanTheNumbersEntropy) {
  const auto model = made(2, 3, 4000);
  const auto options = quality_options(model, 50);
  const auto coded = smoe::quantise(model, options.steps);
  const int size = coded.layout().size();
  const double plain = order_zero_bits(coded.values, size, model.count(), false);
  const double differences = order_zero_bits(coded.values, size, model.count(), true);
  const double bits = 8.0 * static_cast<double>(encode_smoe(model, options).size());
  std::printf("4000 components: %.2f bits each; entropy %.2f, of differences %.2f\n", bits / 4000, plain / 4000,
              differences / 4000);
  EXPECT_LT(bits, 0.93 * plain);
  EXPECT_LT(bits, 0.93 * differences);
}

TEST(SmoeCodec, HilbertsCurveVisitsNeighbours) {
  smoe::CodedModel coded;
  coded.info.dimensions = 2;
  coded.info.channels = 1;
  coded.curve_bits = 5;
  coded.origin = {-3, 7};
  std::array<std::uint32_t, 2> before{};
  for (std::uint64_t place = 0; place < 1024; ++place) {
    const auto at = smoe::curve_point(coded, place);
    const std::array<std::int32_t, 2> values{static_cast<std::int32_t>(at[0]) - 3,
                                             static_cast<std::int32_t>(at[1]) + 7};
    EXPECT_EQ(smoe::curve_place(coded, values.data()), place);
    if (place > 0) {
      EXPECT_EQ(std::abs(static_cast<int>(at[0]) - static_cast<int>(before[0])) +
                    std::abs(static_cast<int>(at[1]) - static_cast<int>(before[1])),
                1);
    }
    before = at;
  }
}

TEST(SmoeCodec, PowersOfTwo) {
  double worst = 0;
  for (int i = -40000; i <= 40000; ++i) {
    const double x = i / 1001.0;
    worst = std::max(worst, std::abs(smoe::exact_exp2(x) / std::exp2(x) - 1));
  }
  expect_within("exact_exp2, relative", worst, 2e-15);
  EXPECT_EQ(smoe::exact_exp2(-7), 0x1p-7);
}

TEST(SmoeCodec, BytesAsAsked) {
  const auto model = made(2, 3, 400);
  std::size_t before = 0;
  for (const std::int64_t most : {1500, 2500, 4000}) {
    const auto encoded = encode_smoe_bytes(model, most);
    EXPECT_LE(std::ssize(encoded.bytes), most);
    EXPECT_GT(std::ssize(encoded.bytes), most * 97 / 100);
    EXPECT_GT(encoded.bytes.size(), before);
    EXPECT_EQ(encoded.bytes, encode_smoe(model, quality_options(model, encoded.quality)));
    before = encoded.bytes.size();
  }
  EXPECT_EQ(encode_smoe_bytes(model, 1 << 20).quality, best_smoe_quality);
  expect_error(ErrorCode::invalid_argument, "max_bytes: expected at least", [&] { encode_smoe_bytes(model, 100); });
}

TEST(SmoeCodec, OneComponentAndMillionsAlike) {
  auto one = trimmed(made(2, 3, 1));
  EXPECT_LT(encode_smoe(one, quality_options(one, 50)).size(), 200U);
  EXPECT_EQ(decode_smoe(encode_smoe(one, quality_options(one, 50)), "file").count(), 1);
  // Equal components cost almost nothing; above 65,536 of them the file has at least one byte per component.
  for (const std::size_t count : {std::size_t{65536}, std::size_t{65537}}) {
    SmoeModel many = one;
    const auto repeat = [&](std::vector<float>& values, const std::vector<float>& part) {
      values.clear();
      for (std::size_t i = 0; i < count; ++i) values.insert(values.end(), part.begin(), part.end());
    };
    repeat(many.log_weight, one.log_weight);
    repeat(many.centre, one.centre);
    repeat(many.covariance, one.covariance);
    repeat(many.colour, one.colour);
    repeat(many.slope, one.slope);
    const auto bytes = encode_smoe(many, quality_options(many, 50));
    if (count == 65536) {
      EXPECT_LT(bytes.size(), 1000U);
    } else {
      EXPECT_GT(bytes.size(), count);
      EXPECT_LT(bytes.size(), count + 200);
    }
    EXPECT_EQ(decode_smoe(bytes, "file").count(), many.count());
  }
}

TEST(SmoeCodec, StrangeModelsAreCutOffNotRefused) {
  auto model = made(2, 3, 50);
  model.centre[0] = 1e30F;
  model.centre[3] = -1e9F;
  model.covariance[0] = 1e-38F;
  model.covariance[1] = 0;
  model.covariance[2] = 3e38F;
  model.colour[5] = 3e38F;
  model.slope[9] = -3e38F;
  model.log_weight[20] = -1e30F;
  const auto decoded = decode_smoe(encode_smoe(model, quality_options(model, 50)), "file");
  EXPECT_EQ(decoded.count(), 50);
}

TEST(SmoeCodec, OptionsOutOfRangeAreRefused) {
  const auto model = made(2, 3, 10);
  const auto refuse = [&](const std::string& text, const std::function<void(SmoeSteps&)>& spoil) {
    auto options = quality_options(model, 50);
    spoil(options.steps);
    expect_error(ErrorCode::invalid_argument, text, [&] { encode_smoe(model, options); });
  };
  refuse("steps.shape", [](auto& s) { s.shape = 0; });
  refuse("steps.centre", [](auto& s) { s.centre[1] = 1e-9; });
  refuse("steps.colour", [](auto& s) { s.colour = NAN; });
  refuse("steps.slope", [](auto& s) { s.slope = -1; });
  refuse("steps.area_gain: expected 0 to 1, got 2", [](auto& s) { s.area_gain = 2; });
  auto bad = model;
  bad.covariance[1] = 1e9F;
  expect_error(ErrorCode::invalid_argument, "encode_smoe: covariance",
               [&] { encode_smoe(bad, {.lossless = true, .steps = {}}); });
  expect_error(ErrorCode::invalid_argument, "quality", [&] { smoe_steps(model, 101); });
}

TEST(SmoeCodec, BrightColoursGetWiderSteps) {
  auto model = cases::make_smoe({});
  for (auto& colour : model.colour) colour *= 1000;
  for (auto& slope : model.slope) slope *= 1000;
  const auto coded = decode_smoe(encode_smoe(model, {false, smoe_steps(model, best_smoe_quality)}), "bright");
  const auto sorted = [](std::vector<float> values) {
    std::sort(values.begin(), values.end());
    return values;
  };
  const auto before = sorted(model.colour);
  const auto after = sorted(coded.colour);
  double worst = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(before[i]) - static_cast<double>(after[i])));
  }
  // Centres shift too, which changes colours.
  expect_within("colours of a thousand", worst, 2);
}

}  // namespace
}  // namespace holotone
