// Channels through accelerators that are all joined to one another: every link once.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

// n - 1 closed rings of n members, which together pass from each to each other once (Tillson, "A Hamiltonian
// decomposition of K*2m, 2m >= 8", J. Combin. Theory B 29 (1980) 68-74: there are such for all n but 4 and 6). Empty
// where there are none, or where n is above 8.
std::vector<std::vector<std::uint32_t>> mesh_rings(std::uint32_t n);

// n paths of n members, n even, which together do the same; each begins and ends at other members (Williams,
// "Experimental designs balanced for the estimation of residual effects", Austral. J. Sci. Res. A 2 (1949) 149-168).
// Empty for odd n.
std::vector<std::vector<std::uint32_t>> mesh_paths(std::uint32_t n);

}  // namespace weft
