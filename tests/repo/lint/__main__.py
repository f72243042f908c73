"""The rules of this repository: python3 tests/repo/lint [ROOT]

Prints what breaks a rule, and exits with 1 if anything does. `make test` runs the same through
tests/repo/test_repo.py, which also plants a breach of each rule to see that it is found.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from rules import RULES
from tree import Tree


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[3]
    tree = Tree(root)
    count = 0
    for rule in RULES:
        for finding in rule(tree):
            print(f"{finding}  [{rule.__name__}]")
            count += 1
    for note in tree.notes:
        print(f"note: {note}")
    print(f"{len(tree.files)} files, {len(RULES)} rules, {count} findings")
    return 1 if count else 0


sys.exit(main())
