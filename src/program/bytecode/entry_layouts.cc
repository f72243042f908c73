#include "program/bytecode/entry_layouts.h"

namespace precast::program::bytecode {
namespace {

constexpr EntryLayout kBuiltinAttributes[] = {
    /* 0*/ {"array", "[a]"},
    /* 1*/ {"dictionary", "[ka]"},
    /* 2*/ {"string", "s"},
    /* 3*/ {"string with type", "st"},
    /* 4*/ {"flat symbol reference", "a"},
    /* 5*/ {"symbol reference", "a[a]"},
    /* 6*/ {"type", "t"},
    /* 7*/ {"unit", ""},
    /* 8*/ {"integer", "t*"},
    /* 9*/ {"float", "t*"},
    // Locations count when they are the value of an attribute; as the place of an operation they
    // are never decoded.
    /*10*/ {"call site", "aa"},
    /*11*/ {"file, line and column", "avv"},
    /*12*/ {"fused locations", "[a]"},
    /*13*/ {"fused locations with metadata", "[a]a"},
    /*14*/ {"named location", "aa"},
    /*15*/ {"unknown location", ""},
    /*16*/ {"dense resource", "tr"},
    /*17*/ {"dense array", "tvb"},
    /*18*/ {"dense elements", "tb"},
    /*19*/ {"dense strings", "tv$"},
    /*20*/ {"sparse elements", "taa"},
    /*21*/ {"distinct", "a"},
    /*22*/ {"file range", "a[v]"},
    /*23*/ {"affine map", "*"},
    /*24*/ {"integer set", "*"},
    /*25*/ {"strided layout", "v[v]"},
};

constexpr EntryLayout kBuiltinTypes[] = {
    /* 0*/ {"integer", "v"},
    /* 1*/ {"index", ""},
    /* 2*/ {"function", "[t][t]"},
    /* 3*/ {"bf16", ""},
    /* 4*/ {"f16", ""},
    /* 5*/ {"f32", ""},
    /* 6*/ {"f64", ""},
    /* 7*/ {"f80", ""},
    /* 8*/ {"f128", ""},
    /* 9*/ {"complex", "t"},
    /*10*/ {"memref", "[v]ta"},
    /*11*/ {"memref in a memory space", "a[v]ta"},
    /*12*/ {"none", ""},
    /*13*/ {"tensor", "[v]t"},
    /*14*/ {"tensor with encoding", "a[v]t"},
    /*15*/ {"tuple", "[t]"},
    /*16*/ {"unranked memref", "t"},
    /*17*/ {"unranked memref in a memory space", "at"},
    /*18*/ {"unranked tensor", "t"},
    /*19*/ {"vector", "[v]t"},
    /*20*/ {"scalable vector", "[y][v]t"},
    /*21*/ {"tf32", ""},
    /*22*/ {"f8E5M2", ""},
    /*23*/ {"f8E4M3", ""},
    /*24*/ {"f8E4M3FN", ""},
    /*25*/ {"f8E5M2FNUZ", ""},
    /*26*/ {"f8E4M3FNUZ", ""},
    /*27*/ {"f8E4M3B11FNUZ", ""},
    /*28*/ {"f8E3M4", ""},
    /*29*/ {"f4E2M1FN", ""},
    /*30*/ {"f6E2M3FN", ""},
    /*31*/ {"f6E3M2FN", ""},
    /*32*/ {"f8E8M0FNU", ""},
};

constexpr EntryLayout kStablehloAttributes[] = {
    /* 0*/ {},
    /* 1*/ {"channel handle", "vv"},
    /* 2*/ {"comparison direction", "v"},
    /* 3*/ {"comparison type", "v"},
    /* 4*/ {"convolution dimension numbers", "vv[v]vv[v]vv[v]"},
    /* 5*/ {"dot dimension numbers", "[v][v][v][v]"},
    /* 6*/ {"FFT type", "v"},
    /* 7*/ {"gather dimension numbers", "[v][v][v][v][v]v"},
    /* 8*/ {"precision", "v"},
    /* 9*/ {"RNG algorithm", "v"},
    /*10*/ {"RNG distribution", "v"},
    /*11*/ {"scatter dimension numbers", "[v][v][v][v][v]v"},
    /*12*/ {"transpose", "v"},
    /*13*/ {"type extensions", "[v]"},
    /*14*/ {"output operand alias", "[v]v[v]"},
    /*15*/ {"dot algorithm", "tttvvvy"},
    /*16*/ {"result accuracy mode", "v"},
    /*17*/ {"result accuracy", "vvva"},
    /*18*/ {"replica group mesh axes", "a[a]"},
    /*19*/ {"sub-axis info", "vv"},
    /*20*/ {"axis reference", "sY"},
    /*21*/ {"mesh axis", "sv"},
    /*22*/ {"mesh", "aY"},
};

constexpr EntryLayout kStablehloTypes[] = {
    /* 0*/ {"token", ""},
    /* 1*/ {"future", "[t]"},
};

constexpr EntryLayout kChloAttributes[] = {
    /* 0*/ {"comparison direction", "v"},
    /* 1*/ {"comparison type", "v"},
};

constexpr EntryLayout kSdyAttributes[] = {
    /* 0*/ {"manual axes", "[a]"},
    /* 1*/ {"mesh axis", "sv"},
    /* 2*/ {"mesh", "[a][v]"},
    /* 3*/ {"sub-axis info", "vv"},
    /* 4*/ {"axis reference", "sA"},
    /* 5*/ {"dimension sharding", "[a]yv"},
    /* 6*/ {"tensor sharding", "a[a][a]"},
    /* 7*/ {"sharding per value", "[a]"},
    /* 8*/ {"dimension mapping", "[v]"},
    /* 9*/ {"tensor mapping", "[a]"},
    /*10*/ {"sharding rule", "[v][a][a][v][v][v][v]y"},
    /*11*/ {"axis reference list", "[a]"},
    /*12*/ {"list of axis reference lists", "[a]"},
    /*13*/ {"all-to-all parameter", "[a]vv"},
    /*14*/ {"all-to-all parameter list", "[a]"},
    /*15*/ {"tensor sharding with unreduced axes", "a[a][a][a]"},
    /*16*/ {"sharding per value with unreduced axes", "[a]"},
    /*17*/ {"tensor sharding with a reduction", "a[a][a][a]v"},
};

}  // namespace

constexpr DialectLayouts kBuiltinLayouts = {"builtin", kBuiltinAttributes, kBuiltinTypes};
constexpr DialectLayouts kStablehloLayouts = {"stablehlo", kStablehloAttributes, kStablehloTypes};
constexpr DialectLayouts kChloLayouts = {"chlo", kChloAttributes, {}};
constexpr DialectLayouts kSdyLayouts = {"sdy", kSdyAttributes, {}};

const DialectLayouts* find_entry_layouts(std::string_view dialect) {
  static constexpr const DialectLayouts* kAll[] = {&kBuiltinLayouts, &kVhloLayouts,
                                                   &kStablehloLayouts, &kChloLayouts, &kSdyLayouts};
  for (const DialectLayouts* layouts : kAll) {
    if (layouts->dialect == dialect) return layouts;
  }
  return nullptr;
}

}  // namespace precast::program::bytecode
