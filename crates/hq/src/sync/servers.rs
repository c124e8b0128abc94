//! The servers of this headquarters: what each has to know of the others, and what it looks up of their doings.
//!
//! Nothing of this depends on the message broker. Each server says every second in the database that it runs, and looks
//! there what the others changed: heads of types, stores that have something to learn, sockets that moved to another server.
//! A broker makes the same known at once. `docs/sync.md`, "Several servers of headquarters".

use std::sync::Arc;
use std::time::{Duration, Instant as Moment};

use tillkeep_model::Instant;
use tillkeep_model::wire::close;
use tillkeep_storage::entity::hq_node::Model;
use tillkeep_storage::{Connection, DbErr, hq_nodes, nodes, settings};
use uuid::Uuid;

use crate::Hq;
use crate::live::nodes::is_off;

/// Between two looks at the database.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// What another server wrote may have been written a while before it could be seen.
const LOOK_BACK_MS: i64 = 10_000;
/// Looks between two times that servers are forgotten which are gone, and between two warnings: a minute.
const FORGET_EVERY: u32 = 60;
const WARN_EVERY: u32 = 60;

/// What this server says of itself.
pub(super) fn own(hq: &Hq, now: Instant) -> Model {
    let (nodes, front) = (&hq.nodes, hq.auth.tokens.front());
    Model {
        id: nodes.id,
        name: nodes.name.clone(),
        release: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: nodes.started_at,
        heard_at: now,
        has_broker: hq.notifications.reaches_others(),
        sockets: i64::try_from(hq.hub.len()).unwrap_or(i64::MAX),
        leaving: hq.auth.leaving.is_cancelled(),
        people_key: front.people,
        sync_key: front.sync,
        clock_offset_ms: nodes.clock_offset_ms(),
    }
}

/// Before anything is served: says that this server runs, and finds the others. A server that lacks a key of theirs would
/// refuse the tokens that they give out.
pub async fn join(hq: &Hq) -> Result<(), DbErr> {
    let tx = hq.db().begin().await?;
    hq_nodes::let_go(&tx).await?;
    tx.commit().await?;
    if hq.is_alone() {
        return Ok(());
    }
    let now = compare_clocks(hq, hq.db().reader()).await?;
    let others = hq_nodes::alive(hq.db().reader(), now).await?;
    if !others.is_empty() {
        let kept = signing_keys(hq).await?;
        if let Some((ring, kid)) = hq.auth.tokens.lacks(&kept) {
            return Err(DbErr::Custom(format!(
                "token.key lacks the key {kid}, with which the other servers of headquarters sign tokens of {ring}: copy \
                 token.key from one of them, or give all the same TILLKEEP_JWT_KEY and TILLKEEP_SYNC_KEY"
            )));
        }
    }
    look(hq).await
}

/// Looks what the others did, every second until the server stops; then they hear of it. In a task of its own: nothing
/// else that waits for the database holds it up.
pub fn start(hq: Arc<Hq>) {
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => follow(&hq).await,
                () = hq.stop.cancelled() => break,
            }
        }
        leave(&hq).await;
        hq.left.cancel();
    });
}

/// This server stops.
async fn leave(hq: &Hq) {
    if hq.is_alone() {
        return;
    }
    let left = async {
        let tx = hq.db().begin().await?;
        hq_nodes::leave(&tx, hq.nodes.id).await?;
        hq_nodes::let_go(&tx).await?;
        tx.commit().await
    };
    if let Err(error) = left.await {
        tracing::debug!(%error, "that this server stops could not be noted; it is found out in a while");
    }
}

/// Looks what other servers did.
pub async fn follow(hq: &Hq) {
    if hq.is_alone() {
        return;
    }
    if let Err(error) = look(hq).await {
        tracing::debug!(%error, "the database is away, or busy: it is looked at again");
    }
}

/// Each part by itself: what cannot be written now is no reason not to read.
async fn look(hq: &Hq) -> Result<(), DbErr> {
    // First, as revocations hang on it.
    follow_heads(hq).await?;
    hq.nodes.lock().seen_at = Some(Moment::now());
    let conn = hq.db().reader();
    let stores = async {
        for store in hq_nodes::stores_to_notify(conn).await? {
            hq.stores_to_notify.insert(store);
        }
        follow_stores(hq).await
    };
    let stores = stores.await;
    let now = compare_clocks(hq, conn).await?;
    {
        let mut known = hq.nodes.lock();
        known.looks = known.looks.wrapping_add(1);
    }
    let tx = hq.db().begin().await?;
    hq_nodes::beat(&tx, own(hq, now)).await?;
    if hq.nodes.is_time_to(FORGET_EVERY) {
        hq_nodes::forget(&tx, now).await?;
        hq_nodes::let_go(&tx).await?;
    }
    tx.commit().await?;
    let alive = hq_nodes::alive(conn, now).await?;
    hq.nodes.lock().alive.clone_from(&alive);
    hq.notifications.beside(hq.nodes.are_several());
    spread_sockets(hq);
    follow_keys(hq, &alive).await?;
    stores
}

/// Lets go of sockets that a server which came back may have. The stores come again, as from one that leaves, and nothing is
/// said of their lines.
fn spread_sockets(hq: &Hq) {
    if hq.auth.leaving.is_cancelled() {
        return;
    }
    let own = hq.hub.len();
    let surplus = hq.nodes.surplus(own, Moment::now());
    if surplus > 0 {
        tracing::info!(sockets = own, closed = surplus, "other servers have far fewer sockets: some stores come again");
        hq.hub.close_oldest(surplus, close::GOING_AWAY);
    }
}

/// The time by the clock of the database, with which this server compares its own; on a file there is one clock.
async fn compare_clocks(hq: &Hq, conn: &Connection) -> Result<Instant, DbErr> {
    let asked = hq.clock.now();
    let there = hq_nodes::time(conn, asked).await?;
    if hq.db().is_embedded() {
        return Ok(there);
    }
    match hq.nodes.compare_clocks(asked, there, hq.clock.now()) {
        Some(ahead_ms) if is_off(ahead_ms) => tracing::warn!(
            server = hq.nodes.name,
            ahead_ms,
            "the clock of this server of headquarters is not that of the database: set the clock of one of the two right"
        ),
        Some(_) => tracing::info!("the clock of this server of headquarters is that of the database again"),
        None => {}
    }
    Ok(there)
}

/// What moved at others and is not known by a hint: the types with counters that add up otherwise here.
async fn follow_heads(hq: &Hq) -> Result<(), DbErr> {
    let there = hq_nodes::sums(hq.db().reader()).await?;
    let here = hq.heads.sums();
    let moved: Vec<&str> = there
        .iter()
        .filter(|(name, sum)| here.get(name.as_str()).copied().unwrap_or_default() != **sum)
        .map(|(name, _)| name.as_str())
        .collect();
    if !moved.is_empty() {
        let changes = hq.heads.missed_of_types(hq.db(), &moved).await?;
        if !changes.is_empty() {
            hq.learn(&changes);
            hq.notifications.tell_sockets(&changes);
        }
    }
    Ok(())
}

/// Stores of which others heard: a store that has a newer socket there has none here, and what is shown of it may be new.
async fn follow_stores(hq: &Hq) -> Result<(), DbErr> {
    let (conn, now) = (hq.db().reader(), hq.clock.now());
    let since = hq.nodes.lock().looked_at.unwrap_or(now).plus_millis(-LOOK_BACK_MS);
    for (store, node, at) in hq_nodes::connected_elsewhere(conn, hq.nodes.id, since).await? {
        let held = hq.hub.get(store).filter(|held| held.connected_at < at);
        if let Some(held) = held.filter(|_| hq.nodes.name_of(node).is_some()) {
            held.close(close::REPLACED);
        }
    }
    for (store, processes) in nodes::processes_since(conn, since).await? {
        hq.copies.adopt(store, &processes);
    }
    if hq.nodes.are_several() && hq.board.streams() > 0 {
        let standing = hq_nodes::standing_since(conn, since).await?;
        let mut known = hq.nodes.lock();
        let moved: Vec<Uuid> = standing
            .iter()
            .filter(|(store, standing)| known.shown.get(*store) != Some(*standing))
            .map(|(store, _)| *store)
            .collect();
        known.shown.extend(standing);
        drop(known);
        hq.board.mark(moved);
    }
    // Only now: what could not be read is looked for again.
    hq.nodes.lock().looked_at = Some(now);
    Ok(())
}

/// The keys that headquarters signs with: those that every server had in front of its lists last.
async fn signing_keys(hq: &Hq) -> Result<[Option<String>; 2], DbErr> {
    let conn = hq.db().reader();
    Ok([settings::get(conn, settings::PEOPLE_KEY).await?, settings::get(conn, settings::SYNC_KEY).await?])
}

/// A new key signs once every server that runs has it in front: a token of it is then good at all of them.
async fn follow_keys(hq: &Hq, alive: &[Model]) -> Result<(), DbErr> {
    let front = hq.auth.tokens.front();
    let mut kept = signing_keys(hq).await?;
    // Of servers that start for the first time at once, with keys of their own, those of the oldest count.
    let is_oldest = alive.first().is_some_and(|node| node.id == hq.nodes.id);
    let first = |kept: &Option<String>| kept.is_none() && is_oldest;
    let agreed = [
        first(&kept[0]) || alive.iter().all(|node| node.people_key == front.people),
        first(&kept[1]) || alive.iter().all(|node| node.sync_key == front.sync),
    ];
    let rings = [(settings::PEOPLE_KEY, front.people), (settings::SYNC_KEY, front.sync)];
    for (((key, front), agreed), kept) in rings.into_iter().zip(agreed).zip(&mut kept) {
        if agreed && kept.as_ref() != Some(&front) {
            let tx = hq.db().begin().await?;
            settings::set(&tx, key, &front).await?;
            tx.commit().await?;
            *kept = Some(front);
        }
    }
    if let Some((holders, kid)) = hq.auth.tokens.lacks(&kept)
        && hq.nodes.is_time_to(WARN_EVERY)
    {
        tracing::error!(
            kid,
            "token.key lacks the key with which the other servers of headquarters sign tokens of {holders}: copy token.key \
             from one of them"
        );
    }
    hq.auth.tokens.sign_with(kept);
    Ok(())
}
