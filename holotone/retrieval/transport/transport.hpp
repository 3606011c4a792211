#pragma once
#include <holotone/retrieval/phase_retrieval.hpp>

namespace holotone {

struct TransportPhase {
  Array<float, 2> phase_rad;  ///< {ny, nx}, -pi to pi
  /// Largest frequency of the phase in cycles a pixel, along an axis: from 0.5 on the panel cannot show it.
  double highest_frequency = 0;
};

/// Start of an optimization by optimal transport: the smooth phase {ny, nx} in radians that carries the light on the
/// panel into the picture with the least displacement, so that hardly any light is lost and no optical vortices arise.
/// With the light mu on the panel and nu of the picture, of the same sum, x and y in fractions of a side of N_i pixels:
///   free space: cost c = sum_i N_i^2 (x_i - y_i)^2 / 2, phase -2 pi f(x) / D, D = lambda z / pitch^2 pixels a cycle
///   with a lens: c = sum_i N_i (x_i - y_i)^2 / 2, phase 2 pi (sum_i N_i x_i^2 / 2 - f(x))
/// f is the dual potential of the source: light of x goes to the picture's place where f(x) + g(y) = c(x, y). It is
/// found on 128 cells of the longer side, by damped iterations in the log domain,
///   f = -e log sum_y nu exp((g - c) / e), g alike, e from 0.1 to 1e-4 of the longer side squared,
/// on 32, 64 and at last 128 cells, and read between them by cubic B-splines. Free space is taken as paraxial.
/// `amplitude`: {ny, nx} of the picture, finite, >= 0, with light in the options' region. `source`: light {ny, nx} on
/// the panel, whose phase is taken off; empty: 1. Both in host memory. The first plane of the options counts.
/// `share`: of the light that goes to the picture, > 0 to 1; the rest goes evenly around it, on the panel and at least
/// a sixteenth of the picture's sides, behind a lens in the diffraction order. An optimization lowers errors faster
/// with some light there.
/// Throws invalid_argument as PhaseRetrievalPlan, and for a plane at distance 0 without a lens. Runs on the queue's
/// device; OpenCL's on the CPU. Cost: some 0.5 G terms, whatever the panel; a CPU leaves out those below exp(-20) of
/// the largest.
/// Sources: Cuturi, "Sinkhorn distances: lightspeed computation of optimal transport", 2013; Schmitzer, "Stabilized
/// sparse scaling algorithms for entropy regularized transport problems", 2019, for e; Glimm and Oliker, "Optical
/// design of single reflector systems and the Monge-Kantorovich mass transfer problem", 2003, for optics.
TransportPhase transport_phase(const PhaseRetrievalOptions& options, View<const float, 2> amplitude,
                               View<const Complex, 2> source = {}, double share = 1, const Queue& queue = {});

}  // namespace holotone
