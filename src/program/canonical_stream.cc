#include "program/canonical_stream.h"

#include <fmt/format.h>

#include <cstring>

namespace precast::program {

void CanonicalStream::bytes(BytesView content) {
  number(content.size());
  if (content.size() > buffer_.size() - used_) flush();
  if (content.size() <= buffer_.size()) {
    if (!content.empty()) std::memcpy(buffer_.data() + used_, content.data(), content.size());
    used_ += content.size();
    return;
  }
  hash_.update(content);
  flushed_ += content.size();
}

void CanonicalStream::flush() {
  hash_.update({buffer_.data(), used_});
  flushed_ += used_;
  used_ = 0;
}

Error CanonicalStream::over_budget() const {
  return {ErrorCode::resource_exhausted,
          fmt::format("the program expands to more than {} bytes", budget_)};
}

Digest CanonicalStream::finish() {
  flush();
  return hash_.finish();
}

}  // namespace precast::program
