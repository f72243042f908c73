"""Compares the wrapper's table of functions with the plugin's, in one process; prints JSON.

    tables.py WRAPPER PLUGIN
"""

import ctypes
import json
import sys


def table_of(path):
    library = ctypes.CDLL(path)
    library.GetPjrtApi.restype = ctypes.c_void_p
    return library.GetPjrtApi()


def words_of(address, first, count):
    return list((ctypes.c_uint64 * count).from_address(address + 8 * first))


# struct_size, extensions, version (struct_size, extensions, major and minor), then the functions.
HEADER_WORDS = 5

ours, theirs = (table_of(path) for path in sys.argv[1:3])
size = words_of(theirs, 0, 1)[0]
count = size // 8 - HEADER_WORDS
functions = [words_of(table, HEADER_WORDS, count) for table in (ours, theirs)]
print(json.dumps({
    "same table": ours == theirs,
    "same header": words_of(ours, 0, HEADER_WORDS) == words_of(theirs, 0, HEADER_WORDS),
    "functions": count,
    "replaced": [at for at, (own, other) in enumerate(zip(*functions)) if own != other],
    "missing": [at for at, (own, other) in enumerate(zip(*functions)) if (own == 0) != (other == 0)],
}))
