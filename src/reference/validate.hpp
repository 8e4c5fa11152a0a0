// What a caller of the oracle must hold to.
#pragma once

#include "reference/attention.hpp"

namespace straddle::reference {

// All throw std::invalid_argument: what was expected, what was seen, of which tensor or document.
void validate(const Shape& shape);
void validate(const Shape& shape, const Document& document);
void validate(const Shape& shape, const Condition& condition);
template <class Scalar>
void validate(const Shape& shape, const Inputs<Scalar>& inputs, const Results<Scalar>& results);

extern template void validate<double>(const Shape&, const Inputs<double>&, const Results<double>&);
extern template void validate<float>(const Shape&, const Inputs<float>&, const Results<float>&);

}  // namespace straddle::reference
