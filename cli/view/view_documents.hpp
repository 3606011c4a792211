#pragma once
#include <cli/view/view_job.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holotone::cli {

/// The open documents, which are opened again when their files change or the GPU fails. One thread uses it.
class ViewDocuments {
 public:
  /// Opens all. `notice` takes lines for the user.
  ViewDocuments(ViewJob job, std::function<void(const std::string&)> notice);

  /// The "documents" message.
  [[nodiscard]] nlohmann::json message() const;
  /// Answers a "show" of document `document`.
  ViewAnswer show(std::size_t document, const ViewRequest& request, Progress& progress);
  /// Answers a "show" of the difference of two.
  ViewAnswer difference(std::size_t first, std::size_t second, const ViewRequest& request, Progress& progress);
  /// Opens again what has changed, once it has stood still between two calls.
  void look_for_changes();
  /// True once after the list of documents has changed.
  bool take_change();

  [[nodiscard]] std::size_t size() const { return open_.size(); }
  Document& document(std::size_t index) { return *at(index).document; }
  [[nodiscard]] const ViewJob& job() const { return job_; }

 private:
  struct Opened {
    std::vector<std::string> files;
    bool entry = false;                  ///< of a folder: held only while it is one of the last that were used
    std::unique_ptr<Document> document;  ///< null: an entry that is not held
    nlohmann::json description;
    std::string compared;      ///< Document::compared_view
    std::string stamp;         ///< sizes and times of the files when they were read
    std::string failed_stamp;  ///< of a change that could not be read
    std::string seen_stamp;    ///< when look_for_changes last saw them
    std::int64_t version = 0;  ///< how often they were read because they had changed
    std::uint64_t used = 0;    ///< rises with each use
  };

  void open(Opened& opened);
  std::size_t add(std::vector<std::string> files, bool entry);
  Opened& at(std::size_t index);
  void refresh(Opened& opened);
  void close_old_entries();
  void leave_gpu();
  template <class Step>
  ViewAnswer attempt(const Step& step);

  ViewJob job_;
  std::function<void(const std::string&)> notice_;
  std::vector<Opened> open_;
  std::uint64_t uses_ = 0;
  bool changed_ = false;
};

}  // namespace holotone::cli
