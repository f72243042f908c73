#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_failed(const char* file, int line, const char* what, const char* detail) {
  fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, detail);
  exit(1);
}

void check_has(const char* file, int line, const char* text, const char* part) {
  if (strstr(text, part) == NULL) check_failed(file, line, part, text);
}

void check_same(const char* file, int line, const char* left, const char* right) {
  if (strcmp(left, right) != 0) check_failed(file, line, left, right);
}

const char kAddOne[] =
    "// fake: params=f32[2,3],f32[2,3] results=f32[2,3],f32[2,3] name=add_one\n"
    "module @add_one {\n"
    "  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>)\n"
    "      -> (tensor<2x3xf32>, tensor<2x3xf32>) {\n"
    "    %one = stablehlo.constant dense<1.0> : tensor<2x3xf32>\n"
    "    %0 = stablehlo.add %a, %one : tensor<2x3xf32>\n"
    "    %1 = stablehlo.add %b, %one : tensor<2x3xf32>\n"
    "    return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>\n"
    "  }\n"
    "}\n";

precast_request request_of(const char* program) {
  precast_request request = {.struct_size = sizeof(precast_request)};
  request.program = program;
  request.program_size = strlen(program);
  return request;
}
