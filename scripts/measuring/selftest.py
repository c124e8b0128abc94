"""Each measure on a small tree, where its figure is known, and on the same tree with one change that it must see."""

import itertools

from . import circles, measures, tree

STORAGE, STORE = "crates/storage/src/", "crates/store/src/"
LONG = "\n".join(f"    let a{number} = {number};" for number in range(59))
LESS = LONG.rsplit("\n", 1)[0]
COPY = "fn {name}(given: Given) -> Answer {{\n" + "    let found = given.first(1).second(\"x\").third;\n" * 8 + "}}\n"
TYPES = {
    STORAGE + "registry/list.rs": 'pulled("sales", &Of::<entity::sale::Entity>::NEW),',
    STORAGE + "entity/sale.rs": '#[sea_orm(table_name = "sales")]\nstruct Model;\n',
    STORAGE + "entity/lease.rs": '#[sea_orm(table_name = "leases")]\nstruct Model;\n',
}
ENGINE = 'fn a() { b("leases"); c("sales of"); }\n#[cfg(test)]\nmod tests { fn a() { "sales"; } }\n// "sales"\n'
ROOM = {
    STORE + "lib.rs": "pub mod room;\nmod shop;\npub use room::Inner;\n",
    STORE + "room/mod.rs": "mod inner;\npub(crate) use inner::Inner;\n",
    STORE + "room/inner.rs": "use crate::shop;\npub struct Inner;\nfn a() { shop::sell(); }\n",
    STORE + "shop.rs": "pub fn sell() {}\n#[cfg(test)]\nmod tests { use crate::room::Inner; }\n",
}

# Name of the measure; the tree and its figure; what is put into it, and the figure then.
CASES = [
    (
        "file-median",
        {"a.rs": "1\n", "b.ts": "1\n2\n", "c.vue": "1\n2\n3\n4", "d.md": "1\n" * 9},
        2,
        {"e.rs": "1\n" * 7, "f.rs": "1\n" * 8},
        4,
    ),
    (
        "file-95",
        {f"{number}.rs": "\n" * number for number in range(1, 21)},
        19,
        {"0.rs": "\n" * 90, "x.rs": "\n" * 91},
        90,
    ),
    ("long-files", {f"{number}.rs": "\n" * 500 for number in range(9)}, 0, {"x.ts": "\n" * 501}, 10.0),
    (
        "long-functions",
        {STORE + "a.rs": f"fn a() {{\n{LESS}\n}}\n", "tests/a.rs": f"fn a() {{\n{LONG}\n}}"},
        0,
        {STORE + "a.rs": f"fn a(x: [u8; 3]) {{\n{LONG}\n}}\n"},
        1,
    ),
    (
        "long-functions",
        {"web/src/a.vue": "<script>const a = (b: {c: d}) => {\n" + "e(`}${f('}')}`, /}/)\n" * 58 + "}</script>"},
        0,
        {"web/src/b.ts": "function a(): { b: c } {\n" + "d // }\n" * 59 + "}"},
        1,
    ),
    (
        "type-literals",
        {**TYPES, STORAGE + "push/a.rs": ENGINE, STORE + "pos.rs": 'fn a() { b["sales"].at("sales"); }'},
        0,
        {
            STORE + "sync/a.rs": 'fn a() { b("sales"); }',
            STORE + "sessions/a.rs": 'const A: &str = "sales";',
            STORAGE + "entity/mod.rs": 'const A: [&str; 1] = ["sales"];',
        },
        3,
    ),
    (
        "column-literals",
        {
            "crates/model/src/state.rs": 'statuses! { A { Voided = "voided" at 2 ends, } }\nmod tests { const B: &str = "no"; }',
            STORAGE + "push/a.rs": 'fn a() { row.try_get("", "status"); b("voided, \'failed\'"); row.text("name"); }',
            STORAGE + "document/a.rs": 'fn a() { row.text("status"); }',
        },
        0,
        {STORAGE + "push/b.rs": 'fn a() { owns(list, "status"); row.set("kind", b); c("WHERE status <> \'voided\'"); }'},
        3,
    ),
    ("circles", ROOM, 0, {STORE + "shop.rs": "pub fn sell(given: crate::Inner) {}\n"}, 1),
    (
        "circle-files",
        ROOM,
        0,
        {STORE + "shop.rs": "use super::room::{self, Inner as Other};\npub fn sell() {}\n"},
        2,
    ),
    (
        "largest-circle",
        ROOM,
        0,
        {STORE + "shop.rs": "pub fn sell() { b::c(); }", STORE + "b.rs": "pub fn c() -> crate::room::Inner {}"},
        0,
    ),
    (
        "largest-circle",
        ROOM,
        0,
        {STORE + "shop.rs": "pub fn sell() { crate::b::c(); }", STORE + "b.rs": "pub fn c() -> crate::room::Inner {}"},
        3,
    ),
    (
        "room-circles",
        {**ROOM, STORE + "room/far.rs": "use super::near::Near;\npub fn a() {}\n", STORE + "room/near.rs": "pub struct Near;"},
        0,
        {STORE + "shop.rs": "pub fn sell(given: crate::Inner) {}\n"},
        1,
    ),
    (
        "room-circles",
        {**ROOM, STORE + "room/far.rs": "use super::near::Near;\npub fn a() {}\n", STORE + "room/near.rs": "pub struct Near;"},
        0,
        {STORE + "room/near.rs": "pub struct Near;\nfn b() { super::far::a(); }"},
        1,
    ),
    (
        "public",
        {STORE + "a.rs": "pub(crate) fn a() {}\npub struct B { pub c: D }\n#[cfg(test)]\npub mod e {}"},
        1,
        {STORE + "b.rs": "pub async fn f() {}"},
        2,
    ),
    (
        "copies",
        {STORE + "a.rs": COPY.format(name="a"), "tests/a.rs": COPY.format(name="b")},
        0,
        {STORE + "b.rs": COPY.format(name="c").replace("1", "2")},
        1,
    ),
    ("copied-lines", {STORE + "a.rs": COPY.format(name="a")}, 0, {STORE + "b.rs": COPY.format(name="c")}, 10),
    (
        "test-copies",
        {"tests/a.rs": COPY.format(name="a"), STORE + "a.rs": COPY.format(name="b")},
        0,
        {"tests/b.rs": COPY.format(name="c")},
        1,
    ),
    (
        "test-copied-lines",
        {"tests/a.rs": COPY.format(name="a")},
        0,
        {"tests/b.rs": COPY.format(name="c")},
        10,
    ),
    (
        "tests",
        {STORE + "a.rs": "fn a() {}\nfn b() {}\n#[cfg(test)]\nmod tests {}\n"},
        50.0,
        {"web/e2e/a.ts": "1\n" * 4},
        75.0,
    ),
    (
        "tests",
        {STORE + "a.rs": "fn a() {}\n#[cfg(test)]\nmod tests;\n", STORE + "a/tests.rs": "use a;\n"},
        75.0,
        {STORE + "b.rs": "a\n" * 4},
        37.5,
    ),
    (
        "planted-bugs",
        {STORE + "a.rs": "let planted = 1; // fault::planted(x)\n", "tests/a.rs": "fault::planted(1)"},
        0,
        {STORE + "b.rs": "if fault::planted(1) {}"},
        1,
    ),
]
GOALS = [("<= 5", 5, 6), ("< 1 %", 0.9, 1), (">= 45 %", 45, 44.9), ("0", 0, 1)]


def _failures():
    for name, before, figure, change, then in CASES:
        for texts, wanted in ((before, figure), ({**before, **change}, then)):
            found = measures.NAMES[name].figure(tree.made_of(texts))
            if found != wanted:
                yield f"{name} is {found} instead of {wanted} in {sorted(texts)}"
            shown = measures.NAMES[name].shown(tree.made_of(texts))
            if shown is None or not all(isinstance(line, str) for line in shown):
                yield f"{name} cannot be listed"
    for name in measures.NAMES.keys() - {case[0] for case in CASES}:
        yield f"{name} has no case here"
    for goal, kept, broken in GOALS:
        if not measures.fits(goal, kept) or measures.fits(goal, broken):
            yield f"the goal {goal} is not read"
    # Two circles through one file, held together by the use that both have.
    edges = {"a": {"b": (1, 1)}, "b": {"c": (1, 1), "d": (1, 1)}, "c": {"a": (1, 1)}, "d": {"a": (1, 1)}}
    if circles.holding(edges, {"a", "b", "c", "d"}) != [("a", "b")]:
        yield "what holds a circle together is not found"


def run():
    failures = list(itertools.islice(_failures(), 20))
    for line in failures:
        print(f"measure: {line}")
    if not failures:
        print(f"measure: {len(CASES)} cases, each figure seen right and seen changing")
    return 1 if failures else 0
