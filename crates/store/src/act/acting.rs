//! The transaction of an act, and what the door writes at its end.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Deref;

use serde_json::Value as Json;
use serde_json::value::{RawValue, to_raw_value};
use tillkeep_http::error::Result;
use tillkeep_model::Instant;
use tillkeep_storage::document::movement::Movement;
use tillkeep_storage::numbers::{Given, Series};
use tillkeep_storage::outbox::OutboxPosition;
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel};
use tillkeep_storage::stock::{self, Effects, Product};
use tillkeep_storage::{DbErr, Lines, Tx, Working, audit, outbox};
use uuid::Uuid;

use super::record::{self, Record};
use super::stopped::Stopped;
use crate::approvals::Approval;
use crate::state::{Moment, News, ParkedNews, Written};

/// What the audit log says of an act.
pub enum Log {
    /// A line with these details.
    Line(Json),
    /// A line of this name. The act was refused: what is committed says no more than that, so that a request with the same
    /// `Idempotency-Key` may try again.
    Refused(&'static str, Json),
    /// Nothing: what was asked for is so already, and nothing was written.
    Unchanged,
    /// The document is its own record: it names who made it and who approved it. For sales, of which there are too many.
    InDocument,
}

/// What an act does: a value for the answer, and what the audit log says of it. It waits for nothing but the transaction.
pub(crate) type Doing<'a, T> = Working<'a, (T, Log), Stopped>;

/// The transaction of an act.
pub struct Acting<'tx> {
    tx: &'tx mut Tx,
    notes: &'tx mut Notes,
}

/// What is written at the end of the transaction.
pub(super) struct Notes {
    line: audit::Entry,
    /// Further lines of the audit log, before that of the act.
    lines: Vec<audit::Entry>,
    queued: Vec<Queued>,
    /// The place in the outbox that came with the last number, until its document is stored.
    place: Option<OutboxPosition>,
    moment: Moment,
    /// Whether a paper waits for a printer from here on.
    prints: bool,
    /// What tills that listen are told once it is committed.
    news: Vec<News>,
    /// Whether other carts wait than before.
    parks: bool,
}

struct Queued {
    entity_type: &'static str,
    entity_id: Uuid,
    action: &'static str,
    data: Box<RawValue>,
    created_at: Instant,
    place: Option<OutboxPosition>,
}

/// For what reads, and for the ledgers beside a document. The writes by type of a [`Tx`], which stamp rows for stores, take
/// it as mutable: no code here has it so. Its statements of own text are for `crates/storage` alone (`clippy.toml`).
impl Deref for Acting<'_> {
    type Target = Tx;
    fn deref(&self) -> &Tx {
        self.tx
    }
}

impl<'tx> Acting<'tx> {
    pub(super) const fn new(tx: &'tx mut Tx, notes: &'tx mut Notes) -> Self {
        Self { tx, notes }
    }

    /// The moment of all that it writes.
    pub const fn now(&self) -> Instant {
        self.notes.moment.at
    }

    /// Whether that is another one than the clock shows, which is too far behind.
    pub const fn is_clock_corrected(&self) -> bool {
        self.notes.moment.is_corrected
    }

    /// The next number of `series`, for the document that is stored next. A place in the outbox comes with it.
    pub async fn number(&mut self, series: &Series) -> std::result::Result<Given, DbErr> {
        self.notes.refuse_unused_place()?;
        let (given, place) = series.next(self.tx, self.notes.moment.at).await?;
        self.notes.place = Some(place);
        Ok(given)
    }

    /// As [`Acting::number`], for a till that has printed `printed`; false when that is too far above the series.
    pub async fn number_above(
        &mut self,
        series: &Series,
        store_id: Uuid,
        printed: i64,
    ) -> std::result::Result<(Given, bool), DbErr> {
        self.notes.refuse_unused_place()?;
        let (given, place, follows) = series.next_above(self.tx, self.notes.moment.at, store_id, printed).await?;
        self.notes.place = Some(place);
        Ok((given, follows))
    }

    /// Uses `approval` up for the row `id`; whoever comes second is refused.
    pub async fn consume(&mut self, approval: &Approval, id: Uuid) -> Result<()> {
        self.notes.line.approver_id.get_or_insert(approval.approver_id());
        approval.consume(self.tx, id, self.notes.moment.at).await
    }

    /// Books what the document moves: [`stock::apply`].
    pub async fn apply_stock(
        &mut self,
        store_id: Uuid,
        movements: Vec<Movement>,
        at: Instant,
    ) -> std::result::Result<Effects, DbErr> {
        stock::apply(self.tx, store_id, movements, at).await
    }

    /// Books what a document moves that is made here and now: [`stock::apply_new`].
    pub async fn apply_new_stock(
        &mut self,
        store_id: Uuid,
        movements: Vec<Movement>,
        products: &BTreeMap<Uuid, Product>,
    ) -> std::result::Result<Effects, DbErr> {
        stock::apply_new(self.tx, store_id, movements, products, self.notes.moment.at).await
    }

    /// Stores a new row, with its entry in the outbox when its type travels.
    pub async fn insert<D: Record>(&mut self, record: &D) -> std::result::Result<(), Stopped> {
        if !record::insert(self.tx, record).await? {
            return Err(Stopped::Repeated);
        }
        self.notes.tell(record);
        Ok(self.queue(record, "create")?)
    }

    /// Stores lines of a document; their entry in the outbox is that of the document.
    pub async fn insert_lines(&mut self, lines: Lines) -> std::result::Result<(), DbErr> {
        self.tx.insert_lines(lines).await
    }

    /// Stores a row that was changed, with its entry in the outbox when its type travels.
    pub async fn update<D: Record>(&mut self, record: &D) -> std::result::Result<(), DbErr>
    where
        <D::Row as EntityTrait>::Model: IntoActiveModel<<D::Row as EntityTrait>::ActiveModel>,
    {
        record::update(self.tx, record).await?;
        self.notes.tell(record);
        self.queue(record, "update")
    }

    /// As [`Acting::update`], of a document that is undone with it.
    pub async fn void<D: Record>(&mut self, record: &D) -> std::result::Result<(), DbErr>
    where
        <D::Row as EntityTrait>::Model: IntoActiveModel<<D::Row as EntityTrait>::ActiveModel>,
    {
        record::update(self.tx, record).await?;
        self.queue(record, "void")
    }

    /// Stores lines of a document that are there already as they are now; their entry in the outbox is that of the document.
    pub async fn update_lines<E>(&mut self, lines: &[E::Model]) -> std::result::Result<(), DbErr>
    where
        E: EntityTrait,
        E::Model: IntoActiveModel<E::ActiveModel> + Clone,
    {
        self.tx.insert_lines(Lines::changed::<E>(lines, &**self.tx)).await
    }

    fn queue<D: Record>(&mut self, record: &D, action: &'static str) -> std::result::Result<(), DbErr> {
        if !D::travels() {
            return Ok(());
        }
        let data = to_raw_value(record).map_err(|error| DbErr::Json(error.to_string()))?;
        let (entity_type, entity_id, created_at) = (D::table(), record.id(), record.created_at());
        let place = self.notes.place.take();
        self.notes.queued.push(Queued { entity_type, entity_id, action, data, created_at, place });
        Ok(())
    }

    /// Has the printers looked after once it is committed.
    pub const fn prints(&mut self) {
        self.notes.prints = true;
    }

    /// One more line of the audit log about the same row, before that of the act.
    pub fn note(&mut self, action: &'static str, approver_id: Option<Uuid>, details: Json) {
        let line = audit::Entry { action, approver_id, details, ..self.notes.line.clone() };
        self.notes.lines.push(line);
    }
}

impl Notes {
    pub(super) const fn new(line: audit::Entry, moment: Moment) -> Self {
        Self {
            line,
            lines: Vec::new(),
            queued: Vec::new(),
            place: None,
            moment,
            prints: false,
            news: Vec::new(),
            parks: false,
        }
    }

    /// As [`Acting::prints`].
    pub(super) const fn has_papers(&self) -> bool {
        self.prints
    }

    /// Notes what tills are told of a row that was written.
    fn tell(&mut self, row: &dyn Any) {
        match Written::of(row) {
            // Of a drawer that is written twice the end counts.
            Some(Written::Drawer(drawer)) => {
                let news = News::Drawer(drawer);
                self.news.retain(|known| known.about() != news.about());
                self.news.push(news);
            }
            Some(Written::Parked) => self.parks = true,
            None => {}
        }
    }

    /// What tills are told, when everything is written.
    pub(super) async fn news(&mut self, tx: &Tx) -> std::result::Result<Vec<News>, DbErr> {
        if std::mem::take(&mut self.parks) {
            self.news.push(News::Parked(ParkedNews::load(tx).await?));
        }
        Ok(std::mem::take(&mut self.news))
    }

    /// A place that no document takes would be a hole in the numbers of the outbox. `docs/sync.md`, I9.
    fn refuse_unused_place(&self) -> std::result::Result<(), DbErr> {
        let unused = || DbErr::Custom("a number was taken, and no document that travels was stored with it".to_owned());
        self.place.as_ref().map_or(Ok(()), |_| Err(unused()))
    }

    /// Queues the documents, and writes the audit log, which comes last: others wait for it.
    pub(super) async fn write(self, tx: &mut Tx, log: Log) -> std::result::Result<(), DbErr> {
        self.refuse_unused_place()?;
        let Self { line, mut lines, queued, moment: Moment { at: now, .. }, .. } = self;
        for Queued { entity_type, entity_id, action, data, created_at, place } in &queued {
            let (entity_id, created_at) = (*entity_id, *created_at);
            let entry = outbox::Entry { entity_type, entity_id, action, data, created_at, depends_on: None };
            match place {
                Some(place) => outbox::enqueue_at(tx, *place, &entry, now).await?,
                None => drop(outbox::enqueue(tx, &entry, now).await?),
            }
        }
        match log {
            Log::Line(details) => lines.push(audit::Entry { details, ..line }),
            Log::Refused(action, details) => {
                tx.set_aside();
                lines.push(audit::Entry { action, details, ..line });
            }
            Log::Unchanged if !queued.is_empty() => {
                return Err(DbErr::Custom("an act that changed a document left no line in the audit log".to_owned()));
            }
            Log::InDocument | Log::Unchanged => {}
        }
        audit::record_all(tx, lines, now).await
    }
}
