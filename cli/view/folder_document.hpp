#pragma once
#include <cli/view/document.hpp>
#include <filesystem>
#include <functional>
#include <memory>

namespace holotone::cli {

/// Files of a folder, with small pictures of those that have one.
class FolderDocument final : public Document {
 public:
  using Open = std::function<std::unique_ptr<Document>(const std::string& path)>;

  /// `open` opens a file of the folder. Throws io for a folder that cannot be read.
  FolderDocument(std::string path, Open open);

  [[nodiscard]] nlohmann::json description() const override;
  ViewAnswer show(const ViewRequest& request, Progress& progress) override;

  /// Path of an entry; throws invalid_argument for a name that is not in the folder's list.
  [[nodiscard]] std::string path_of(const State& state) const;

 private:
  struct Entry {
    std::string name;
    std::string kind;
    std::uintmax_t bytes = 0;
  };
  [[nodiscard]] ViewAnswer list() const;
  ViewAnswer entry_thumbnail(const ViewRequest& request, Progress& progress) const;

  std::string path_;
  Open open_;
  std::vector<Entry> entries_;  ///< sorted by name
  std::size_t more_ = 0;        ///< left out
};

/// True for a link to something outside its folder.
bool leads_out(const std::filesystem::path& file);

/// Throws io for an entry that leads out: it may have become such a link since it was listed.
void require_inside(const std::string& entry);

}  // namespace holotone::cli
