#include <algorithm>
#include <cli/common/device_option.hpp>
#include <cli/view/compared.hpp>
#include <cli/view/folder_document.hpp>
#include <cli/view/view_documents.hpp>
#include <filesystem>

namespace holotone::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_open = 1000;
constexpr std::ptrdiff_t max_held = 8;
constexpr std::string_view gone = "gone";

/// Sizes and times of files; empty if one is missing.
std::string stamp_of(const std::vector<std::string>& files) {
  std::string stamp;
  for (const auto& file : files) {
    if (file.find('%') != std::string::npos) continue;
    std::error_code failed;
    const auto time = fs::last_write_time(file, failed);
    if (failed) return {};
    const auto bytes = fs::is_directory(file, failed) ? 0 : fs::file_size(file, failed);
    stamp += fmt::format("{} {};", time.time_since_epoch().count(), bytes);
  }
  return stamp;
}

}  // namespace

ViewDocuments::ViewDocuments(ViewJob job, std::function<void(const std::string&)> notice)
    : job_(std::move(job)), notice_(std::move(notice)) {
  for (const auto& input : job_.inputs) add({input}, false);
  if (!job_.against.empty()) add({job_.against}, false);
}

void ViewDocuments::open(Opened& opened) {
  if (opened.entry) require_inside(opened.files.front());
  auto stamp = stamp_of(opened.files);
  opened.document = open_document(job_, opened.files);
  opened.description = opened.document->description();
  opened.compared = opened.document->compared_view();
  opened.stamp = std::move(stamp);
  opened.failed_stamp.clear();
}

std::size_t ViewDocuments::add(std::vector<std::string> files, bool entry) {
  Opened opened;
  opened.files = std::move(files);
  opened.entry = entry;
  open(opened);
  open_.push_back(std::move(opened));
  return open_.size() - 1;
}

nlohmann::json ViewDocuments::message() const {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& opened : open_) {
    list.push_back(opened.description);
    list.back()["version"] = opened.version;
    list.back()["compared"] = opened.compared;
  }
  nlohmann::json pair(nullptr);
  if (std::ranges::count_if(open_, [](const Opened& document) { return !document.compared.empty(); }) >= 2) {
    pair = {{"views",
             {{{"name", "difference"},
               {"title", "Difference"},
               {"kind", "picture"},
               {"controls", nlohmann::json::array()}}}},
            {"controls", nlohmann::json::object()}};
  }
  return {{"type", "documents"}, {"software", "holotone " HOLOTONE_VERSION}, {"documents", list}, {"pair", pair}};
}

bool ViewDocuments::take_change() { return std::exchange(changed_, false); }

ViewDocuments::Opened& ViewDocuments::at(std::size_t index) {
  if (index >= open_.size()) {
    reject("document", fmt::format("a number below {}", open_.size()), std::to_string(index));
  }
  Opened& opened = open_[index];
  if (opened.document) {
    refresh(opened);
  } else {
    open(opened);
  }
  opened.used = ++uses_;
  close_old_entries();
  return opened;
}

void ViewDocuments::close_old_entries() {
  const auto held = [](const Opened& opened) { return opened.entry && opened.document; };
  if (std::ranges::count_if(open_, held) <= max_held) return;
  Opened* oldest = nullptr;
  for (auto& opened : open_) {
    if (held(opened) && (oldest == nullptr || opened.used < oldest->used)) oldest = &opened;
  }
  oldest->document.reset();
}

/// Opens a document again if its files have changed. While they cannot be read, the old one stays.
void ViewDocuments::refresh(Opened& opened) {
  const auto stamp = stamp_of(opened.files);
  const auto& name = opened.files.front();
  if (stamp.empty() && name.find('%') == std::string::npos) {
    if (opened.stamp != gone) notice_(name + " is gone: its last state is shown");
    opened.stamp = gone;
    return;
  }
  if (stamp == opened.stamp || stamp == opened.failed_stamp) return;
  try {
    open(opened);
    ++opened.version;
    changed_ = true;
    notice_(name + " changed: loaded again");
  } catch (const Error& error) {
    opened.failed_stamp = stamp;
    notice_(fmt::format("{} changed and cannot be read: its last state is shown ({})", name, error.what()));
  }
}

void ViewDocuments::look_for_changes() {
  for (auto& opened : open_) {
    if (!opened.document) continue;
    auto stamp = stamp_of(opened.files);
    if (stamp == opened.seen_stamp) refresh(opened);
    opened.seen_stamp = std::move(stamp);
  }
}

/// Opens all documents on the CPU.
void ViewDocuments::leave_gpu() {
  notice_(fmt::format("{} failed: the CPU continues", to_string(job_.device)));
  job_.device_name = "cpu";
  job_.device = Device{};
  for (auto& opened : open_) {
    if (opened.document) open(opened);
  }
}

template <class Step>
ViewAnswer ViewDocuments::attempt(const Step& step) {
  try {
    return step();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::device || job_.device.backend == Backend::cpu) throw;
  }
  leave_gpu();
  return step();
}

ViewAnswer ViewDocuments::show(std::size_t document, const ViewRequest& request, Progress& progress) {
  return attempt([&]() -> ViewAnswer {
    Opened& opened = at(document);
    auto* const folder = dynamic_cast<FolderDocument*>(opened.document.get());
    if (folder == nullptr || request.view != "entry") return opened.document->show(request, progress);
    const std::vector<std::string> files{folder->path_of(request.state)};
    const auto known = std::ranges::find(open_, files, &Opened::files);
    auto place = static_cast<std::size_t>(known - open_.begin());
    if (known == open_.end()) {
      if (open_.size() >= max_open)
        reject("entry", fmt::format("at most {} files opened since the start", max_open), "another");
      place = add(files, true);
      changed_ = true;
    }
    ViewAnswer answer = answer_of(nlohmann::json::object(), {}, {});
    answer.header["opened"] = place;
    return answer;
  });
}

ViewAnswer ViewDocuments::difference(std::size_t first, std::size_t second, const ViewRequest& request,
                                     Progress& progress) {
  return attempt([&]() -> ViewAnswer {
    const auto raster_of = [&](std::size_t index) {
      Document& document = *at(index).document;
      ViewRequest adapted = request;
      adapted.view = document.compared_view();
      adapted.moving = false;
      if (adapted.view.empty()) reject("difference", "two pictures", open_[index].files.front());
      return document.raster(adapted, progress);
    };
    Raster a = raster_of(first);
    return answer_of(difference_of(std::move(a), raster_of(second)), request);
  });
}

}  // namespace holotone::cli
