//! One series, as a transaction takes a number of it.

use sea_orm::DbErr;
use tillkeep_model::Instant;
use tillkeep_model::wire::LostNumbers;
use uuid::Uuid;

use super::given::{Given, series_name};
use super::lost;
use crate::outbox::{self, OutboxPosition};
use crate::{Tx, series};

/// So far a series follows what a till has printed; what is beyond is a mistake.
const MOST_AHEAD: i64 = 1000;

/// One series of numbers that a store prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    name: String,
    letter: String,
}

impl Series {
    /// The letter of the series, which is its own part of a printed number.
    pub fn letter(&self) -> &str {
        &self.letter
    }

    /// The next number, for a document of `created_at`, with the place of its entry in the outbox. It is in the file when
    /// [`Numbers::keep`] has returned, after the commit.
    pub async fn next(&self, tx: &Tx, created_at: Instant) -> Result<(Given, OutboxPosition), DbErr> {
        let (number, place) = outbox::place_and_number(tx, &self.name, created_at).await?;
        tx.took(self.name.clone(), number);
        Ok((self.given(number), place))
    }

    /// As [`Series::next`], for a till that has printed `printed`. When the series of `store` is below that, by
    /// [`MOST_AHEAD`] at the most, it goes on from there, and the numbers between are lost; false when it is further below.
    pub async fn next_above(
        &self,
        tx: &Tx,
        created_at: Instant,
        store: Uuid,
        printed: i64,
    ) -> Result<(Given, OutboxPosition, bool), DbErr> {
        let (mut number, place) = outbox::place_and_number(tx, &self.name, created_at).await?;
        let ahead = printed.saturating_sub(number - 1);
        if (1..=MOST_AHEAD).contains(&ahead) {
            tracing::warn!(series = self.name, number, printed, "a till has printed more: numbers are lost");
            let series = self.name.clone();
            lost::note(tx, store, &[LostNumbers { series, from: number, to: printed, noticed_at: created_at }]).await?;
            number = printed + 1;
            series::raise(tx, &self.name, number).await?;
        }
        tx.took(self.name.clone(), number);
        Ok((self.given(number), place, ahead <= MOST_AHEAD))
    }

    fn given(&self, number: i64) -> Given {
        Given { letter: self.letter.clone(), number }
    }
}

/// That numbers may be given now, in the present series.
#[derive(Clone, Debug)]
pub struct Numbering {
    pub(super) letter: String,
}

impl Numbering {
    /// The series of `kind` (`receipt`, `session`, `customer`) for `part`, a register or nothing.
    pub fn series(&self, kind: &str, part: &str) -> Series {
        Series { name: series_name(kind, part, &self.letter), letter: self.letter.clone() }
    }
}
