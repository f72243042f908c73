#include "artifact/codec.h"

#include <sys/mman.h>
#include <zstd.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/little_endian.h"
#include "precast/limits.h"

namespace precast::artifact {
namespace {

// A block gives at most 128 KiB and takes at least four bytes: three of header, one of content.
constexpr std::uint64_t kMaxZstdRatio = (128 << 10) / 4;

// The part of a frame header that is always there: magic and descriptor; then a window byte unless
// the frame is a single segment.
constexpr std::size_t kDescriptorOffset = 4;
constexpr std::size_t kWindowOffset = 5;
constexpr unsigned kSingleSegmentBit = 1U << 5;

Error broken(const std::string& what) {
  return {ErrorCode::corrupt, "its zstd frame is broken: " + what};
}

// The standard library reports a lack of memory by an exception; here it becomes an error.
Result<Bytes> allocate(std::uint64_t size) {
  try {
    return Bytes(size, '\0');
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::resource_exhausted, "no memory for " + std::to_string(size) + " bytes");
  }
}

// Not filled: all of it is written before it is read.
Result<std::unique_ptr<char[]>> allocate_unfilled(std::uint64_t size) {
  std::unique_ptr<char[]> bytes(new (std::nothrow) char[size]);
  if (bytes == nullptr) {
    return Error(ErrorCode::resource_exhausted, "no memory for " + std::to_string(size) + " bytes");
  }
  // An executable of 15 MB takes 3,600 pages otherwise, and a fault for each. Only advice.
  constexpr std::uintptr_t kHugePageBytes = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.get());
  const std::uintptr_t first = (begin + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  const std::uintptr_t end = (begin + size) / kHugePageBytes * kHugePageBytes;
  if (first < end) {
    static_cast<void>(::madvise(bytes.get() + (first - begin), end - first, MADV_HUGEPAGE));
  }
  return bytes;
}

// How far back the frame may refer, by the frame format's own formula. (ZSTD_d_windowLogMax bounds
// what a streaming decoder allocates; decoding in one step allocates no window and ignores it.)
std::uint64_t window_bytes(BytesView frame, std::uint64_t content_bytes) {
  const auto descriptor = static_cast<unsigned char>(frame[kDescriptorOffset]);
  if ((descriptor & kSingleSegmentBit) != 0) return content_bytes;
  const auto window = static_cast<unsigned char>(frame[kWindowOffset]);
  const std::uint64_t base = std::uint64_t{1} << (10 + (window >> 3));
  return base + base / 8 * (window & 7);
}

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// What zstd works with: 160 KB, and making it takes longer than a small section does. Null when
// memory is out.
ZSTD_DCtx* context_of_this_thread() {
  static thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context;
  if (context == nullptr) context.reset(ZSTD_createDCtx());
  return context.get();
}

Result<void> check_frame(BytesView stored, std::uint64_t true_bytes) {
  if (stored.size() <= kWindowOffset ||
      base::read_little_endian<std::uint32_t>(stored, 0) != ZSTD_MAGICNUMBER) {
    return broken("it does not begin like one");
  }
  const unsigned long long content = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (content == ZSTD_CONTENTSIZE_ERROR) return broken("its header does not parse");
  if (content == ZSTD_CONTENTSIZE_UNKNOWN) return broken("it does not state its content's size");
  if (content != true_bytes) {
    return broken("its content has " + std::to_string(content) + " bytes, the table says " +
                  std::to_string(true_bytes));
  }
  if (window_bytes(stored, content) > std::uint64_t{1} << limits::kMaxZstdWindowLog) {
    return broken("its window is larger than the limit of 2^" +
                  std::to_string(limits::kMaxZstdWindowLog) + " bytes");
  }
  if (true_bytes / kMaxZstdRatio > stored.size()) {
    return broken(std::to_string(stored.size()) + " stored bytes cannot hold " +
                  std::to_string(true_bytes));
  }
  const std::size_t frame = ZSTD_findFrameCompressedSize(stored.data(), stored.size());
  if (ZSTD_isError(frame) != 0) return broken(ZSTD_getErrorName(frame));
  if (frame != stored.size()) {
    return broken(std::to_string(stored.size() - frame) + " bytes follow it");
  }
  return {};
}

}  // namespace

Result<Bytes> compress_zstd(BytesView content, int level) {
  if (level < ZSTD_minCLevel() || level > ZSTD_maxCLevel()) {
    return Error(ErrorCode::invalid_argument, "zstd has no level " + std::to_string(level) +
                                                  "; it has " + std::to_string(ZSTD_minCLevel()) +
                                                  " to " + std::to_string(ZSTD_maxCLevel()));
  }
  PRECAST_ASSIGN(Bytes out, allocate(ZSTD_compressBound(content.size())));
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), content.data(), content.size(), level);
  if (ZSTD_isError(size) != 0) {
    return Error(ErrorCode::resource_exhausted,
                 std::string("zstd cannot compress: ") + ZSTD_getErrorName(size));
  }
  out.resize(size);
  return out;
}

Result<Content> decompress_zstd(BytesView stored, std::uint64_t true_bytes) {
  PRECAST_TRY(check_frame(stored, true_bytes));
  PRECAST_ASSIGN(std::unique_ptr<char[]> out, allocate_unfilled(true_bytes));
  ZSTD_DCtx* const context = context_of_this_thread();
  if (context == nullptr) {
    return Error(ErrorCode::resource_exhausted, "no memory for zstd's decoder");
  }
  const std::size_t size =
      ZSTD_decompressDCtx(context, out.get(), true_bytes, stored.data(), stored.size());
  if (ZSTD_isError(size) != 0) return broken(ZSTD_getErrorName(size));
  if (size != true_bytes) {
    return broken("it gave " + std::to_string(size) + " bytes instead of " +
                  std::to_string(true_bytes));
  }
  return Content(std::move(out), true_bytes);
}

}  // namespace precast::artifact
