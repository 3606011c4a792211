#pragma once
#include <cli/common/console.hpp>
#include <holotone/bands/bands_run.hpp>
#include <holotone/core/device.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// BandsRun in this program: its processes, its memory, its bar and its words. An error says how many rows are kept.
/// Finish within an UnfinishedRun. `more_bands`: how to get more of them, "; --rows-at-once makes more". The console
/// and the bar must outlive the run.
BandsOptions bands_options(const ConsoleOptions& console, ProgressBar& bar, const std::string& more_bands = {});

/// "1.2 gigapixels a second; 9.8 GB written at 1.1 GB/s; cuda:1 is the slowest of 2 devices, 0.55" for large files of
/// several bands; else empty.
std::string to_text(const BandRates& rates, const std::vector<Device>& devices);

}  // namespace holotone::cli
