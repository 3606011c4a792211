#include <algorithm>
#include <cli/common/hologram_inputs.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/values.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <set>

namespace holotone::cli {
namespace {

/// True for a name with %c for a channel, unless a file of this exact name exists.
bool names_channels(const std::string& name) { return name.find("%c") != std::string::npos && !file_exists(name); }

std::vector<std::string> three_channels(const std::string& name) {
  return {channel_path(name, "r"), channel_path(name, "g"), channel_path(name, "b")};
}

/// Numbered holograms of a single name with a counter; none without a counter.
std::vector<SequenceFrame> sequence_of(const std::vector<std::string>& typed) {
  if (typed.size() != 1 || file_exists(typed.front())) return {};
  const bool colour = names_channels(typed.front());
  const auto names = colour ? three_channels(typed.front()) : typed;
  if (!frame_pattern("IN", names.front())) return {};
  std::set<std::int64_t> numbers;  // a frame whose red file is missing is refused, not skipped
  for (const auto& name : names) {
    for (const auto& frame : find_frames(*frame_pattern("IN", name), typed.front())) numbers.insert(frame.number);
  }
  std::vector<SequenceFrame> sequence;
  for (const auto number : numbers) {
    SequenceFrame& one = sequence.emplace_back(SequenceFrame{number, {}});
    for (const auto& name : names) one.inputs.push_back(frame_pattern("IN", name)->name(number));
  }
  return sequence;
}

/// Inputs of each subframe of a single name with %t; none without it.
std::vector<std::vector<std::string>> subframes_of(const std::vector<std::string>& typed) {
  const auto at = typed.front().find("%t");
  if (typed.size() != 1 || at == std::string::npos || file_exists(typed.front())) return {};
  constexpr int most = 256;
  std::vector<std::vector<std::string>> subframes;
  for (int t = 0; t < most; ++t) {
    std::string name = typed.front();
    name.replace(at, 2, std::to_string(t));
    if (frame_pattern("IN", name)) reject("IN", "a counter or %t, not both", typed.front());
    const auto inputs = names_channels(name) ? three_channels(name) : std::vector<std::string>{name};
    if (t > 0 && !file_exists(inputs.front())) break;
    subframes.push_back(inputs);
  }
  return subframes;
}

void require_inputs(const std::vector<std::string>& inputs) {
  if (inputs.size() != 1 && inputs.size() != 3) {
    reject("IN", "one hologram, or three for red, green and blue", std::to_string(inputs.size()) + " files");
  }
  for (const auto& input : inputs) {
    io::require_input(input);
    if (std::count(inputs.begin(), inputs.end(), input) > 1) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("IN: expected three different files for red, green and blue, got {} more than once", input));
    }
  }
}

}  // namespace

HologramInputs hologram_inputs(const std::vector<std::string>& typed) {
  HologramInputs found;
  found.subframes = subframes_of(typed);
  if (!found.subframes.empty()) {
    for (const auto& inputs : found.subframes) require_inputs(inputs);
    found.inputs = found.subframes.front();
    return found;
  }
  found.sequence = sequence_of(typed);
  found.inputs = typed.size() == 1 && names_channels(typed.front()) ? three_channels(typed.front()) : typed;
  if (!found.sequence.empty()) found.inputs = found.sequence.front().inputs;
  require_inputs(found.inputs);
  for (const auto& frame : found.sequence) require_inputs(frame.inputs);
  return found;
}

}  // namespace holotone::cli
