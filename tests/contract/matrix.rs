//! The checked-in table of every route, what it needs, and which default role has it. A change of who may do what shows
//! in review.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use tillkeep_http::routes::{Protection, Route};
use tillkeep_model::permission::{ALL, DEFAULT_ROLES, NOT_IN_USE, PATTERNS, matches, satisfied};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/generated/permissions.md");

/// A route with the servers that have it.
struct Line {
    servers: Vec<&'static str>,
    needs: String,
    roles: String,
    /// The other side's, which these servers refuse.
    refused: bool,
}

pub fn needs(route: &Route) -> String {
    let held = held(route);
    if route.operation.fresh { format!("{held}; shown lately") } else { held }
}

fn held(route: &Route) -> String {
    match &route.protection {
        Protection::Open => "nothing".to_owned(),
        Protection::Sync => "sync token".to_owned(),
        Protection::User(codes) if codes.is_empty() => "signed in".to_owned(),
        Protection::User(codes) => codes.iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(" or "),
    }
}

/// The codes of what is needed.
fn codes(needs: &str) -> impl Iterator<Item = &str> {
    needs.split(';').next().unwrap_or_default().split(" or ").map(|need| need.trim_matches('`'))
}

pub fn marks(route: &Route) -> String {
    let mark = |role: &tillkeep_model::permission::DefaultRole| match &route.protection {
        Protection::User(codes) if satisfied(codes, role.codes()) => "yes",
        Protection::User(_) => "no",
        _ => "",
    };
    DEFAULT_ROLES.iter().map(mark).collect::<Vec<_>>().join(" | ")
}

fn table() -> BTreeMap<(&'static str, String, &'static str), Line> {
    let mut lines: BTreeMap<_, Line> = BTreeMap::new();
    let hq = tillkeep_hq::routes::table(&tillkeep_store::routes::writes()).1.into_iter().map(|route| ("HQ", route));
    let store =
        tillkeep_store::routes::table(&tillkeep_hq::routes::writes()).1.into_iter().map(|route| ("store", route));
    for (server, route) in hq.chain(store) {
        let (needs, roles, refused) = (needs(&route), marks(&route), route.owner.is_some());
        lines
            .entry((route.path, needs.clone(), route.method))
            .or_insert_with(|| Line { servers: Vec::new(), needs, roles, refused })
            .servers
            .push(server);
    }
    lines
}

fn page() -> String {
    let lines = table();
    let mut out = String::from(
        "# Routes, permissions, default roles\n\n\
         Generated from the route tables of both servers by `make generated`; do not edit. Paths are below `/api/v1`. Of\n\
         several codes one is enough. At headquarters, *shown lately* wants a sign-in or `POST /auth/confirm` within 15\n\
         minutes. A role that is held for one store counts in that store only. Writes that belong to the\n\
         other side need no code and answer 409 `owned_by_hq` or `owned_by_store`; they are at the end.\n\n",
    );
    let roles: Vec<_> = DEFAULT_ROLES.iter().map(|role| role.name).collect();
    let _ = writeln!(out, "| Route | Server | Needs | {} |\n|---|---|---|---|---|---|", roles.join(" | "));
    let (elsewhere, own): (Vec<_>, Vec<_>) = lines.iter().partition(|(_, line)| line.refused);
    for ((path, _, method), line) in own {
        let _ = writeln!(out, "| {method} {path} | {} | {} | {} |", line.servers.join(", "), line.needs, line.roles);
    }
    out.push_str("\n## Codes and the routes that take them\n\nA code without a route is checked inside of one, or not in use yet: nothing asks for it.\n\n");
    for code in ALL {
        let with: Vec<String> = lines
            .iter()
            .filter(|(_, line)| codes(&line.needs).any(|need| matches(need, code)))
            .map(|((path, _, method), _)| format!("{method} {path}"))
            .collect();
        let none = if NOT_IN_USE.contains(code) { "not in use yet" } else { "checked inside of a route" };
        let _ = writeln!(out, "- `{code}`: {}", if with.is_empty() { none.to_owned() } else { with.join(", ") });
    }
    out.push_str("\n## Writes of the other side\n\n| Route | Refused by |\n|---|---|\n");
    for ((path, _, method), line) in elsewhere {
        let _ = writeln!(out, "| {method} {path} | {} |", line.servers.join(", "));
    }
    out
}

#[test]
fn the_checked_in_table_of_permissions_is_what_the_servers_do() {
    let (path, page) = (Path::new(FILE), page());
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, &page).expect("written");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/generated/permissions.md is not what the route tables say; `make generated` writes it again"
    );
}

/// Codes that no route names and that a handler looks for.
const INSIDE: [&str; 5] =
    ["pos.discount.override_max", "pos.price.override", "pos.void", "reports.profit_margin", "purchase_orders.view"];

#[test]
fn a_code_has_a_route_or_is_checked_inside_of_one_or_is_said_not_to_be_in_use() {
    let lines = table();
    for code in ALL {
        let is_asked = |line: &Line| codes(&line.needs).any(|need| matches(need, code));
        let routes = lines.values().filter(|line| !line.refused && is_asked(line)).count();
        let places = [routes > 0, INSIDE.contains(code), NOT_IN_USE.contains(code)];
        assert_eq!(places.iter().filter(|place| **place).count(), 1, "{code}: {places:?}");
    }
}

#[test]
fn a_route_asks_for_codes_that_exist_and_is_there_once() {
    for (name, routes) in [
        ("hq", tillkeep_hq::routes::table(&tillkeep_store::routes::writes()).1),
        ("store", tillkeep_store::routes::table(&tillkeep_hq::routes::writes()).1),
    ] {
        let mut seen = BTreeSet::new();
        for route in routes {
            assert!(seen.insert((route.method, route.path)), "{} {} is twice at {name}", route.method, route.path);
            let Protection::User(codes) = &route.protection else { continue };
            for code in codes {
                assert!(ALL.contains(code) || PATTERNS.contains(code), "{code} of {}", route.path);
            }
        }
    }
}
