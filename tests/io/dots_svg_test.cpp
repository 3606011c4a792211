// What of the circles of an SVG is seen: paint, strokes, style sheets, conditions, the page's proportions.
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/dots/dots.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::TemporaryFolder;
using io_support::write_raw;
using Floats = std::vector<float>;

struct Read {
  Dots dots;
  std::string notes;  ///< without the file's name
  [[nodiscard]] Floats x() const {
    Floats values;
    for (std::size_t i = 0; i < dots.position.size(); i += 2) values.push_back(dots.position[i]);
    return values;
  }
};

Read read_svg(const std::string& svg) {
  const TemporaryFolder folder;
  const std::string path = folder.file("d.svg");
  write_raw(path, svg);
  DotsFile file = read_dots_file(path);
  Read result{std::move(file.dots), {}};
  for (const auto& note : file.notes)
    result.notes.append(result.notes.empty() ? "" : "\n").append(note, path.size() + 2);
  return result;
}

Read on_page(const std::string& elements) {
  return read_svg("<svg width='100' height='50' viewBox='0 0 100 50'>" + elements + "</svg>");
}

std::string refusal(const std::string& elements) {
  const TemporaryFolder folder;
  write_raw(folder.file("d.svg"), "<svg viewBox='0 0 100 50'>" + elements + "</svg>");
  return error_of([&] { read_dots(folder.file("d.svg")); });
}

const std::string seen = "<circle cx='1' cy='2' r='2'/>";
std::string circle(const std::string& more) { return "<circle cx='7' cy='2' r='2' " + more + "/>"; }

TEST(DotsSvg, LeavesOutWhatPaintsNothing) {
  const std::string note = "left out: 1 circle without fill and stroke, or of opacity 0";
  for (const std::string& blank :
       {circle("fill='none'"), circle("fill=' none '"), circle("opacity='0'"), circle("fill-opacity='0%'"),
        circle("style='fill:none'"), circle("fill='transparent'"), circle("fill='#f000'"), circle("fill='#ff000000'"),
        circle("fill='rgba(1, 2, 3, 0)'"), circle("fill='rgb(1 2 3 / 0%)'"), circle("fill='red' style='opacity:0'"),
        "<g fill='none'>" + circle("") + "</g>", "<g opacity='0'>" + circle("opacity='1'") + "</g>",
        "<g color='transparent'>" + circle("fill='currentColor'") + "</g>",
        circle("fill='none' stroke='none' stroke-width='9'"), circle("fill='none' stroke='red' stroke-width='0'"),
        circle("fill='none' stroke='red' stroke-opacity='0'")}) {
    const Read read = on_page(seen + blank);
    EXPECT_EQ(read.x(), Floats{1}) << blank;
    EXPECT_EQ(read.notes, note) << blank;
  }
  // The element's value stands before the inherited one, the style before the attribute, and classes in between.
  for (const std::string& painted :
       {"<g fill='none'>" + circle("fill='red'") + "</g>", circle("fill='none' style='fill:red'"),
        "<style>.a{fill:#123}</style>" + circle("class='a' fill='none'"), circle("fill='url(#none)'"),
        "<g fill='red'>" + circle("fill='inherit'") + "</g>", "<g fill='none'>" + circle("fill='initial'") + "</g>"}) {
    EXPECT_EQ(on_page(painted).x(), Floats{7}) << painted;
    EXPECT_EQ(on_page(painted).notes, "") << painted;
  }
  EXPECT_MENTIONS(refusal(circle("fill='none'") + circle("fill='white'")),
                  "circles that show on the page, got 2 circles that paint nothing or in its colour");
}

TEST(DotsSvg, StyleSheetsNameElementsClassesAndIds) {
  for (const char* const sheet :
       {"circle{fill:none}", "*{fill:none}", ".a{fill:none}", "#i{fill:none}", ".b,.a{fill:none}",
        ".a{fill:none}circle{fill:red}*{fill:red}", "#i{fill:none}.a{fill:red}", ".b{fill:red}.a{fill:none}",
        ".a{fill:none!important}#i{fill:red}", ".a{fill:red}.a{fill:none}", ".a:hover{fill:red}.a{opacity:0}"}) {
    const Read read =
        on_page(std::string("<style>") + sheet + "</style><ellipse cx='1' rx='2' ry='2' style='fill:red'/>" +
                circle("id='i' class='a b'"));
    EXPECT_EQ(read.x(), Floats{1}) << sheet;
  }
  const auto sheet = [](const std::string& rules) { return refusal("<style>" + rules + "</style>" + seen); };
  const std::string expected = "style sheets that hide or paint by one element's name, class or id (line 1), got ";
  EXPECT_MENTIONS(sheet("g circle{fill:none}"), expected + "'g circle'");
  EXPECT_MENTIONS(sheet("circle.a{stroke:red}"), expected + "'circle.a'");
  EXPECT_MENTIONS(sheet("@media print{circle{opacity:0}}"), expected + "'@media print'");
  EXPECT_MENTIONS(refusal(seen + "<style>circle{fill:none}</style>"), "style sheets before all shapes (line 1)");
  EXPECT_EQ(on_page(seen + "<style>text{font-size:3px}</style>").notes, "");
  const std::string svg = "<?xml-stylesheet href='a.css'?><svg>" + seen + "<g><set/></g></svg>";
  EXPECT_EQ(read_svg(svg).notes, "ignored: animations, a style sheet in another file");
  const std::string import = "<svg><style>@import url(a.css);</style>" + seen + "</svg>";
  EXPECT_EQ(read_svg(import).notes, "ignored: a style sheet in another file");
}

TEST(DotsSvg, KeywordsAndNamesHaveNoCase) {
  for (const char* const hidden : {"style='DISPLAY:none'", "style='display:None'", "display='NONE'",
                                   "style='Visibility:HIDDEN'", "style='fill:NONE'", "style='Opacity:0'"}) {
    EXPECT_EQ(on_page(seen + circle(hidden)).x(), Floats{1}) << hidden;
  }
  for (const char* const shown : {"visibility='Visible'", "visibility='initial'"}) {
    EXPECT_EQ(on_page("<g visibility='hidden'>" + circle(shown) + "</g>" + seen).x(), (Floats{7, 1})) << shown;
  }
  EXPECT_EQ(on_page("<g visibility='hidden'>" + circle("visibility='unset'") + "</g>" + seen).x(), Floats{1});
}

TEST(DotsSvg, ComputedStylesAreRefused) {
  for (const char* const value : {"fill:var(--a)", "opacity:calc(0)", "fill:light-dark(#000,#fff)",
                                  "stroke:color-mix(in srgb, red, blue)", "display:var(--d)", "fill-opacity:env(a)"}) {
    const std::string got = "without var(), calc() or remarks (line 1), got '" +
                            std::string(value).substr(std::string(value).find(':') + 1);
    EXPECT_MENTIONS(refusal("<circle r='2' style='" + std::string(value) + "'/>"), got);
    EXPECT_MENTIONS(refusal("<style>.a{" + std::string(value) + "}</style><circle class='a' r='2'/>"), got);
  }
  EXPECT_MENTIONS(refusal("<circle r='2' style='/* a */fill:none'/>"), "remarks (line 1), got '/* a */fill:none'");
  EXPECT_MENTIONS(refusal("<circle r='2' style='all:unset'/>"), "got 'all:unset'");
  EXPECT_EQ(on_page("<style>text{fill:var(--a)}</style>" + seen).x(), Floats{1});
  EXPECT_EQ(on_page(seen + "<defs><circle r='2' fill='var(--a)'/></defs>").x(), Floats{1});
}

TEST(DotsSvg, RulesInsideOfRulesAreRefused) {
  const auto sheet = [](const std::string& rules) { return refusal("<style>" + rules + "</style>" + seen); };
  EXPECT_MENTIONS(sheet("circle{fill:red;&:not(.a){display:none}}"), "got 'circle'");
  EXPECT_MENTIONS(sheet("@keyframes a{from{r:1}to{r:2}}"), "got '@keyframes a'");
  EXPECT_MENTIONS(sheet("@supports (r:1){.a{clip-path:none}}"), "got '@supports (r:1)'");
  EXPECT_MENTIONS(sheet("@media print{circle{translate:3px}}"), "got '@media print'");
  EXPECT_MENTIONS(sheet("circle:not(:hover){display:none}"), "got 'circle:not(:hover)'");
  EXPECT_MENTIONS(sheet(".a\\/b{display:none}"), "got '.a");
  EXPECT_EQ(on_page("<style>@page{margin:0}@property --a{syntax:'*';inherits:false}</style>" + seen).notes, "");
  EXPECT_EQ(on_page("<style>g text{width:3px}</style>" + seen).notes, "");
}

TEST(DotsSvg, SheetsOfOtherLanguagesAreNotApplied) {
  for (const char* const type : {"text/less", "text/x-scss", "text/plain"}) {
    EXPECT_EQ(on_page(fmt::format("<style type='{}'>circle{{display:none}}</style>", type) + seen).notes,
              fmt::format("ignored: a style sheet of type '{}'", type));
  }
  for (const char* const type : {"", "text/css", "TEXT/CSS"}) {
    const Read read =
        on_page(fmt::format("<style type='{}'>.a{{display:none}}</style>", type) + seen + circle("class='a'"));
    EXPECT_EQ(read.x(), Floats{1}) << type;
    EXPECT_EQ(read.notes, "");
  }
  EXPECT_EQ(on_page("<link rel='stylesheet' href='a.css'/>" + seen).notes, "ignored: a style sheet in another file");
}

TEST(DotsSvg, EffectsThatDotsDoNotHaveAreNamed) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"style='clip-path:circle(1px)'", "clip-path, mask"},
      {"mask='url(#m)'", "clip-path, mask"},
      {"style='mask-image:url(#m)'", "clip-path, mask"},
      {"filter='url(#f)'", "filter"},
      {"style='filter:blur(2px)'", "filter"},
      {"style='mix-blend-mode:multiply'", "mix-blend-mode"},
      {"style='paint-order:stroke'", "paint-order"},
      {"stroke-dasharray='2 1'", "stroke-dasharray"},
  };
  for (const auto& [more, name] : cases) {
    const std::string note = fmt::format("ignored: {}", name);
    EXPECT_EQ(on_page(circle(more)).notes, note) << more;
    EXPECT_EQ(on_page(fmt::format("<g {}>{}</g>", more, seen)).notes, note) << more;
    EXPECT_EQ(on_page(fmt::format("{1}<g display='none' {0}>{1}</g>", more, seen)).notes, "") << more;
  }
  EXPECT_EQ(on_page("<style>.a{filter:drop-shadow(1px 1px)}</style>" + circle("class='a'")).notes, "ignored: filter");
  EXPECT_EQ(on_page(circle("filter='none' clip-path='none' style='mix-blend-mode:normal'")).notes, "");
  EXPECT_EQ(on_page("<script>f()</script>" + seen).notes, "ignored: scripts");
}

TEST(DotsSvg, TheBackgroundIsThePagesColour) {
  const auto read = [](const std::string& style) {
    return read_svg("<svg width='100' height='50' style='" + style + "'>" + seen + circle("fill='white'") + "</svg>");
  };
  for (const char* const black : {"background:black", "background-color:#000", "BACKGROUND:rgb(0,0,0)"}) {
    EXPECT_EQ(read(black).x(), Floats{7}) << black;
    EXPECT_EQ(read(black).notes, "left out: 1 circle in the page's colour; what lies below stays");
  }
  for (const char* const white :
       {"background:none", "background:transparent", "background:#fff", "background:hsl(0 0% 100%)"})
    EXPECT_EQ(read(white).x(), Floats{1}) << white;
  EXPECT_EQ(read("background:navy").x(), (Floats{1, 7}));
  EXPECT_MENTIONS(error_of([&] { read("background:url(a.png)"); }), "a background of one opaque colour (line 1)");
  EXPECT_MENTIONS(error_of([&] { read("background:rgba(0,0,0,.5)"); }), "got 'rgba(0,0,0,.5)'");
  EXPECT_MENTIONS(error_of([&] { read("width:200px"); }), "width as an attribute (line 1), got 'a style'");
  EXPECT_MENTIONS(error_of([&] { read("height:20mm"); }), "height as an attribute");
  EXPECT_EQ(read("width:100%;height:auto;max-width:100vw").x(), Floats{1});
}

// CSS Color 4: hsl(240 100% 50%) is blue, of no opacity nothing.
TEST(DotsSvg, ColoursByHue) {
  const std::string blue = "<rect width='100' height='50' fill='#00f'/>";
  EXPECT_EQ(on_page(blue + seen + circle("fill='hsl(240, 100%, 50%)'")).x(), Floats{1});
  EXPECT_EQ(on_page(blue + seen + circle("fill='hsl(-120deg 100% 50%)'")).x(), Floats{1});
  EXPECT_EQ(on_page(blue + seen + circle("fill='hsl(200, 100%, 50%)'")).x(), (Floats{1, 7}));
  EXPECT_EQ(on_page(seen + circle("fill='hsla(240, 100%, 50%, 0)'")).x(), Floats{1});
  EXPECT_EQ(
      on_page("<rect width='100' height='50' fill='#408080'/>" + seen + circle("fill='hsl(180 33.3333% 37.6471%)'"))
          .x(),
      Floats{1});
}

TEST(DotsSvg, StrokesWidenDots) {
  const auto radius = [](const std::string& more) {
    const Read read = on_page(circle(more));
    EXPECT_EQ(read.notes, "") << more;
    return read.dots.radius.at(0);
  };
  EXPECT_EQ(radius("stroke='black' stroke-width='4'"), 4);
  EXPECT_EQ(radius("stroke='red'"), 2.5F);
  EXPECT_EQ(radius("style='stroke:#00f;stroke-width:3px'"), 3.5F);
  EXPECT_EQ(radius("stroke='none' stroke-width='4'"), 2);
  EXPECT_EQ(radius("stroke='black' stroke-width='4' transform='scale(.5)'"), 2);
  EXPECT_EQ(radius("stroke='white' stroke-width='1'"), 1.5F);  // covers the outer half of its width
  // Per cent of the diagonal / sqrt(2): sqrt((100^2 + 50^2) / 2) = 79.0569...
  EXPECT_NEAR(radius("stroke='black' stroke-width='10%'"), 2 + 7.9056942 / 2, 1e-5);
  EXPECT_EQ(on_page("<g stroke='black' stroke-width='2'><ellipse cx='1' rx='1' ry='7'/></g>").dots.radius, Floats{4});
  for (const std::string radii : {"rx='3'", "ry='3'", "rx='3' ry='auto'", "rx=' auto ' ry='3'"}) {
    EXPECT_EQ(on_page("<ellipse cx='1' " + radii + "/>").dots.radius, Floats{3}) << radii;
  }
  EXPECT_MENTIONS(refusal(circle("stroke='red' vector-effect='non-scaling-stroke'")),
                  "a stroke that is scaled with its circle (line 1), got 'vector-effect non-scaling-stroke'");
  EXPECT_MENTIONS(refusal(circle("stroke='red' stroke-width='1em'")), "a finite length stroke-width (line 1)");
  const Read rings = on_page(circle("fill='none' stroke='black' stroke-width='1'") +
                             circle("fill='white' stroke='black' stroke-width='2'"));
  EXPECT_EQ(rings.dots.radius, (Floats{2.5F, 3}));
  EXPECT_EQ(rings.notes, "2 rings read as dots up to the outer edge of the stroke");
  EXPECT_EQ(on_page(circle("fill-opacity='.5'") + circle("fill='#0008'")).notes,
            "2 translucent circles read as whole dots");
}

TEST(DotsSvg, LeavesOutThePagesColour) {
  const std::string note = "left out: 1 circle in the page's colour; what lies below stays";
  for (const char* white : {"white", "White", "#fff", "#FFFFFF", "rgb(255,255,255)", "rgb(100% 100% 100%)",
                            "hsl(120, 50%, 100%)", "#ffff", "rgba(255,255,255,.5)"}) {
    const Read read = on_page(seen + circle(std::string("fill='") + white + "'"));
    EXPECT_EQ(read.x(), Floats{1}) << white;
    EXPECT_EQ(read.notes, note) << white;
  }
  const std::string night = "<rect width='100%' height='100%' fill='#000'/>";
  const Read dark = on_page(night + "<circle cx='3' r='1' fill='white'/>" + circle(""));
  EXPECT_EQ(dark.x(), Floats{3});
  EXPECT_EQ(dark.notes, note);
  EXPECT_EQ(on_page("<rect width='100%' height='100%' fill='none' stroke='red'/>" + seen).x(), Floats{1});
  EXPECT_MENTIONS(refusal(seen + night), "circles and ellipses, got 1 rect");  // it hides them
  EXPECT_EQ(on_page(seen + "<rect width='100%' height='100%' opacity='0'/><path d='M0 0H9' fill='none'/>").x(),
            Floats{1});
  EXPECT_MENTIONS(refusal(seen + "<line x2='9' fill='red' stroke='red'/>"), "got 1 line");
  // A layer of Holotone's is of dots whatever its ink.
  Dots dots;
  dots.position = {1, 2, 3, 4};
  dots.colour_class = {0, 1};
  dots.width = dots.height = 8;
  const TemporaryFolder folder;
  write_dots(folder.file("d.svg"), dots, {.inks = {{"black", {0, 0, 0}}, {"white", {255, 255, 255}}}});
  EXPECT_EQ(read_dots(folder.file("d.svg")).position, dots.position);
}

TEST(DotsSvg, ShowsTheFirstFittingChildOfASwitch) {
  const std::string other = "<circle cx='9' r='1'/>";
  const auto x = [&](const std::string& elements) { return on_page(elements).x(); };
  EXPECT_EQ(x("<switch><desc/>" + seen + other + "</switch>" + circle("")), (Floats{1, 7}));
  EXPECT_EQ(x("<switch><g><g>" + seen + circle("") + "</g></g><g>" + other + "</g></switch>"), (Floats{1, 7}));
  EXPECT_EQ(x("<switch><g requiredExtensions='http://ns.adobe.com/a'>" + other + "</g>" + seen + "</switch>"),
            Floats{1});
  const Read read = on_page("<switch><g systemLanguage='de, fr'>" + other + "</g><g systemLanguage='fr, en-GB'>" +
                            seen + "</g><g>" + other + "</g></switch>");
  EXPECT_EQ(read.x(), Floats{1});
  EXPECT_EQ(read.notes, "left out: 1 element for other languages than English");
  EXPECT_EQ(x(seen + "<g systemLanguage='ja'>" + other + "</g>"), Floats{1});
  EXPECT_MENTIONS(refusal(seen + "<switch><foreignObject><p/></foreignObject></switch>"), "got 1 foreignObject");
}

// The mapping of SVG 2, section 8.2, by hand.
TEST(DotsSvg, PagesOfOtherProportionsThanTheirViewBox) {
  const auto page = [](const std::string& attributes) {
    return read_svg("<svg viewBox='10 20 100 100' " + attributes + "><circle cx='20' cy='30' r='2'/></svg>");
  };
  struct Case {
    const char* attributes;
    Floats expected;  // page, pixel in mm, place, radius
  };
  for (const auto& [attributes, e] : {
           Case{"width='200mm' height='200mm'", {100, 100, 2, 10, 10, 2}},
           Case{"width='200mm' height='100mm'", {200, 100, 1, 60, 10, 2}},
           Case{"width='200mm' height='100mm' preserveAspectRatio='xMaxYMin'", {200, 100, 1, 110, 10, 2}},
           Case{"width='100mm' height='200mm'", {100, 200, 1, 10, 60, 2}},
           Case{"width='200mm' height='100mm' preserveAspectRatio='xMidYMid slice'", {100, 50, 2, 10, -15, 2}},
           Case{"width='200' height='100'", {200, 100, 0, 60, 10, 2}},
           Case{"width='200mm'", {100, 100, 2, 10, 10, 2}},
           Case{"height='200mm'", {100, 100, 2, 10, 10, 2}},
           // As wide as a unit: 100 units are 200 mm across and 100 mm, or 50 of these, down.
           Case{"width='200mm' height='100mm' preserveAspectRatio='none'", {100, 50, 2, 10, 5, std::sqrt(2.0F)}},
       }) {
    SCOPED_TRACE(attributes);
    const Read read = page(attributes);
    EXPECT_NEAR(read.dots.width, e[0], 1e-9);
    EXPECT_NEAR(read.dots.height, e[1], 1e-9);
    EXPECT_NEAR(read.dots.pixel_m, e[2] * 1e-3, 1e-9);
    EXPECT_NEAR(read.dots.position[0], e[3], 1e-5);
    EXPECT_NEAR(read.dots.position[1], e[4], 1e-5);
    EXPECT_NEAR(read.dots.radius[0], e[5], 1e-6);
    const bool squeezed = std::string_view(attributes).ends_with("'none'");
    EXPECT_EQ(read.notes,
              squeezed ? "circles are ellipses under preserveAspectRatio none: read as circles of their area" : "");
  }
  EXPECT_EQ(read_svg("<svg width='200' height='100' viewBox='0 0 100 100'><rect width='100%' height='100%'/>"
                     "<circle fill='red' r='1'/></svg>")
                .dots.count(),
            1);
}

TEST(DotsSvg, PaintSurvivesTwoThousandMutations) {
  const std::string svg =
      "<svg width='9mm' height='8mm' viewBox='0 0 9 8' preserveAspectRatio='none'><style>.a{fill:none!important}"
      "#b,*{stroke:rgb(1,2%,3)}circle{stroke-width:5%}</style><rect width='9' height='8' fill='#0123'/>"
      "<switch><g systemLanguage='de'/><g color='hsl(1,2%,100%)' opacity='50%'><circle r='1' class='a' id='b'/>"
      "<circle r='2' fill='currentColor' stroke='rgba(1 2 3 / .5)'/></g></switch></svg>";
  EXPECT_EQ(read_svg(svg).dots.count(), 2);
  io_support::expect_survival("paint.svg", svg, ".svg", 2000, [](const std::string& name) { read_dots(name); });
}

}  // namespace
}  // namespace holotone
