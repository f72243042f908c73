// What the opaque types of precast_c.h hold. The types are global because C has no namespaces.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "precast/precast.h"
#include "precast/precast_c.h"

struct precast_error {
  precast::Error error;
  std::string text;
};

struct precast_plugin {
  precast::Plugin plugin;
};

struct precast_client {
  precast::Client client;
};

struct precast_cache {
  precast::Cache cache;
  std::string problem;
};

struct precast_report {
  precast::Report report;
  bool has_outcome = false;  // false: only a key was asked for
  std::string key;
  std::string root;
  std::string json;
};

struct precast_executable {
  precast_executable(precast::Client made_by, precast::LoadedExecutable loaded, std::string named);

  precast::Client client;
  precast::LoadedExecutable executable;
  std::string key;
  std::vector<std::string> parameter_texts;
  std::vector<std::string> result_texts;
};

struct precast_outputs {
  std::vector<std::vector<precast::HostTensor>> tensors;  // by position, by result
  precast::RunTimes times;
};
