#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/io/file_formats.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

int run_formats(const ConsoleOptions& console) {
  auto list = nlohmann::json::array();
  for (const FormatSupport& format : file_formats()) {
    report(console,
           fmt::format("{}: {} ({})", format.name, name_of(format.content), fmt::join(format.extensions, " ")));
    const std::string lacking = format.is_built ? "" : ", which this build lacks";
    const std::string library = format.library.empty() ? "" : format.library + lacking;
    for (const auto& [word, text] : {std::pair<std::string_view, std::string_view>{"read", format.read},
                                     {"written", format.written},
                                     {"honoured", format.honoured},
                                     {"not honoured", format.not_honoured},
                                     {"library", library}}) {
      if (!text.empty()) report(console, fmt::format("  {:<13} {}", word, text));
    }
    list.push_back({{"name", format.name},
                    {"content", name_of(format.content)},
                    {"extensions", format.extensions},
                    {"by_content", format.by_content},
                    {"read", format.read},
                    {"written", format.written},
                    {"honoured", format.honoured},
                    {"not_honoured", format.not_honoured},
                    {"library", format.library},
                    {"is_built", format.is_built}});
  }
  report_json(console, {{"formats", list}});
  return exit_ok;
}

}  // namespace

Command formats_command() {
  const auto console = std::make_shared<ConsoleOptions>();
  return {.name = "formats",
          .purpose = "List the formats of files that are read and written, and what of them is honoured",
          .examples = {"holotone formats", "holotone formats --json"},
          .groups = {console_options(*console)},
          .run = [console] { return run_formats(*console); }};
}

}  // namespace holotone::cli
