#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/stereogram_codes.hpp>
#include <holotone/recipes/stereogram_prints.hpp>
#include <limits>
#include <memory>
#include <sstream>
#include <type_traits>
#include <utility>

namespace holotone {
namespace {

constexpr const char* where = "print_stereograms";

constexpr std::array errors_rad{&StereogramReport::curvature_error_rad, &StereogramReport::astigmatism_rad};
constexpr std::array counts{&StereogramReport::rays,     &StereogramReport::computed, &StereogramReport::lit,
                            &StereogramReport::too_near, &StereogramReport::cut,      &StereogramReport::hogels,
                            &StereogramReport::layers};

/// The report of all processes, in the first.
StereogramReport gathered(const StereogramReport& here, Ranks& ranks) {
  if (!ranks.several()) return here;
  std::string text;
  for (const auto count : counts) text += fmt::format("{} ", here.*count);
  for (const auto error_rad : errors_rad) text += fmt::format("{:a} ", here.*error_rad);
  StereogramReport all;
  for (const auto& one : ranks.gather(text)) {
    std::istringstream stream(one);
    StereogramReport report;
    for (const auto count : counts) stream >> report.*count;
    for (const auto error_rad : errors_rad) {
      std::string word;
      stream >> word;
      report.*error_rad = std::strtod(word.c_str(), nullptr);
    }
    all += report;
  }
  return all;
}

/// A device that computes rows of hogels, of a field or of codes.
template <class Value>
struct Computer {
  static constexpr bool is_field = std::is_same_v<Value, Complex>;
  using Plan = std::conditional_t<is_field, StereogramPlan, StereogramCodesPlan>;

  static Plan plan_of(const StereogramPrint& print, [[maybe_unused]] std::int64_t rows_at_once, const Queue& queue) {
    if constexpr (is_field) {
      return StereogramPlan(print.stereogram, queue);
    } else {
      return {print.stereogram, *print.quantization, rows_at_once, queue};
    }
  }

  Plan plan;
  StereogramReport report{};
};

class StereogramRun {
 public:
  StereogramRun(const ViewsOfDevice& views, const StereogramPrintOptions& options, BandsOptions bands,
                Progress& progress)
      : views_(views), options_(options), bands_(std::move(bands)), progress_(progress) {
    if (bands_.ranks == nullptr) bands_.ranks = &one_process_;
    if (bands_.memory == nullptr) bands_.memory = &own_memory_;
    for (const Device device : options.devices) queues_.push_back(Queue::create(device));
  }

  std::vector<PrintedStereogram> operator()(const std::vector<StereogramPrint>& prints) {
    std::vector<PrintedStereogram> made;
    made.reserve(prints.size());
    for (const auto& print : prints) {
      made.push_back(print.quantization ? make<std::uint8_t>(print) : make<Complex>(print));
    }
    for (std::size_t i = 0; i < made.size(); ++i) made[i].rates = finish_[i]();
    return made;
  }

 private:
  template <class Value>
  PrintedStereogram make(const StereogramPrint& print) {
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t at_once =
        options_.rows_at_once > 0 ? options_.rows_at_once : rows_of_hogel_bands(print.stereogram);
    std::vector<Computer<Value>> computers;
    for (const auto& queue : queues_) computers.push_back({Computer<Value>::plan_of(print, at_once, queue)});
    PrintedStereogram made;
    made.info = computers.front().plan.info();
    const auto run = std::make_shared<BandsRun<Value>>(BandsFile{.output = print.output,
                                                                 .shape = print.stereogram.grid.shape(),
                                                                 .metadata = print.metadata,
                                                                 .key = print.key,
                                                                 .rows_at_once = at_once,
                                                                 .stage = "computing hogels"},
                                                       bands_, progress_);
    made.resumed_rows = run->resumed();
    // Finished together at the end: a resumed run finds the first colours too.
    finish_.emplace_back([run] {
      run->finish();
      return run->rates();
    });
    run->write(queues_, [&](std::size_t device, std::int64_t first_row, View<Value, 2> rows, Progress& progress) {
      auto& computer = computers[device];
      const RowRange part{first_row, rows.shape()[0]};
      computer.report += computer.plan.execute(views_(device), print.channel, part, rows, progress);
    });
    for (const auto& computer : computers) made.report += computer.report;
    made.report = gathered(made.report, *bands_.ranks);
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return made;
  }

  const ViewsOfDevice& views_;
  const StereogramPrintOptions& options_;
  BandsOptions bands_;
  Progress& progress_;
  Ranks one_process_;
  BandMemory own_memory_;
  std::vector<Queue> queues_;
  std::vector<std::function<BandRates()>> finish_;
};

}  // namespace

std::int64_t rows_of_hogel_bands(const StereogramOptions& options) {
  constexpr std::int64_t bytes_at_once = std::int64_t{4} << 20;
  const std::int64_t row_bytes = options.hogel_px * options.grid.nx * static_cast<std::int64_t>(sizeof(Complex));
  return std::max<std::int64_t>(1, bytes_at_once / std::max<std::int64_t>(row_bytes, 1)) * options.hogel_px;
}

std::vector<PrintedStereogram> print_stereograms(const ViewsOfDevice& views, const std::vector<StereogramPrint>& prints,
                                                 const StereogramPrintOptions& options, const BandsOptions& bands,
                                                 Progress& progress) {
  if (prints.empty()) throw_argument(where, "prints", "at least one", "none");
  if (options.devices.empty()) throw_argument(where, "devices", "at least one", "none");
  for (const auto& print : prints) {
    const std::int64_t side = print.stereogram.hogel_px;
    const std::int64_t rows = options.rows_at_once;
    if (rows == 0 || (rows > 0 && side > 0 && rows % side == 0)) continue;
    throw_argument(where, "rows_at_once", fmt::format("whole rows of hogels of {} pixels", side), std::to_string(rows));
  }
  return StereogramRun(views, options, bands, progress)(prints);
}

}  // namespace holotone
