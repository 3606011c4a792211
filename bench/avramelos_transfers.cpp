#include <bench/avramelos_tables.hpp>
#include <fmt/format.h>
#include <iterator>
#include <numeric>
#include <optional>

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

void print_notes() {
  fmt::print(
      "\nCopy here: page-locked memory on CUDA, pageable on OpenCL, each copy waited for; 15 float32 a component, 3 a "
      "pixel.\n"
      "Mapped: page-locked buffers of OpenCL, filled or read in mapped blocks of 4096 values, until the last is "
      "unmapped.\n"
      "Published OpenCL: the mapping of such buffers, which the kernel reads later; it has no column down. Renderer: "
      "what\n"
      "SmoeRenderer moves itself, from and to pageable memory. Up, once for a model: its constructor, which also "
      "checks,\n"
      "allocates and prepares components; down: a picture in float32 or in 8-bit codes to an Array of the host. "
      "Between\n"
      "these, pictures stay on the device. '-' on the CPU, which moves nothing.\n");
}

}  // namespace

void print_table_3(const TableOptions& options, const PictureModel& car, nlohmann::json& results) {
  fmt::print("\nTable 3: transfers of a block of Car, microseconds; published with a GTX Titan X\n\n");
  std::vector<std::vector<std::string>> rows = {{"block", "up: Quasar", "OpenCL", "copy here", "mapped", "bytes",
                                                 "renderer", "down: Quasar", "copy here", "mapped", "bytes", "renderer",
                                                 "its codes"}};
  const bool moves = options.device.backend != holotone::Backend::cpu;
  const auto add = [&](const std::string& name, const PublishedTransfer* published,
                       const std::vector<std::int64_t>& list, const holotone::SmoeModel& model,
                       const holotone::Shape<2>& size) {
    nlohmann::json json = {{"block", name}};
    std::vector<std::string> row{name};
    const auto add_cell = [&](const char* key, std::optional<double> value) {
      row.push_back(cell(value));
      set(json, key, value);
    };
    const auto known = [&](double PublishedTransfer::*value) {
      return published != nullptr ? std::optional(published->*value) : std::nullopt;
    };
    const auto copied = [&](std::int64_t bytes, bool up) {
      return moves ? std::optional(transfer_us(bytes, options.device, up)) : std::nullopt;
    };
    std::optional<RendererTransfers> transfers;
    if (moves) transfers = renderer_transfers(model, list, size, options.device);
    const auto of_renderer = [&](double RendererTransfers::*value) {
      return transfers ? std::optional(*transfers.*value) : std::nullopt;
    };
    const std::int64_t up = std::ssize(list) * bytes_a_component;
    const std::int64_t down = size[0] * size[1] * bytes_a_pixel;
    add_cell("published_quasar_up_us", known(&PublishedTransfer::quasar_up));
    add_cell("published_opencl_up_us", known(&PublishedTransfer::opencl_up));
    add_cell("up_us", copied(up, true));
    add_cell("mapped_up_us", mapped_us(up, options.device, true));
    row.push_back(std::to_string(up));
    add_cell("renderer_up_us", of_renderer(&RendererTransfers::up));
    add_cell("published_quasar_down_us", known(&PublishedTransfer::quasar_down));
    add_cell("down_us", copied(down, false));
    add_cell("mapped_down_us", mapped_us(down, options.device, false));
    row.push_back(std::to_string(down));
    add_cell("renderer_down_us", of_renderer(&RendererTransfers::down));
    add_cell("renderer_codes_us", of_renderer(&RendererTransfers::codes));
    rows.push_back(row);
    results["table_3"].push_back(json);
  };
  for (std::size_t i = 0; i < std::size(block_sizes); ++i) {
    const auto side = block_sizes[i];
    add(std::to_string(side), &table_3[i], window_list(car.model, middle_block(car, side), car.window_px), car.model,
        {side, side});
  }
  if (moves && !options.small) {
    for (const auto& [width, height, count] : {std::array<std::int64_t, 3>{1920, 1080, 169401}, {3840, 2160, 686763}}) {
      if (count > options.max_points) continue;
      const auto frame = seeded_model("seeded", 2, count, width, height, 16);
      std::vector<std::int64_t> all(static_cast<std::size_t>(count));
      std::iota(all.begin(), all.end(), std::int64_t{0});
      add(fmt::format("{}p", height), nullptr, all, frame.model, {height, width});
    }
  }
  print_table(rows);
  print_notes();
}

}  // namespace bench
