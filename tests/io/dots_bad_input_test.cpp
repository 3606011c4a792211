// Errors of the readers and writers of dots for invalid input.
#include <fmt/format.h>
#include <holotone/io/dots/dots.hpp>
#include <limits>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::expect_survival;
using io_support::expect_truncations_refused;
using io_support::read_raw;
using io_support::TemporaryFolder;
using io_support::write_raw;

std::string refusal(const std::string& bytes, const std::string& name) {
  const TemporaryFolder folder;
  write_raw(folder.file(name), bytes);
  std::string text = error_of([&] { read_dots(folder.file(name)); });
  EXPECT_TRUE(text.starts_with(folder.file(name) + ": expected ")) << text;
  return text;
}

TEST(DotsBadInput, MissingEmptyUnknown) {
  const TemporaryFolder folder;
  EXPECT_MENTIONS(error_of([&] { read_dots(folder.file("absent.csv")); }), "got none");
  EXPECT_MENTIONS(refusal("1 2\n", "d.docx"), ".docx");
  EXPECT_MENTIONS(refusal("1 2\n", "plain"), "no extension");
  for (const char* name : {"d.csv", "d.svg", "d.npy", "d.png", "d.txt"}) {
    EXPECT_MENTIONS(refusal("", name), "an empty file");
    EXPECT_MENTIONS(refusal(std::string("\x01\x02\xfe garbage \x00 here", 18), name), "expected");
  }
  EXPECT_MENTIONS(refusal("# nothing\n", "d.csv"), "at least 1 dot, got 0");
}

TEST(DotsBadInput, TablesNameTheLine) {
  EXPECT_MENTIONS(refusal("x,y\n1,2\n1,nan\n", "d.csv"), "finite coordinates (line 3), got nan");
  EXPECT_MENTIONS(refusal("1 2\ninf 3\n", "d.txt"), "(line 2), got inf");
  EXPECT_MENTIONS(refusal("1 2\n1e300 3\n", "d.txt"), "finite coordinates (line 2), got 1e+300");
  EXPECT_MENTIONS(refusal("1,2\n1,2,3\n", "d.csv"), "2 columns (line 2), got 3 columns");
  EXPECT_MENTIONS(refusal("1,2,3,4,5\n", "d.csv"), "2 to 4 columns");
  EXPECT_MENTIONS(refusal(" \tArea\tX\tY\n1\t5\t2\t3\n", "d.xy"), "3 columns as line 1 names (line 2), got 4 columns");
  EXPECT_MENTIONS(refusal("x,y\n1,two\n", "d.csv"), "a number in column 2 (line 2), got 'two'");
  EXPECT_MENTIONS(refusal("x,z\n1,2\n", "d.csv"), "column names with x and y (line 1), got 'x,z'");
  EXPECT_MENTIONS(refusal("x [mm],y [mm]\n1,2\n", "d.csv"), "columns in pixels (line 1), got 'x [mm]'");
  EXPECT_MENTIONS(refusal("# units: mm\n1,2\n", "d.csv"), "places in pixels (line 1), got ' units: mm'");
  EXPECT_MENTIONS(refusal("x,y\n1,2\n// x y in um\n", "d.csv"), "places in pixels (line 3), got ' x y in um'");
  for (const auto* units : {" x [mm] y [mm]", " x y [mm]", " X/mm Y/mm", " x [um]\ty [um]"}) {
    EXPECT_MENTIONS(refusal(fmt::format("#{}\n1 2\n", units), "d.txt"), "places in pixels (line 1)");
  }
  EXPECT_MENTIONS(refusal("x_px,y_px,radius_um\n1,2,3\n", "d.csv"), "columns in pixels (line 1), got 'radius_um'");
  EXPECT_MENTIONS(refusal("x,y,X\n1,2,3\n", "d.csv"), "one column 'x' (line 1), got 'X'");
  EXPECT_MENTIONS(refusal(std::string("\xFE\xFF\0x\0,", 6), "d.csv"), "text in UTF-8 or ASCII, got UTF-16");
  EXPECT_MENTIONS(refusal("1,2,-1\n", "d.csv"), "radius >= 0 (line 1), got -1");
  EXPECT_MENTIONS(refusal("1,2,1,256\n", "d.csv"), "a class from 0 to 255 (line 1), got 256");
  EXPECT_MENTIONS(refusal("1,2,1,0.5\n", "d.csv"), "got 0.5");
  EXPECT_MENTIONS(refusal("# width_px -3\n1,2\n", "d.csv"), "width_px from 0 to 1e9 (line 1)");
  EXPECT_MENTIONS(refusal("4000000000\n1 2\n", "d.txt"), "4e+09 dots, as line 1 states, got 1 line");
  EXPECT_MENTIONS(refusal("-1\n1 2\n", "d.txt"), "a count of dots (line 1)");
}

TEST(DotsBadInput, CommasInNumbersAreNamed) {
  EXPECT_MENTIONS(refusal("x;y\n1;2\n0,5;0,25\n", "a.csv"), "numbers with a decimal point (line 3), got '0,5;0,25'");
  EXPECT_MENTIONS(refusal("1 2\n\n0,5 0,25\n", "a.txt"), "numbers with a decimal point (line 3), got '0,5 0,25'");
}

TEST(DotsBadInput, SvgNamesTheLine) {
  EXPECT_MENTIONS(refusal("<svg>\n<circle cx='nan' cy='1' r='1'/></svg>", "d.svg"), "a finite length cx (line 2)");
  EXPECT_MENTIONS(refusal("<svg><circle cx='1' cy='1' r='-1'/></svg>", "d.svg"), "expected r >= 0 (line 1), got '-1'");
  EXPECT_MENTIONS(refusal("<svg>\n\n<g transform='turn(3)'/></svg>", "d.svg"), "(line 3)");
  EXPECT_MENTIONS(refusal("<svg><g transform='scale(1e308)'><circle cx='9' cy='9' r='1' "
                          "transform='scale(1e308)'/></g></svg>",
                          "d.svg"),
                  "finite");
  EXPECT_MENTIONS(refusal("<svg><use href='#d' x='3'/><defs><circle id='d' r='1'/></defs></svg>", "d.svg"),
                  "circles that stand for themselves, got 1 <use> element");
  EXPECT_MENTIONS(refusal("<!DOCTYPE svg [<!ENTITY d '<circle r=\"1\"/>'>]>\n<svg>&lt;&d;</svg>", "d.svg"),
                  "circles that stand for themselves (line 2), got '&d;'");
  EXPECT_MENTIONS(refusal("<svg viewBox='0 0 0 1'/>", "d.svg"), "positive size");
  const std::string dot = "<circle cx='1' cy='1' r='1'/>";
  EXPECT_MENTIONS(refusal("<svg viewBox='0 0 9 9'>" + dot +
                              "<path d='M0 0h1'/><g><path d='M1 1h1'/></g>"
                              "<rect width='8' height='9'/><text>a</text></svg>",
                          "d.svg"),
                  "expected circles and ellipses, got 2 paths, 1 rect, 1 text; hide what is no dot");
  EXPECT_MENTIONS(refusal("<svg><style>\n#a g { display: none }</style>" + dot + "</svg>", "d.svg"),
                  "style sheets that hide or paint by one element's name, class or id (line 1), got '#a g'");
  EXPECT_MENTIONS(refusal("<svg><style media='print'>.a { display: none }</style>" + dot + "</svg>", "d.svg"),
                  "style sheets of all media or of a screen (line 1), got 'print'");
  EXPECT_MENTIONS(refusal("<svg><style>@media print { .a { display: none } }</style>" + dot + "</svg>", "d.svg"),
                  "got '@media print'");
  EXPECT_MENTIONS(refusal("<svg>\n<circle r='1' style='transform:scale(2)'/></svg>", "d.svg"),
                  "transform as an attribute (line 2), got 'a style'");
  EXPECT_MENTIONS(refusal("<svg><g transform='scale(2)' transform-origin='4 4'>" + dot + "</g></svg>", "d.svg"),
                  "transforms about the origin (line 1), got 'transform-origin 4 4'");
  EXPECT_MENTIONS(refusal("<svg><g style='transform-origin:center'>" + dot + "</g></svg>", "d.svg"),
                  "transform-origin as an attribute");
  EXPECT_MENTIONS(refusal("<svg><g style='rotate:45deg'>" + dot + "</g></svg>", "d.svg"), "rotate as an attribute");
  EXPECT_MENTIONS(refusal("<svg><svg viewBox='0 0 1 1'>" + dot + "</svg></svg>", "d.svg"),
                  "the width and height of an <svg> with a viewBox in another");
  EXPECT_MENTIONS(refusal("<svg><svg viewBox='0 0 1'>" + dot + "</svg></svg>", "d.svg"), "a viewBox of four numbers");
  EXPECT_MENTIONS(
      refusal("<svg viewBox='0 0 9 9'><svg viewBox='0 0 1 1' preserveAspectRatio='middle'>" + dot + "</svg></svg>",
              "d.svg"),
      "preserveAspectRatio as none, or as xMidYMid and meet or slice (line 1), got 'middle'");
  EXPECT_MENTIONS(refusal("<svg width='3furlongs'/>", "d.svg"), "in mm, cm");
  EXPECT_MENTIONS(refusal("<svg><g></svg>", "d.svg"), "</g>");
  EXPECT_MENTIONS(refusal("<svg><g>", "d.svg"), "</g> before the file's end");
  EXPECT_MENTIONS(refusal("<html></html>", "d.svg"), "an <svg> element");
  EXPECT_MENTIONS(refusal("<svg></svg>", "d.svg"), "at least 1 dot");
  EXPECT_MENTIONS(refusal("<svg><circle", "d.svg"), "a tag's '>'");
  EXPECT_MENTIONS(refusal("<svg><!-- ", "d.svg"), "'-->'");
  std::string deep = "<svg>";
  for (int i = 0; i < 100000; ++i) deep += "<g>";
  EXPECT_MENTIONS(refusal(deep, "d.svg"), "at most 256 deep");
}

TEST(DotsBadInput, NpyShapes) {
  const auto npy = [](std::string words, const std::string& data) {
    words.resize(118 - 1, ' ');
    std::string bytes("\x93NUMPY\x01\0\x76\0", 10);
    bytes.append(words).append("\n").append(data);
    return bytes;
  };
  EXPECT_MENTIONS(
      refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 5), }", std::string(20, '\0')), "d.npy"),
      "{n, 2} (x y)");
  EXPECT_MENTIONS(refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2), }", ""), "d.npy"),
                  "at least 1 dot");
  EXPECT_MENTIONS(
      refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 2), }", std::string(16, '\0')),
              "d.npy"),
      "got 16 bytes");
  EXPECT_MENTIONS(refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }",
                              std::string("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xc0\x7f", 16)),
                          "d.npy"),
                  "finite coordinates (row 1), got nan");
}

TEST(DotsBadInput, DamagedFiles) {
  const TemporaryFolder folder;
  Dots dots;
  dots.width = dots.height = 16;
  for (int i = 0; i < 40; ++i) {
    dots.position.insert(dots.position.end(), {static_cast<float>(i % 7) + 0.25F, static_cast<float>(i) / 3});
    dots.radius.push_back(0.5F);
    dots.colour_class.push_back(static_cast<std::uint8_t>(i % 3));
  }
  for (const char* extension : {".csv", ".txt", ".npy", ".svg", ".png"}) {
    const std::string path = folder.file(std::string("good") + extension);
    if (std::string_view(extension) == ".png") dots.colour_class.clear();
    write_dots(path, dots, {.one_bit = dots.colour_class.empty()});
    const auto read = [](const std::string& name) { read_dots(name); };
    expect_survival(extension, read_raw(path), extension, 400, read);
    expect_truncations_refused(read_raw(path), extension, std::string_view(extension) == ".npy", read);
  }
}

TEST(DotsBadInput, StyledSvgSurvivesTwoThousandMutations) {
  const std::string svg =
      "<svg width='9mm' height='8mm' viewBox='0 0 9 9'><style>.a{display:none}.b,.c{visibility:hidden}</style>"
      "<rect width='100%' height='100%' fill='white'/><g class='c' style='fill:red'><circle r='1' class='a'/>"
      "<circle r='2' visibility='visible' transform='rotate(30 1 2) skewX(4)'/></g>"
      "<svg x='1' width='50%' height='4' viewBox='0 0 2 2' preserveAspectRatio='xMinYMax slice'><ellipse rx='1' "
      "ry='2'/>"
      "</svg></svg>";
  EXPECT_EQ(read_dots([&] {
              static const TemporaryFolder folder;
              write_raw(folder.file("d.svg"), svg);
              return folder.file("d.svg");
            }())
                .count(),
            2);
  expect_survival("styled.svg", svg, ".svg", 2000, [](const std::string& name) { read_dots(name); });
}

std::string argument_error(const Dots& dots, const DotsWriteOptions& options, const std::string& name) {
  const TemporaryFolder folder;
  std::string text = error_of([&] { write_dots(folder.file(name), dots, options); }, ErrorCode::invalid_argument);
  EXPECT_TRUE(folder.names().empty());
  return text;
}

TEST(DotsBadInput, WritersCheckWhatTheyGet) {
  Dots good;
  good.width = good.height = 8;
  good.position = {1, 2, 3, 4};
  Dots dots = good;
  dots.position[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_MENTIONS(argument_error(dots, {}, "d.csv"),
                  "write_dots: position: expected finite coordinates, got nan (dot 1)");
  dots = good;
  dots.radius = {1};
  EXPECT_MENTIONS(argument_error(dots, {}, "d.csv"), "radius: expected none or 2 values, got 1");
  dots.radius = {1, -1};
  EXPECT_MENTIONS(argument_error(dots, {}, "d.csv"), "got -1 (dot 1)");
  dots = good;
  dots.width = 0;
  for (const char* name : {"d.svg", "d.pdf", "d.png"}) EXPECT_MENTIONS(argument_error(dots, {}, name), "dots.width");
  EXPECT_MENTIONS(argument_error(good, {.dpi = -1}, "d.png"), "dpi: expected > 0, got -1");
  EXPECT_MENTIONS(argument_error(good, {.dpi = 1e6, .compression = 10}, "d.png"), "compression");
  dots = good;
  dots.width = 1e8;
  EXPECT_MENTIONS(argument_error(dots, {.dpi = 9600}, "d.png"), "a raster of at most");
  dots = good;
  dots.colour_class = {0, 7};
  EXPECT_THROW((void)default_inks(257), Error);
  EXPECT_MENTIONS(argument_error(dots, {.inks = default_inks(7)}, "d.png"), "inks: expected at least 8, got 7");
  const TemporaryFolder folder;
  EXPECT_MENTIONS(error_of([&] { write_dots(folder.file("d.png"), dots, {.one_bit = true}); }, ErrorCode::unsupported),
                  "cyan");
  EXPECT_MENTIONS(error_of([&] { write_dots(folder.file("d.gif"), good); }, ErrorCode::unsupported), ".gif");
  EXPECT_MENTIONS(error_of([&] { write_dots(folder.file("no/d.csv"), good); }), "folder");
}

TEST(DotsBadInput, NoDotsIsAnEmptyPage) {
  const TemporaryFolder folder;
  Dots none;
  none.width = none.height = 8;
  for (const char* name : {"d.csv", "d.npy", "d.svg", "d.pdf", "d.png"}) {
    write_dots(folder.file(name), none);
    if (!is_dots_input(name)) continue;
    EXPECT_MENTIONS(error_of([&] { read_dots(folder.file(name)); }), "at least");
  }
}

TEST(DotsBadInput, WritingCanBeCancelled) {
  class Never final : public Progress {
    bool update(std::string_view, std::int64_t, std::int64_t) override { return false; }
  } never;
  const TemporaryFolder folder;
  Dots dots;
  dots.width = dots.height = 8;
  dots.position = {1, 1};
  for (const char* name : {"d.csv", "d.txt", "d.npy", "d.svg", "d.pdf", "d.png"}) {
    error_of([&] { write_dots(folder.file(name), dots, {}, never); }, ErrorCode::cancelled);
  }
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace holotone
