// The extension behind the Python package: the cache of include/precast for runtimes whose
// executables are objects of Python. It decides nothing; python/precast/ is what users see.
//
// The GIL is released while Precast works, and taken for each call back into Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "_texts.h"
#include "precast/precast.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace precast {
namespace {

nb::object error_type;  // precast.Error

Bytes bytes_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }
nb::bytes to_python(BytesView bytes) { return nb::bytes(bytes.data(), bytes.size()); }

[[noreturn]] void raise(const Error& error) {
  nb::object made = error_type(error.to_string());
  made.attr("code") = nb::str(std::string(to_string(error.code())).c_str());
  made.attr("plugin_code") = error.plugin_code();
  made.attr("message") = nb::cast(error.message());
  PyErr_SetObject(error_type.ptr(), made.ptr());
  throw nb::python_error();
}

template <typename T>
T value_of(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(result).value();
}

// What an object of Python says as text, whatever it is.
std::string text_of(nb::handle object) {
  try {
    return nb::cast<std::string>(nb::str(object));
  } catch (const std::exception&) {
    return "an exception that has no text";
  }
}

// With the GIL: what `work` gives. Whatever goes wrong in it is Precast's own, and raised as
// precast.Error.
template <typename Work>
auto own(Work work) {
  std::string text;
  try {
    return work();
  } catch (nb::python_error& error) {
    if (error.matches(error_type) || !error.matches(PyExc_Exception)) throw;
    text = text_of(error.value());
  } catch (const std::exception& error) {
    text = error.what();
  }
  raise(Error(ErrorCode::internal, std::move(text)));
}

// An object of Python that C++ may drop from any thread.
std::shared_ptr<void> hold(nb::object object) {
  return {object.release().ptr(), [](void* pointer) {
            if (Py_IsInitialized() == 0) return;
            const nb::gil_scoped_acquire gil;
            Py_DECREF(static_cast<PyObject*>(pointer));
          }};
}
nb::object held(const std::shared_ptr<void>& object) {
  return nb::borrow(static_cast<PyObject*>(object.get()));
}

// The functions of one request. What they raise waits here until the request is over.
class Calls {
 public:
  Calls(nb::object compile, nb::object compile_bypassed, nb::object serialize, nb::object load,
        nb::object describe, nb::object cancelled, nb::object front_end)
      : compile_(std::move(compile)),
        compile_bypassed_(std::move(compile_bypassed)),
        serialize_(std::move(serialize)),
        load_(std::move(load)),
        describe_(std::move(describe)),
        cancelled_(std::move(cancelled)),
        front_end_(std::move(front_end)) {}

  ForeignRuntime runtime(std::shared_ptr<const ForeignFacts> facts) {
    ForeignRuntime made;
    made.facts = std::move(facts);
    made.compile = [this](const Program&, const CompileOptions&) {
      return call<ForeignExecutable>(true, [this] { return hold(compile_()); });
    };
    made.compile_bypassed = [this](const Program&, const CompileOptions&) {
      return call<ForeignExecutable>(true, [this] { return hold(compile_bypassed_()); });
    };
    made.serialize = [this](const ForeignExecutable& executable) {
      return call<Bytes>(
          false, [&] { return bytes_of(nb::cast<nb::bytes>(serialize_(held(executable)))); });
    };
    made.load = [this](BytesView bytes, BytesView front_end, const CompileOptions& options) {
      return call<ForeignExecutable>(false, [&] {
        return hold(load_(to_python(bytes), to_python(front_end), to_python(options.serialized())));
      });
    };
    made.describe = [this](const ForeignExecutable& executable) {
      const auto said =
          call<ForeignDescription>(false, [&] { return description(describe_(held(executable))); });
      return said ? *said : ForeignDescription();
    };
    if (!front_end_.is_none()) {
      // Without them the entry does not prove to load, and is not stored.
      made.front_end = [this] {
        return call<Bytes>(false, [this] { return bytes_of(nb::cast<nb::bytes>(front_end_())); })
            .value_or(Bytes());
      };
    }
    made.cancelled = [this] {
      const nb::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() == 0) return gave_up();
      raised_ = std::make_unique<nb::python_error>();
      return true;
    };
    return made;
  }

  // With the GIL: raises what the compile or a signal's handler raised.
  void rethrow() {
    if (raised_ != nullptr) throw nb::python_error(std::move(*raised_));
  }

 private:
  bool gave_up() {
    if (cancelled_.is_none()) return false;
    const auto said = call<bool>(true, [this] { return nb::cast<bool>(cancelled_()); });
    return !said || *said;
  }

  // `keep`: what it raises is the answer of the whole request.
  template <typename T, typename Work>
  Result<T> call(bool keep, Work work) {
    const nb::gil_scoped_acquire gil;
    try {
      return Result<T>(work());
    } catch (nb::python_error& error) {
      const Error converted = convert(error);
      // Ctrl-C, wherever it meets us.
      const bool ends = !error.matches(PyExc_Exception);
      if (keep || ends) raised_ = std::make_unique<nb::python_error>(std::move(error));
      return converted;
    } catch (const std::exception& error) {
      return Error(ErrorCode::internal, error.what());
    }
  }

  static Error convert(const nb::python_error& error) {
    if (error.matches(error_type)) {
      if (text_of(nb::getattr(error.value(), "code", nb::none())) == "incompatible") {
        return {ErrorCode::incompatible, text_of(error.value())};
      }
    }
    std::string text = text_of(error.value());
    const int code = status_of(text);
    return Error::from_plugin(code, std::move(text));
  }

  // The text of an XLA error begins with the name of its status.
  static int status_of(const std::string& text) {
    static const std::map<std::string, int> kCodes = {
        {"CANCELLED", 1},           {"UNKNOWN", 2},       {"INVALID_ARGUMENT", 3},
        {"DEADLINE_EXCEEDED", 4},   {"NOT_FOUND", 5},     {"ALREADY_EXISTS", 6},
        {"PERMISSION_DENIED", 7},   {"ABORTED", 10},      {"RESOURCE_EXHAUSTED", 8},
        {"FAILED_PRECONDITION", 9}, {"OUT_OF_RANGE", 11}, {"UNIMPLEMENTED", 12},
        {"INTERNAL", 13},           {"UNAVAILABLE", 14},  {"DATA_LOSS", 15}};
    const auto found = kCodes.find(text.substr(0, text.find(':')));
    return found == kCodes.end() ? 2 : found->second;
  }

  static ForeignDescription description(const nb::object& said) {
    ForeignDescription made;
    if (said.is_none()) return made;
    const auto [memory, costs] = nb::cast<
        std::pair<std::optional<std::vector<std::int64_t>>, std::map<std::string, double>>>(said);
    if (memory && memory->size() == 6) {
      made.memory_stats = MemoryStats{(*memory)[0], (*memory)[1], (*memory)[2],
                                      (*memory)[3], (*memory)[4], (*memory)[5]};
    }
    for (const auto& [name, value] : costs) made.cost_analysis.push_back({name, value});
    return made;
  }

  nb::object compile_;
  nb::object compile_bypassed_;
  nb::object serialize_;
  nb::object load_;
  nb::object describe_;
  nb::object cancelled_;  // None: only signals count
  nb::object front_end_;  // None: the bytes of the wishes
  std::unique_ptr<nb::python_error> raised_;
};

struct Facts {
  std::shared_ptr<const ForeignFacts> facts;
};

// Devices: (id, process_index, addressable, kind).
using DeviceTuple = std::tuple<std::int64_t, int, bool, std::string>;

nb::dict to_python(const Report& report) {
  nb::dict made;
  made["outcome"] = std::string(to_string(report.outcome));
  made["reason"] = std::string(to_string(report.reason));
  made["detail"] = report.detail;
  made["key"] = report.key ? nb::cast(report.key->hex()) : nb::none();
  made["artifact_path"] = Path{report.artifact_path};
  made["root"] = report.root ? nb::cast(report.root->hex()) : nb::none();
  nb::dict phases;
  for (const Phase& phase : report.phases) {
    const double before =
        phases.contains(phase.name.c_str()) ? nb::cast<double>(phases[phase.name.c_str()]) : 0;
    phases[phase.name.c_str()] = before + phase.ms / 1e3;
  }
  made["seconds"] = phases;
  made["program_bytes"] = report.program_bytes;
  made["executable_bytes"] = report.executable_bytes;
  made["saved_seconds"] = report.saved_ms / 1e3;
  made["artifact_bytes"] = report.artifact_bytes;
  made["warnings"] = report.warnings;
  return made;
}

struct Call {  // One request, as Python gives it.
  Program program;
  CompileOptions options;
  RequestOptions request;
  nb::object front_end = nb::none();
  std::vector<std::string> settled_calls;
  std::string unsettled_because;

  ForeignRuntime settle(ForeignRuntime runtime) const {
    runtime.settled_calls = settled_calls;
    runtime.unsettled_because = unsettled_because;
    return runtime;
  }
};

Call call_of(const nb::bytes& program, const std::string& name, const nb::bytes& options,
             const nb::dict& wishes) {
  Call made{value_of(Program::from_bytes(bytes_of(program), name)),
            value_of(CompileOptions::from_serialized(bytes_of(options))),
            {},
            nb::none(),
            {},
            {}};
  RequestOptions& request = made.request;
  for (const auto& [key, value] : wishes) {
    const auto word = nb::cast<std::string>(key);
    if (word == "label")
      request.label = nb::cast<std::string>(value);
    else if (word == "salt")
      request.salt = nb::cast<std::string>(value);
    else if (word == "annotations")
      request.annotations = bytes_of(nb::cast<nb::bytes>(value));
    else if (word == "front_end")  // a function that gives bytes
      made.front_end = nb::borrow(value);
    else if (word == "settled_calls")
      made.settled_calls = nb::cast<std::vector<std::string>>(value);
    else if (word == "unsettled_because")
      made.unsettled_because = nb::cast<std::string>(value);
    else if (word == "extras")
      request.extras = nb::cast<std::map<std::string, std::string>>(value);
    else if (word == "policy")
      request.policy = nb::cast<std::optional<Policy>>(value);
    else
      throw nb::type_error(("unknown wish: " + word).c_str());
  }
  return made;
}

LogSink sink_of(const nb::object& log) {
  if (log.is_none()) return {};
  return [kept = hold(log)](LogLevel level, const std::string& text) {
    if (Py_IsInitialized() == 0) return;
    const nb::gil_scoped_acquire gil;
    try {
      held(kept)(static_cast<int>(level), text);
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("precast's log");
    }
  };
}

std::pair<nb::object, nb::dict> compile_or_load(const Cache& cache, const Facts& facts,
                                                const nb::bytes& program, const std::string& name,
                                                const nb::bytes& options, const nb::dict& wishes,
                                                nb::object compile, nb::object compile_bypassed,
                                                nb::object serialize, nb::object load,
                                                nb::object describe, nb::object cancelled) {
  const Call call = own([&] { return call_of(program, name, options, wishes); });
  Calls calls(std::move(compile), std::move(compile_bypassed), std::move(serialize),
              std::move(load), std::move(describe), std::move(cancelled), call.front_end);
  std::optional<Result<ForeignDone>> done;
  {
    const nb::gil_scoped_release released;
    done.emplace(cache.compile_or_load(call.settle(calls.runtime(facts.facts)), call.program,
                                       call.options, call.request));
  }
  calls.rethrow();
  return own([&]() -> std::pair<nb::object, nb::dict> {
    const ForeignDone made = value_of(*std::move(done));
    return {held(made.executable), to_python(made.report)};
  });
}

// Name -> [(item, value)].
nb::dict to_python(const KeyRecord& record) {
  nb::dict fields;
  for (const KeyField& field : record.fields()) {
    nb::list items;
    for (const KeyItem& item : field.items) {
      items.append(nb::make_tuple(item.name, to_python(item.value)));
    }
    fields[field.name.c_str()] = items;
  }
  return fields;
}

nb::dict key(const Cache& cache, const Facts& facts, const nb::bytes& program,
             const std::string& name, const nb::bytes& options, const nb::dict& wishes) {
  const Call call = call_of(program, name, options, wishes);
  ForeignRuntime runtime = call.settle({});
  runtime.facts = facts.facts;
  // A key needs none of them.
  runtime.compile = [](auto&&...) { return Error(ErrorCode::unsupported, "no compile"); };
  runtime.serialize = [](auto&&...) { return Error(ErrorCode::unsupported, "no serialize"); };
  runtime.load = [](auto&&...) { return Error(ErrorCode::unsupported, "no load"); };
  std::optional<Result<KeyResult>> result;
  {
    const nb::gil_scoped_release released;
    result.emplace(cache.key(runtime, call.program, call.options, call.request));
  }
  const KeyResult made = value_of(*std::move(result));
  nb::dict said;
  said["key"] = made.record ? nb::cast(made.record->digest().hex()) : nb::none();
  said["fields"] = made.record ? to_python(*made.record) : nb::dict();
  said["record"] = made.record ? nb::cast(to_python(made.record->encode())) : nb::none();
  said["reason"] = std::string(to_string(made.bypass));
  said["detail"] = made.detail;
  said["warnings"] = made.warnings;
  return said;
}

Cache open(const Path& directory, Policy policy, bool disabled, bool strict, double min_compile_ms,
           const std::string& name_space, double wait_limit_s, const nb::object& log) {
  CacheConfig config;
  config.directory = directory.bytes;
  config.policy = policy;
  config.disabled = disabled;
  config.strict = strict;
  config.min_compile_ms = min_compile_ms;
  config.name_space = name_space;
  config.wait_limit_s = wait_limit_s;
  config.log = sink_of(log);
  const nb::gil_scoped_release released;
  return Cache::open(std::move(config));
}

// As JAX gives a client's options.
using Named =
    std::map<std::string,
             std::variant<std::string, bool, std::int64_t, float, std::vector<std::int64_t>>>;

std::vector<NamedValue> named_values(const Named& named) {
  std::vector<NamedValue> made;
  for (const auto& [name, value] : named) {
    std::visit([&](const auto& one) { made.push_back({name, one}); }, value);
  }
  return made;
}

nb::dict opened_plugin(const nb::capsule& table) {
  const OpenedPlugin plugin = value_of(plugin_at(table.data()));
  nb::dict said;
  said["path"] = Path{plugin.path};
  said["is_wrapper"] = plugin.is_wrapper;
  return said;
}

Facts facts_of(const std::string& name, const Path& library, const std::string& platform,
               const std::string& platform_version,
               const std::map<std::string, std::string>& attributes,
               const std::vector<DeviceTuple>& devices, const std::optional<std::string>& xla_flags,
               const nb::bytes& topology, const nb::bytes& sample, bool binds_callbacks,
               const Named& client_options, const std::optional<nb::capsule>& plugin) {
  auto facts = std::make_shared<ForeignFacts>();
  facts->name = name;
  facts->library = library.bytes;
  facts->platform = platform;
  facts->platform_version = platform_version;
  for (const auto& [word, value] : attributes) facts->attributes.push_back({word, value});
  facts->client_options = named_values(client_options);
  if (plugin) {
    OpenedPlugin opened = value_of(plugin_at(plugin->data()));
    facts->library = std::move(opened.path);
    facts->api_version = opened.api_version;
    facts->attributes = std::move(opened.attributes);
  }
  for (const auto& [id, process_index, addressable, kind] : devices) {
    Device device;
    device.id = id;
    device.process_index = process_index;
    device.addressable = addressable;
    device.kind = kind;
    facts->devices.push_back(std::move(device));
  }
  facts->flags.xla_flags = xla_flags.value_or("");
  facts->flags.certain = xla_flags.has_value();
  facts->topology = bytes_of(topology);
  facts->sample = bytes_of(sample);
  facts->binds_callbacks = binds_callbacks;
  return {std::move(facts)};
}

nb::object load_artifact(const Facts& facts, const VerifiedArtifact& artifact,
                         const std::vector<std::int64_t>& device_ids, nb::object load) {
  Calls calls(nb::none(), nb::none(), nb::none(), std::move(load), nb::none(), nb::none(),
              nb::none());
  std::optional<Result<ForeignExecutable>> done;
  {
    const nb::gil_scoped_release released;
    done.emplace(precast::load(calls.runtime(facts.facts), artifact, {.device_ids = device_ids}));
  }
  calls.rethrow();
  return held(value_of(*std::move(done)));
}

nb::bytes new_artifact(const Facts& facts, const nb::bytes& record, const nb::bytes& executable,
                       const nb::bytes& options, const std::string& name,
                       const nb::bytes& front_end) {
  const ForeignSerialized serialized{
      .record = value_of(KeyRecord::decode(bytes_of(record))),
      .executable = bytes_of(executable),
      .options = value_of(CompileOptions::from_serialized(bytes_of(options))),
      .program_name = name,
      .front_end = bytes_of(front_end)};
  std::optional<Result<Bytes>> made;
  {
    const nb::gil_scoped_release released;
    made.emplace(precast::make_artifact(*facts.facts, serialized));
  }
  return to_python(value_of(*std::move(made)));
}

}  // namespace
}  // namespace precast

NB_MODULE(_precast, module) {
  using namespace precast;  // NOLINT(*-using-namespace)
  // Modules that live as long as the process hold caches; that is no leak, and nothing is printed.
  nb::set_leak_warnings(false);
  module.doc() = "Precast's core, for the package precast alone.";
  error_type = nb::exception<std::runtime_error>(module, "Error");
  // Dropped with the interpreter, and not by a destructor after it.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] { error_type.reset(); }));
  module.attr("version") = PRECAST_VERSION;

  nb::enum_<Policy>(module, "Policy")
      .value("read_write", Policy::read_write)
      .value("read_only", Policy::read_only)
      .value("refresh", Policy::refresh)
      .value("offline", Policy::offline);

  nb::class_<Facts>(module, "Facts")
      .def(
          "__init__",
          [](Facts* self, const std::string& name, const Path& library, const std::string& platform,
             const std::string& platform_version,
             const std::map<std::string, std::string>& attributes,
             const std::vector<DeviceTuple>& devices, const std::optional<std::string>& xla_flags,
             const nb::bytes& topology, const nb::bytes& sample, bool binds_callbacks,
             const Named& client_options, const std::optional<nb::capsule>& plugin) {
            new (self) Facts(facts_of(name, library, platform, platform_version, attributes,
                                      devices, xla_flags, topology, sample, binds_callbacks,
                                      client_options, plugin));
          },
          nb::kw_only(), "name"_a, "library"_a, "platform"_a, "platform_version"_a, "attributes"_a,
          "devices"_a, "xla_flags"_a.none(), "topology"_a, "sample"_a, "binds_callbacks"_a,
          "client_options"_a = Named(), "plugin"_a = nb::none());

  nb::class_<Cache>(module, "Cache")
      .def(
          "__init__",
          [](Cache* self, const Path& directory, Policy policy, bool disabled, bool strict,
             double min_compile_ms, const std::string& name_space, double wait_limit_s,
             const nb::object& log) {
            new (self) Cache(open(directory, policy, disabled, strict, min_compile_ms, name_space,
                                  wait_limit_s, log));
          },
          nb::kw_only(), "directory"_a = Path(), "policy"_a = Policy::read_write,
          "disabled"_a = false, "strict"_a = false, "min_compile_ms"_a = 0.0, "name_space"_a = "",
          "wait_limit_s"_a = 3600.0, "log"_a = nb::none())
      .def_prop_ro("directory", [](const Cache& cache) { return Path{cache.directory()}; })
      .def_prop_ro("unusable",
                   [](const Cache& cache) -> std::optional<std::string> {
                     const auto& error = cache.unusable();
                     return error ? std::optional(error->to_string()) : std::nullopt;
                   })
      .def("compile_or_load", &compile_or_load, "facts"_a, "program"_a, "name"_a, "options"_a,
           "wishes"_a, "compile"_a, "compile_bypassed"_a, "serialize"_a, "load"_a, "describe"_a,
           "cancelled"_a = nb::none())
      .def("key", &key, "facts"_a, "program"_a, "name"_a, "options"_a, "wishes"_a);

  nb::class_<VerifiedArtifact>(module, "Artifact")
      .def_static("read",
                  [](const Path& path) {
                    std::optional<Result<VerifiedArtifact>> read;
                    {
                      const nb::gil_scoped_release released;
                      read.emplace(VerifiedArtifact::from_file(path.bytes));
                    }
                    return value_of(*std::move(read));
                  })
      .def_static("decode",
                  [](const nb::bytes& bytes) {
                    Bytes copy = bytes_of(bytes);
                    std::optional<Result<VerifiedArtifact>> decoded;
                    {
                      const nb::gil_scoped_release released;
                      decoded.emplace(VerifiedArtifact::decode(std::move(copy)));
                    }
                    return value_of(*std::move(decoded));
                  })
      .def_prop_ro("fields",
                   [](const VerifiedArtifact& artifact) {
                     return to_python(value_of(KeyRecord::decode(artifact.key_record())));
                   })
      .def_prop_ro("root", [](const VerifiedArtifact& artifact) { return artifact.root().hex(); })
      .def_prop_ro(
          "program_name",
          [](const VerifiedArtifact& artifact) { return artifact.provenance().program_name; })
      .def_prop_ro("front_end",
                   [](const VerifiedArtifact& artifact) { return to_python(artifact.front_end()); })
      .def("with_front_end", [](const VerifiedArtifact& artifact, const nb::bytes& front_end) {
        return to_python(value_of(with_front_end(artifact, bytes_of(front_end))));
      });
  module.def("load_artifact", &load_artifact, "facts"_a, "artifact"_a, "device_ids"_a, "load"_a);
  module.def("make_artifact", &new_artifact, "facts"_a, "record"_a, "executable"_a, "options"_a,
             "name"_a, "front_end"_a);
  module.def("default_cache_directory", [] {
    const DefaultDirectory found = value_of(default_cache_directory());
    return std::pair(Path{found.path}, found.origin);
  });
  module.def("mapped_library", [](const Path& path) {
    const PluginFile file = value_of([&] {
      const nb::gil_scoped_release released;
      return mapped_library(path.bytes);
    }());
    return std::pair(Path{file.path}, file.digest.hex());
  });
  module.def("opened_plugin", &opened_plugin, "table"_a);
  module.def("release_leases_when_told_to_end", &release_leases_when_told_to_end);
}
