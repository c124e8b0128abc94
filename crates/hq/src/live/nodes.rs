//! Which server of headquarters this is, and which others run: as the database said it last.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as Moment};

use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_storage::entity::hq_node::Model;
use tillkeep_storage::hq_nodes::Shown;
use utoipa::ToSchema;
use uuid::Uuid;

use super::spread::Spread;

/// What was read of stores and people is good for so long after a look: a token that is revoked elsewhere is refused within 5 s.
const BELIEVED_FOR: Duration = Duration::from_secs(4);

/// A clock of a server that is further off than this is said to be; what is nearer is as good as the network tells.
const CLOCK_MAY_BE_OFF_MS: u64 = 10_000;
/// An answer of the database that took longer says too little of its clock.
const COMPARED_WITHIN_MS: i64 = 2_000;

/// Whether so many milliseconds between the clock of a server and that of the database are too many.
#[must_use]
pub const fn is_off(ahead_ms: i64) -> bool {
    ahead_ms.unsigned_abs() > CLOCK_MAY_BE_OFF_MS
}

/// Which server this is, and which others run.
pub struct Nodes {
    /// Of this run.
    pub id: Uuid,
    pub name: String,
    /// By the clock of the database, as the moments at which servers are heard are.
    pub started_at: Instant,
    known: Mutex<NodesState>,
}

#[derive(Default)]
pub(crate) struct NodesState {
    pub alive: Vec<Model>,
    pub looked_at: Option<Instant>,
    /// When the heads were last compared with the database.
    pub seen_at: Option<Moment>,
    /// How stores stood when they were last marked for the dashboard.
    pub shown: HashMap<Uuid, Shown>,
    pub looks: u32,
    pub spread: Spread,
    /// How far the clock of this server is ahead of that of the database.
    pub clock_offset_ms: Option<i64>,
}

/// A server of headquarters that runs.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HeadquartersServer)]
pub(crate) struct NodeInfo {
    id: Uuid,
    name: String,
    release: String,
    started_at: Instant,
    /// Stores that are connected to it.
    stores: i64,
    /// It reaches the message broker; without one, changes at one server are known at the others within a few seconds.
    broker: bool,
    /// It is the one that answers this.
    here: bool,
    /// How far its clock is ahead of that of the database; null on a file, which has one clock.
    clock_offset_ms: Option<i64>,
    /// Its clock is more than ten seconds off.
    clock_warning: bool,
}

impl Nodes {
    pub fn new(name: &str, now: Instant) -> Self {
        let name = if name.is_empty() { host_name() } else { name.to_owned() };
        Self { id: Uuid::now_v7(), name, started_at: now, known: Mutex::default() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, NodesState> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what is in memory of stores and people may be believed: the database was looked at a moment ago.
    pub fn are_followed(&self) -> bool {
        self.lock().seen_at.is_some_and(|at| at.elapsed() < BELIEVED_FOR)
    }

    /// How far the clock of this server is ahead of that of the database, when they were compared.
    pub fn clock_offset_ms(&self) -> Option<i64> {
        self.lock().clock_offset_ms
    }

    /// The time that all servers share, where the clock of this one says `here`.
    pub fn shared(&self, here: Instant) -> Instant {
        here.plus_millis(self.clock_offset_ms().unwrap_or_default().saturating_neg())
    }

    /// Notes that the database said `there`, when it was asked at one time of this server and answered at another. The offset,
    /// when that is news: it is too far off now and was not, or the reverse.
    pub(crate) fn compare_clocks(&self, asked: Instant, there: Instant, answered: Instant) -> Option<i64> {
        let took = answered.millis_since(asked);
        if !(0..=COMPARED_WITHIN_MS).contains(&took) {
            return None;
        }
        let ahead_ms = asked.plus_millis(took / 2).millis_since(there);
        let before = self.lock().clock_offset_ms.replace(ahead_ms);
        (before.is_some_and(is_off) != is_off(ahead_ms)).then_some(ahead_ms)
    }

    pub(crate) fn is_time_to(&self, every: u32) -> bool {
        self.lock().looks.is_multiple_of(every)
    }

    /// What the servers that run are called, this one among them.
    pub(crate) fn names(&self) -> Vec<String> {
        let alive = self.lock().alive.iter().map(|node| node.name.clone()).collect::<Vec<_>>();
        alive.into_iter().chain([self.name.clone()]).collect()
    }

    /// The name of another server, if it runs.
    pub fn name_of(&self, id: Uuid) -> Option<String> {
        let known = self.lock();
        known.alive.iter().find(|node| node.id == id && node.id != self.id).map(|node| node.name.clone())
    }

    /// Whether others run on the same database. One that was not heard since this server started may be what it was before it was
    /// killed; a server that runs is heard within a second.
    pub fn are_several(&self) -> bool {
        self.lock().alive.iter().any(|node| node.id != self.id && node.heard_at > self.started_at)
    }

    /// Stores that are connected to the other servers.
    pub fn sockets_elsewhere(&self) -> usize {
        let known = self.lock();
        let sockets: i64 = known.alive.iter().filter(|node| node.id != self.id).map(|node| node.sockets).sum();
        usize::try_from(sockets).unwrap_or_default()
    }

    /// How many sockets this server is to close, as it has `own` ones and the others that take any have fewer.
    pub(crate) fn surplus(&self, own: usize, now: Moment) -> usize {
        let mut known = self.lock();
        let others: Vec<(Uuid, usize)> = known
            .alive
            .iter()
            .filter(|node| node.id != self.id && !node.leaving)
            .filter(|node| node.heard_at > self.started_at && !has_come_back(node, &known.alive))
            .map(|node| (node.id, usize::try_from(node.sockets).unwrap_or_default()))
            .collect();
        known.spread.due(own, &others, now)
    }

    /// This server, by its `own` row, and the others that run.
    pub(crate) fn list(&self, own: Model) -> Vec<NodeInfo> {
        let others: Vec<Model> = self.lock().alive.iter().filter(|node| node.id != self.id).cloned().collect();
        let all: Vec<Model> = others.into_iter().chain([own]).collect();
        let mut shown: Vec<NodeInfo> =
            all.iter().filter(|node| !has_come_back(node, &all)).map(|node| self.info(node.clone())).collect();
        shown.sort_by_key(|node| (node.started_at, node.id));
        shown
    }

    fn info(&self, node: Model) -> NodeInfo {
        NodeInfo {
            here: node.id == self.id,
            id: node.id,
            name: node.name,
            release: node.release,
            started_at: node.started_at,
            stores: node.sockets,
            broker: node.has_broker,
            clock_offset_ms: node.clock_offset_ms,
            clock_warning: node.clock_offset_ms.is_some_and(is_off),
        }
    }
}

/// Whether `node` was killed and runs again: another one has its name and started after it was last heard.
fn has_come_back(node: &Model, all: &[Model]) -> bool {
    all.iter().any(|other| other.name == node.name && other.started_at > node.heard_at)
}

/// The name of this machine, where the system tells it.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "hq".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, started_at: i64, heard_at: i64) -> Model {
        let at = |seconds: i64| Instant::default().plus_millis(seconds * 1000);
        let (started_at, heard_at) = (at(started_at), at(heard_at));
        Model { id: Uuid::now_v7(), name: name.to_owned(), started_at, heard_at, ..Model::default() }
    }

    fn known(nodes: &Nodes, alive: &[Model]) -> (Vec<String>, bool) {
        nodes.lock().alive = alive.to_vec();
        let own = Model { id: nodes.id, ..node(&nodes.name, 100, 110) };
        (nodes.list(own).into_iter().map(|node| node.name).collect(), nodes.are_several())
    }

    #[test]
    fn a_server_that_was_killed_gives_way_to_itself_and_is_no_other_one() {
        let nodes = Nodes::new("north", Instant::default().plus_millis(100_000));
        // What it was itself a moment ago.
        let former = node("north", 5, 99);
        assert_eq!(known(&nodes, std::slice::from_ref(&former)), (vec!["north".to_owned()], false));
        // One that runs beside it, and what that one was before.
        let (before, south) = (node("south", 5, 90), node("south", 95, 110));
        assert_eq!(known(&nodes, &[former, before, south]), (vec!["south".to_owned(), "north".to_owned()], true));
        // Two that run have one name, as no setting gave them any.
        assert_eq!(known(&nodes, &[node("north", 5, 101)]), (vec!["north".to_owned(), "north".to_owned()], true));
    }

    #[test]
    fn a_server_with_a_wrong_clock_says_so_once_and_gives_others_the_time_of_the_database() {
        let at = |millis: i64| Instant::default().plus_millis(millis);
        let nodes = Nodes::new("north", at(0));
        assert_eq!(nodes.shared(at(5)), at(5), "nothing is known yet");
        assert_eq!(nodes.compare_clocks(at(1_000), at(1_010), at(1_040)), None, "as good as the network tells");
        assert_eq!(nodes.clock_offset_ms(), Some(10));
        // Ten minutes ahead.
        assert_eq!(nodes.compare_clocks(at(601_000), at(1_000), at(601_020)), Some(600_010));
        assert_eq!(nodes.compare_clocks(at(602_000), at(2_000), at(602_020)), None, "that was said");
        assert_eq!(nodes.shared(at(603_010)), at(3_000));
        assert!(nodes.list(Model { clock_offset_ms: nodes.clock_offset_ms(), ..Model::default() })[0].clock_warning);
        // An answer that took long says nothing.
        assert_eq!(nodes.compare_clocks(at(3_000), at(9_000), at(9_000)), None);
        assert_eq!(nodes.clock_offset_ms(), Some(600_010));
        assert_eq!(nodes.compare_clocks(at(3_000), at(3_000), at(3_000)), Some(0), "it was set right");
    }
}
