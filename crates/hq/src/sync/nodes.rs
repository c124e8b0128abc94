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

/// Which server this is, and which others run.
pub struct Nodes {
    /// Of this run.
    pub id: Uuid,
    pub name: String,
    /// By the clock of the database, as the moments at which servers are heard are.
    pub started_at: Instant,
    known: Mutex<Known>,
}

#[derive(Default)]
pub(super) struct Known {
    pub alive: Vec<Model>,
    pub looked_at: Option<Instant>,
    /// When the heads were last compared with the database.
    pub seen_at: Option<Moment>,
    /// How stores stood when they were last marked for the dashboard.
    pub shown: HashMap<Uuid, Shown>,
    pub looks: u32,
    pub spread: Spread,
}

/// A server of headquarters that runs.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HeadquartersServer)]
pub(super) struct NodeInfo {
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
}

impl Nodes {
    pub fn new(name: &str, now: Instant) -> Self {
        let name = if name.is_empty() { host_name() } else { name.to_owned() };
        Self { id: Uuid::now_v7(), name, started_at: now, known: Mutex::default() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what is in memory of stores and people may be believed: the database was looked at a moment ago.
    pub fn are_followed(&self) -> bool {
        self.lock().seen_at.is_some_and(|at| at.elapsed() < BELIEVED_FOR)
    }

    pub(super) fn is_time_to(&self, every: u32) -> bool {
        self.lock().looks.is_multiple_of(every)
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
    pub(super) fn surplus(&self, own: usize, now: Moment) -> usize {
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
    pub(super) fn list(&self, own: Model) -> Vec<NodeInfo> {
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
        // Two that run have one name, as nobody gave them any.
        assert_eq!(known(&nodes, &[node("north", 5, 101)]), (vec!["north".to_owned(), "north".to_owned()], true));
    }
}
