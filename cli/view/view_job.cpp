#include <arpa/inet.h>
#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/options/option_value.hpp>
#include <cli/view/dots_document.hpp>
#include <cli/view/folder_document.hpp>
#include <cli/view/hologram_document.hpp>
#include <cli/view/model_document.hpp>
#include <cli/view/picture_document.hpp>
#include <cli/view/scene_document.hpp>
#include <cli/view/view_job.hpp>
#include <filesystem>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/recipes/file_kind_detail.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <system_error>

namespace holotone::cli {
namespace {

constexpr std::string_view host_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";

bool is_folder(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_directory(path, failed);
}

/// True if a name stands for several files: colours or subframes.
bool is_pattern(const std::string& path) {
  return path.find("%c") != std::string::npos || path.find("%t") != std::string::npos;
}

/// True if a picture's metadata or the options say that it is a hologram.
bool is_hologram(const ViewJob& job, const std::string& path) {
  const auto& o = job.overrides;
  if (job.distance_m) return true;
  if (o.panel || !o.wavelengths_m.empty() || o.pitch_m || o.encoding) return true;
  const auto metadata = read_image(path).metadata;
  return metadata.contains("encoding");
}

std::unique_ptr<Document> open_hologram_document(const ViewJob& job, const std::vector<std::string>& files) {
  ReconstructJob hologram;
  hologram.names = files;
  hologram.device_name = job.device_name;
  if (job.distance_m) hologram.viewing.distances_m = {*job.distance_m};
  hologram.overrides = job.overrides;
  hologram.console = job.console;
  std::string given;
  for (const auto& [name, text] : option_texts(job.file_rows, false)) {
    given += fmt::format(" {} {}", name, shell_word(text));
  }
  return std::make_unique<HologramDocument>(std::move(hologram), given);
}

}  // namespace

void complete(ViewJob& job) {
  in6_addr address{};
  if (inet_pton(AF_INET, job.address.c_str(), &address) != 1 &&
      inet_pton(AF_INET6, job.address.c_str(), &address) != 1) {
    reject<&ViewJob::address>("an IPv4 or IPv6 address", job.address);
  }
  for (const auto& host : job.hosts) {
    constexpr std::size_t longest = 253;
    const bool outer = host.empty() || host.size() > longest || host.starts_with('-') || host.starts_with('.');
    if (outer || host.find_first_not_of(host_letters) != std::string::npos) {
      reject<&ViewJob::hosts>("a host's name without scheme, port and path, such as lab.example", host);
    }
  }
  for (const auto& input : job.inputs) {
    if (!is_pattern(input) && !is_folder(input)) io::require_input(input);
  }
  constexpr std::size_t max_documents = 16;
  if (job.inputs.size() > max_documents) {
    reject("FILE", fmt::format("at most {} files; a folder shows more", max_documents),
           std::to_string(job.inputs.size()));
  }
  std::vector<InputFile> inputs;
  for (const auto& input : job.inputs) inputs.push_back({"FILE", input});
  if (!job.against.empty()) {
    io::require_input(job.against);
    inputs.push_back({"--against", job.against});
  }
  if (!job.output.empty()) {
    if (!io::has_format(job.output, io::FileFormat::html)) reject_output("a name ending in .html", job.output);
    require_output(job.output, inputs);
  }
  job.device = device_option(job.device_name, job.console);
}

std::unique_ptr<Document> open_document(const ViewJob& job, const std::vector<std::string>& files) {
  const auto& path = files.front();
  std::error_code failed;
  const bool literal = std::filesystem::exists(path, failed);  // a file may have such a name
  if (files.size() > 1 || (is_pattern(path) && !literal)) return open_hologram_document(job, files);
  if (is_folder(path)) {
    return std::make_unique<FolderDocument>(path, [&job](const std::string& one) { return open_document(job, {one}); });
  }
  io::require_input(path);
  switch (file_kind(path)) {
    case FileKind::dots: return std::make_unique<DotsDocument>(path, job.against, job.ink);
    case FileKind::model: return std::make_unique<ModelDocument>(path, job.device);
    case FileKind::field: return open_hologram_document(job, files);
    case FileKind::points: return std::make_unique<SceneDocument>(path);
    case FileKind::array: reject("FILE", "a picture, hologram, field, model, dots, points, mesh or folder", path);
    case FileKind::picture: break;
  }
  if (is_hologram(job, path)) return open_hologram_document(job, files);
  return std::make_unique<PictureDocument>(path);
}

}  // namespace holotone::cli
