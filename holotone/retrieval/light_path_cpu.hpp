#pragma once
// Light from the panel to the pictures and back, for the CPU engine. Not for users.
#include <holotone/fft/fft.hpp>
#include <holotone/optics/complex_product.hpp>
#include <holotone/retrieval/retrieval_engine.hpp>

namespace holotone::retrieval {

inline Complex product_conjugate(Complex a, Complex b) { return product(a, std::conj(b)); }

/// Linear map P from the light of the panel to that of a plane at a position, and its adjoint. The rows are memory of
/// the path, which the next step overwrites.
class LightPath {
 public:
  virtual ~LightPath() = default;
  /// Forward: start_panel, write all panel_row, send_panel; then for any pictures receive, read picture_row.
  virtual void start_panel() = 0;
  virtual Complex* panel_row(std::int64_t row) = 0;  ///< nx values
  virtual void send_panel() = 0;
  virtual void receive(std::size_t plane, std::size_t position) = 0;
  /// Row of the signal region, of its columns.
  virtual Complex* picture_row(std::int64_t row) = 0;
  /// Back: start_back, then for any pictures start_picture, write all picture_row, send_back; at last receive_back,
  /// read panel_row: the sum of P^H of the pictures.
  virtual void start_back() = 0;
  virtual void start_picture() = 0;
  virtual void send_back(std::size_t plane, std::size_t position) = 0;
  virtual void receive_back() = 0;
};

std::unique_ptr<LightPath> free_space_path(const PhaseRetrievalOptions& options);
std::unique_ptr<LightPath> lens_path(const PhaseRetrievalOptions& options);

void clear_rows(Array<Complex, 2>& values);

}  // namespace holotone::retrieval
