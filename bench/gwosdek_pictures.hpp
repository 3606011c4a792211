#pragma once
// Figures 2 to 4 and the speed-ups of Table 1 of Gwosdek et al. 2012.
#include <bench/paper_table.hpp>
#include <string>
#include <vector>

namespace bench {

/// Speed-ups of Table 1 next to the published ones: of the fast sum over every pair on the CPU and on the GPU, and of
/// the GPU over the CPU. Times of the device are those of results["table_1"]; on a GPU the CPU's are measured here.
void print_gwosdek_speedups(const TableOptions& options, nlohmann::json& results);

/// Times of 30,150 dots on 256 x 256 pixels (as Figure 2, Trui) and of 647,770 on 1024 x 1024 (Figure 3, Tiger), next
/// to the published ones. `files`: pictures for the two, whose middle square is resampled and whose codes are ink as in
/// the paper; one serves for both. Without files a picture is made.
void print_gwosdek_pictures(const TableOptions& options, const std::vector<std::string>& files,
                            nlohmann::json& results);

/// Figure 4: blurred PSNR over sigma of the smaller picture's halftones, by the forces of Figure 5 and by
/// capacity-constrained Voronoi cells. `panels`: PNG of the dots of some of them side by side, or empty.
void print_gwosdek_figure_4(const TableOptions& options, const std::vector<std::string>& files,
                            const std::string& panels, nlohmann::json& results);

}  // namespace bench
