#pragma once
// Readers and writers of read_dots and write_dots. Not for users.
#include <holotone/io/dots/dots.hpp>
#include <span>
#include <string>
#include <string_view>

namespace holotone::io {

/// Collects and checks the dots of a reader; `where` ("line 7") goes into the error.
class DotsBuilder {
 public:
  explicit DotsBuilder(std::string_view path) : path_(path) {}
  void add(double x, double y, std::string_view where);
  /// Applies to the last dot added; call it for every dot or for none.
  void add_radius(double radius, std::string_view where);
  void add_class(double colour_class, std::string_view where);
  /// Returns the dots. Throws io if there are none.
  DotsFile take();
  [[nodiscard]] Dots& dots() { return file_.dots; }
  [[nodiscard]] DotsFile& file() { return file_; }

 private:
  std::string_view path_;
  DotsFile file_;
};

/// True if a table that begins so can hold nothing but dots: columns named x and y without z, or two of numbers.
bool begins_as_dots(std::string_view bytes);
DotsFile read_dots_table(std::string_view bytes, std::string_view path);
DotsFile read_dots_npy(std::string_view bytes, std::string_view path);
DotsFile read_dots_svg(std::string_view bytes, std::string_view path);
DotsFile read_dots_picture(const std::string& path, double threshold);

/// Input of writers: checked dots, with every default filled in.
struct DotsToWrite {
  const Dots& dots;
  double pixel_m;
  bool size_known;  ///< true if pixel_m was given
  double radius;
  double dpi;
  bool one_bit;
  int compression;
  std::span<const Ink> inks;
  const Metadata& metadata;
  [[nodiscard]] float radius_of(std::size_t i) const {
    return dots.radius.empty() ? static_cast<float>(radius) : dots.radius[i];
  }
  [[nodiscard]] std::size_t class_at(std::size_t i) const {
    return dots.colour_class.empty() ? 0 : dots.colour_class[i];
  }
  [[nodiscard]] std::size_t count() const { return dots.position.size() / 2; }
};

/// Appends the shortest text that reads back as the same number.
void append_number(std::string& text, float value);

/// Number of dots written between two progress reports.
inline constexpr std::size_t dots_a_piece = 65536;

/// Indices of the dots by class, and the first index of each class.
struct DotsByClass {
  std::vector<std::uint32_t> order;
  std::vector<std::size_t> begin;
};
DotsByClass by_class(const DotsToWrite& job);

void write_dots_table(const std::string& path, const DotsToWrite& job, char separator, Progress& progress);
void write_dots_npy(const std::string& path, const DotsToWrite& job, Progress& progress);
void write_dots_svg(const std::string& path, const DotsToWrite& job, Progress& progress);
void write_dots_pdf(const std::string& path, const DotsToWrite& job, Progress& progress);
void write_dots_png(const std::string& path, const DotsToWrite& job, Progress& progress);

}  // namespace holotone::io
