// Spreading over volumes, real and complex. A file of its own: its loops take half a minute to compile.
#include <holotone/nufft/spread_loops_cpu.hpp>

namespace holotone::nufft {

HOLOTONE_SPREAD(float, 3, 1)
HOLOTONE_SPREAD(float, 3, 2)
HOLOTONE_SPREAD(double, 3, 1)
HOLOTONE_SPREAD(double, 3, 2)

}  // namespace holotone::nufft
