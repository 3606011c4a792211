#pragma once
#include <array>
#include <cli/view/state.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/io/images/image.hpp>
#include <string>
#include <utility>
#include <vector>

// What `holotone view` shows of a file.
namespace holotone::cli {

inline constexpr std::int64_t thumbnail_side = 240;

using Facts = std::vector<std::pair<std::string, std::string>>;

/// What a pane asks for.
struct ViewRequest {
  std::string view;
  State state;
  bool moving = false;                     ///< a control is being dragged: a coarse picture will do
  std::array<std::int64_t, 2> size{0, 0};  ///< width and height of the canvas in pixels; 0: unknown
};

/// A picture, the command that makes it, and numbers to show with it.
struct Raster {
  Image image;  ///< 8 or 16 bits
  std::string command;
  Facts facts;
};

/// What a pane gets.
struct ViewAnswer {
  std::string media;  ///< "image/png", "image/jpeg", "application/json" or "application/octet-stream"
  std::string payload;
  nlohmann::json header = nlohmann::json::object();  ///< "width", "height", "command", "facts" and others
};

/// A file that is open in the viewer. One thread uses all documents.
class Document {
 public:
  Document() = default;
  virtual ~Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  /// kind, facts, views and controls for the page.
  [[nodiscard]] virtual nlohmann::json description() const = 0;
  /// Throws invalid_argument naming a control, or as the library.
  virtual ViewAnswer show(const ViewRequest& request, Progress& progress) = 0;
  /// The picture of a view that is a raster. Throws invalid_argument for another view.
  virtual Raster raster(const ViewRequest& request, Progress& progress);
  /// The names and state of the view in which two documents are compared; empty if this one has none.
  [[nodiscard]] virtual std::string compared_view() const { return {}; }
  /// A picture for a list of files, at least thumbnail_side on its longer side if the document has as much. Throws
  /// invalid_argument for a document without one.
  virtual Image thumbnail(Progress& progress);
};

/// A raster for the page: PNG; JPEG, reduced to the canvas, while a control moves.
ViewAnswer answer_of(Raster raster, const ViewRequest& request);

/// JSON payload of a view.
ViewAnswer answer_of(const nlohmann::json& payload, std::string command, const Facts& facts);

/// Means of blocks of factor x factor codes of 8 bits; incomplete blocks at the right and lower edge are left out.
Image reduced(const Image& image, std::int64_t factor);

/// Codes of 8 bits of one channel, or three.
Image displayable(Image image);

/// A file name as one word of a shell's command line.
std::string shell_word(std::string_view text);

[[noreturn]] void reject_view(const std::string& view);

}  // namespace holotone::cli
