"""The source files of a tree: those of the folder as it is, or those of a commit."""

import functools
import io
import pathlib
import re
import subprocess
import tarfile

from . import rust, typescript

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUST, WEB = (".rs",), (".ts", ".mts", ".mjs", ".js", ".vue")
FOLDERS = ("crates", "tests", "web", "scripts")
TESTS = re.compile(r"tests/|crates/\w+/tests/|web/(tests|e2e)/")


class File:
    """A source file: where it is, what it says, and its parts as far as somebody asks for them."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.is_rust, self.is_web = path.endswith(RUST), path.endswith(WEB)
        # A file of tests inside of a crate is found by whoever declares it, see `read_files`.
        self.is_test = TESTS.match(path) is not None

    @property
    def lines(self):
        return self.text.count("\n") + (not self.text.endswith("\n") and self.text != "")

    @property
    def crate(self):
        """The name of the crate whose program this is a part of, or nothing."""
        found = re.match(r"crates/(\w+)/src/", self.path)
        return found and found[1]

    @functools.cached_property
    def tokens(self):
        """All of it, with the tests that stand in it."""
        if self.is_rust:
            return rust.tokens(self.text)
        return typescript.tokens(typescript.script(self.text) if self.path.endswith(".vue") else self.text)

    @functools.cached_property
    def split(self):
        """Its tokens without tests, and the lines of the tests that stand in it."""
        return rust.without_tests(self.tokens) if self.is_rust else (self.tokens, 0)

    @property
    def program(self):
        return [] if self.is_test else self.split[0]

    @property
    def test_lines(self):
        return self.lines if self.is_test else self.split[1] if self.is_rust else 0

    @functools.cached_property
    def functions(self):
        """Those of the program, or of the tests when it is a file of tests."""
        found = rust.functions if self.is_rust else typescript.functions
        return found(self.tokens if self.is_test else self.program)


class Tree(dict):
    """Files by their paths; what is found in a tree is kept for it (`functools.cache`)."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


def made_of(texts):
    """The files of a tree out of their texts by path."""
    files = Tree((path, File(path, text)) for path, text in sorted(texts.items()))
    for file in list(files.values()):
        if file.is_rust and file.crate:
            for name in rust.modules_of_tests(file.tokens):
                beside = rust.folder(file.path) + "/" + name
                for path in files:
                    if path == beside + ".rs" or path.startswith(beside + "/"):
                        files[path].is_test = True
    return files


def read(rev=None):
    """The files of a commit, or of the folder as it is, new ones included."""
    return made_of(_of_commit(rev) if rev else _of_folder())


def _counts(path):
    return path.endswith(RUST + WEB) or path.startswith("scripts/")


def _of_folder():
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *FOLDERS]
    names = subprocess.run(listed, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")
    paths = {name: ROOT / name for name in names if name and _counts(name)}
    return {name: path.read_text() for name, path in paths.items() if path.is_file()}


def _of_commit(rev):
    packed = subprocess.run(["git", "archive", rev, "--", *FOLDERS], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        members = [member for member in archive if member.isfile() and _counts(member.name)]
        return {member.name: archive.extractfile(member).read().decode() for member in members}
