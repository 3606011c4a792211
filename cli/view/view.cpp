#include <cli/common/command.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/view/view_run.hpp>

namespace holotone::cli {
namespace {

int run_view(ViewJob& job) {
  complete(job);
  return job.output.empty() ? serve_view(job) : store_view(job);
}

std::vector<OptionRow> server_options(ViewJob& job) {
  const Applies served{[&job] { return job.output.empty(); }, "a server, without --output",
                       [&job] { return job.output; }};
  return {{.names = "--port",
           .target = number(job.port, ValueUnit::count, {0, 65535}),
           .value = "N",
           .help = "Port of the page; the next free one if it is in use; 0: any",
           .common = true,
           .applies = served},
          {.names = "--bind",
           .target = member<&ViewJob::address>(job),
           .value = "ADDRESS",
           .help = "Address to listen on; 0.0.0.0 lets other machines of the network in",
           .applies = served},
          {.names = "--host",
           .target = &job.hosts,
           .value = "NAME",
           .help = "Further name by which the page may be reached",
           .one_each = true,
           .feeds = "ViewJob.hosts",
           .applies = served},
          {.names = "--no-browser", .target = setter(job.browser, false), .help = "Open no browser", .common = true},
          device_row({.target = &job.device_name, .common = true})};
}

std::vector<OptionRow> page_options(ViewJob& job) {
  return {optional_output({.target = &job.output,
                           .help = "One HTML file with the pictures at the stops of the controls, instead of a server",
                           .common = true}),
          {.names = "--stops",
           .target = &job.stops,
           .value = "STOPS",
           .help = "Values of a control in that file, such as distance=18cm:22cm:9, view=5x5 or show=intensity,phase",
           .otherwise = "9 distances, or 5x5 views",
           .common = true,
           .one_each = true,
           .applies = {[&job] { return !job.output.empty(); }, "--output, a page that stores pictures",
                       [&job] { return job.stops.front(); }}}};
}

std::vector<OptionRow> hologram_options(ViewJob& job) {
  std::vector<OptionRow> rows{{.names = "--distance",
                               .target = parsed(job.distance_m, distance_of),
                               .value = "LENGTH",
                               .help = "Distance of the first focus"}};
  job.file_rows = override_options(job.overrides);
  append(job.file_rows, number_options(job.overrides));
  append(rows, job.file_rows);
  return rows;
}

}  // namespace

Command view_command() {
  const auto job = std::make_shared<ViewJob>();
  auto& j = *job;
  const Applies compared{[job = job.get()] { return !job->against.empty(); }, "--against, a picture that the dots show",
                         [] { return "none"; }};
  return {.name = "view",
          .purpose = "Show holograms, fields, models, dots, points and pictures in a browser",
          .examples = {"holotone view slm.png", "holotone view field.h5 slm.png", "holotone view slm.png -o slm.html"},
          .groups = {{"",
                      {{.names = "FILE",
                        .target = &j.inputs,
                        .help = "Files, folders, or colours such as knot_%c.png; two are shown side by side",
                        .required = true},
                       {.names = "--against",
                        .target = &j.against,
                        .value = "FILE",
                        .help = "Picture to compare with",
                        .common = true},
                       {.names = "--invert",
                        .target = &j.ink.options.invert,
                        .help = "The dots are where that picture is bright",
                        .applies = compared},
                       {.names = "--gamma",
                        .target = gamma_value(j.ink),
                        .value = "G",
                        .help = "Exponent of that picture's tones, as of halftone",
                        .feeds = "ink_from_pixels.gamma",
                        .applies = compared}}},
                     {"Server", server_options(j)},
                     {"Page in a file", page_options(j)},
                     {"Values instead of the file's", hologram_options(j)},
                     console_options(j.console)},
          .run = [job] { return run_view(*job); }};
}

}  // namespace holotone::cli
