"""TypeScript, as far as it has to be understood: tokens, the script of a Vue file, functions."""

import re

from .rust import CLOSES, OPENS, Function, Token, closing

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<number>\d[\w.]*)
    |(?P<sign>=>|.)""",
    re.VERBOSE | re.DOTALL,
)
PATTERN = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*")
# After these a slash begins a pattern; after anything else it divides.
BEFORE_PATTERN = set("(,=:[!&|?{};+") | {"=>", "return", "typeof", "case"}
NOT_METHODS = {"if", "for", "while", "switch", "catch", "with", "function", "return", "await", "of", "in"}


def script(text):
    """What a Vue file has in its script, on the lines on which it stands."""
    kept, at = [], 0
    for match in re.finditer(r"<script\b[^>]*>(.*?)</script>", text, re.DOTALL):
        kept += ["\n" * text.count("\n", at, match.start(1)), match[1]]
        at = match.end(1)
    return "".join(kept)


def _end_of_template(text, at):
    """Where a template literal ends; in `${}` there may be others."""
    at += 1
    while at < len(text) and text[at] != "`":
        if text[at] == "\\":
            at += 1
        elif text.startswith("${", at):
            deep, at = 1, at + 2
            while at < len(text) and deep:
                if text[at] == "`":
                    at = _end_of_template(text, at) - 1
                deep += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
            continue
        at += 1
    return at + 1


def tokens(text):
    found, at, line = [], 0, 1
    while at < len(text):
        match = TOKEN.match(text, at)
        kind, end = match.lastgroup, match.end()
        if text[at] == "`":
            kind, end = "string", _end_of_template(text, at)
        elif match[0] == "/" and (not found or found[-1].text in BEFORE_PATTERN) and PATTERN.match(text, at):
            kind, end = "string", PATTERN.match(text, at).end()
        if kind != "space":
            found.append(Token(kind, text[at:end], line))
        line += text.count("\n", at, end)
        at = end
    return found


def _after_type(found, at):
    """Where the body of a function begins, after the type that it answers with; nothing when none is there."""
    if at < len(found) and found[at].text == "{":
        return at
    if at >= len(found) or found[at].text != ":":
        return None
    at += 1
    while at < len(found):
        text = found[at].text
        if text == "{" and found[at - 1].text not in (":", "|", "&", "<", ",", "=>"):
            return at
        if text in OPENS:
            at = closing(found, at)
        elif text in CLOSES or text in (";", "=", ","):
            return None
        at += 1
    return None


def _begins(found, at):
    """The name and the body of the function that begins here, if one does."""
    text = found[at].text
    after = found[at + 1].text if at + 1 < len(found) else ""
    if text == "=>" and after == "{":
        return "=>", at + 1
    if text == "function":
        opened = next((place for place in range(at, min(at + 60, len(found))) if found[place].text == "("), None)
        return opened and (after if after != "(" else text, _after_type(found, closing(found, opened) + 1))
    is_method = found[at].kind == "name" and after == "(" and text not in NOT_METHODS
    if is_method and (at == 0 or found[at - 1].text not in (".", "function", "new")):
        return text, _after_type(found, closing(found, at + 1) + 1)
    return None


def functions(found):
    """Functions, methods and arrows with a body in braces; an arrow begins on the line of its `=>`."""
    result = []
    for at in range(len(found)):
        name, begin = _begins(found, at) or (None, None)
        if begin is not None:
            end = closing(found, begin)
            result.append(Function(name, found[at].line, found[end].line, found[begin : end + 1]))
    return result
