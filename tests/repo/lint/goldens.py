"""Goldens are add-only: what was published once must stay readable, so it must stay."""

from tree import Finding

FOLDERS = ["testdata/artifacts", "testdata/key", "testdata/stats"]


def goldens_are_add_only(tree):
    """A golden that was there before the newest commit is as it was when it first came."""
    if tree.git("rev-parse", "--verify", "HEAD~1") is None:
        tree.note("goldens were not compared with history: no git, or only one commit is here")
        return
    added = ["--diff-filter=A", "--no-renames", "--name-only", "--format=:%H"]
    log = tree.git("log", *added, "HEAD~1", "--", *FOLDERS)
    first = {}
    commit = None
    for line in (log or "").splitlines():  # newest first, so the first commit of a file wins
        if line.startswith(":"):
            commit = line[1:]
        elif line:
            first[line] = commit
    for path, commit in sorted(first.items()):
        born = tree.git("rev-parse", f"{commit}:{path}")
        if not (tree.root / path).is_file():
            yield Finding(path, 0, f"a golden of commit {commit[:12]} is gone, and they must stay")
        elif tree.git("hash-object", "--no-filters", path) != born:
            message = f"changed since commit {commit[:12]}, and goldens must stay: add another one"
            yield Finding(path, 0, message)


RULES = [goldens_are_add_only]
