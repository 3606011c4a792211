#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/values.hpp>
#include <cli/display/display_job.hpp>
#include <memory>

namespace holotone::cli {
namespace {

std::vector<OptionRow> rows_of(DisplayArguments& a) {
  return {
      {.names = "FILE",
       .target = &a.files,
       .help = "Pictures of codes, as large as the panel; %d or %04d counts frames, %c names colours"},
      {.names = "--monitor",
       .target = &a.monitor,
       .value = "WHICH",
       .help = "Number, name or size (1920x1080) of the panel's monitor",
       .otherwise = "the only one",
       .common = true,
       .feeds = "find_monitor.monitor|PanelWindow.monitor"},
      {.names = "--fps",
       .target = &a.fps,
       .value = "N",
       .help = "Pictures a second, up to the panel's refresh rate",
       .otherwise = "the refresh rate",
       .common = true,
       .feeds = "FramePacer.fps"},
      {.names = "--loop", .target = &a.loop, .help = "Begin again after the last picture", .common = true},
      {.names = "--hold",
       .target = &a.hold,
       .value = "TIME",
       .help = "Time of the last picture, such as 10s",
       .otherwise = "one picture: until q, Escape or Ctrl-C; more: its turn"},
      {.names = "--refresh",
       .target = &a.refresh,
       .value = "N",
       .help = "Refresh rate in Hz, of those that the panel has",
       .otherwise = "the present one",
       .feeds = "PanelWindow.refresh_hz"},
      {.names = "--centre", .target = &a.centre, .help = "Show smaller pictures in the middle, code 0 around them"},
      {.names = "--keep-pace",
       .target = &a.keep_pace,
       .help = "Drop pictures that are late, instead of waiting for them"},
      {.names = "--skip-bad", .target = &a.skip_bad, .help = "Leave out files that cannot be read"},
  };
}

std::vector<OptionRow> coding_rows(DisplayArguments& a) {
  return {
      {.names = "--display-lut",
       .target = &a.display_lut,
       .value = "FILE",
       .help = "What is sent for codes 0 to 255: 256 numbers from 0 to 255, one a line, for panels whose driver has a "
               "table of its own"},
      {.names = "--packed16",
       .target = &a.packed16,
       .value = "CHANNELS",
       .help = "Send 16-bit codes in two channels of r, g and b: that of the high byte, that of the low byte (rg)",
       .feeds = "PanelWindow.packing"},
      {.names = "--bit-planes",
       .target = &a.bit_planes,
       .value = "ORDER",
       .help = "Pack 24 binary pictures in one, in the bits of the channels in this order (grb)",
       .excludes = "--packed16",
       .feeds = "pack_bit_planes.order"},
      {.names = "--field-sequence",
       .target = &a.field_sequence,
       .help = "Show red, green and blue one after the other: channels of the files, or files with %c",
       .excludes = "--bit-planes"},
      {.names = "--trigger",
       .target = &a.trigger,
       .value = "PX",
       .help = "Side of a square in the lower right corner for a laser's photodiode, one for each colour, lit in turn",
       .feeds = "draw_trigger.side_px"},
      {.names = "--settle",
       .target = &a.settle,
       .value = "TIME",
       .help = "Time a panel needs to reach a picture, such as 10ms: it stays at least as long, and the trigger is lit "
               "after it"},
  };
}

std::vector<OptionRow> safety_rows(DisplayArguments& a) {
  return {
      {.names = "--safe-pattern",
       .target = &a.safe,
       .value = "WHAT",
       .help = "What the panel shows before and after the pictures: a grating of this period (4px), or a flat code "
               "(level:0)",
       .feeds = "safe_pattern.period_px|safe_pattern.level"},
      {.names = "--keep-safe",
       .target = &a.keep_safe,
       .help = "Keep the safe pattern on the panel at the end, and after an error, until q, Escape or Ctrl-C"},
      {.names = "--ignore-focus",
       .target = &a.ignore_focus,
       .help = "Keep the picture when another window takes the keyboard from the panel's"},
  };
}

}  // namespace

Command display_command() {
  const auto arguments = std::make_shared<DisplayArguments>();
  auto& a = *arguments;
  return {
      .name = "display",
      .purpose = "List the monitors, or show codes on a panel that is one, pixel for pixel",
      .examples = {"holotone display", "holotone display slm.png --monitor 2",
                   "holotone display spin/%04d.png --monitor 2 --fps 60 --loop",
                   "holotone display slm_%c.png --monitor 2 --field-sequence --trigger 64 --settle 5ms"},
      .groups = {{"", rows_of(a)}, {"Codes", coding_rows(a)}, {"Safety", safety_rows(a)}, console_options(a.console)},
      .run = [arguments] { return run_display(*arguments); },
      .given = &a.given};
}

}  // namespace holotone::cli
