// precast run: runs a program, compiled or loaded from the cache, or an artifact.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/chatter.h"
#include "cli/files.h"
#include "cli/inputs.h"
#include "cli/request.h"
#include "cli/stopwatch.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "precast/limits.h"

namespace precast::cli {
namespace {

constexpr int kMostRepeats = 1'000'000;

struct Arguments {
  const CLI::App* app = nullptr;
  std::string source;  // a program or an artifact
  std::vector<std::string> inputs;
  std::string fill;
  std::string out;
  int repeat = 1;
  RequestArguments request;
};

// What is run, and where it came from.
struct Loaded {
  LoadedExecutable executable;
  std::optional<Report> report;  // of a program
  std::vector<Phase> phases;
  Session session;
};

struct Times {
  double transfer_ms = 0;
  double fetch_ms = 0;
  double run_ms = 0;
  double run_min_ms = 0;
  double run_max_ms = 0;
};

struct Results {
  std::vector<std::vector<HostTensor>> outputs;  // [device][result], of the last run
  Times times;
};

// The options given that only a compile can follow: all that say what is compiled and where it is
// kept, but where it runs.
std::vector<std::string> compile_only_options(const CLI::App& app) {
  return given_of(app, {"Compiling", "Cache"}, "--devices");
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Result<Loaded> load_artifact(const Arguments& arguments, Bytes bytes, Output& out) {
  std::vector<Phase> phases;
  auto artifact =
      timed(phases, "verify", [&] { return VerifiedArtifact::decode(std::move(bytes)); });
  if (!artifact)
    return std::move(artifact).error().with("while reading '" + arguments.source + "'");
  PRECAST_ASSIGN(Session session, open_session(arguments.request.plugin, out));
  auto executable = timed(phases, "load", [&] {
    return load(session.client, *artifact, LoadOptions{arguments.request.device_ids});
  });
  if (!executable) {
    return std::move(executable).error().with("while loading '" + arguments.source + "'");
  }
  phases.insert(phases.begin(), session.phases.begin(), session.phases.end());
  return Loaded{std::move(executable).value(), std::nullopt, std::move(phases), std::move(session)};
}

Result<Loaded> load_program(const Arguments& arguments, Bytes bytes, Output& out) {
  const RequestArguments& request = arguments.request;
  if (bytes.size() > limits::kMaxProgramBytes) {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("'{}' is larger than the limit of {} bytes for a program",
                             arguments.source, limits::kMaxProgramBytes));
  }
  PRECAST_ASSIGN(const Program program,
                 Program::from_bytes(std::move(bytes), arguments.source == "-" ? "standard input"
                                                                               : arguments.source));
  PRECAST_ASSIGN(const CompileOptions options, request.compile_options());
  PRECAST_ASSIGN(Session session, open_session(request.plugin, out));
  const Cache cache = Cache::open(request.cache_config(out));
  PRECAST_ASSIGN(CompileOrLoad done,
                 compile_or_load(cache, session, program, options, request, out));
  std::vector<Phase> phases = session.phases;
  phases.insert(phases.end(), done.report.phases.begin(), done.report.phases.end());
  return Loaded{std::move(done.executable), std::move(done.report), std::move(phases),
                std::move(session)};
}

Result<Results> run_repeatedly(const LoadedExecutable& executable, const std::vector<Input>& inputs,
                               int repeat) {
  std::vector<HostTensorView> views;
  for (const Input& input : inputs) views.emplace_back(input.tensor);
  Results results;
  std::vector<double> transfer;
  std::vector<double> run;
  std::vector<double> fetch;
  for (int i = 0; i < repeat; ++i) {
    RunTimes times;
    PRECAST_ASSIGN(results.outputs, executable.run(views, &times));
    transfer.push_back(times.transfer_ms);
    run.push_back(times.run_ms);
    fetch.push_back(times.fetch_ms);
    trim_chatter();
  }
  results.times = {median(transfer), median(fetch), median(run),
                   *std::min_element(run.begin(), run.end()),
                   *std::max_element(run.begin(), run.end())};
  return results;
}

void print(const Arguments& arguments, const Loaded& loaded, Output& out) {
  const std::string name = printable(arguments.source);
  if (loaded.report) {
    out.print(fmt::format("{}: {}: {}\n",
                          out.styled(Style::bold, to_string(loaded.report->outcome)), name,
                          sentence_of(*loaded.report)));
  } else {
    out.print(fmt::format("{}: loaded from the artifact\n", name));
  }
  Table facts({{""}, {"", false, true}});
  facts.add({"devices", joined(loaded.executable.device_ids())});
  facts.add({"plugin", text_of_plugin(loaded.session)});
  out.print(facts, 2);
}

// Whether a run consumes the device's copy of input `p`.
bool is_donated(const LoadedExecutable& executable, std::size_t p) {
  const std::optional<ProgramSignature>& signature = executable.signature();
  return signature && signature->parameters[p].donation != Donation::none;
}

void print(const std::vector<Input>& inputs, const LoadedExecutable& executable, Output& out) {
  if (inputs.empty()) return;
  std::size_t donated = 0;
  for (std::size_t p = 0; p < inputs.size(); ++p) donated += is_donated(executable, p) ? 1 : 0;
  std::vector<Column> columns = {{"input", true}, {"type"}};
  if (donated > 0) columns.push_back({"donated"});
  columns.push_back({"from", false, true});
  Table table(std::move(columns));
  for (std::size_t p = 0; p < inputs.size(); ++p) {
    std::vector<std::string> row = {fmt::format("{}", p), inputs[p].tensor.type.to_string()};
    if (donated > 0) row.emplace_back(is_donated(executable, p) ? "consumed" : "");
    row.push_back(printable(inputs[p].source));
    table.add(std::move(row));
  }
  out.print("\n");
  out.print(table, 2);
  if (donated > 0) {
    out.print(fmt::format("  {} donated: a run consumes the device's copy and reuses its memory\n",
                          donated == 1 ? "1 input is" : fmt::format("{} inputs are", donated)));
  }
}

// Tabulates and, with --out, writes the outputs; gives their JSON.
Result<Json> report_outputs(const Arguments& arguments, const Loaded& loaded,
                            const Results& results, Output& out) {
  constexpr std::size_t kFirstValues = 6;
  const std::vector<std::int64_t>& devices = loaded.executable.device_ids();
  Json outputs = Json::array();
  Table table({{"output", true}, {"device", true}, {"type"}, {"values", false, true}});
  for (std::size_t d = 0; d < results.outputs.size(); ++d) {
    for (std::size_t r = 0; r < results.outputs[d].size(); ++r) {
      const HostTensor& tensor = results.outputs[d][r];
      const std::string values = first_values(tensor, kFirstValues);
      table.add(
          {fmt::format("{}", r), fmt::format("{}", devices[d]), tensor.type.to_string(), values});
      Json output = {{"index", r}, {"device", devices[d]}};
      output.update(json_of(tensor.type));
      output["bytes"] = tensor.data.size();
      output["digest"] = digest_text(Digest::of(tensor.data));
      output["first_values"] = values;
      output["file"] = Json();
      if (!arguments.out.empty()) {
        PRECAST_ASSIGN(
            output["file"],
            write_output_tensor(tensor, arguments.out, r,
                                devices.size() > 1 ? std::optional(devices[d]) : std::nullopt));
      }
      outputs.push_back(std::move(output));
    }
  }
  if (!table.empty()) {
    out.print("\n");
    out.print(table, 2);
  }
  return outputs;
}

Json json_of_inputs(const std::vector<Input>& inputs, const LoadedExecutable& executable) {
  Json array = Json::array();
  for (std::size_t p = 0; p < inputs.size(); ++p) {
    Json input = {{"index", p}};
    input.update(json_of(inputs[p].tensor.type));
    input["from"] = inputs[p].source;
    input["donated"] = is_donated(executable, p);
    array.push_back(std::move(input));
  }
  return array;
}

void add_times(std::vector<Phase>& phases, const Times& times, int repeat) {
  phases.push_back({"transfer", times.transfer_ms});
  phases.push_back({"run", times.run_ms});
  if (repeat > 1) {
    phases.push_back({"run_min", times.run_min_ms});
    phases.push_back({"run_max", times.run_max_ms});
  }
  phases.push_back({"fetch", times.fetch_ms});
}

Result<ExitCode> run(const Arguments& arguments, Output& out) {
  const Stopwatch total;
  std::optional<Fill> fill;
  if (!arguments.fill.empty()) {
    PRECAST_ASSIGN(fill, Fill::parse(arguments.fill));
  }
  PRECAST_ASSIGN(Bytes bytes, read_input(arguments.source, limits::kMaxArtifactBytes));
  const bool is_artifact = looks_like_artifact(bytes);
  if (is_artifact) {
    if (const auto refused = compile_only_options(*arguments.app); !refused.empty()) {
      return out.usage(fmt::format("'{}' is an artifact, which is loaded as it is: leave out {}",
                                   arguments.source, joined(refused)));
    }
  }
  auto loading = is_artifact ? load_artifact(arguments, std::move(bytes), out)
                             : load_program(arguments, std::move(bytes), out);
  if (!loading) return std::move(loading).error();
  Loaded loaded = std::move(loading).value();
  PRECAST_ASSIGN(const std::vector<Input> inputs, timed(loaded.phases, "inputs", [&] {
                   return make_inputs(loaded.executable.signature(), arguments.inputs, fill);
                 }));
  if (!arguments.out.empty()) PRECAST_TRY(make_folders(arguments.out));
  PRECAST_ASSIGN(const Results results,
                 run_repeatedly(loaded.executable, inputs, arguments.repeat));
  add_times(loaded.phases, results.times, arguments.repeat);

  print(arguments, loaded, out);
  print(inputs, loaded.executable, out);
  PRECAST_ASSIGN(Json outputs, timed(loaded.phases, "outputs", [&] {
                   return report_outputs(arguments, loaded, results, out);
                 }));
  const double total_ms = total.ms();
  out.print("\n");
  out.print(table_of(loaded.phases, total_ms), 2);

  Json object = {{"schema", "precast.run/1"},
                 {"source", is_artifact ? "artifact" : "program"},
                 {"name", loaded.executable.name()}};
  if (loaded.report) add_report(object, *loaded.report);
  object["plugin"] = json_of_plugin(loaded.session);
  object["replicas"] = loaded.executable.replicas();
  object["partitions"] = loaded.executable.partitions();
  object["devices"] = loaded.executable.device_ids();
  object["repeat"] = arguments.repeat;
  object["inputs"] = json_of_inputs(inputs, loaded.executable);
  object["outputs"] = std::move(outputs);
  object["phases_ms"] = json_of(loaded.phases, total_ms);
  out.object(object);
  return ExitCode::done;
}

std::string check_fill(const std::string& text) {
  const Result<Fill> fill = Fill::parse(text);
  return fill ? std::string() : fill.error().message();
}

}  // namespace

Verb add_run(CLI::App& root) {
  VerbOptions options(root, "run", "run a program or an artifact on .npy inputs",
                      "precast run ranker.mlirbc --fill random:1\n"
                      "precast run ranker.precast --input a.npy b.npy --devices 3 --out results");
  auto arguments = std::make_shared<Arguments>();
  arguments->app = options.app();
  options.add(arguments->source,
              {.names = "SOURCE",
               .help = "a program (as for 'compile') or an artifact; - reads standard input",
               .required = true});
  const std::string group = "Running";
  options.add_many(arguments->inputs, {.names = "-i,--input",
                                       .help = ".npy files, in the order of the parameters",
                                       .value = "FILE...",
                                       .group = group});
  options.add(arguments->fill,
              {.names = "--fill",
               .help = "make up the inputs that are left: zeros, iota, random:SEED",
               .value = "HOW",
               .group = group,
               .check = check_fill});
  options.add(arguments->repeat, 1, kMostRepeats,
              {.names = "--repeat",
               .help = "run N times; times are medians",
               .value = "N",
               .group = group});
  options.add(arguments->out, {.names = "--out",
                               .help = "write the outputs to this folder as .npy files",
                               .value = "DIR",
                               .group = group});
  arguments->request.add_to(options, "--devices,--device-ids");
  return {options.app(), [arguments](Output& out) { return run(*arguments, out); }};
}

}  // namespace precast::cli
