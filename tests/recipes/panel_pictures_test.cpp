// Files of codes as a panel shows them: channels in turn, packed frames, triggers, and files that are refused.
#include <gtest/gtest.h>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/codes/panel_pictures_detail.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;

class PanelPicturesTest : public ::testing::Test {
 protected:
  /// A file of 3 x 4 pixels whose code is code_of(pixel).
  template <class Code, class CodeOf>
  std::string file(const std::string& name, std::int64_t channels, const CodeOf& code_of) {
    Array<Code, 3> pixels({3, 4, channels});
    for (std::int64_t i = 0; i < pixels.size(); ++i) pixels.data()[i] = static_cast<Code>(code_of(i));
    const auto path = folder_.file(name);
    write_image(path, {std::move(pixels), {}});
    return path;
  }

 private:
  io_support::TemporaryFolder folder_;
};

template <class Code>
Code code(const PanelPicture& picture, std::int64_t pixel) {
  return std::get<Array<Code, 2>>(picture.codes).data()[pixel];
}

TEST_F(PanelPicturesTest, AFieldSequenceShowsTheChannelsInTurn) {
  const auto path = file<std::uint8_t>("rgb.png", 3, [](auto i) { return 10 * i; });
  const auto fields = read_panel_pictures({path}, {.field_sequence = true});
  ASSERT_EQ(fields.size(), 3U);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(panel_shape(fields[c].codes), (Shape<2>{3, 4}));
    EXPECT_EQ(code<std::uint8_t>(fields[c], 2), 10 * (6 + c));
    EXPECT_FALSE(fields[c].lit);
  }
  EXPECT_EQ(read_panel_pictures({path}, {}).size(), 1U);
  const auto grey = file<std::uint8_t>("grey.png", 1, [](auto i) { return i; });
  expect_error(ErrorCode::invalid_argument, "expected three channels for a sequence of colours, got one",
               [&] { (void)read_panel_pictures({grey}, {.field_sequence = true}); });
}

TEST_F(PanelPicturesTest, JpegIsRefused) {
  const io_support::TemporaryFolder folder;
  io_support::write_raw(folder.file("codes.jpg"), jpeg_bytes({Array<std::uint8_t, 3>({3, 4, 1}), {}}, 100));
  expect_error(ErrorCode::invalid_argument, "expected codes in PNG, TIFF or BMP without loss, got JPEG",
               [&] { (void)read_panel_pictures({folder.file("codes.jpg")}, {}); });
}

TEST_F(PanelPicturesTest, SixteenBitsNeedTwoChannels) {
  const auto path = file<std::uint16_t>("words.png", 1, [](auto i) { return 300 * i; });
  expect_error(ErrorCode::invalid_argument, "expected 8 bits a channel, got 16",
               [&] { (void)read_panel_pictures({path}, {}); });
  const auto shown = read_panel_pictures({path}, {.packed16 = true});
  EXPECT_EQ(code<std::uint16_t>(shown.front(), 5), 1500);
}

TEST_F(PanelPicturesTest, ATriggerIsLitInTheCorner) {
  const auto path = file<std::uint8_t>("grey.png", 1, [](auto) { return 7; });
  const auto shown = read_panel_pictures({path}, {.trigger_px = 1});
  ASSERT_TRUE(shown.front().lit);
  EXPECT_EQ(code<std::uint8_t>(shown.front(), 0), 7);
  EXPECT_EQ(code<std::uint8_t>(shown.front(), 11), 0);
  EXPECT_EQ((std::get<Array<std::uint8_t, 2>>(*shown.front().lit).data()[11]), 255);
}

TEST_F(PanelPicturesTest, BitPlanesPackBinaryFrames) {
  const auto dark = file<std::uint8_t>("dark.png", 1, [](auto) { return 0; });
  const auto lit = file<std::uint8_t>("lit.png", 1, [](auto i) { return i == 5 ? 255 : 0; });
  const auto packed = read_panel_pictures({dark, lit}, {.bit_planes = "rgb"});
  const auto& codes = std::get<Array<std::uint8_t, 3>>(packed.front().codes);
  for (std::int64_t i = 0; i < codes.size(); ++i) EXPECT_EQ(codes.data()[i], i == 15 ? 2 : 0) << i;
  const auto grey = file<std::uint8_t>("grey.png", 1, [](auto i) { return i; });
  expect_error(ErrorCode::invalid_argument, "expected a binary frame",
               [&] { (void)read_panel_pictures({grey}, {.bit_planes = "rgb"}); });
}

}  // namespace
}  // namespace holotone
