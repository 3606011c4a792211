#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/console.hpp>
#include <cli/view/view_handler.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/json_text_detail.hpp>
#include <stdexcept>

namespace holotone::cli {
namespace {

/// Cancels when the server no longer wants the answer, or at a signal.
class WantedProgress final : public Progress {
 public:
  explicit WantedProgress(const std::atomic<bool>& unwanted) : unwanted_(unwanted) {}
  bool update(std::string_view, std::int64_t, std::int64_t) override { return !unwanted_ && !cancelled(); }

 private:
  const std::atomic<bool>& unwanted_;
};

/// Index of a document; the server has checked that it is a whole number.
std::size_t index_of(const nlohmann::json& value) {
  const auto index = value.get<std::int64_t>();
  if (index < 0) reject("document", "a number from 0", std::to_string(index));
  return static_cast<std::size_t>(index);
}

ViewRequest request_of(const nlohmann::json& show) {
  ViewRequest request;
  request.view = show.at("view").get<std::string>();
  request.state = State(show.value("state", nlohmann::json::object()));
  request.moving = show.value("moving", false);
  constexpr double max_side = 16384;
  if (const auto size = show.find("size"); size != show.end() && size->is_array() && size->size() == 2) {
    for (std::size_t i = 0; i < 2; ++i) {
      request.size[i] = static_cast<std::int64_t>(std::clamp((*size)[i].get<double>(), 0.0, max_side));
    }
  }
  return request;
}

/// An error in words of the page, which knows no function of the library.
std::string page_words(const std::exception& error) {
  const auto* const fields = dynamic_cast<const Error*>(&error);
  const bool of_function = fields != nullptr && !fields->function().empty() && !fields->argument().empty() &&
                           dynamic_cast<const FileError*>(fields) == nullptr;
  if (!of_function) return error.what();
  return fmt::format("{}: expected {}, got {}", fields->argument(), fields->expected(), fields->got());
}

}  // namespace

ViewHandler::ViewHandler(const ViewJob& job, std::function<void(web::Message)> broadcast)
    : console_(job.console),
      broadcast_(std::move(broadcast)),
      documents_(job, [this](const std::string& text) { notice(text); }) {}

void ViewHandler::notice(const std::string& text) const {
  remark(console_, text);
  broadcast_({io::json_text(nlohmann::json{{"type", "notice"}, {"message", printable(text)}}), nullptr});
}

web::Message ViewHandler::opened() { return {io::json_text(documents_.message()), nullptr}; }

web::Message ViewHandler::answer(const nlohmann::json& show, const std::atomic<bool>& unwanted) {
  try {
    return answered(show, unwanted);
  } catch (const std::exception& error) {
    constexpr std::size_t most = 500;  // an error repeats what the page sent
    throw std::runtime_error(printable(std::string_view(page_words(error)).substr(0, most)));
  }
}

void ViewHandler::idle() {
  documents_.look_for_changes();
  if (documents_.take_change()) broadcast_(opened());
}

web::Message ViewHandler::answered(const nlohmann::json& show, const std::atomic<bool>& unwanted) {
  WantedProgress progress(unwanted);
  const Stopwatch watch;
  const ViewRequest request = request_of(show);
  const auto& document = show.at("document");
  ViewAnswer answer = document.is_array()
                          ? documents_.difference(index_of(document.at(0)), index_of(document.at(1)), request, progress)
                          : documents_.show(index_of(document), request, progress);
  if (documents_.take_change()) broadcast_(opened());
  auto& header = answer.header;
  header["type"] = "shown";
  header["pane"] = show.at("pane");
  header["id"] = show.at("id");
  header["document"] = document;
  header["view"] = request.view;
  header["moving"] = request.moving;
  header["media"] = answer.media;
  header["compute_ms"] = std::round(1e4 * watch.seconds()) / 10;
  return {io::json_text(header), std::make_shared<std::string>(std::move(answer.payload))};
}

}  // namespace holotone::cli
