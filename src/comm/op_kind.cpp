#include "comm/op_kind.hpp"

namespace straddle::comm {

std::string_view name(OpKind kind) {
  switch (kind) {
    case OpKind::all_gather:
      return "all_gather";
    case OpKind::all_to_all_v:
      return "all_to_all_v";
    case OpKind::reduce_scatter:
      return "reduce_scatter";
    case OpKind::send_receive:
      return "send_receive";
    case OpKind::all_reduce:
      return "all_reduce";
    case OpKind::barrier:
      return "barrier";
  }
  return "unknown operation";
}

}  // namespace straddle::comm
