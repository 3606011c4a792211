// Dots to files and back: every format, pages in files, coverage of the raster.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/random.hpp>
#include <holotone/io/dots/dots.hpp>
#include <holotone/io/dots/dots_raster_detail.hpp>
#include <numbers>
#include <regex>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using io_support::read_raw;
using io_support::TemporaryFolder;
using io_support::write_raw;

/// Dots on a page of 37.5 x 21.25 pixels, some off it, with radii and classes as requested.
Dots sample_dots(std::size_t count, bool radii, std::size_t classes) {
  Dots dots;
  dots.width = 37.5;
  dots.height = 21.25;
  dots.pixel_m = 1e-4;
  for (std::size_t i = 0; i < count; ++i) {
    dots.position.push_back(40 * random_uniform(1, 2 * i) - 1);
    dots.position.push_back(22 * random_uniform(1, 2 * i + 1));
    if (radii) dots.radius.push_back(2 * random_uniform(2, i));
    if (classes > 0) dots.colour_class.push_back(static_cast<std::uint8_t>(random_bits(3, i) % classes));
  }
  return dots;
}

Dots read_text(const std::string& name, const std::string& text) {
  const TemporaryFolder folder;
  write_raw(folder.file(name), text);
  return read_dots(folder.file(name));
}

using Floats = std::vector<float>;
using Classes = std::vector<std::uint8_t>;

TEST(DotsFile, ListsReadBackTheSame) {
  const TemporaryFolder folder;
  for (const char* name : {"dots.csv", "dots.txt", "dots.npy"}) {
    for (const std::size_t count : {1u, 3u, 70001u}) {
      for (const int columns : {2, 3, 4}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name, count, columns));
        const Dots dots = sample_dots(count, columns > 2, columns > 3 ? 5 : 0);
        write_dots(folder.file(name), dots);
        const Dots back = read_dots(folder.file(name));
        EXPECT_EQ(back.position, dots.position);
        EXPECT_EQ(back.radius, dots.radius);
        EXPECT_EQ(back.colour_class, dots.colour_class);
        const bool page = std::string_view(name) != "dots.npy";
        EXPECT_EQ(back.width, page ? dots.width : 0);
        EXPECT_EQ(back.height, page ? dots.height : 0);
        EXPECT_EQ(back.pixel_m, page ? dots.pixel_m : 0);
      }
    }
  }
  EXPECT_EQ(folder.names().size(), 3u);  // no temporary file remains
}

TEST(DotsFile, ClassesWithoutRadiiGetTheRadiusAskedFor) {
  const TemporaryFolder folder;
  write_dots(folder.file("d.csv"), sample_dots(9, false, 3), {.radius = 0.75});
  EXPECT_EQ(read_dots(folder.file("d.csv")).radius, Floats(9, 0.75F));
}

TEST(DotsFile, TablesOfOtherTools) {
  const Floats expected{1.5F, 2, 3, 4.25F};
  for (const char* text :
       {"1.5,2\n3,4.25\n", "1.5 2\n3 4.25", "1.5\t2\r\n3\t4.25\r\n", "1.5;2\n3;4.25\n", "2\n1.5 2\n3 4.25\n",
        "# a comment of x and y\nx,y\n1.5,2\n\n3,4.25\n", "// x y\n1.5 2\n3 4.25\n", "\"Y\";\"X\"\n2;1.5\n4.25;3\n",
        "\"x\",\"y\"\n\"1.5\",\"2\"\n\" 3 \",4.25\n", "id,x,y,weight\n7,1.5,2,0\n8,3,4.25,1\n",
        "\xEF\xBB\xBFx y\n+1.5 2e0\n3 4.25\n"}) {
    const Dots dots = read_text("d.csv", text);
    EXPECT_EQ(dots.position, expected) << text;
    EXPECT_TRUE(dots.radius.empty() && dots.colour_class.empty()) << text;
    EXPECT_EQ(dots.width, 0) << text;
  }
  EXPECT_EQ(read_text("d.csv", "x [px],y (px)\n1.5,2\n3,4.25\n").position, expected);
  EXPECT_EQ(read_text("d.txt", "# x_px y_px\n1.5 2\n3 4.25\n").position, expected);
  const TemporaryFolder folder;
  write_raw(folder.file("d.csv"), "id,x,y,x_world\n7,1.5,2,0\n");
  EXPECT_EQ(read_dots_file(folder.file("d.csv")).notes,
            std::vector<std::string>{folder.file("d.csv") + ": ignored: 'id', 'x_world'"});
  const Dots all = read_text("d.dat", "x y Radius ink\n1 2 .5 3\n3 4 0 0\n");
  EXPECT_EQ(all.radius, (Floats{0.5F, 0}));
  EXPECT_EQ(all.colour_class, (Classes{3, 0}));
}

TEST(DotsFile, NpyOfDoublesAndFortranOrder) {
  const TemporaryFolder folder;
  std::string header = "\x93NUMPY\x01";
  std::string words = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }";
  words.resize(128 - 10 - 1, ' ');
  header += std::string("\0\x76\0", 3) + words + "\n";
  for (const double value : {1.0, 2.0, 3.0, 4.0, 0.5, 0.25}) header += io_support::bytes_of(value);
  write_raw(folder.file("d.npy"), header);
  const Dots dots = read_dots(folder.file("d.npy"));
  EXPECT_EQ(dots.position, (Floats{1, 3, 2, 4}));
  EXPECT_EQ(dots.radius, (Floats{0.5F, 0.25F}));
}

TEST(DotsFile, SvgReadsBackTheSame) {
  const TemporaryFolder folder;
  for (const std::size_t classes : {0u, 1u, 4u, 9u}) {
    const Dots dots = sample_dots(501, true, classes);
    write_dots(folder.file("d.svg"), dots);
    const Dots back = read_dots(folder.file("d.svg"));
    ASSERT_EQ(back.count(), dots.count());
    EXPECT_EQ(back.width, dots.width);
    EXPECT_EQ(back.height, dots.height);
    EXPECT_NEAR(back.pixel_m, dots.pixel_m, 1e-9 * dots.pixel_m);
    if (classes < 2) {
      EXPECT_EQ(back.position, dots.position);
      EXPECT_EQ(back.radius, dots.radius);
      EXPECT_TRUE(back.colour_class.empty());
      continue;
    }
    // Grouped by layer, each layer in its own order.
    std::vector<std::size_t> order(501);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return dots.colour_class[a] < dots.colour_class[b]; });
    for (std::size_t k = 0; k < order.size(); ++k) {
      EXPECT_EQ(back.position[2 * k], dots.position[2 * order[k]]);
      EXPECT_EQ(back.colour_class[k], dots.colour_class[order[k]]);
      EXPECT_EQ(back.radius[k], dots.radius[order[k]]);
    }
  }
}

TEST(DotsFile, SvgKeepsAClassWhoseNeighboursAreEmpty) {
  const TemporaryFolder folder;
  Dots dots = sample_dots(2, true, 0);
  dots.colour_class = {3, 1};
  write_dots(folder.file("d.svg"), dots);
  EXPECT_EQ(read_dots(folder.file("d.svg")).colour_class, (Classes{1, 3}));
}

TEST(DotsFile, SvgOfOtherTools) {
  const Dots dots = read_text("d.svg", R"svg(<?xml version="1.0"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD" [ <!ENTITY x "<circle/>"> ]>
<!-- <circle cx="9" cy="9" r="9"/> -->
<svg:svg width="2in" height="1in" viewBox="10,20 192 96" xmlns="x">
  <defs><circle cx="1" cy="1" r="1"/></defs>
  <style><![CDATA[ circle > g { } ]]></style>
  <path d=""/>
  <rect x="10" y="20" width="100%" height="100%" fill="white"/>
  <g transform="translate(10 , 20) rotate(90) scale(2)"><circle cx='3' cy='1' r='.5' style="fill:a>b"/></g>
  <ellipse cx="10px" cy="20" rx="1" ry="4" transform="matrix(1,0,0,1,-1,-2)"></ellipse>
  <circle cx="1in" cy="10mm" r="1"/>
  <circle cx="1" cy="1" r="1" display="none"/>
</svg:svg>)svg");
  ASSERT_EQ(dots.count(), 3);
  EXPECT_EQ(dots.width, 192);
  EXPECT_EQ(dots.height, 96);
  EXPECT_NEAR(dots.pixel_m, 0.0508 / 192, 1e-12);
  const Floats expected{-2, 6, -1, -2, 86, static_cast<float>(10 / 25.4 * 96 - 20)};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(dots.position[i], expected[i], 1e-4F) << i;
  EXPECT_NEAR(dots.radius[0], 1, 1e-6F);
  EXPECT_NEAR(dots.radius[1], 2, 1e-6F);
  EXPECT_TRUE(dots.colour_class.empty());
  const Dots bare = read_text("e.svg", "<svg width='100' height='50px'><circle r='2' cx='1.5e1' cy='-2'/></svg>");
  EXPECT_EQ(bare.width, 100);
  EXPECT_EQ(bare.height, 50);
  EXPECT_EQ(bare.pixel_m, 0);
  EXPECT_EQ(bare.position, (Floats{15, -2}));
}

/// x of all dots of a picture with these elements.
Floats x_of_dots(const std::string& elements) {
  const Dots dots = read_text("d.svg", "<svg viewBox='0 0 100 50'>" + elements + "</svg>");
  Floats x;
  for (std::size_t i = 0; i < dots.position.size(); i += 2) x.push_back(dots.position[i]);
  return x;
}

TEST(DotsFile, SvgLeavesOutWhatIsHidden) {
  const std::string one = "<circle cx='1' cy='2' r='1'/>";
  const auto circle = [](const std::string& more) { return "<circle cx='7' cy='2' r='1' " + more + "/>"; };
  const Floats expected{1};
  EXPECT_EQ(x_of_dots(one + circle("style='fill:red;display:none'")), expected);
  EXPECT_EQ(x_of_dots(one + circle("style='display : none !important'")), expected);
  EXPECT_EQ(x_of_dots(one + circle("visibility='hidden'")), expected);
  EXPECT_EQ(x_of_dots(one + circle("style='visibility:collapse'")), expected);
  EXPECT_EQ(x_of_dots(one + "<g inkscape:groupmode='layer' style='display:none'>" + circle("") + "</g>"), expected);
  EXPECT_EQ(x_of_dots(one + "<g display='none'><g display='inline'>" + circle("") + "</g></g>"), expected);
  EXPECT_EQ(x_of_dots("<style>.a{fill:red} .st0, .b { display:none; }</style>" + one + circle("class='a st0'")),
            expected);
  EXPECT_EQ(x_of_dots("<style><![CDATA[/* .a{ */ .a{visibility:hidden}]]></style>" + one + circle("class='a'")),
            expected);
  // What a part says stands before what the whole says, and a style before an attribute.
  EXPECT_EQ(x_of_dots("<g visibility='hidden'>" + circle("") + circle("visibility='visible' cy='9'") + "</g>"),
            Floats{7});
  EXPECT_EQ(x_of_dots(circle("display='none' style='display:inline'")), Floats{7});
  EXPECT_EQ(x_of_dots("<style>.a{display:none}</style>" + circle("class='a' style='display:block'")), Floats{7});
  EXPECT_EQ(x_of_dots(one + "<g display='none'><path d='M0 0H9'/></g>"), expected);
  // SVG 2, section 10.3: a radius of 0 disables a circle.
  EXPECT_EQ(x_of_dots(one + "<circle cx='3' cy='1' r='0'/><ellipse cx='3' cy='1' ry='0' rx='2'/>"), expected);
}

// The mapping of SVG 2, section 8.2, by hand.
TEST(DotsFile, SvgOfPicturesInThePicture) {
  const auto inner = [](const std::string& attributes) {
    const Dots dots = read_text("d.svg", "<svg viewBox='0 0 100 50'><g transform='translate(0 1)'><svg " + attributes +
                                             "><circle cx='2' cy='3' r='1'/></svg></g></svg>");
    return Floats{dots.position[0], dots.position[1], dots.radius[0]};
  };
  EXPECT_EQ(inner("x='10' y='20'"), (Floats{12, 24, 1}));
  EXPECT_EQ(inner("x='10%' y='20%'"), (Floats{12, 14, 1}));
  EXPECT_EQ(inner("width='40' height='20' viewBox='0 0 20 10'"), (Floats{4, 7, 2}));
  EXPECT_EQ(inner("viewBox='0 0 10 10'"), (Floats{25 + 10, 16, 5}));  // 100 x 50: in the middle
  EXPECT_EQ(inner("viewBox='0 0 10 10' preserveAspectRatio='xMinYMid'"), (Floats{10, 16, 5}));
  EXPECT_EQ(inner("viewBox='0 0 10 10' preserveAspectRatio='xMaxYMax slice'"), (Floats{20, -50 + 31, 10}));
  const Floats squeezed = inner("viewBox='1 1 10 10' preserveAspectRatio='none'");
  EXPECT_EQ(squeezed[0], 10);
  EXPECT_EQ(squeezed[1], 11);
  EXPECT_NEAR(squeezed[2], std::sqrt(50.0), 1e-6);
  // A page whose sides have other proportions than its viewBox is scaled by the lesser.
  EXPECT_NEAR(
      read_text("d.svg", "<svg width='100mm' height='100mm' viewBox='0 0 100 50'><circle r='1'/></svg>").pixel_m, 1e-3,
      1e-12);
  EXPECT_NEAR(
      read_text("d.svg", "<svg width='300mm' height='100mm' viewBox='0 0 100 50'><circle r='1'/></svg>").pixel_m, 2e-3,
      1e-12);
}

TEST(DotsFile, CarriesHowDotsCameToBe) {
  const TemporaryFolder folder;
  const Dots dots = sample_dots(30, true, 2);
  const Metadata metadata{{"method", "electrostatic"}, {"seed", "7"}, {"note", "a<b & \"c\": d\n\\e \xc3\xa9"}};
  for (const char* name : {"d.csv", "d.txt", "d.svg", "d.png"}) {
    write_dots(folder.file(name), dots, {.metadata = metadata});
    const DotsReadOptions options{.threshold = folder.file(name).ends_with(".png") ? 0.5 : 0};
    EXPECT_EQ(read_dots_file(folder.file(name), options).metadata, metadata) << name;
  }
  write_dots(folder.file("plain.csv"), dots);
  EXPECT_TRUE(read_dots_file(folder.file("plain.csv")).metadata.empty());
  // Only comments written by Holotone are metadata.
  write_raw(folder.file("other.csv"), "# made by: somebody\nx,y\n1,2\n");
  EXPECT_TRUE(read_dots_file(folder.file("other.csv")).metadata.empty());
  for (const char* name : {"e.csv", "e.png"}) {
    EXPECT_THROW(write_dots(folder.file(name), dots, {.metadata = {{"a: b", "c"}}}), Error);
  }
  // No valid PNG keywords: libpng would store others.
  for (const std::string& key : {std::string(71, 'k'), std::string("two  blanks"), std::string("\xc3\xa9")}) {
    EXPECT_THROW(write_dots(folder.file("e.png"), dots, {.metadata = {{key, "c"}}}), Error) << key;
  }
}

TEST(DotsFile, CopiesInSvgAreTold) {
  const TemporaryFolder folder;
  write_raw(folder.file("d.svg"),
            "<svg><defs><circle id='d' r='1'/><use href='#d'/></defs><circle cx='4' cy='2' r='1'/><use href='#d'/>"
            "<use href='#d' x='2'/></svg>");
  const DotsFile file = read_dots_file(folder.file("d.svg"));
  EXPECT_EQ(file.dots.count(), 1);
  ASSERT_EQ(file.notes.size(), 1U);
  EXPECT_NE(file.notes[0].find("2 <use> elements passed over"), std::string::npos) << file.notes[0];
  write_raw(folder.file("d.svg"), "<svg><g clip-path='url(#a)'><circle cx='4' cy='2' r='1'/></g></svg>");
  EXPECT_EQ(read_dots_file(folder.file("d.svg")).notes,
            std::vector<std::string>{folder.file("d.svg") + ": ignored: clip-path, mask"});
  write_raw(folder.file("d.svg"), "<svg><circle cx='4' cy='2' r='1'/><circle cx='5' cy='2' r='0'/></svg>");
  EXPECT_EQ(read_dots_file(folder.file("d.svg")).notes,
            std::vector<std::string>{folder.file("d.svg") + ": left out: 1 circle of radius 0"});
}

/// The number after the last occurrence of a word in a PDF file.
std::size_t number_after(const std::string& text, const std::string& word) {
  const auto at = text.rfind(word);
  if (at == std::string::npos) return SIZE_MAX;
  std::size_t value = SIZE_MAX;
  std::from_chars(text.data() + at + word.size(), text.data() + text.size(), value);
  return value;
}

TEST(DotsFile, PdfIsWellFormed) {
  const TemporaryFolder folder;
  Dots dots = sample_dots(66000, true, 4);
  dots.radius[5] = 0;
  write_dots(folder.file("d.pdf"), dots);
  const std::string pdf = read_raw(folder.file("d.pdf"));
  EXPECT_TRUE(pdf.starts_with("%PDF-1.4\n"));
  EXPECT_TRUE(pdf.ends_with("%%EOF\n"));
  const std::size_t table = number_after(pdf, "startxref\n");
  ASSERT_LT(table, pdf.size());
  ASSERT_EQ(pdf.substr(table, 27), "xref\n0 6\n0000000000 65535 f");
  for (std::size_t object = 1; object < 6; ++object) {
    const std::string entry = pdf.substr(table + 9 + 20 * object, 20);
    ASSERT_TRUE(std::regex_match(entry, std::regex("[0-9]{10} 00000 n \n"))) << entry;
    const std::size_t offset = std::stoul(entry);
    EXPECT_EQ(pdf.substr(offset, 7), fmt::format("{} 0 obj", object));
  }
  EXPECT_EQ(number_after(pdf, "/Size "), 6u);
  const std::size_t begin = pdf.find("stream\n") + 7;
  const std::size_t length = number_after(pdf, "5 0 obj\n");
  ASSERT_EQ(pdf.substr(begin + length, 10), "\nendstream");
  EXPECT_NE(pdf.find(fmt::format("/MediaBox [0 0 {:.6f}", 37.5 * 1e-4 / 0.0254 * 72).substr(0, 22)), std::string::npos);
  // Every dot with a radius is one stroke in page coordinates, and no number has an exponent.
  const std::string content = pdf.substr(begin, length);
  EXPECT_EQ(std::count(content.begin(), content.end(), 'S'), 65999);
  EXPECT_EQ(content.find('e'), std::string::npos);
  std::size_t at = content.find(" m ");
  at = content.rfind('\n', at) + 1;
  const std::size_t first = static_cast<std::size_t>(std::find(dots.colour_class.begin(), dots.colour_class.end(), 0) -
                                                     dots.colour_class.begin());
  EXPECT_NEAR(std::stod(content.substr(at)), static_cast<double>(dots.position[2 * first]), 1e-5);
}

TEST(DotsFile, PdfOfALargePage) {
  const TemporaryFolder folder;
  Dots dots = sample_dots(3, false, 0);
  dots.pixel_m = 1;  // 37.5 m wide
  write_dots(folder.file("d.pdf"), dots);
  const std::string pdf = read_raw(folder.file("d.pdf"));
  EXPECT_TRUE(pdf.starts_with("%PDF-1.6\n"));
  EXPECT_EQ(number_after(pdf, "/UserUnit "), 8u);  // 106,299 points are more than 7 times 14,400
}

TEST(DotsFile, DiscAndPixelAreas) {
  // Area of a disc in a cell against sums over a fine grid; all cells together contain the disc.
  const double steps = 4000;
  for (const auto& [x, y] : {std::pair{0.3, 0.2}, {-0.4, 0.6}, {0.9, 0.8}, {-0.7, -0.2}, {-0.8, -0.9}, {0.6, -0.5}}) {
    double area = 0;
    for (int i = 0; i < 4000; ++i) {
      const double u = -1 + (i + 0.5) * (x + 1) / steps;
      const double half = std::sqrt(1 - u * u);
      area += std::max(0.0, std::min(y, half) + half) * (x + 1) / steps;
    }
    const double got = io::disc_area_corner(x, y, io::disc_area_below(x), io::disc_area_below(y));
    EXPECT_NEAR(got, area, 2e-5) << x << ' ' << y;
  }
}

/// Linear light of an sRGB code.
double light(int code) {
  const double s = code / 255.0;
  return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
}

TEST(DotsFile, PngCoversTheAreaOfTheDots) {
  const TemporaryFolder folder;
  Dots dots;
  dots.width = 60;
  dots.height = 150;  // more than one band of rows
  double area = 0;
  for (int i = 0; i < 14; ++i) {
    const double radius = 0.3 + 0.3 * i;
    dots.position.insert(dots.position.end(),
                         {20.37F + 3.1F * static_cast<float>(i % 3), 9.81F * static_cast<float>(i) + 10});
    dots.radius.push_back(static_cast<float>(radius));
    area += std::numbers::pi * radius * radius;
  }
  for (const double dpi : {0.0, 192.0, 66.0}) {
    write_dots(folder.file("d.png"), dots, {.dpi = dpi});
    const Image image = read_image(folder.file("d.png"));
    const double scale = dpi > 0 ? dpi / 96 : 1;
    ASSERT_EQ(shape_of(image), (Shape<3>{std::lround(150 * scale), std::lround(60 * scale), 1}));
    double dark = 0;
    std::int64_t shaded = 0;
    for (const auto code : std::get<Array<std::uint8_t, 3>>(image.pixels).host()) {
      dark += 1 - light(code);
      shaded += code > 0 && code < 255;
    }
    // A code has an error of at most half a step, which near white is 0.0045 of the light.
    std::printf("dpi %g: area %.3f of %.3f\n", dpi, dark / scale / scale, area);
    EXPECT_NEAR(dark / scale / scale, area, 0.0045 * static_cast<double>(shaded) / scale / scale);
    EXPECT_GT(shaded, 30);
  }
}

TEST(DotsFile, OneBitPngHasEveryDot) {
  const TemporaryFolder folder;
  Dots dots;
  dots.width = 67;
  dots.height = 131;
  // One dot in every pixel of a row, then discs of radius 2.5 pixels.
  for (int x = 0; x < 67; ++x) dots.position.insert(dots.position.end(), {static_cast<float>(x) + 0.9F, 64.02F});
  write_dots(folder.file("d.png"), dots, {.radius = 0.01, .one_bit = true});
  Dots back = read_dots(folder.file("d.png"));
  EXPECT_EQ(back.count(), 67);
  for (std::size_t i = 0; i < 67; ++i) {
    EXPECT_EQ(back.position[2 * i], static_cast<float>(i) + 0.5F);
    EXPECT_EQ(back.position[2 * i + 1], 64.5F);
  }
  dots.position = {30.5F, 64.5F};
  write_dots(folder.file("d.png"), dots, {.radius = 2.5, .one_bit = true});
  EXPECT_EQ(read_dots(folder.file("d.png")).count(), 21);  // pixels whose centre is within 2.5 of a centre
  const std::string png = read_raw(folder.file("d.png"));
  EXPECT_EQ(png[24], 1) << "bits a sample";
  EXPECT_EQ(png.find("pHYs"), std::string::npos) << "nobody said how large a pixel is";
  dots.pixel_m = 1e-4;
  write_dots(folder.file("d.png"), dots, {.dpi = 508});
  const std::string sized = read_raw(folder.file("d.png"));
  const auto chunk = sized.find("pHYs");
  ASSERT_NE(chunk, std::string::npos);
  EXPECT_EQ(sized.substr(chunk + 4, 9), std::string("\0\0\x4e\x20\0\0\x4e\x20\x01", 9));  // 20,000 per metre
  EXPECT_EQ(shape_of(read_image(folder.file("d.png")))[1], 134);
}

TEST(DotsFile, InksMultiply) {
  const TemporaryFolder folder;
  Dots dots;
  dots.width = dots.height = 9;
  dots.position = {4.5F, 4.5F, 4.5F, 4.5F, 0.5F, 0.5F};
  dots.colour_class = {0, 2, 1};
  dots.radius = {2, 2, 2};
  write_dots(folder.file("d.png"), dots,
             {.inks = {{"r", {255, 0, 0}}, {"none", {255, 255, 255}}, {"rg", {188, 255, 0}}}});
  const Image image = read_image(folder.file("d.png"));
  const auto& pixels = std::get<Array<std::uint8_t, 3>>(image.pixels);
  EXPECT_EQ(pixels(4, 4, 0), 188);
  EXPECT_EQ(pixels(4, 4, 1), 0);
  EXPECT_EQ(pixels(0, 0, 2), 255);
}

TEST(DotsFile, PicturesOfTwoLevelsAreDots) {
  const TemporaryFolder folder;
  Array<std::uint8_t, 3> pixels({3, 4, 1});
  std::fill_n(pixels.data(), 12, std::uint8_t{200});
  pixels(0, 3, 0) = pixels(2, 1, 0) = 90;
  write_image(folder.file("p.png"), {std::move(pixels), {}});
  const Dots dots = read_dots(folder.file("p.png"));
  EXPECT_EQ(dots.position, (Floats{3.5F, 0.5F, 1.5F, 2.5F}));
  EXPECT_EQ(dots.width, 4);
  EXPECT_EQ(dots.height, 3);
  Array<std::uint8_t, 3> grey({1, 3, 1});
  for (int i = 0; i < 3; ++i) grey(0, i, 0) = static_cast<std::uint8_t>(60 * i);
  write_image(folder.file("g.png"), {std::move(grey), {}});
  EXPECT_EQ(read_dots(folder.file("g.png"), {.threshold = 0.3}).count(), 2);
  EXPECT_MENTIONS(io_support::error_of([&] { read_dots(folder.file("g.png")); }), "between 0 and 0.470588");
  Array<std::uint8_t, 3> clear({1, 2, 2});  // black, with one transparent pixel
  std::fill_n(clear.data(), 4, std::uint8_t{0});
  clear(0, 1, 1) = 255;
  write_image(folder.file("a.png"), {std::move(clear), {}});
  EXPECT_EQ(read_dots(folder.file("a.png")).position, (Floats{1.5F, 0.5F}));
}

}  // namespace
}  // namespace holotone
