"""Rust, as far as it has to be understood: tokens, the tests inside of a file, functions, paths."""

import re
from typing import NamedTuple

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<block>/\*)
    |(?P<string>[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)|[bc]?"(?:\\.|[^"\\])*")
    |(?P<char>b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'])')
    |(?P<lifetime>'[A-Za-z_]\w*)
    |(?P<name>(?:r\#)?[A-Za-z_]\w*)
    |(?P<number>\d\w*(?:\.\d\w*)?)
    |(?P<sign>::|=>|->|.)""",
    re.VERBOSE | re.DOTALL,
)
OPENS, CLOSES = {"{": "}", "(": ")", "[": "]"}, {"}", ")", "]"}


class Token(NamedTuple):
    kind: str
    text: str
    line: int


class Function(NamedTuple):
    name: str
    line: int
    last: int
    tokens: list

    @property
    def lines(self):
        return self.last - self.line + 1


def tokens(text):
    found, at, line = [], 0, 1
    while at < len(text):
        match = TOKEN.match(text, at)
        kind, end = match.lastgroup, match.end()
        if kind == "block":
            end = _end_of_comment(text, at)
        elif kind != "space":
            found.append(Token("string" if kind == "hashes" else kind, match[0], line))
        if kind not in ("name", "sign", "number"):
            line += text.count("\n", at, end)
        at = end
    return found


def _end_of_comment(text, at):
    """Comments of Rust stand in each other."""
    deep = 0
    for match in re.compile(r"/\*|\*/").finditer(text, at):
        deep += 1 if match[0] == "/*" else -1
        if deep == 0:
            return match.end()
    return len(text)


def closing(found, at):
    """Where the bracket at this place is closed."""
    deep = 0
    for place in range(at, len(found)):
        if found[place].kind == "sign":
            if found[place].text in OPENS:
                deep += 1
            elif found[place].text in CLOSES:
                deep -= 1
                if deep == 0:
                    return place
    return len(found) - 1


def body(found, at):
    """Where the body of an item begins, or where it ends without one: the first `{` or `;` outside of brackets."""
    while at < len(found):
        if found[at].text in ("(", "[") and found[at].kind == "sign":
            at = closing(found, at)
        elif found[at].text in ("{", ";") and found[at].kind == "sign":
            return at
        at += 1
    return len(found) - 1


def functions(found):
    """Every function with a body, those inside of others as well, by `fn` and a name."""
    result = []
    for at in range(len(found) - 1):
        if found[at].text == "fn" and found[at + 1].kind == "name":
            begin = body(found, at)
            if found[begin].text == "{":
                end = closing(found, begin)
                result.append(Function(found[at + 1].text, found[at].line, found[end].line, found[begin : end + 1]))
    return result


def _attribute_of_tests(found, at):
    """Whether `#[cfg(test)]`, or one that asks for more beside it, stands here, and where it ends."""
    if found[at].text != "#" or [token.text for token in found[at + 1 : at + 4]] != ["[", "cfg", "("]:
        return False, at
    end = closing(found, at + 1)
    inside = [token.text for token in found[at:end]]
    return "test" in inside and "not" not in inside, end


def _tests(found):
    """The items that only tests have: from the attribute to the end of the item."""
    at = 0
    while at < len(found):
        is_test, end = _attribute_of_tests(found, at)
        if not is_test:
            at += 1
            continue
        begin = end + 1
        while found[begin].text == "#":
            begin = closing(found, begin + 1) + 1
        last = body(found, begin)
        yield at, begin, (closing(found, last) if found[last].text == "{" else last)
        at = last + 1


def without_tests(found):
    """The tokens of the program, and how many lines the rest has."""
    kept, lines, at = [], 0, 0
    for begin, _, last in _tests(found):
        kept += found[at:begin]
        lines += found[last].line - found[begin].line + 1
        at = last + 1
    return kept + found[at:], lines


def modules_of_tests(found):
    """The modules in files of their own that only tests have."""
    for _, begin, last in _tests(found):
        words = [token.text for token in found[begin : last + 1]]
        if words[-3:-2] == ["mod"] and words[-1] == ";":
            yield words[-2]


def folder(path):
    """Where the modules are that a file declares."""
    place, name = path.rsplit("/", 1)
    return place if name in ("mod.rs", "lib.rs", "main.rs") else f"{place}/{name.removesuffix('.rs')}"
