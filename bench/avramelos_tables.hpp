#pragma once
// Tables and figures of Avramelos et al. 2020 with files of their own.
#include <bench/avramelos_models.hpp>
#include <bench/paper_table.hpp>

namespace bench {

/// Table 1: precision.
void print_table_1(const TableOptions& options, const PictureModel& car, nlohmann::json& results);

/// The decoder of a device, in every mode, against the same arithmetic on the CPU. Throws std::runtime_error where they
/// differ by more than 1e-4 of the largest colour.
void print_differences(const TableOptions& options, const std::vector<PictureModel>& pictures, nlohmann::json& results);

/// Table 3: transfers.
void print_table_3(const TableOptions& options, const PictureModel& car, nlohmann::json& results);

/// Figure 9: occupancy, of the paper's decoder and of the renderer's kernels.
void print_figure_9(const TableOptions& options, nlohmann::json& results);

}  // namespace bench
