#include "precast/plugin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/per_process.h"
#include "pjrt/capabilities.h"
#include "pjrt/client_impl.h"
#include "pjrt/find.h"
#include "pjrt/functions.h"
#include "pjrt/named_values.h"
#include "pjrt/plugin_environment.h"
#include "pjrt/plugin_impl.h"

namespace precast {
namespace pjrt {
namespace {

constexpr int kSupportedMajor = 0;
constexpr std::string_view kElfMagic =
    "\x7f"
    "ELF";

const std::vector<NamedValue>& kNoAttributes = *new std::vector<NamedValue>();

struct LibraryFile {
  std::string real_path;
  FileIdentity identity;
};

// The real path and state of a file that can be a library. dlopen's own words for a folder or a
// text file ("file too short") would help nobody.
Result<LibraryFile> examine(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  if (real == nullptr) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return Error(ErrorCode::invalid_argument, "no file '" + path + "'");
    }
    return base::errno_error(errno, "cannot reach the plugin '" + path + "'");
  }
  LibraryFile library;
  library.real_path = real.get();
  const base::Fd fd(::open(real.get(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    return base::errno_error(errno, "cannot read the plugin '" + path + "'");
  }
  if (S_ISDIR(status.st_mode)) {
    return Error(ErrorCode::invalid_argument,
                 "'" + path + "' is a folder; a plugin is a shared library in a file");
  }
  char magic[4] = {};
  if (!S_ISREG(status.st_mode) || ::read(fd.get(), magic, sizeof magic) != sizeof magic ||
      std::string_view(magic, sizeof magic) != kElfMagic) {
    return Error(ErrorCode::invalid_argument,
                 "'" + path + "' is not a shared library: it does not begin like an ELF file");
  }
  library.identity = FileIdentity::of(status);
  return library;
}

struct Opened {
  const PJRT_Api* table;
  const void* entry_point;
  bool was_loaded;
};

Result<Opened> open_library(const std::string& path) {
  // RTLD_NOW: a symbol that is missing is an error here, with its name, and not the end of the
  // process at the first call that needs it. RTLD_LOCAL: plugins bring their own copies of LLVM and
  // protobuf, which must not meet those of another. Never closed: plugins start threads that run
  // their code until the process ends.
  const bool was_loaded = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) != nullptr;
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return Error(ErrorCode::invalid_argument,
                 "cannot load '" + path + "': " + (why == nullptr ? "no reason given" : why));
  }
  void* symbol = ::dlsym(library, kEntryPoint);
  if (symbol == nullptr) {
    return Error(ErrorCode::invalid_argument,
                 "'" + path + "' is not a PJRT plugin: it has no " + std::string(kEntryPoint));
  }
  const auto get_api = reinterpret_cast<EntryPoint>(symbol);
  return Opened{get_api(), symbol, was_loaded};
}

Result<void> initialize(Plugin::Impl& plugin) {
  // Plugins may do without it.
  if (!plugin.api.has(kPluginInitialize)) return {};
  Block<PJRT_Plugin_Initialize_Args> args;
  return plugin.api.call(kPluginInitialize, args);
}

// Who calls PJRT_Plugin_Initialize: a plugin may take its environment there.
enum class Initialize : std::uint8_t { now, by_host };

Result<std::shared_ptr<Plugin::Impl>> load(const LibraryFile& library, Initialize when) {
  PRECAST_ASSIGN(const Opened opened, open_library(library.real_path));
  PRECAST_TRY(check_table(opened.table));
  auto plugin = std::make_shared<Plugin::Impl>(opened.table, library.real_path);
  plugin->entry_point = opened.entry_point;
  plugin->was_loaded = opened.was_loaded;
  plugin->opened = library.identity;
  if (when == Initialize::now) {
    PRECAST_TRY(initialize(*plugin));
    PRECAST_TRY(read_attributes(*plugin));
  }
  plugin->capabilities = capabilities_of(plugin->api);
  return plugin;
}

// The plugins of this process. They stay: their threads outlive main. In a list that is read
// without a lock, as what was opened before a fork is open in the child too.
struct Known {
  std::shared_ptr<Plugin::Impl> plugin;
  const Known* before = nullptr;
};

std::atomic<const Known*> last_known = nullptr;

// Held while one is opened. A child that was forked meanwhile opens it again, and then it was
// loaded before.
base::PerProcess<std::mutex>& opening = *new base::PerProcess<std::mutex>();

std::shared_ptr<Plugin::Impl> find_known(const std::string& real_path) {
  for (const Known* at = last_known.load(std::memory_order_acquire); at != nullptr;
       at = at->before) {
    if (at->plugin->path == real_path) return at->plugin;
  }
  return nullptr;
}

Result<std::shared_ptr<Plugin::Impl>> open_once(const std::string& path, Initialize when) {
  PRECAST_ASSIGN(const LibraryFile library, examine(path));
  const std::lock_guard lock(opening.here());
  if (auto known = find_known(library.real_path)) return known;
  PRECAST_ASSIGN(std::shared_ptr<Plugin::Impl> impl,
                 load(library, when).with("while opening '" + library.real_path + "'"));
  last_known.store(new Known{impl, last_known.load()}, std::memory_order_release);
  return impl;
}

}  // namespace

Result<void> check_table(const PJRT_Api* table) {
  if (table == nullptr) {
    return Error(ErrorCode::invalid_argument,
                 std::string(kEntryPoint) + " of the plugin gives no function table");
  }
  if (table->struct_size < offsetof(PJRT_Api, pjrt_api_version) + sizeof(PJRT_Api_Version)) {
    return Error(ErrorCode::invalid_argument, "the plugin's function table has " +
                                                  std::to_string(table->struct_size) +
                                                  " bytes, too few for its version");
  }
  const int major = table->pjrt_api_version.major_version;
  if (major != kSupportedMajor) {
    return Error(ErrorCode::unsupported, "the plugin speaks version " + std::to_string(major) +
                                             "." +
                                             std::to_string(table->pjrt_api_version.minor_version) +
                                             " of the PJRT C API, Precast speaks major version " +
                                             std::to_string(kSupportedMajor));
  }
  if (table->struct_size < offsetof(PJRT_Api, PJRT_Error_GetCode) + sizeof(void*)) {
    return Error(ErrorCode::unsupported,
                 "the plugin's function table has " + std::to_string(table->struct_size) +
                     " bytes, too few for the functions that every plugin has");
  }
  return {};
}

Result<void> read_attributes(Plugin::Impl& plugin) {
  // Plugins may do without them.
  if (plugin.attributes.get() != nullptr || !plugin.api.has(kPluginAttributes)) return {};
  Block<PJRT_Plugin_Attributes_Args> args;
  PRECAST_TRY(plugin.api.call(kPluginAttributes, args));
  plugin.attributes.settle(from_abi(args->attributes, args->num_attributes));
  return {};
}

Result<Plugin> open_for_host(const std::string& path) {
  PRECAST_ASSIGN(std::shared_ptr<Plugin::Impl> impl, open_once(path, Initialize::by_host));
  return Plugin(std::move(impl));
}

namespace {

// What the plugin would take into its flags now.
Client::FlagSnapshot flags_now(const Plugin::Impl& plugin) {
  const std::string text = plugin_variable("XLA_FLAGS").value_or("");
  // Whether the text is a path is XLA's rule, and not this module's: the text of flags names no
  // file, so that looking costs one failed open().
  return {.xla_flags = text,
          .libtpu_init_args = plugin_variable("LIBTPU_INIT_ARGS").value_or(""),
          .xla_flags_file = flags_file_content(text),
          .certain = !plugin.was_loaded};
}

}  // namespace

Client::FlagSnapshot flags_before(Plugin::Impl& plugin) {
  if (const Client::FlagSnapshot* kept = plugin.flags.get()) return *kept;
  Client::FlagSnapshot now = flags_now(plugin);
  // A call that failed may have made the plugin read its flags, or may not; so may one that was
  // under way in the parent when this process was forked.
  if (plugin.tried_flags.settle(now) != now) plugin.flags_changed = true;
  if (plugin.flags_changed) now.certain = false;
  return now;
}

void keep_flags(Plugin::Impl& plugin, const Client::FlagSnapshot& flags) {
  plugin.flags.settle(flags);
}

}  // namespace pjrt

Result<Plugin> Plugin::open(const std::string& name_or_path) {
  PRECAST_ASSIGN(const FoundPlugin found, pjrt::resolve(name_or_path, pjrt::search_environment()));
  auto impl = pjrt::open_once(found.path, pjrt::Initialize::now);
  if (impl) return Plugin(std::move(*impl));
  if (found.origin.empty()) return std::move(impl).error();
  return std::move(impl).error().with("the plugin was found through " + found.origin);
}

const std::string& Plugin::path() const { return impl_->path; }
ApiVersion Plugin::api_version() const { return impl_->api.version(); }
std::size_t Plugin::api_struct_size() const { return impl_->api.struct_size(); }
const std::vector<NamedValue>& Plugin::attributes() const {
  const std::vector<NamedValue>* read = impl_->attributes.get();
  return read == nullptr ? pjrt::kNoAttributes : *read;
}
const PluginCapabilities& Plugin::capabilities() const { return impl_->capabilities; }

Result<PluginFile> Plugin::mapped_file() const {
  Impl::Hashed& known = impl_->hashed.here();
  const std::lock_guard lock(known.mutex);
  PRECAST_ASSIGN(pjrt::HashedFile hashed,
                 pjrt::mapped_file_at(impl_->entry_point, impl_->opened,
                                      pjrt::DigestMemory::of_user(), known.file));
  known.file = hashed;
  return std::move(hashed.file);
}

Result<Client> Plugin::create_client(const std::vector<NamedValue>& options) const {
  return pjrt::create_client(*this, options);
}

}  // namespace precast
