// How well each element of the results is determined: the sums that bounds scale with.
#pragma once

#include "reference/attention.hpp"

namespace straddle::reference {

// sigma and tau of one document and one kv head with its group, all in double from the inputs alone; returns
// A (docs/math.md, "How a case is judged"). Arguments as for attend, already validated; the document has
// rows.
template <class Scalar>
double measure_condition(const Shape& shape, const Document& document, std::int64_t kv_head,
                         const Inputs<Scalar>& inputs, const Condition& condition);

extern template double measure_condition<double>(const Shape&, const Document&, std::int64_t,
                                                 const Inputs<double>&, const Condition&);
extern template double measure_condition<float>(const Shape&, const Document&, std::int64_t,
                                                const Inputs<float>&, const Condition&);

}  // namespace straddle::reference
