// How texts and paths pass between C++ and Python. In place of nanobind/stl/string.h, which refuses
// whatever is not UTF-8.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace precast {

// A path: what Python gives as str, bytes or os.PathLike, and gets as str, as the system's calls
// have it.
struct Path {
  std::string bytes;
};

}  // namespace precast

namespace nanobind::detail {

// Texts are UTF-8. Bytes that are not, as in paths, labels and messages about them, are single
// surrogates in Python ("surrogateescape"), and come back from there as they were.
template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle src, std::uint8_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(src.ptr())) return false;
    // Surrogates of another kind stand for no bytes, and are spelled out.
    for (const char* errors : {"surrogateescape", "backslashreplace"}) {
      const object encoded = steal(PyUnicode_AsEncodedString(src.ptr(), "utf-8", errors));
      if (encoded.is_valid()) {
        value.assign(PyBytes_AS_STRING(encoded.ptr()),
                     static_cast<std::size_t>(PyBytes_GET_SIZE(encoded.ptr())));
        return true;
      }
      PyErr_Clear();
    }
    return false;
  }

  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                                "surrogateescape");
  }
};

template <>
struct type_caster<precast::Path> {
  NB_TYPE_CASTER(precast::Path, const_name("str | bytes | os.PathLike"))

  bool from_python(handle src, std::uint8_t, cleanup_list*) noexcept {
    PyObject* encoded = nullptr;
    if (PyUnicode_FSConverter(src.ptr(), &encoded) == 0) {
      PyErr_Clear();
      return false;
    }
    const object held = steal(encoded);
    value.bytes.assign(PyBytes_AS_STRING(encoded),
                       static_cast<std::size_t>(PyBytes_GET_SIZE(encoded)));
    return true;
  }

  static handle from_cpp(const precast::Path& path, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeFSDefaultAndSize(path.bytes.data(),
                                            static_cast<Py_ssize_t>(path.bytes.size()));
  }
};

}  // namespace nanobind::detail
