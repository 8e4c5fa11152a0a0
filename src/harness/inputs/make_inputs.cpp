#include "harness/inputs/file_inputs.hpp"
#include "harness/inputs/random_inputs.hpp"

namespace straddle::harness {

std::unique_ptr<Inputs> make_inputs(const Case& point) {
  if (point.inputs.kind == InputKind::file) return std::make_unique<FileInputs>(point);
  return std::make_unique<RandomInputs>(point);
}

}  // namespace straddle::harness
