// Tables of a panel's phases.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/recipes/retrieval/phase_table.hpp>
#include <limits>
#include <tests/support/io_support.hpp>
#include <vector>

namespace holotone {
namespace {

TEST(PhaseTable, ErrorsNameTheFile) {
  const io_support::TemporaryFolder folder;
  const auto path = folder.file("t.txt");
  io_support::write_raw(path, "phase_rad\n1000\n1001\n");
  EXPECT_EQ(io_support::error_of([&] { (void)read_phase_table(path); }),
            path + ": expected phases of at most 1000 rad, got 1001 for code 1");
  io_support::write_raw(path, "0\nx\n");
  EXPECT_MENTIONS(io_support::error_of([&] { (void)read_phase_table(path); }, ErrorCode::invalid_argument),
                  path + ": read_phase_lut: line 2");
}

TEST(PhaseTable, NotesSayWhatIsLeftOpen) {
  const io_support::TemporaryFolder folder;
  const auto path = folder.file("t.txt");
  const auto list_notes = [&](const std::string& text, PhaseUnit unit = PhaseUnit::automatic) {
    io_support::write_raw(path, text);
    return phase_table_notes(path, unit);
  };
  EXPECT_EQ(
      list_notes("0\n90\n180\n270\n"),
      std::vector{path + " states no unit: a stroke of 270 is read as deg (2 pi times 0.75); --lut-unit or a heading "
                         "such as phase_rad says otherwise"});
  EXPECT_TRUE(list_notes("0\n90\n180\n270\n", PhaseUnit::deg).empty());
  EXPECT_TRUE(list_notes("waves\n0\n0.25\n0.5\n0.75\n").empty());
  const auto shorter = list_notes("waves\n0\n0.2\n0.4\n0.6\n");
  ASSERT_EQ(shorter.size(), 1U);
  // Half of 0.4 turns; sqrt((3 * 0.2^3 + 0.4^3) / 12) turns.
  EXPECT_EQ(shorter.front(), path +
                                 ": a stroke of 0.6 turns, below one: phases beyond it are off by up to 1.26 rad, "
                                 "all by 0.54 rad rms");
  EXPECT_TRUE(phase_table_notes("", PhaseUnit::automatic).empty());
}

TEST(PhaseTable, AnotherLightIsNamed) {
  const io_support::TemporaryFolder folder;
  const auto path = folder.file("t.txt");
  const auto list_notes = [&](const std::string& head, const std::vector<double>& wavelengths_m) {
    io_support::write_raw(path, head + "\nphase_deg\n0\n90\n180\n270\n");
    return phase_table_notes(path, PhaseUnit::automatic, wavelengths_m);
  };
  EXPECT_EQ(list_notes("# wavelength 633 nm", {532e-9}),
            std::vector{path + " states phases at 633 nm, but the light has 532 nm: they are taken unchanged"});
  EXPECT_EQ(list_notes("# 450, 532 nm", {640e-9, 520e-9, 450e-9}),
            std::vector{path + " states phases at 450 nm, 532 nm, but the light has 640 nm, 520 nm: they are taken "
                               "unchanged"});
  EXPECT_TRUE(list_notes("# wavelength 633 nm", {}).empty());
  EXPECT_TRUE(list_notes("# wavelength 633 nm", {632.8e-9}).empty());
  EXPECT_TRUE(list_notes("# measured by hand", {532e-9}).empty());
}

TEST(PhaseTable, NamesOfFilesStateTheLight) {
  const io_support::TemporaryFolder folder;
  const auto path = folder.file("slm_633nm.txt");
  io_support::write_raw(path, "phase_deg\n0\n90\n180\n270\n");
  const auto list_notes = [&](double wavelength_m) {
    return phase_table_notes(path, PhaseUnit::automatic, {wavelength_m});
  };
  EXPECT_EQ(list_notes(532e-9),
            std::vector{path + " states phases at 633 nm, but the light has 532 nm: they are taken unchanged"});
  EXPECT_TRUE(list_notes(633e-9).empty());
  io_support::write_raw(path, "# wavelength 532 nm\nphase_deg\n0\n90\n180\n270\n");
  EXPECT_TRUE(list_notes(532e-9).empty());
  const std::string map = "a/CAL_LSH0802439_630nm.bmp";
  EXPECT_EQ(correction_notes(map, {532e-9}), std::vector{map + " is named as a correction at 630 nm, but the light has "
                                                               "532 nm: it is taken unchanged"});
  EXPECT_TRUE(correction_notes(map, {633e-9}).empty());
  EXPECT_TRUE(correction_notes("b/532nm/map_800x600.png", {633e-9}).empty());
  EXPECT_TRUE(correction_notes("", {633e-9}).empty());
  // Meadowlark's names, and numbers alone; not serial numbers and sides of pictures.
  for (const std::string name : {"slm4317_at1064_WFC.bmp", "slm_at1064nm.lut", "1064_wfc.bmp", "WFC-1064.bmp"}) {
    EXPECT_EQ(correction_notes(name, {532e-9}), std::vector{name + " is named as a correction at 1.064 um, but the "
                                                                   "light has 532 nm: it is taken unchanged"});
    EXPECT_TRUE(correction_notes(name, {1064e-9}).empty());
  }
  for (const std::string name : {"slm6661.bmp", "map_1080.png", "c_1920x1080.png", "flat1064b.bmp", "lut_255.bmp"}) {
    EXPECT_TRUE(correction_notes(name, {532e-9}).empty()) << name;
  }
}

TEST(PhaseTable, TheStrokeOmitsCodesWithoutAPhase) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(phase_stroke_rad({none, 1.5, -2, none}), 3.5);
  EXPECT_EQ(phase_stroke_rad({none, none}), 0);
  EXPECT_EQ(phase_stroke_rad({}), 0);
}

}  // namespace
}  // namespace holotone
