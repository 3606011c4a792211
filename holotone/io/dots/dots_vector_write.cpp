// Dots as vector pages: SVG and PDF, written piece by piece.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/dots/dots_formats_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>

namespace holotone::io {
namespace {

/// Appends a number without exponent, which PDF does not have, and without trailing zeros.
void append_fixed(std::string& text, double value, int decimals) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, decimals).ptr;
  std::string_view all(digits, static_cast<std::size_t>(end - digits));
  if (decimals > 0) {
    all = all.substr(0, all.find_last_not_of('0') + 1);
    if (all.ends_with('.')) all.remove_suffix(1);
  }
  text += all == "-0" ? "0" : all;
}

std::string fixed(double value, int decimals) {
  std::string text;
  append_fixed(text, value, decimals);
  return text;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

/// Writes the dots class by class in pieces; `enter`, `dot` and `leave` append. Every piece reports progress.
class Walk {
 public:
  Walk(const DotsToWrite& job, Progress& progress) : job_(job), sorted_(by_class(job)), progress_(progress) {}

  /// Writes one piece. Returns false after the last class.
  template <class Enter, class Dot, class Leave>
  bool piece(std::string& bytes, const Enter& enter, const Dot& dot, const Leave& leave) {
    progress_.step("writing dots", static_cast<std::int64_t>(next_), static_cast<std::int64_t>(job_.count()));
    const std::size_t stop = next_ + dots_a_piece;
    while (class_ < job_.inks.size()) {
      if (!inside_) enter(bytes, class_);
      inside_ = true;
      const std::size_t end = std::min(stop, sorted_.begin[class_ + 1]);
      for (; next_ < end; ++next_) dot(bytes, sorted_.order[next_]);
      if (next_ < sorted_.begin[class_ + 1]) return true;
      leave(bytes);
      inside_ = false;
      ++class_;
    }
    return false;
  }

 private:
  const DotsToWrite& job_;
  DotsByClass sorted_;
  Progress& progress_;
  std::size_t class_ = 0;
  std::size_t next_ = 0;
  bool inside_ = false;
};

/// Number of decimals of a coordinate in pixels for a resolution of a ten-millionth of the page.
int decimals_for(const Dots& dots) {
  const double digits = std::ceil(std::log10(std::max(dots.width, dots.height)));
  return std::clamp(7 - static_cast<int>(digits), 2, 9);
}

/// Objects of a PDF file and their offsets.
class PdfFile {
 public:
  void begin_object(std::string& bytes, int number) {
    offsets_[static_cast<std::size_t>(number)] = written_ + bytes.size();
    bytes += fmt::format("{} 0 obj\n", number);
  }
  void piece_done(const std::string& bytes) { written_ += bytes.size(); }
  [[nodiscard]] std::size_t position(const std::string& bytes) const { return written_ + bytes.size(); }
  void finish(std::string& bytes) const {
    const std::size_t table = written_ + bytes.size();
    bytes += fmt::format("xref\n0 {}\n0000000000 65535 f \n", offsets_.size());
    for (std::size_t i = 1; i < offsets_.size(); ++i) bytes += fmt::format("{:010} 00000 n \n", offsets_[i]);
    bytes += fmt::format("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{}\n%%EOF\n", offsets_.size(), table);
  }

 private:
  std::array<std::size_t, 6> offsets_{};
  std::size_t written_ = 0;
};

}  // namespace

void write_dots_svg(const std::string& path, const DotsToWrite& job, Progress& progress) {
  const Dots& dots = job.dots;
  Walk walk(job, progress);
  bool begun = false;
  const bool blend = job.inks.size() > 1;
  const auto enter = [&](std::string& bytes, std::size_t c) {
    const auto& ink = job.inks[c];
    bytes += fmt::format(
        "<g inkscape:groupmode=\"layer\" inkscape:label=\"{} {}\" id=\"layer{}\" data-class=\"{}\" "
        "fill=\"#{:02x}{:02x}{:02x}\"{}>\n",
        c + 1, escaped(ink.name), c + 1, c, ink.srgb[0], ink.srgb[1], ink.srgb[2],
        blend ? " style=\"mix-blend-mode:multiply\"" : "");
  };
  const auto dot = [&](std::string& bytes, std::size_t i) {
    append_number(bytes += "<circle cx=\"", dots.position[2 * i]);
    append_number(bytes += "\" cy=\"", dots.position[2 * i + 1]);
    append_number(bytes += "\" r=\"", job.radius_of(i));
    bytes += "\"/>\n";
  };
  const auto leave = [](std::string& bytes) { bytes += "</g>\n"; };
  write_file(path, [&](std::string& bytes) {
    if (!begun) {
      bytes = fmt::format(
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
          "xmlns:inkscape=\"http://www.inkscape.org/namespaces/inkscape\" width=\"{}mm\" height=\"{}mm\" "
          "viewBox=\"0 0 {} {}\">\n",
          fixed(dots.width * job.pixel_m * 1e3, 9), fixed(dots.height * job.pixel_m * 1e3, 9), fixed(dots.width, 9),
          fixed(dots.height, 9));
    }
    if (!begun && !job.metadata.empty()) {
      bytes += "<desc>" + std::string(metadata_first_line);
      for (const auto& [key, value] : job.metadata) bytes += escaped(metadata_line(key, value)) + "\n";
      bytes += "</desc>\n";
    }
    begun = true;
    const bool more = walk.piece(bytes, enter, dot, leave);
    if (!more) bytes += "</svg>\n";
    return more;
  });
}

void write_dots_pdf(const std::string& path, const DotsToWrite& job, Progress& progress) {
  constexpr double largest_side = 14400;  // points, of the page before UserUnit (ISO 32000-1, annex C)
  const Dots& dots = job.dots;
  const double point = 72 / 0.0254 * job.pixel_m;
  const double unit = std::max(1.0, std::ceil(std::max(dots.width, dots.height) * point / largest_side));
  const double scale = point / unit;
  const int decimals = decimals_for(dots);
  const bool blend = job.inks.size() > 1;
  Walk walk(job, progress);
  PdfFile file;
  std::size_t stream_begin = 0;
  float width = -1;
  const auto enter = [&](std::string& bytes, std::size_t c) {
    for (const auto code : job.inks[c].srgb) append_fixed(bytes, code / 255.0, 4), bytes += ' ';
    bytes += "RG\n";
  };
  const auto dot = [&](std::string& bytes, std::size_t i) {
    const float radius = job.radius_of(i);
    if (radius == 0) return;  // a line of width 0 would be drawn as the thinnest possible line
    if (radius != width) append_fixed(bytes, 2 * static_cast<double>(radius), decimals), bytes += " w\n";
    width = radius;
    std::string at;
    append_fixed(at, static_cast<double>(dots.position[2 * i]), decimals);
    append_fixed(at += ' ', static_cast<double>(dots.position[2 * i + 1]), decimals);
    bytes += at;
    bytes += " m ";
    bytes += at;
    bytes += " l S\n";
  };
  const auto leave = [](std::string&) {};
  write_file(path, [&](std::string& bytes) {
    if (stream_begin == 0) {
      bytes = unit > 1 ? "%PDF-1.6\n%\xE2\xE3\xCF\xD3\n" : "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";
      file.begin_object(bytes, 1);
      bytes += "<< /Type /Catalog /Pages 2 0 R >>\nendobj\n";
      file.begin_object(bytes, 2);
      bytes += "<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n";
      file.begin_object(bytes, 3);
      bytes += fmt::format(
          "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}]{} /Contents 4 0 R\n"
          "/Resources << /ExtGState << /M << /BM /{} >> >> >> >>\nendobj\n",
          fixed(dots.width * scale, 6), fixed(dots.height * scale, 6),
          unit > 1 ? fmt::format(" /UserUnit {}", fixed(unit, 0)) : "", blend ? "Multiply" : "Normal");
      file.begin_object(bytes, 4);
      bytes += "<< /Length 5 0 R >>\nstream\n";
      stream_begin = file.position(bytes);
      // Pixels from the upper left corner; round caps.
      bytes += fmt::format("/M gs 1 J {} 0 0 {} 0 {} cm\n", fixed(scale, 9), fixed(-scale, 9),
                           fixed(dots.height * scale, 6));
    }
    const bool more = walk.piece(bytes, enter, dot, leave);
    if (!more) {
      const std::size_t length = file.position(bytes) - stream_begin;
      bytes += "\nendstream\nendobj\n";
      file.begin_object(bytes, 5);
      bytes += fmt::format("{}\nendobj\n", length);
      file.finish(bytes);
    }
    file.piece_done(bytes);
    return more;
  });
}

}  // namespace holotone::io
