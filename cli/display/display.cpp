#include <cli/common/command.hpp>
#include <cli/display/display_job.hpp>
#include <memory>

namespace holotone::cli {

Command display_command() {
  const auto job = std::make_shared<DisplayJob>();
  return {.name = "display",
          .purpose = "List the monitors, or show codes on a panel that is one, pixel for pixel",
          .examples = {"holotone display", "holotone display slm.png --monitor 2",
                       "holotone display spin/%04d.png --monitor 2 --fps 60 --loop",
                       "holotone display slm_%c.png --monitor 2 --field-sequence --trigger 64 --settle 5ms"},
          .groups = display_options(*job),
          .run = [job] { return run_display(*job); },
          .given = &job->given};
}

}  // namespace holotone::cli
