#pragma once
#include <cli/common/console.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <cli/common/ink_source.hpp>
#include <cli/common/values.hpp>
#include <cli/view/document.hpp>
#include <cstdint>
#include <holotone/core/device.hpp>
#include <memory>
#include <string>
#include <vector>

namespace holotone::cli {

inline constexpr Range port_range = count_range(0, 65535);

/// Arguments of `holotone view`, as typed.
struct ViewArguments {
  std::vector<std::string> inputs;
  std::string against;
  InkSource ink;
  std::string output;
  std::vector<std::string> stops;
  std::string distance;
  std::string address = "127.0.0.1";
  std::string port = "8080";
  std::vector<std::string> hosts;
  bool no_browser = false;
  std::string device = "auto";
  HologramOverrides overrides;
  ConsoleOptions console;
};

/// What is shown: each of `groups` is a document, several files only for three colours.
struct ViewJob {
  std::vector<std::vector<std::string>> groups;
  std::string against;
  InkSource ink;       ///< of `against`, for dots
  std::string output;  ///< a stored page; empty: a server
  std::vector<std::string> stops;
  std::string distance;
  std::string address;
  std::uint16_t port = 0;
  std::vector<std::string> hosts;
  bool browser = true;
  std::string device_name;  ///< as typed, or "cpu" after the GPU has failed
  Device device;
  HologramOverrides overrides;
  ConsoleOptions console;
};

/// Throws invalid_argument or io naming the option.
ViewJob view_job(const ViewArguments& arguments);

/// Opens a file, a folder, or three files of three colours. Throws as the readers.
std::unique_ptr<Document> open_document(const ViewJob& job, const std::vector<std::string>& files);

}  // namespace holotone::cli
