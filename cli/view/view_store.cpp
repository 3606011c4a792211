#include <algorithm>
#include <cli/common/base64.hpp>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/paths.hpp>
#include <cli/view/stops.hpp>
#include <cli/view/view_documents.hpp>
#include <cli/view/view_run.hpp>
#include <holotone/io/atomic_file.hpp>
#include <viewer/server/stored_page.hpp>

namespace holotone::cli {
namespace {

using nlohmann::json;

constexpr std::size_t most_page_bytes = 20'000'000;
constexpr int most_pictures = 4000;

/// A picture of the page before it is packed, or an answer that is no picture.
struct Stored {
  std::size_t document = 0;
  std::string view;
  bool is_picture = false;
  json state;
  std::optional<Raster> raster;
  ViewAnswer answer;
};

/// All answers of the page. Changes the descriptions: controls get their stops.
class Store {
 public:
  explicit Store(const ViewJob& job)
      : job_(job), documents_(job, [&](const std::string& text) { remark(job.console, text); }), bar_(job.console) {
    message_ = documents_.message();
    message_["pair"] = nullptr;  // a difference belongs to two states
    std::vector<json> controls;
    for (const auto& one : message_["documents"]) controls.push_back(one.at("controls"));
    require_known_stops(controls, job.stops);
    for (std::size_t i = 0; i < documents_.size(); ++i) plan(i);
  }

  void compute() {
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      bar_.step("making pictures", static_cast<std::int64_t>(i), std::ssize(planned_));
      Stored& one = planned_[i];
      const ViewRequest request{.view = one.view, .state = State(one.state)};
      Document& document = documents_.document(one.document);
      if (one.is_picture) {
        one.raster = document.raster(request, bar_);
        one.raster->image.metadata.clear();
      } else {
        one.answer = document.show(request, bar_);
      }
    }
  }

  /// The page with its pictures as PNG, or JPEG of a quality above 0; shorter than `most` bytes, or empty.
  std::string page(int quality, std::size_t most) {
    json answers = json::array();
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      bar_.step("packing pictures", static_cast<std::int64_t>(i), std::ssize(planned_));
      const Stored& one = planned_[i];
      ViewAnswer answer = one.answer;
      if (one.raster) answer = packed(*one.raster, quality);
      json header = answer.header;
      header["media"] = answer.media;
      auto data = base64(answer.payload);
      bytes += data.size();
      if (bytes > most) return {};
      answers.push_back({{"document", one.document},
                         {"view", one.view},
                         {"state", one.state},
                         {"header", header},
                         {"data", std::move(data)}});
    }
    const json stored{{"documents", message_}, {"answers", std::move(answers)}};
    auto text = viewer::stored_page(stored.dump(-1, ' ', false, json::error_handler_t::replace));
    return text.size() <= most ? text : std::string();
  }

  [[nodiscard]] std::size_t pictures() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(planned_, [](const Stored& one) { return bool(one.raster); }));
  }

 private:
  void plan(std::size_t index) {
    json& description = message_["documents"][index];
    if (description.at("kind") == "folder") {
      reject("FILE", "files for a stored page, not a folder", description["name"].get<std::string>());
    }
    json& controls = description["controls"];
    controls.erase("window");
    const json stops = stops_of(controls, job_.stops);
    for (auto& [name, control] : controls.items()) control["stops"] = stops.at(name);
    for (auto& view : description["views"]) {
      if (view.at("kind") == "window") view["kind"] = "picture";
      std::vector<std::string> names;
      for (const auto& name : view.at("controls")) {
        if (name != "window") names.push_back(name);
      }
      view["controls"] = names;
      const double count = static_cast<double>(planned_.size()) + combination_count(stops, names);
      if (count > most_pictures) {
        reject("--stops", fmt::format("at most {} pictures in all", most_pictures),
               fmt::format("{:.0f} or more", count));
      }
      for (auto& state : combinations(stops, names)) {
        planned_.push_back({index, view.at("name"), view.at("kind") == "picture", std::move(state), std::nullopt, {}});
      }
    }
  }

  static ViewAnswer packed(const Raster& raster, int quality) {
    const auto shape = shape_of(raster.image);
    Facts facts = raster.facts;
    ViewAnswer answer;
    if (quality == 0) {
      answer.media = "image/png";
      answer.payload = png_bytes(raster.image, {.compression = 9});
    } else {
      answer.media = "image/jpeg";
      answer.payload = jpeg_bytes(displayable(raster.image), quality);
      facts.emplace_back("stored as", fmt::format("JPEG of quality {}", quality));
    }
    answer.header = {{"width", shape[1]}, {"height", shape[0]}, {"command", raster.command}, {"facts", facts}};
    return answer;
  }

  const ViewJob& job_;
  ViewDocuments documents_;
  ProgressBar bar_;
  json message_;
  std::vector<Stored> planned_;
};

}  // namespace

int store_view(const ViewJob& job) {
  const Stopwatch watch;
  const UnfinishedRun unfinished;
  std::string page;
  std::size_t pictures = 0;
  int quality = 0;
  {
    Store store(job);
    store.compute();
    pictures = store.pictures();
    for (const int next : {0, 95, 90, 80, 70, 50}) {
      quality = next;
      page = store.page(next, most_page_bytes);
      if (!page.empty()) break;
    }
  }
  if (page.empty()) {
    reject("--stops", fmt::format("pictures that a page of {} MB holds as JPEG", most_page_bytes / 1'000'000),
           counted(static_cast<std::int64_t>(pictures), "picture"));
  }
  check_cancelled("writing");
  UnfinishedRun::will_write(job.output);
  write_file(job.output, page);
  UnfinishedRun::keep();
  report_json(job.console, {{"software", "holotone " HOLOTONE_VERSION},
                            {"outputs", {job.output}},
                            {"pictures", pictures},
                            {"jpeg_quality", quality == 0 ? json(nullptr) : json(quality)},
                            {"bytes", page.size()},
                            {"device", to_string(job.device)},
                            {"time_s", watch.seconds()}});
  report(job.console,
         fmt::format("{}: {}, {}{}, {}", job.output, counted(static_cast<std::int64_t>(pictures), "picture"),
                     format_bytes(static_cast<double>(page.size())),
                     quality == 0 ? std::string() : fmt::format(" (JPEG of quality {})", quality),
                     format_duration(watch.seconds())));
  return exit_ok;
}

}  // namespace holotone::cli
