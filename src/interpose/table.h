// Table: the real plugin's function table with a few functions replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "pjrt/c_abi.h"

namespace precast::interpose {

// A copy of a plugin's table, as long as it is, whatever its version: what is behind the members
// that c_abi.h knows is copied as well.
class Table {
 public:
  explicit Table(const PJRT_Api* real)
      : real_(real), copy_(static_cast<PJRT_Api*>(::operator new(real->struct_size))) {
    std::memcpy(static_cast<void*>(copy_.get()), real, real->struct_size);
  }

  // Puts `ours` in the place of a member; where the plugin has none, nothing is done.
  template <typename Function>
  void replace(Function PJRT_Api::* member, Function ours) {
    if (has(member)) copy_.get()->*member = ours;
  }

  template <typename Function>
  bool has(Function PJRT_Api::* member) const {
    const auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(&(real_->*member)) -
                                                 reinterpret_cast<const char*>(real_));
    return offset + sizeof(Function) <= real_->struct_size && real_->*member != nullptr;
  }

  const PJRT_Api& real() const { return *real_; }
  const PJRT_Api* given() const { return copy_.get(); }

 private:
  struct Free {
    void operator()(PJRT_Api* copy) const { ::operator delete(copy); }
  };

  const PJRT_Api* real_;
  std::unique_ptr<PJRT_Api, Free> copy_;
};

}  // namespace precast::interpose
