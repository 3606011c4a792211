#include <bench/avramelos_tables.hpp>
#include <fmt/format.h>
#include <iterator>

namespace bench {
namespace {

/// Published microseconds of Table 3.
struct PublishedTransfer {
  double quasar_up;
  double quasar_down;
  double opencl_up;
};
constexpr PublishedTransfer table_3[] = {{67, 92, 0.3}, {65, 96, 1.1}, {69, 113, 4.4}, {83, 119, 17}, {131, 172, 71}};
static_assert(std::size(table_3) == std::size(block_sizes));

constexpr std::int64_t bytes_a_component = 15 * sizeof(float);
constexpr std::int64_t bytes_a_pixel = 3 * sizeof(float);

}  // namespace

PixelBlock middle_block(const PictureModel& picture, std::int64_t side) {
  return {picture.width / 2 / side * side, picture.height / 2 / side * side, side, side};
}

void print_table_3(const TableOptions& options, const PictureModel& car, nlohmann::json& results) {
  fmt::print("\nTable 3: transfers of a block of Car, microseconds; published with a GTX Titan X\n\n");
  std::vector<std::vector<std::string>> rows = {{"block", "up: Quasar", "OpenCL", "copy here", "bytes", "renderer",
                                                 "down: Quasar", "copy here", "bytes", "renderer", "its codes"}};
  const auto add = [&](const std::string& name, const PublishedTransfer* published,
                       const std::vector<std::int64_t>& list, const holotone::SmoeModel& model,
                       const holotone::Shape<2>& size) {
    nlohmann::json json = {{"block", name}};
    std::vector<std::string> row{name};
    const std::int64_t up = std::ssize(list) * bytes_a_component;
    const std::int64_t down = size[0] * size[1] * bytes_a_pixel;
    const bool moves = options.device.backend != holotone::Backend::cpu;
    const auto cell = [&](const char* key, double value) {
      row.push_back(three_digits(value));
      json[key] = value;
    };
    const auto measured = [&](const char* key, const auto& value) { moves ? cell(key, value()) : row.push_back("-"); };
    const auto known = [&](const char* key, double PublishedTransfer::*value) {
      published != nullptr ? cell(key, published->*value) : row.push_back("-");
    };
    RendererTransfers own;
    if (moves) own = renderer_transfers(model, list, size, options.device);
    known("published_quasar_up_us", &PublishedTransfer::quasar_up);
    known("published_opencl_up_us", &PublishedTransfer::opencl_up);
    measured("up_us", [&] { return transfer_us(up, options.device, true); });
    row.push_back(std::to_string(up));
    measured("renderer_up_us", [&] { return own.up; });
    known("published_quasar_down_us", &PublishedTransfer::quasar_down);
    measured("down_us", [&] { return transfer_us(down, options.device, false); });
    row.push_back(std::to_string(down));
    measured("renderer_down_us", [&] { return own.down; });
    measured("renderer_codes_us", [&] { return own.codes; });
    rows.push_back(row);
    results["table_3"].push_back(json);
  };
  for (std::size_t i = 0; i < std::size(block_sizes); ++i) {
    const auto side = block_sizes[i];
    add(std::to_string(side), &table_3[i], window_list(car.model, middle_block(car, side), car.window_px), car.model,
        {side, side});
  }
  if (options.device.backend != holotone::Backend::cpu) {
    for (const auto& [width, height, count] : {std::array<std::int64_t, 3>{1920, 1080, 169401}, {3840, 2160, 686763}}) {
      if (options.small || count > options.max_points) continue;
      const auto frame = seeded_model("seeded", 2, count, width, height, 16);
      std::vector<std::int64_t> all(static_cast<std::size_t>(count));
      for (std::int64_t j = 0; j < count; ++j) all[static_cast<std::size_t>(j)] = j;
      add(fmt::format("{}p", height), nullptr, all, frame.model, {height, width});
    }
  }
  print_table(rows);
  fmt::print(
      "\nCopy here: page-locked memory, each copy waited for; 15 float32 a component, 3 a pixel. Published OpenCL: the "
      "mapping of\n"
      "page-locked buffers, which the kernel reads later; it has no column down. Renderer: what SmoeRenderer moves "
      "itself, from and to\n"
      "pageable memory. Up, once for a model: its constructor, which also checks, allocates and prepares components; "
      "down: a picture in\n"
      "float32 or in 8-bit codes to an Array of the host. Between these, pictures stay on the device. '-' on the CPU, "
      "which moves\n"
      "nothing.\n");
}

}  // namespace bench
