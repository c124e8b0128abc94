//! The rows of one page as they travel, as many as fit.

use std::ops::ControlFlow;

use super::unread::Unread;

/// Rows by rising version, until the page is full: what lies behind it is not read.
pub struct Texts {
    pub rows: Vec<String>,
    /// Rows among them that cannot be read.
    pub left_out: Vec<Unread>,
    /// Up to which version the page goes.
    pub latest: i64,
    pub has_more: bool,
    since: i64,
    /// The version of the last one in `rows`.
    last: i64,
    /// Rows that it may still have, those left out among them, and bytes of those in it.
    rows_left: usize,
    bytes_left: usize,
}

impl Texts {
    pub(super) const fn new(since: i64, rows: usize, bytes: usize) -> Self {
        Self {
            rows: Vec::new(),
            left_out: Vec::new(),
            latest: since,
            has_more: false,
            since,
            last: since,
            rows_left: rows,
            bytes_left: bytes,
        }
    }

    /// The next row. One is taken however long it is.
    pub(super) fn take(&mut self, text: String, version: Option<i64>) -> ControlFlow<()> {
        self.room()?;
        if text.len() > self.bytes_left && !self.rows.is_empty() {
            self.has_more = true;
            self.latest = self.last;
            // What lies behind the last one that fits is for the next page.
            self.left_out.retain(|row| row.version.is_none_or(|version| version <= self.last));
            return ControlFlow::Break(());
        }
        self.bytes_left = self.bytes_left.saturating_sub(text.len());
        self.last = version.unwrap_or(self.since);
        self.latest = self.last;
        self.rows.push(text);
        ControlFlow::Continue(())
    }

    /// The next row, which cannot be read.
    pub(super) fn leave_out(&mut self, unread: Unread) -> ControlFlow<()> {
        self.room()?;
        self.latest = unread.version.unwrap_or(self.since);
        self.left_out.push(unread);
        ControlFlow::Continue(())
    }

    /// Counts the next row, if there is room for one more.
    fn room(&mut self) -> ControlFlow<()> {
        let Some(left) = self.rows_left.checked_sub(1) else {
            self.has_more = true;
            return ControlFlow::Break(());
        };
        self.rows_left = left;
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unread(version: i64) -> Unread {
        Unread { table: String::new(), id: None, version: Some(version), parent: None, column: None }
    }

    /// A page of three rows and ten bytes, after version 4, and whether it took each of these rows: so many bytes with a version
    /// that is theirs, or one that cannot be read.
    fn page(rows: &[(Option<usize>, i64)]) -> (Texts, Vec<bool>) {
        let mut page = Texts::new(4, 3, 10);
        let taken = rows.iter().map(|(bytes, version)| match bytes {
            Some(bytes) => page.take("x".repeat(*bytes), Some(*version)).is_continue(),
            None => page.leave_out(unread(*version)).is_continue(),
        });
        let taken = taken.collect();
        (page, taken)
    }

    #[test]
    fn a_page_has_the_rows_and_bytes_that_fit_and_one_row_at_the_least() {
        for (rows, texts, left_out, latest, has_more) in [
            (vec![], 0, 0, 4, false),
            (vec![(Some(5), 5), (Some(5), 7)], 2, 0, 7, false),
            (vec![(Some(5), 5), (Some(6), 7)], 1, 0, 5, true),
            (vec![(Some(50), 5)], 1, 0, 5, false),
            (vec![(Some(50), 5), (Some(1), 6)], 1, 0, 5, true),
            (vec![(Some(1), 5), (Some(1), 6), (Some(1), 7)], 3, 0, 7, false),
            (vec![(Some(1), 5), (None, 6), (Some(1), 7), (Some(1), 8)], 2, 1, 7, true),
            (vec![(Some(1), 5), (Some(1), 6), (None, 7), (None, 8)], 2, 1, 7, true),
            // It lies behind the last one that fits, and comes again with the next page.
            (vec![(Some(9), 5), (None, 6), (Some(2), 7)], 1, 0, 5, true),
        ] {
            let (page, taken) = page(&rows);
            assert_eq!((page.rows.len(), page.left_out.len()), (texts, left_out), "{rows:?}");
            assert_eq!((page.latest, page.has_more), (latest, has_more), "{rows:?}");
            assert_eq!(taken.last().copied().unwrap_or(true), !has_more, "it is read no further: {rows:?}");
        }
    }
}
