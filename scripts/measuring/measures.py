"""What is measured: each measure with its name, what counts, its goal, its figure, and what it has counted."""

import functools
import re
from typing import Callable, NamedTuple

from . import circles, copies

MOST_LINES, MOST_OF_A_FUNCTION = 500, 60
DECLARATIONS = re.compile(r"(registry/list|registry/owners|rows/owners|entity/(?!mod\.rs$).*|document/.*|migration/.*)(\.rs)?$")
# Columns by whose values the servers decide, and how a row of any type is asked for one, or has it set.
DECIDING = {f'"{name}"' for name in ("status", "business_date", "kind", "tender_kind", "sale_type", "movement_type", "origin")}
OF_A_ROW = {"text", "get", "set", "integer", "flag", "name", "owns"}
WORDS = re.compile(r'\w = "(\w+)"(?: at \d+)?|Self::\w+ => "(\w+)"')
DECLARING_WORDS = (
    "crates/model/src/state.rs",
    "crates/model/src/words.rs",
    "crates/model/src/pricing/tender.rs",
    "crates/storage/src/document/movement.rs",
)
PUBLIC = {"fn", "async", "const", "unsafe", "struct", "enum", "trait", "type", "static", "mod", "use", "union"}


class Measure(NamedTuple):
    name: str
    counts: str
    goal: str  # "<= 5", "< 1 %", or nothing when a smaller figure is better and that is all.
    figure: Callable
    shown: Callable = None


def _sources(files):
    return [file for file in files.values() if (file.is_rust or file.is_web) and file.lines]


def _lengths(files):
    return sorted(file.lines for file in _sources(files))


def _at(percent):
    """The length that so many of a hundred files do not exceed."""

    def length(files):
        lengths = _lengths(files)
        return lengths[(len(lengths) * percent + 99) // 100 - 1] if lengths else 0

    return length


def _long_files(files):
    return [f"{file.path}  {file.lines} lines" for file in _sources(files) if file.lines > MOST_LINES]


def _longest_first(files):
    return [f"{file.path}  {file.lines} lines" for file in sorted(_sources(files), key=lambda file: -file.lines)]


def _part(some, of):
    return round(100 * some / of, 1) if of else 0


def _functions(files, of_tests=False):
    """With their paths: those of the program, or those of its tests."""
    for file in _sources(files):
        is_part = file.crate or file.path.startswith("web/src/")
        if file.is_test if of_tests else is_part and not file.is_test:
            yield from ((file.path, function) for function in file.functions)


def _long_functions(files):
    for path, each in _functions(files):
        if each.lines > MOST_OF_A_FUNCTION:
            yield f"{path}:{each.line}  {each.name}, {each.lines} lines"


def _types(files):
    """The tables of all types that the registry declares."""
    storage = "crates/storage/src/"
    places = (storage + "registry/", storage + "document/")
    declared = [file.text for path, file in files.items() if path.startswith(places)]
    entities = set(re.findall(r"\b(\w+)::Entity\b", "\n".join(declared)))
    ends = tuple(f"/{name}.rs" for name in entities)
    texts = [file.text for path, file in files.items() if path.startswith(storage + "entity/") and path.endswith(ends)]
    return {name for text in texts for name in re.findall(r'table_name = "(\w+)"', text)}


def _is_engine(path):
    inside = path.removeprefix("crates/storage/src/")
    return not DECLARATIONS.match(inside) if inside != path else re.match(r"crates/(hq|store)/src/", path)


def _is_a_key(program, place):
    """Whether a text is the key of an object (`a["b"]`) or the name of a field in a refusal (`.at("b")`)."""
    before = [each.text for each in program[max(place - 2, 0) : place]]
    return before == ["at", "("] or (len(before) == 2 and before[1] == "[" and before[0].isidentifier())


def _literals(files):
    literals = {f'"{name}"' for name in _types(files)}
    engine = [file for path, file in files.items() if file.is_rust and _is_engine(path)]
    for file in engine:
        for place, each in enumerate(file.program):
            if each.text in literals and not _is_a_key(file.program, place):
                yield f"{file.path}:{each.line}  {each.text}"


def _words(files):
    """The words of states and kinds, as they are quoted in a statement."""
    texts = [re.sub(r"#\[cfg\(test\)\].*", "", files[path].text, flags=re.DOTALL) for path in DECLARING_WORDS if path in files]
    return {f"'{word}'" for text in texts for pair in WORDS.findall(text) for word in pair if word}


def _called(program, place):
    """The name of the function that what stands here is given to."""
    deep = 0
    for at in range(place - 1, max(place - 20, 0), -1):
        deep += {")": 1, "(": -1}.get(program[at].text, 0)
        if deep < 0:
            return program[at - 1].text
    return ""


def _column_literals(files):
    words = _words(files)
    for file in (file for path, file in files.items() if file.is_rust and _is_engine(path)):
        for place, each in enumerate(file.program):
            if each.text in DECIDING and _called(file.program, place) in OF_A_ROW:
                yield f"{file.path}:{each.line}  {each.text}"
            elif each.kind == "string":
                yield from (f"{file.path}:{each.line}  {word}" for word in sorted(words) if word in each.text)


def _circles(files):
    for circle in circles.of(files):
        yield f"circle of {len(circle)}: " + " ".join(circle)
    for size, one, two, line, times in circles.held(files):
        yield f"{one}:{line}  uses {two} ({times} times), holds a circle of {size}"


def _room_circles(files):
    for crate, folder, circle, holding in circles.of_rooms(files):
        yield f"crates/{crate}/src/{folder}: circle of {len(circle)}: " + " ".join(circle)
        yield from (f"{one} uses {two}, which holds the circle" for one, two in holding)


def _public(files):
    for file in (file for file in files.values() if file.is_rust and file.crate):
        found = file.program
        for at in range(len(found) - 2):
            if found[at].text == "pub" and found[at + 1].text in PUBLIC and found[at].kind == "name":
                yield f"{file.path}:{found[at].line}  {found[at + 1].text} {found[at + 2].text}"


@functools.cache
def _copies(files, of_tests):
    return copies.of(_functions(files, of_tests))


def _pairs(of_tests):
    def shown(files):
        for (path, one), (other, two) in _copies(files, of_tests):
            yield f"{path}:{one.line}  {one.name} is like {two.name} in {other}:{two.line}, {two.lines} lines"

    return shown


def _copied(of_tests):
    return lambda files: copies.lines(_copies(files, of_tests))


def _tests(files):
    return _part(sum(file.test_lines for file in _sources(files)), sum(file.lines for file in _sources(files)))


def _by_crate(files):
    sums = {}
    for file in _sources(files):
        place = "/".join(file.path.split("/")[: 2 if file.path.startswith("crates/") else 1])
        tests, lines = sums.get(place, (0, 0))
        sums[place] = (tests + file.test_lines, lines + file.lines)
    return [f"{place}  {tests} of {lines} lines are tests" for place, (tests, lines) in sorted(sums.items())]


def _planted(files):
    for file in (file for file in files.values() if file.is_rust and file.crate):
        found = file.program
        for at, token in enumerate(found):
            is_fault = token.text == "planted" and [each.text for each in found[max(0, at - 2) : at]] == ["fault", "::"]
            if is_fault or (token.kind == "name" and token.text.startswith("Quirk")):
                yield f"{file.path}:{token.line}  {token.text}"


def _counted(name, counts, goal, shown):
    """A measure that is how many there are."""
    return Measure(name, counts, goal, lambda files: len(list(shown(files))), shown)


ALL = [
    Measure("file-median", "lines of the file in the middle; Rust, TypeScript, Vue, tests too", "", _at(50), _longest_first),
    Measure("file-95", "lines that 95 of 100 files do not exceed", "", _at(95), _longest_first),
    Measure(
        "long-files",
        f"share of the files with more than {MOST_LINES} lines, in percent",
        "< 1 %",
        lambda files: _part(len(_long_files(files)), len(_sources(files))),
        _long_files,
    ),
    _counted(
        "long-functions",
        f"functions over {MOST_OF_A_FUNCTION} lines in crates/*/src and web/src, from `fn` to its brace, empty lines too; no tests",
        "<= 5",
        _long_functions,
    ),
    _counted(
        "type-literals",
        "names of registered tables as a whole text in the programs of storage, hq and store, but in declarations "
        "(list and owners of the registry, entities, documents, migration) and where they are keys",
        "0",
        _literals,
    ),
    _counted(
        "column-literals",
        "in the same programs: names of columns that decide (status, business date, origin, kinds) by which a row of any type is "
        "asked, and words of the states and kinds that are types inside of statements, each once in a text",
        "0",
        _column_literals,
    ),
    Measure(
        "circles",
        "circles of files in one crate: each leads to each by paths (`use a::b`, `a::b()`) to where a name is defined, "
        "whoever hands it on; methods and texts do not count",
        "0",
        lambda files: len(circles.of(files)),
        _circles,
    ),
    Measure(
        "circle-files", "files that are in a circle", "0", lambda files: sum(map(len, circles.of(files))), _circles
    ),
    Measure(
        "largest-circle",
        "files of the largest circle; --list names what holds it together, the first first",
        "0",
        lambda files: max(map(len, circles.of(files)), default=0),
        _circles,
    ),
    Measure(
        "room-circles",
        "circles of rooms: the files and folders that lie together in one folder of a crate, each whole; "
        "a `mod.rs` is the floor of its folder and no room in it",
        "0",
        lambda files: len(list(circles.of_rooms(files))),
        _room_circles,
    ),
    _counted("public", "items with `pub` and no restriction in crates/*/src; no fields, no tests", "", _public),
    _counted(
        "copies",
        f"pairs of functions of the program, {copies.LEAST} tokens or more, {copies.SHARE:.0%} of whose rows of "
        f"{copies.LENGTH} tokens are the same whatever texts and numbers they have",
        "",
        _pairs(False),
    ),
    Measure("copied-lines", "lines of functions that are like an earlier one", "", _copied(False), _pairs(False)),
    _counted("test-copies", "the same in tests: pairs", "", _pairs(True)),
    Measure("test-copied-lines", "the same in tests: lines", "", _copied(True), _pairs(True)),
    Measure(
        "tests",
        "share of all lines of Rust, TypeScript and Vue that are tests, in percent: tests/, crates/*/tests, web/tests, "
        "web/e2e, `#[cfg(test)]`",
        ">= 45 %",
        _tests,
        _by_crate,
    ),
    _counted("planted-bugs", "`fault::planted` and `Quirk…` in crates/*/src", "0", _planted),
]
NAMES = {measure.name: measure for measure in ALL}


def fits(goal, figure):
    """Whether a figure keeps a goal; nothing without one."""
    if not goal:
        return None
    sign, number = re.fullmatch(r"(<=|>=|<|)\s*([\d.]+)(?: %)?", goal).groups()
    number = float(number)
    return {"<=": figure <= number, "<": figure < number, ">=": figure >= number, "": figure == number}[sign]


def of(files):
    return {measure.name: measure.figure(files) for measure in ALL}


def described():
    return "".join(f"  {measure.name:<17} {measure.counts}\n" for measure in ALL)
