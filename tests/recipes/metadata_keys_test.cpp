// The table of metadata keys: readers return the written values, and docs/files.md lists all keys.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <holotone/recipes/metadata_keys.hpp>
#include <iterator>
#include <regex>
#include <tests/support/on_each_device.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/tree.hpp>

namespace holotone {
namespace {

using support::expect_error;

TEST(MetadataKeys, AreSortedAndHaveRangesOfTheirTypes) {
  const auto keys = metadata_keys();
  EXPECT_GT(keys.size(), 50u);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& key = keys[i];
    if (i > 0) {
      EXPECT_LT(keys[i - 1].name, key.name);
    }
    EXPECT_EQ(find_metadata_key(key.name), &key);
    EXPECT_LE(key.low, key.high) << key.name;
    EXPECT_FALSE(key.writers.empty()) << key.name;
    if (key.type == MetadataType::text) {
      EXPECT_EQ(key.low, key.high) << key.name;
    }
    for (const char* unit : {"_m", "_rad", "_px"}) {
      if (key.name.ends_with(unit)) {
        EXPECT_EQ(key.unit, std::string(unit + 1)) << key.name;
      }
    }
  }
  EXPECT_EQ(find_metadata_key("pitch"), nullptr);
  EXPECT_EQ(find_metadata_key(""), nullptr);
  EXPECT_EQ(find_metadata_key("zzz"), nullptr);
}

TEST(MetadataKeys, AreAllInTheDocumentation) {
  std::ifstream stream(source_folder() + "/docs/files.md");
  const std::string page{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t begin = page.find("\n## Metadata");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  for (const auto& key : metadata_keys()) {
    EXPECT_NE(section.find(fmt::format("`{}`", key.name)), std::string::npos) << key.name;
  }
  // The page lists no other keys: first column of the first table.
  const std::regex row(R"(\n\|([^|]*`[^|]*)\|)");
  const std::regex name(R"(`([a-z0-9_]+)`)");
  int seen = 0;
  for (std::sregex_iterator line(section.begin(), section.end(), row), end; line != end; ++line) {
    const std::string cell = (*line)[1];
    for (std::sregex_iterator match(cell.begin(), cell.end(), name); match != end; ++match) {
      ++seen;
      EXPECT_NE(find_metadata_key((*match)[1].str()), nullptr) << match->str();
    }
  }
  EXPECT_GT(seen, 50);
}

// Files of dots have separate keys and are not searched.
TEST(MetadataKeys, AreThoseThatTheProgramWrites) {
  int seen = 0;
  for (const char* folder :
       {"cli/common/", "cli/hologram/", "cli/quantize/", "cli/reconstruct/", "holotone/recipes/"}) {
    find(folder, R"re(metadata(?:\[|\.emplace\(|\.insert_or_assign\(|, )"([a-z0-9_]+)")re",
         [&](const SourceFile& file, std::size_t line, const std::smatch& match) {
           ++seen;
           if (find_metadata_key(match[1].str()) == nullptr)
             fail_at(file, line, match[1].str() + " is not in the table");
         });
  }
  EXPECT_GT(seen, 60);
}

TEST(MetadataKeys, GiveBackWhatWasPut) {
  Metadata metadata;
  for (const double value : {532e-9, 8e-6, 1.0 / 3e7}) {
    set_metadata(metadata, "wavelength_m", value);
    EXPECT_EQ(checked_number("a.png", metadata, "wavelength_m"), value);
  }
  set_metadata(metadata, "bits", 6);
  EXPECT_EQ(metadata_text(metadata, "bits"), "6");
  set_metadata(metadata, "packed16", 1);
  EXPECT_EQ(checked_number("a.png", metadata, "packed16"), 1);
  const std::vector<double> levels = {0.1, M_PI, -2.5};
  set_metadata(metadata, "level_phase_rad", levels);
  EXPECT_EQ(checked_numbers("a.png", metadata, "level_phase_rad"), levels);
  set_metadata(metadata, "panel", "pluto-2.1");
  EXPECT_EQ(metadata_text(metadata, "panel"), "pluto-2.1");
  EXPECT_EQ(checked_number("a.png", metadata, "pitch_m"), std::nullopt);
  EXPECT_TRUE(checked_numbers("a.png", metadata, "level_amplitude").empty());
  EXPECT_EQ(metadata_text(metadata, "pitch_m"), "");
  check_metadata("a.png", metadata);
}

TEST(MetadataKeys, RefuseOtherTypesAndNames) {
  Metadata metadata;
  const auto code = ErrorCode::invalid_argument;
  expect_error(code, "set_metadata: key: expected one of metadata_keys(), got 'pitch'",
               [&] { set_metadata(metadata, "pitch", 8e-6); });
  expect_error(code, "set_metadata: panel: expected a text, got 1", [&] { set_metadata(metadata, "panel", 1); });
  expect_error(code, "set_metadata: bits: expected a number, got 'eight'",
               [&] { set_metadata(metadata, "bits", "eight"); });
  expect_error(code, "set_metadata: bits: expected one value, got 2 numbers", [&] {
    set_metadata(metadata, "bits", std::vector<double>{1, 2});
  });
  EXPECT_TRUE(metadata.empty());
}

TEST(MetadataKeys, ErrorsNameTheFileAndTheKey) {
  const struct {
    const char* key;
    const char* text;
    const char* error;
  } cases[] = {
      {"pitch_m", "2", "a.png: expected pitch_m from 1e-09 to 1, got 2"},
      {"pitch_m", "8um", "a.png: expected a number under pitch_m, got '8um'"},
      {"pitch_m", "nan", "a.png: expected a number under pitch_m, got 'nan'"},
      {"bits", "17", "a.png: expected a whole bits from 1 to 16, got 17"},
      {"hogel_px", "12.5", "a.png: expected a whole hogel_px from 1 to 65536, got 12.5"},
      {"packed16", "2", "a.png: expected 0 or 1 under packed16, got '2'"},
      {"level_phase_rad", "0.1,red", "a.png: expected numbers under level_phase_rad, got '0.1,red'"},
      {"level_phase_rad", "0,2000", "a.png: expected level_phase_rad from -1000 to 1000, got 2000"},
      {"level_amplitude", "0,0x1", "a.png: expected numbers under level_amplitude, got '0,0x1'"},
  };
  for (const auto& one : cases) {
    expect_error(ErrorCode::io, one.error, [&] { check_metadata("a.png", {{one.key, one.text}}); });
  }
  check_metadata("a.png", {{"pitch", "8um"}, {"panel", "17"}});
}

}  // namespace
}  // namespace holotone
