// Inputs read from a safetensors file: q, k, v, d_out, cu_seqlens, and d_lse where the case wants it.
#pragma once

#include <map>

#include "harness/inputs/row_source.hpp"
#include "tensor/safetensors.hpp"

namespace straddle::harness {

class FileInputs final : public RowSource {
 public:
  explicit FileInputs(const Case& point);  // throws InputError

 protected:
  void values(InputName input, std::int64_t layer, std::int64_t token, std::int64_t document,
              std::int64_t head, std::span<double> dims) const override;

 private:
  void check_finite(InputName input) const;
  void read(InputName input, std::int64_t token, std::int64_t head, std::span<double> dims) const;

  tensor::SafetensorsFile file_;
};

}  // namespace straddle::harness
