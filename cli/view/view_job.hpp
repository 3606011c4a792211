#pragma once
#include <cli/common/console.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <cli/common/ink_source.hpp>
#include <cli/view/document.hpp>
#include <cstdint>
#include <holotone/core/device.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// What is shown, each of `inputs` as a document. The command's options are bound to its members.
struct ViewJob {
  std::vector<std::string> inputs;
  std::string against;
  InkSource ink;                     ///< of `against`, for dots
  std::string output;                ///< a stored page; empty: a server
  std::vector<std::string> stops;    ///< as typed: what is valid depends on the documents
  std::optional<double> distance_m;  ///< of the first focus; none: the file's
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::vector<std::string> hosts;
  bool browser = true;
  std::string device_name = "auto";  ///< as typed, or "cpu" after the GPU has failed
  Device device;
  HologramOverrides overrides;
  std::vector<OptionRow> file_rows;  ///< bound to them
  ConsoleOptions console;
};

/// Checks what options and files say together, and chooses the device. Throws invalid_argument or io naming the option.
void complete(ViewJob& job);

/// Opens a file, a folder, or three files of three colours. Throws as the readers.
std::unique_ptr<Document> open_document(const ViewJob& job, const std::vector<std::string>& files);

}  // namespace holotone::cli
