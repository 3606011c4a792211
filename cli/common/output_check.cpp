#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cli/common/cancel.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/values.hpp>
#include <cstring>
#include <filesystem>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace holotone::cli {
namespace fs = std::filesystem;
namespace {

/// Number of outputs above which the names in a folder are read at once.
constexpr std::int64_t few_outputs = 256;
/// Outputs of one option differ by their counter; above this number, links among them are not checked.
constexpr std::int64_t max_compared = 100'000;
/// PATH_MAX minus the length that a temporary name adds.
constexpr std::size_t longest_path = 4000;

using FileId = std::pair<dev_t, ino_t>;

FileId id_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Throws for a format that this build lacks; otherwise it would be refused only after the work.
void require_known_format(std::string_view option, const std::string& path) {
  const bool tiff = io::has_format(path, io::FileFormat::tiff);
  const bool hdf5 = io::has_format(path, io::FileFormat::hdf5);
  if ((tiff && !HOLOTONE_TIFF) || (hdf5 && !HOLOTONE_HDF5)) {
    throw Error(ErrorCode::unsupported, fmt::format("{}: expected a format of this build, which has no {}, got '{}'",
                                                    option, tiff ? "TIFF" : "HDF5", path));
  }
}

struct Folder {
  std::string canonical;
  std::size_t longest_name = 255;
  std::optional<std::unordered_set<std::string>> names;  ///< in lower case; none: check each file
};

class OutputCheck {
 public:
  OutputCheck(const std::vector<OutputFiles>& outputs, const std::vector<InputFile>& inputs) : outputs_(outputs) {
    for (const auto& input : inputs) {
      add_input(input.path, input.option, {});
      for (const auto& beside : scene_side_files(input.path)) add_input(beside, input.option, input.path);
    }
    for (const auto& files : outputs) total_ += files.count;
  }

  void operator()() {
    for (const auto& files : outputs_) {
      for (std::int64_t i = 0; i < files.count; ++i) {
        tick();
        check(files.option, files.name(i));
      }
    }
  }

 private:
  /// Option of an input file; for a file read with a scene, also the scene that names it.
  struct Input {
    std::string_view option;
    std::string named_by;
  };

  void add_input(const std::string& path, std::string_view option, const std::string& named_by) {
    struct stat status {};
    if (stat(io::split_part(path).file.c_str(), &status) == 0) inputs_.emplace(id_of(status), Input{option, named_by});
    tick();
  }

  void tick() {
    if (++ticks_ % 1024 == 0) check_cancelled("looking at the outputs");
  }

  void check(std::string_view option, const std::string& path) {
    if (!io::split_part(path).part.empty()) reject_file(option, path, "a part of a file");
    require_known_format(option, path);
    const auto slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    const std::string folder_name = slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
    const Folder& folder = known_folder(option, path, folder_name);
    if (name.size() > folder.longest_name || path.size() > longest_path) {
      throw Error(ErrorCode::io,
                  fmt::format("{}: expected a name of at most {} bytes in a path of at most {}, got {} "
                              "in {}: '{}...'",
                              option, folder.longest_name, longest_path, name.size(), path.size(), name.substr(0, 40)));
    }
    std::string target = folder.canonical + "/" + name;
    if (!folder.names || folder.names->count(lower(name)) != 0) check_existing(option, path, target);
    if (total_ > max_compared && outputs_.size() == 1) return;
    const auto [other, is_new] = targets_.emplace(std::move(target), option);
    if (!is_new) {
      throw Error(ErrorCode::invalid_argument, fmt::format("{}: expected another file than the one {} writes, got '{}'",
                                                           option, other->second, path));
    }
  }

  [[noreturn]] static void reject_file(std::string_view option, const std::string& path, std::string_view what) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: expected the name of a file, got '{}', {}", option, path, what));
  }

  /// In a sticky folder, such as /tmp, only the owner of a file or of the folder may replace it.
  static void require_replaceable(std::string_view option, const std::string& path, const struct stat& file) {
    struct stat folder {};
    const std::string parent = fs::path(path).parent_path().string();
    const uid_t user = geteuid();
    if (user == 0 || stat(parent.empty() ? "." : parent.c_str(), &folder) != 0) return;
    if ((folder.st_mode & S_ISVTX) == 0 || user == file.st_uid || user == folder.st_uid) return;
    reject_file(option, path, "another user's in a folder where only he may replace it");
  }

  void check_existing(std::string_view option, const std::string& path, std::string& target) const {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
      // The target of a dangling link depends on other files written meanwhile.
      if (lstat(path.c_str(), &status) == 0) reject_file(option, path, "a link to none");
      return;
    }
    if (S_ISDIR(status.st_mode)) reject(option, "a file's name", path);
    if (!S_ISREG(status.st_mode)) reject_file(option, path, "a device, pipe or socket");
    require_replaceable(option, path, status);
    const auto input = inputs_.find(id_of(status));
    if (input != inputs_.end()) {
      const auto& [of, named_by] = input->second;
      std::string what = of == "IN" ? "the input" : fmt::format("that of {}", of);
      if (!named_by.empty()) what = fmt::format("those that {} names", named_by);
      reject(option, fmt::format("another file than {}", what), path);
    }
    struct stat link {};
    if (lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode)) {
      std::error_code error;
      const auto resolved = fs::canonical(path, error);
      if (!error) target = resolved.string();
    }
  }

  const Folder& known_folder(std::string_view option, const std::string& path, const std::string& name) {
    const auto known = folders_.find(name);
    if (known != folders_.end()) return known->second;
    struct stat status {};
    if (stat(name.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      throw Error(ErrorCode::io,
                  fmt::format("{} {}: expected an existing folder, got '{}', which is none", option, path, name));
    }
    if (access(name.c_str(), W_OK | X_OK) != 0) {
      throw Error(ErrorCode::io,
                  fmt::format("{} {}: expected a folder that can be written, got '{}'", option, path, name));
    }
    Folder folder;
    std::error_code error;
    const auto canonical = fs::canonical(name, error);
    folder.canonical = error ? name : canonical.string();
    const long longest = pathconf(name.c_str(), _PC_NAME_MAX);
    if (longest > 0) folder.longest_name = static_cast<std::size_t>(longest);
    if (total_ > few_outputs) folder.names = names_in(name);
    return folders_.emplace(name, std::move(folder)).first->second;
  }

  std::optional<std::unordered_set<std::string>> names_in(const std::string& folder) {
    std::unordered_set<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      tick();
      names.insert(lower(entry->path().filename().string()));
    }
    if (error) return std::nullopt;
    return names;
  }

  const std::vector<OutputFiles>& outputs_;
  std::map<FileId, Input> inputs_;
  std::unordered_map<std::string, Folder> folders_;
  std::unordered_map<std::string, std::string_view> targets_;
  std::int64_t total_ = 0;
  std::uint64_t ticks_ = 0;
};

}  // namespace

void require_outputs(const std::vector<OutputFiles>& outputs, const std::vector<InputFile>& inputs) {
  OutputCheck(outputs, inputs)();
}

std::vector<InputFile> code_inputs(const std::string& lut, const std::string& correction) {
  return {{"--lut", lut}, {"--correction", correction}};
}

void require_output(const std::string& output, const std::vector<InputFile>& inputs) {
  require_outputs({{output_name, 1, [&](std::int64_t) { return output; }}}, inputs);
}

OptionRow optional_output(OptionRow row) {
  row.names = "-o,--output";
  if (row.value.empty()) row.value = "FILE";
  return row;
}

OptionRow output_option(OptionRow row) {
  row.required = true;
  return optional_output(std::move(row));
}

void reject_output(std::string_view expected, std::string_view got) { reject(output_name, expected, got); }

void require_one_name(const std::string& output, bool channels, std::string_view expected) {
  require_known_counters(output, channels);
  if (frame_pattern(output)) reject_output(expected, output);
}

}  // namespace holotone::cli
