#include <algorithm>
#include <array>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/paths.hpp>
#include <cli/view/stops.hpp>
#include <cli/view/view_documents.hpp>
#include <cli/view/view_run.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/base64_detail.hpp>
#include <holotone/io/json_text_detail.hpp>
#include <numeric>
#include <tuple>
#include <utility>
#include <web/server/stored_page.hpp>

namespace holotone::cli {
namespace {

using nlohmann::json;

constexpr std::size_t max_page_bytes = 20'000'000;
constexpr int max_pictures = 4000;

/// How the pictures of a page are stored.
struct Form {
  int quality;  ///< 0: PNG, else of JPEG
  int divisor;  ///< of the sides
};
/// Best first.
constexpr std::array<Form, 9> forms{{{0, 1}, {95, 1}, {90, 1}, {80, 1}, {70, 1}, {50, 1}, {80, 2}, {80, 4}, {80, 8}}};
constexpr std::int64_t smallest_side = 256;  ///< pixels of the longer side below which no picture is reduced

std::string to_text(int quality, std::int64_t divisor) {
  const std::string jpeg = fmt::format("JPEG of quality {}", quality);
  return divisor == 1 ? jpeg : fmt::format("{}, sides divided by {}", jpeg, divisor);
}

/// Divisor of a picture's sides in a form: none makes it smaller than smallest_side.
std::int64_t divisor_of(const Form& form, std::int64_t longer_side) {
  std::int64_t divisor = form.divisor;
  while (divisor > 1 && longer_side / divisor < smallest_side) divisor /= 2;
  return divisor;
}

/// An answer of the page, in base64: a picture in each form that may still fit, another only in the first.
struct Stored {
  std::size_t document = 0;
  std::string view;
  bool is_picture = false;
  json state;
  json header;
  std::array<std::string, forms.size()> data;
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
    data_bytes_.resize(documents_.size());
    for (std::size_t i = 0; i < documents_.size(); ++i) plan(i);
  }

  /// Throws invalid_argument if the pictures fit in no form, as soon as that is certain.
  void compute() {
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      bar_.step("making pictures", static_cast<std::int64_t>(i), std::ssize(planned_));
      Stored& one = planned_[i];
      const ViewRequest request{.view = one.view, .state = State(one.state)};
      Document& document = documents_.document(one.document);
      if (one.is_picture) {
        keep(one, document.raster(request, bar_));
      } else {
        ViewAnswer answer = document.show(request, bar_);
        one.header = std::move(answer.header);
        one.header["media"] = answer.media;
        one.data.front() = io::base64(answer.payload);
        data_bytes_[one.document] += one.data.front().size();
        for (std::size_t q = 0; q < forms.size(); ++q) count(q, one.data.front().size());
      }
      if (std::ranges::all_of(bytes_, [](std::size_t bytes) { return bytes > max_page_bytes; })) reject_size();
    }
  }

  /// The page in the best form in which it is short enough, and that form.
  std::pair<std::string, Form> page() {
    for (std::size_t q = 0; q < forms.size(); ++q) {
      if (bytes_[q] > max_page_bytes) continue;
      auto text = page(q);
      if (text.size() <= max_page_bytes) return {std::move(text), forms[q]};
    }
    reject_size();
  }

  [[nodiscard]] std::size_t pictures() const {
    return static_cast<std::size_t>(std::ranges::count_if(planned_, &Stored::is_picture));
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
      if (count > max_pictures) {
        reject("--stops", fmt::format("at most {} pictures in all", max_pictures),
               fmt::format("{:.0f} or more", count));
      }
      for (auto& state : combinations(stops, names)) {
        planned_.push_back({index, view.at("name"), view.at("kind") == "picture", std::move(state), {}, {}});
      }
    }
  }

  void keep(Stored& one, Raster raster) {
    raster.image.metadata.clear();
    const auto shape = shape_of(raster.image);
    one.header = {{"width", shape[1]}, {"height", shape[0]}, {"command", raster.command}, {"facts", raster.facts}};
    const auto keep_as = [&](std::size_t q, const auto& packed) {
      if (bytes_[q] > max_page_bytes) return;
      one.data[q] = io::base64(packed());
      count(q, one.data[q].size());
    };
    keep_as(0, [&] { return png_bytes(raster.image, {.compression = 9}); });
    Image shown = displayable(std::move(raster.image));
    const std::int64_t longer_side = std::max(shape[0], shape[1]);
    std::int64_t reached = 1;
    for (std::size_t q = 1; q < forms.size(); ++q) {
      const std::int64_t divisor = divisor_of(forms[q], longer_side);
      if (divisor > reached) shown = reduced(shown, divisor / std::exchange(reached, divisor));
      if (longer_side / divisor > maximum_jpeg_side) {
        count(q, max_page_bytes + 1);  // rules the form out
      } else {
        keep_as(q, [&] { return jpeg_bytes(shown, forms[q].quality); });
      }
    }
  }

  /// Adds to a form's size, and forgets its pictures once they are too large together.
  void count(std::size_t q, std::size_t bytes) {
    if (bytes_[q] > max_page_bytes) return;
    bytes_[q] += bytes;
    if (bytes_[q] <= max_page_bytes) return;
    for (auto& one : planned_) {
      if (one.is_picture) one.data[q] = {};
    }
  }

  [[nodiscard]] std::string page(std::size_t q) const {
    json answers = json::array();
    for (const Stored& one : planned_) {
      json header = one.header;
      if (one.is_picture) {
        header["media"] = forms[q].quality == 0 ? "image/png" : "image/jpeg";
        if (forms[q].quality != 0) {
          const auto longer_side = std::max(header["width"].get<std::int64_t>(), header["height"].get<std::int64_t>());
          header["facts"].push_back({"stored as", to_text(forms[q].quality, divisor_of(forms[q], longer_side))});
        }
      }
      answers.push_back({{"document", one.document},
                         {"view", one.view},
                         {"state", one.state},
                         {"header", header},
                         {"data", one.data[one.is_picture ? q : 0]}});
    }
    const json stored{{"documents", message_}, {"answers", std::move(answers)}};
    return web::stored_page(io::json_text(stored));
  }

  [[noreturn]] void reject_size() const {
    const auto largest = std::ranges::max_element(data_bytes_);
    if (std::accumulate(data_bytes_.begin(), data_bytes_.end(), std::size_t{0}) > max_page_bytes) {
      const auto& name = message_["documents"][static_cast<std::size_t>(largest - data_bytes_.begin())]["name"];
      reject(name.get<std::string>(), fmt::format("data that a page of {} MB holds", max_page_bytes / 1'000'000),
             format_bytes(static_cast<double>(*largest)) + " or more");
    }
    reject("--stops", fmt::format("pictures that a page of {} MB holds as JPEG", max_page_bytes / 1'000'000),
           counted(static_cast<std::int64_t>(pictures()), "picture"));
  }

  const ViewJob& job_;
  ViewDocuments documents_;
  ProgressBar bar_;
  json message_;
  std::vector<Stored> planned_;
  std::vector<std::size_t> data_bytes_;            ///< of each document's answers that are no pictures
  std::array<std::size_t, forms.size()> bytes_{};  ///< of all data in each form
};

}  // namespace

int store_view(const ViewJob& job) {
  const Stopwatch watch;
  const UnfinishedRun unfinished;
  std::string page;
  std::size_t pictures = 0;
  Form form{};
  {
    Store store(job);
    store.compute();
    pictures = store.pictures();
    std::tie(page, form) = store.page();
  }
  check_cancelled("writing");
  UnfinishedRun::will_write(job.output);
  write_file(job.output, page);
  UnfinishedRun::keep();
  report_json(job.console, {{"software", "holotone " HOLOTONE_VERSION},
                            {"outputs", {job.output}},
                            {"pictures", pictures},
                            {"jpeg_quality", form.quality == 0 ? json(nullptr) : json(form.quality)},
                            {"sides_divided_by", form.divisor},
                            {"bytes", page.size()},
                            {"device", to_string(job.device)},
                            {"time_s", watch.seconds()}});
  report(job.console,
         fmt::format("{}: {}, {}{}, {}", job.output, counted(static_cast<std::int64_t>(pictures), "picture"),
                     format_bytes(static_cast<double>(page.size())),
                     form.quality == 0 ? std::string() : fmt::format(" ({})", to_text(form.quality, form.divisor)),
                     format_duration(watch.seconds())));
  return exit_ok;
}

}  // namespace holotone::cli
