// Source: Wavefront Technologies, "Advanced Visualizer", appendix B1, "Object files (.obj)", version 3.0.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/points/obj_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <system_error>

namespace holotone::io {
namespace {

using Three = std::array<double, 3>;

enum class Use : std::uint8_t {
  structure,  ///< groups the faces; changes none
  ignored,    ///< named once
  refused,    ///< is geometry that this reader does not have
};

struct Keyword {
  std::string_view text;
  Use use;
  bool names;  ///< of files, materials or groups: a backslash at its end is a part of a path
};

constexpr Keyword other_keywords[] = {
    {"g", Use::structure, true},       {"o", Use::structure, true},       {"s", Use::structure, false},
    {"mtllib", Use::ignored, true},    {"usemtl", Use::ignored, true},    {"usemap", Use::ignored, true},
    {"maplib", Use::ignored, true},    {"mg", Use::ignored, false},       {"lod", Use::ignored, false},
    {"bevel", Use::ignored, false},    {"c_interp", Use::ignored, false}, {"d_interp", Use::ignored, false},
    {"ctech", Use::ignored, false},    {"stech", Use::ignored, false},    {"shadow_obj", Use::ignored, true},
    {"trace_obj", Use::ignored, true}, {"vw", Use::ignored, false},       {"vp", Use::refused, false},
    {"cstype", Use::refused, false},   {"deg", Use::refused, false},      {"bmat", Use::refused, false},
    {"step", Use::refused, false},     {"curv", Use::refused, false},     {"curv2", Use::refused, false},
    {"surf", Use::refused, false},     {"parm", Use::refused, false},     {"trim", Use::refused, false},
    {"hole", Use::refused, false},     {"scrv", Use::refused, false},     {"sp", Use::refused, false},
    {"end", Use::refused, false},      {"con", Use::refused, false},      {"bsp", Use::refused, false},
    {"bzp", Use::refused, false},      {"cdc", Use::refused, false},      {"cdp", Use::refused, false},
    {"res", Use::refused, false},
};

class ObjParser {
 public:
  ObjParser(std::string_view bytes, std::string_view path)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), path_(path) {
    if (bytes.starts_with(byte_order_mark)) at_ += byte_order_mark.size();
  }

  ObjText parse() {
    while (skip_to_statement()) take_statement();
    require_known(vertices_, text_.vertex.size(), "vertex");
    require_known(normals_, text_.normal.size(), "normal");
    if (!text_.colour.empty()) text_.colour.resize(text_.vertex.size(), none);
    return std::move(text_);
  }

 private:
  /// The largest index of a kind; statements may come before what they use.
  struct Largest {
    std::uint32_t index = 0;
    std::size_t line = 0;
  };

  static constexpr Three none{-1, -1, -1};  // in the place of a colour

  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

  /// Length of a line end at `at`: 2 of "\r\n".
  [[nodiscard]] std::ptrdiff_t line_end_length(const char* at) const {
    if (at == end_ || !is_line_end(*at)) return 0;
    return *at == '\r' && end_ - at > 1 && at[1] == '\n' ? 2 : 1;
  }

  /// Length of a backslash and the line end after it.
  [[nodiscard]] std::ptrdiff_t continuation_length(const char* at) const {
    if (at == end_ || *at != '\\') return 0;
    const auto length = line_end_length(at + 1);
    return length == 0 ? 0 : length + 1;
  }

  [[nodiscard]] bool ends_word(const char* at) const {
    return at == end_ || is_blank(*at) || continuation_length(at) > 0;
  }

  void skip_blanks() {
    for (;;) {
      while (at_ != end_ && is_blank(*at_) && !is_line_end(*at_)) ++at_;
      const auto length = continuation_length(at_);
      if (length == 0) return;
      at_ += length;
      ++line_;
    }
  }

  /// True if words follow on the line; a remark is none.
  bool has_word() {
    skip_blanks();
    return at_ != end_ && !is_line_end(*at_) && *at_ != '#';
  }

  std::string_view take_word() {
    const char* const begin = at_;
    while (!ends_word(at_)) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

  /// Skips the rest of a line that backslashes do not continue.
  void skip_line() {
    while (at_ != end_ && !is_line_end(*at_)) ++at_;
  }

  bool skip_to_statement() {
    for (;;) {
      if (has_word()) return true;
      if (at_ == end_) return false;
      if (*at_ == '#') {
        if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with("#MRGB")) ignore("#MRGB");
        skip_line();
      }
      at_ += line_end_length(at_);
      ++line_;
    }
  }

  void take_statement() {
    const auto word = take_word();
    if (word == "v") return take_vertex();
    if (word == "vn") return text_.normal.push_back(take_three());
    if (word == "f" || word == "fo") return take_face();
    if (word == "vt") return skip_words("vt");
    if (word == "l") return take_lines();
    if (word == "p") return take_points();
    const auto* const known = std::ranges::find(other_keywords, word, &Keyword::text);
    if (known == std::end(other_keywords)) fail("a keyword of OBJ such as v, vn or f", in_quotes(word));
    if (known->use == Use::refused)
      fail("vertices and faces", fmt::format("'{}' of a free-form curve or surface", word));
    if (known->names) return skip_names(*known);
    return skip_words(known->use == Use::ignored ? word : std::string_view{});
  }

  void skip_names(const Keyword& keyword) {
    if (keyword.use == Use::ignored) ignore(keyword.text);
    skip_line();
  }

  void skip_words(std::string_view ignored) {
    if (!ignored.empty()) ignore(ignored);
    while (has_word()) take_word();
    skip_line();
  }

  void ignore(std::string_view keyword) {
    if (std::ranges::find(text_.ignored, keyword) == text_.ignored.end()) text_.ignored.emplace_back(keyword);
  }

  double take_number() {
    double value = 0;
    const auto [stop, error] = std::from_chars(at_, end_, value);
    if (error == std::errc{} && ends_word(stop)) {
      at_ = stop;
      return value;
    }
    const auto word = take_word();
    if (!parse_number(word, value)) fail("a number", in_quotes(word));
    return value;
  }

  Three take_three() {
    Three three{};
    for (double& value : three) {
      if (!has_word()) fail("3 numbers of a normal", "fewer");
      value = take_number();
    }
    if (has_word()) fail("3 numbers of a normal", "more");
    return three;
  }

  void take_vertex() {
    std::array<double, 6> number{};
    std::size_t count = 0;
    for (; has_word(); ++count) {
      const double value = take_number();
      if (count < number.size()) number[count] = value;
    }
    if (count != 3 && count != 4 && count != 6) {
      fail("3 numbers of a vertex (x y z), 4 (and a weight) or 6 (and r g b)", fmt::format("{}", count));
    }
    // Programs divide by the weight or leave it out.
    if (count == 4 && number[3] != 1) fail("the weight 1 of a vertex", fmt::format("{:g}", number[3]));
    if (text_.vertex.size() >= ObjText::no_normal) fail("fewer than 2^32 vertices", "more");
    text_.vertex.push_back({number[0], number[1], number[2]});
    if (count == 6) take_colour({number[3], number[4], number[5]});
  }

  void take_colour(const Three& colour) {
    for (const double value : colour) {
      if (!(value >= 0 && value <= 65535)) fail("colours of 0 to 1, 255 or 65535", fmt::format("{:g}", value));
      text_.largest_colour = std::max(text_.largest_colour, value);
    }
    text_.colour.resize(text_.vertex.size() - 1, none);
    text_.colour.push_back(colour);
  }

  /// A whole number other than zero up to a blank or slash, as the index of one of `count`; negative ones count back.
  std::uint32_t take_index(std::size_t count, Largest& largest, std::string_view what) {
    std::int64_t index = 0;
    const auto [stop, error] = std::from_chars(at_, end_, index);
    const bool whole = error == std::errc{} && (ends_word(stop) || *stop == '/');
    const auto counted = static_cast<std::int64_t>(count);
    if (!whole || index == 0 || -index > counted || index >= std::int64_t{ObjText::no_normal}) {
      const char* const begin = at_;
      while (!ends_word(at_) && *at_ != '/') ++at_;
      fail(fmt::format("the number of a {}: 1 or more, or -1 to -{}", what, count),
           in_quotes({begin, static_cast<std::size_t>(at_ - begin)}));
    }
    at_ = stop;
    const auto found = static_cast<std::uint32_t>(index < 0 ? counted + index : index - 1);
    if (found >= largest.index) largest = {found + 1, line_};
    return found;
  }

  /// v, v/vt, v//vn or v/vt/vn.
  ObjText::Corner take_corner() {
    ObjText::Corner corner{take_index(text_.vertex.size(), vertices_, "vertex"), ObjText::no_normal};
    if (ends_word(at_)) return corner;
    ++at_;
    while (!ends_word(at_) && *at_ != '/') ++at_;  // of textures
    if (ends_word(at_)) return corner;
    ++at_;
    if (ends_word(at_)) return corner;
    corner.normal = take_index(text_.normal.size(), normals_, "normal");
    if (!ends_word(at_)) fail("a corner as v, v/vt, v//vn or v/vt/vn", in_quotes(take_word()));
    return corner;
  }

  void take_face() {
    const std::size_t first = text_.corner.size();
    while (has_word()) text_.corner.push_back(take_corner());
    const std::size_t count = text_.corner.size() - first;
    if (count < 3) fail("at least 3 corners of a face", fmt::format("{}", count));
    if (count > ObjText::no_normal) fail("fewer than 2^32 corners of a face", "more");
    text_.face.push_back(static_cast<std::uint32_t>(count));
  }

  void take_lines() {
    ignore("l");
    while (has_word()) take_corner();
  }

  void take_points() {
    while (has_word()) text_.point.push_back(take_corner().vertex);
  }

  void require_known(const Largest& largest, std::size_t count, std::string_view what) {
    if (largest.index <= count) return;
    line_ = largest.line;
    fail(fmt::format("the number of a {}: at most {}", what, count), fmt::format("{}", largest.index));
  }

  [[noreturn]] void fail(std::string_view expected, std::string_view got) const {
    throw_io(path_, fmt::format("{} (line {})", expected, line_), got);
  }

  const char* at_;
  const char* end_;
  std::string_view path_;
  std::size_t line_ = 1;
  Largest vertices_;
  Largest normals_;
  ObjText text_;
};

}  // namespace

ObjText parse_obj(std::string_view bytes, std::string_view path) { return ObjParser(bytes, path).parse(); }

}  // namespace holotone::io
