#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/monitor_output.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/values.hpp>
#include <fmt/format.h>
#include <holotone/recipes/codes/fetched_codes_detail.hpp>
#include <utility>

namespace holotone::cli {
namespace {

PlayerOptions player_options(const std::string& output, const Panel& panel, const MonitorOutputOptions& given) {
  PlayerOptions options;
  options.fields = given.field_sequence ? 3 : 1;
  if (given.fps) options.fps = *given.fps;
  if (given.frame_time_s) options.fps = 1 / *given.frame_time_s;
  options.by_frame_time = given.frame_time_s.has_value();
  const Monitor monitor = find_monitor(output.substr(output.find(':') + 1), monitors());
  if (monitor.nx != panel.nx || monitor.ny != panel.ny) {
    reject_output(fmt::format("a monitor of {} x {} pixels, as the panel {} has", panel.nx, panel.ny, panel.name),
                  to_string(monitor));
  }
  options.window.monitor = std::to_string(monitor.number);
  require_rate(options);
  return options;
}

/// The three colours as one picture.
Array<std::uint8_t, 3> joined(const std::vector<Array<std::uint8_t, 2>>& colours) {
  const auto [ny, nx] = colours.front().shape();
  Array<std::uint8_t, 3> picture({ny, nx, 3});
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::int64_t i = 0; i < ny * nx; ++i) {
      picture.data()[3 * i + static_cast<std::int64_t>(c)] = colours[c].data()[i];
    }
  }
  return picture;
}

}  // namespace

OptionGroup monitor_output_options(MonitorOutputOptions& options, const std::string& output) {
  return {"Shown on a panel (-o monitor:N)",
          {{.names = "--fps",
            .target = number(options.fps, ValueUnit::none, {1e-3, 1e5}),
            .value = "N",
            .help = "Pictures a second, up to the panel's refresh rate",
            .otherwise = "the refresh rate",
            .feeds = "FramePacer.fps"},
           {.names = "--loop", .target = &options.loop, .help = "Begin again after the last picture"},
           {.names = "--field-sequence",
            .target = &options.field_sequence,
            .help = "Show the colours of --rgb one after the other, not in the channels of one picture"}},
          {[&output] { return names_monitor(output); }, "-o monitor:N", [&output] { return output; }}};
}

MonitorOutput::MonitorOutput(const std::string& output, const Panel& panel, const MonitorOutputOptions& options)
    : options_(player_options(output, panel, options)),
      loops_(options.loop),
      field_sequence_(options.field_sequence),
      added_(3) {}

void MonitorOutput::open() { player_.emplace(options_); }

void MonitorOutput::show(const std::vector<View<const std::uint8_t, 2>>& colours, const Queue& queue) {
  if (colours.size() == 1 || field_sequence_) {
    for (const auto& codes : colours) {
      static_cast<void>(player_->next());
      player_->show(codes, queue);
    }
    return;
  }
  queue.synchronize();
  std::vector<Array<std::uint8_t, 2>> here;
  here.reserve(colours.size());
  for (const auto& codes : colours) here.push_back(copy_of(codes, Device{}));
  static_cast<void>(player_->next());
  player_->show(PanelCodes(joined(here)));
}

void MonitorOutput::show(View<const std::uint16_t, 2> codes) {
  Array<std::uint8_t, 2> bytes(codes.shape());
  std::copy_n(codes.data(), codes.size(), bytes.data());
  show({std::as_const(bytes).view()}, {});
}

void MonitorOutput::add(std::size_t colour, const Image& codes) {
  added_.at(colour).push_back(plane_of(std::get<Array<std::uint8_t, 3>>(codes.pixels)));
}

void MonitorOutput::play(bool once) {
  const std::size_t colours = added_[1].empty() ? 1 : 3;
  const std::size_t pictures = added_[0].size();
  if (pictures == 0) return;
  const auto show_all = [&] {
    for (std::size_t i = 0; i < pictures; ++i) {
      std::vector<View<const std::uint8_t, 2>> subframes;
      for (std::size_t c = 0; c < colours; ++c) subframes.emplace_back(std::as_const(added_[c].at(i)).view());
      show(subframes, {});
    }
  };
  show_all();
  if (once) {
    player_->finish();
    return;
  }
  if (pictures == 1 && !(field_sequence_ && colours == 3)) stay();
  while (true) show_all();  // until cancelled
}

int until_closed(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::cancelled) throw;
    if (cancelled()) {
      stopped_in_time();
      return exit_cancelled;
    }
  }
  return exit_ok;
}

}  // namespace holotone::cli
