// Spreading over planes, real and complex. A file of its own: its loops take half a minute to compile.
#include <holotone/nufft/spread_loops_cpu.hpp>

namespace holotone::nufft {

HOLOTONE_SPREAD(float, 2, 1)
HOLOTONE_SPREAD(float, 2, 2)
HOLOTONE_SPREAD(double, 2, 1)
HOLOTONE_SPREAD(double, 2, 2)

}  // namespace holotone::nufft
