#pragma once
#include <cli/quantize/quantize_maker.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

// What a viewer sees in the viewing window, in words and JSON.
namespace holotone::cli {

/// Measures in the viewing window; empty: none.
nlohmann::json json_of_window(const QuantizeRecord& row);

/// "in the viewing window: signal to noise 26.0 dB, 19.5 dB above truncation (6.5 dB); ..."; empty: not measured.
std::string seen_text(const QuantizeJob& job, const QuantizeRecord& row);

/// Remarks on a twin image, a zero order or growing errors in the viewing window.
std::vector<std::string> remarks_on_window(const QuantizeJob& job, const std::vector<QuantizeRecord>& rows);

}  // namespace holotone::cli
