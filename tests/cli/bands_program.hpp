#pragma once
// Runs of `holotone hologram` that write their rows by bands.
#include <cmath>
#include <complex>
#include <holotone/core/random.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <tests/cli/journal.hpp>

namespace holotone::test {

class BandsTest : public ProgramTest {
 protected:
  BandsTest() { put_cloud(60, 1); }

  /// Coloured points in front of and behind the panel. The nearest light 33 pixels of 2 um to each side, less than the
  /// panel.
  void put_cloud(int count, std::uint64_t seed, double nearest_m = 0.25e-3) const {
    std::string text = "x,y,z,r,g,b\n";
    std::uint64_t counter = 0;
    const auto uniform = [&] { return random_uniform64(seed, counter++); };
    for (int i = 0; i < count; ++i) {
      const double x = 180e-6 * (uniform() - 0.5);
      const double y = 300e-6 * (uniform() - 0.5);
      const double z = (i % 2 == 0 ? -1 : 1) * nearest_m * (1 + 3 * uniform());
      text += fmt::format("{:.9g},{:.9g},{:.9g},{:.3f},{:.3f},{:.3f}\n", x, y, z, uniform(), uniform(), uniform());
    }
    write("cloud.csv", text);
  }

  [[nodiscard]] std::vector<std::string> hologram(const std::string& output, std::vector<std::string> more = {}) const {
    more.insert(more.begin(),
                {"hologram", path("cloud.csv"), "-o", path(output), "--device", "cpu", "--keep-coordinates"});
    const auto given = [&](const char* option) { return std::find(more.begin(), more.end(), option) != more.end(); };
    if (!given("--resolution")) more.insert(more.end(), {"--resolution", "83x141"});
    if (!given("--pitch")) more.insert(more.end(), {"--pitch", "2um"});
    return more;
  }

  /// Where the rows begin and end in a file by rows, in bytes.
  [[nodiscard]] std::pair<std::size_t, std::size_t> rows_in(const std::string& name) const {
    const auto bytes = content_of(path(name));
    if (name.find(".tif") != std::string::npos) {
      const auto image = read_image(path(name));
      return std::visit([&](const auto& codes) { return std::pair(bytes.size() - codes.bytes(), bytes.size()); },
                        image.pixels);
    }
    const auto field = read_field(path(name));
    const std::string rows(reinterpret_cast<const char*>(field.values.data()), field.values.bytes());
    const auto begin = bytes.find(rows);
    return {begin, begin + rows.size()};
  }

  /// ||a - b|| / ||b||
  [[nodiscard]] double difference(const std::string& a, const std::string& b) const {
    const auto one = read_field(path(a));
    const auto other = read_field(path(b));
    EXPECT_EQ(one.values.shape(), other.values.shape());
    double error = 0;
    double norm = 0;
    for (std::int64_t i = 0; i < other.values.size(); ++i) {
      error += static_cast<double>(std::norm(one.values.data()[i] - other.values.data()[i]));
      norm += static_cast<double>(std::norm(other.values.data()[i]));
    }
    return std::sqrt(error / norm);
  }
};

}  // namespace holotone::test
