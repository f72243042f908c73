/* What the C program uses to check the library: failures are counted, and the first stops a part.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "precast/precast_c.h"

/* Ends the process with what was wrong. */
void check_failed(const char* file, int line, const char* what, const char* detail);

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) check_failed(__FILE__, __LINE__, #condition, "false"); \
  } while (0)

/* The call succeeds; otherwise its error is shown. `error` is a precast_error*. */
#define CHECK_OK(call)                                                                            \
  do {                                                                                            \
    if ((call) != PRECAST_OK) check_failed(__FILE__, __LINE__, #call, precast_error_text(error)); \
    CHECK(error == NULL);                                                                         \
  } while (0)

/* The call fails with a code, and its error has a text in it. */
#define CHECK_FAILS(call, code, text)           \
  do {                                          \
    CHECK((call) == (code));                    \
    CHECK(precast_error_code(error) == (code)); \
    CHECK_HAS(precast_error_text(error), text); \
    precast_error_free(error);                  \
    error = NULL;                               \
  } while (0)

#define CHECK_HAS(text, part) check_has(__FILE__, __LINE__, text, part)
void check_has(const char* file, int line, const char* text, const char* part);

#define CHECK_SAME(left, right) check_same(__FILE__, __LINE__, left, right)
void check_same(const char* file, int line, const char* left, const char* right);

/* What the parts share. */
struct fixture {
  precast_plugin* plugin;
  precast_client* client; /* four devices */
  precast_cache* cache;   /* in `folder` */
  char folder[4096];
};

/* (f32[2,3], f32[2,3]) -> (f32[2,3], f32[2,3]): each plus one. */
extern const char kAddOne[];

precast_request request_of(const char* program);

void check_layout(void);
void check_requests(const struct fixture* fixture);
void check_loads(const struct fixture* fixture);
void check_policies(const struct fixture* fixture);
void check_caches(const struct fixture* fixture);
void check_runs(const struct fixture* fixture);
