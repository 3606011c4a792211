// Tables of a panel's phases.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/recipes/retrieval/phase_table.hpp>
#include <limits>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

TEST(PhaseTable, ErrorsNameTheFile) {
  const io_support::TemporaryFolder folder;
  const auto path = folder.file("t.txt");
  io_support::write_raw(path, "0\n1001\n");
  EXPECT_EQ(io_support::error_of([&] { (void)read_phase_table(path); }),
            path + ": expected phases of at most 1000 rad, got 1001 for code 1");
  io_support::write_raw(path, "0\nx\n");
  EXPECT_MENTIONS(io_support::error_of([&] { (void)read_phase_table(path); }, ErrorCode::invalid_argument),
                  path + ": read_phase_lut: line 2");
}

TEST(PhaseTable, TheStrokeOmitsCodesWithoutAPhase) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(phase_stroke_rad({none, 1.5, -2, none}), 3.5);
  EXPECT_EQ(phase_stroke_rad({none, none}), 0);
  EXPECT_EQ(phase_stroke_rad({}), 0);
}

}  // namespace
}  // namespace holotone
