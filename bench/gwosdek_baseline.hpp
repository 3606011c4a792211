#pragma once
// The paper's own step (baselines/gwosdek.hpp) against the library's in paper_gwosdek.
#include <bench/paper_table.hpp>

namespace bench {

/// Adds the paper's own direct and fast step on this device to the rows of results["table_1"] (which hold "dots",
/// "ewald_ms" and, where pairs are summed, "direct_ms"), with errors and neighbours missed, and prints both next to the
/// library's with the speed-up.
void print_gwosdek_baseline(const TableOptions& options, nlohmann::json& results);

/// Prints the blurred PSNR that halftones reach with each ImageForce.
void print_image_forces(const TableOptions& options, nlohmann::json& results);

}  // namespace bench
