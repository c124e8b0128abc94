//! What tills are told of. None of it has an amount: who counts a drawer blind listens too.

use std::any::Any;
use std::collections::BTreeMap;

use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_model::words::ParkedState;
use tillkeep_storage::entity::{parked_cart, register_session};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{DbErr, outbox};
use uuid::Uuid;

use super::{Standing, Store};

/// What happened, or how something is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum News {
    Prices(PricesNews),
    Drawer(DrawerNews),
    Parked(ParkedNews),
    Line(LineNews),
    Printer(PrinterNews),
}

/// What the last word of an act holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum About {
    Drawer(Uuid),
    Parked,
}

/// Types of rows that came from headquarters, which a till that keeps some of them reads again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PricesNews {
    pub changed: Vec<&'static str>,
}

/// How a drawer is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DrawerNews {
    pub register_id: Uuid,
    pub session_id: Uuid,
    /// `open`, `counting` or `closed`.
    pub status: String,
}

/// How many carts wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ParkedNews {
    /// In the whole store.
    pub count: i64,
    /// By the terminal where they were parked; one without any is not here.
    pub terminals: BTreeMap<String, i64>,
}

/// How the line to headquarters is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LineNews {
    pub connected: bool,
    pub last_cycle_at: Option<Instant>,
    /// Documents that headquarters does not have yet.
    pub unsent: i64,
}

/// How the printer of a register is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PrinterNews {
    pub register_id: Uuid,
    pub state: Standing,
}

impl PricesNews {
    /// What of headquarters a till shows or reckons with.
    pub(super) const TYPES: [&'static str; 11] = [
        "stores",
        "departments",
        "tax_rates",
        "tax_groups",
        "tax_group_rates",
        "tenders",
        "products",
        "product_specials",
        "store_product_dynamic",
        "sales_reps",
        "reasons",
    ];
}

impl LineNews {
    /// Whether nothing changed but the time.
    pub(super) const fn is_like(&self, other: &Self) -> bool {
        self.connected == other.connected && self.unsent == other.unsent
    }
}

impl News {
    /// The name of its event.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Prices(_) => "prices",
            Self::Drawer(_) => "drawer",
            Self::Parked(_) => "parked",
            Self::Line(_) => "line",
            Self::Printer(_) => "printer",
        }
    }

    pub(crate) const fn about(&self) -> Option<About> {
        match self {
            Self::Drawer(drawer) => Some(About::Drawer(drawer.register_id)),
            Self::Parked(_) => Some(About::Parked),
            Self::Prices(_) | Self::Line(_) | Self::Printer(_) => None,
        }
    }
}

/// What tills are told of a row that was written.
pub(crate) enum Written {
    Drawer(DrawerNews),
    /// How many carts wait then is counted at the end of the transaction.
    Parked,
}

impl Written {
    /// Nothing, for a row that no till listens for.
    pub(crate) fn of(row: &dyn Any) -> Option<Self> {
        if row.is::<parked_cart::Model>() {
            return Some(Self::Parked);
        }
        row.downcast_ref::<register_session::Model>().map(|session| Self::Drawer(DrawerNews::of(session)))
    }
}

impl DrawerNews {
    pub(crate) fn of(session: &register_session::Model) -> Self {
        Self { register_id: session.register_id, session_id: session.id, status: session.status.clone() }
    }
}

impl ParkedNews {
    pub(crate) async fn load(conn: &impl ConnectionTrait) -> Result<Self, DbErr> {
        use parked_cart::Column;
        let counted: Vec<(String, i64)> = parked_cart::Entity::find()
            .select_only()
            .column(Column::TerminalId)
            .column_as(Column::Id.count(), "num_items")
            .filter(Column::State.eq(ParkedState::Parked.word()))
            .group_by(Column::TerminalId)
            .into_tuple()
            .all(conn)
            .await?;
        Ok(Self { count: counted.iter().map(|(_, carts)| carts).sum(), terminals: counted.into_iter().collect() })
    }
}

impl Store {
    /// How the line to headquarters is, and how much waits for it.
    pub(crate) async fn line_news(&self, conn: &impl ConnectionTrait) -> Result<LineNews, DbErr> {
        let waiting = outbox::state(conn).await?;
        let line = self.sync.line();
        let unsent = waiting.pending + waiting.dead_lettered;
        Ok(LineNews { connected: line.connected, last_cycle_at: line.last_cycle_at, unsent })
    }

    /// Tells tills how the line to headquarters is, when that changed. Nothing is read for nobody: a till that comes again has it
    /// told first.
    pub(crate) async fn tell_line(&self) {
        if self.events.streams() == 0 {
            return;
        }
        match self.line_news(self.reader()).await {
            Ok(line) => self.events.tell_line(line),
            Err(error) => tracing::warn!(%error, "tills are not told how the line to headquarters is"),
        }
    }
}
