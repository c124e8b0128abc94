//! A CSV file as people send it: what parts its cells, the columns that its first line names, and its rows, each with the line in
//! which it begins.

use csv::{ByteRecord, Reader, ReaderBuilder};
use tillkeep_http::documents::csv::{Cell, MOST, as_written};
use tillkeep_http::error::{Error, Result};

use super::cells::Column;
use super::report::Report;

const UTF_8: &[u8] = b"\xef\xbb\xbf";
const UTF_16: [&[u8]; 2] = [b"\xfe\xff", b"\xff\xfe"];
/// What may part cells, the most likely one first.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];
/// Columns of a file at the most; far more than any kind has.
const MOST_COLUMNS: usize = 200;
const NOT_UTF_8: &str = "is not UTF-8; save the file as \"CSV UTF-8\"";
const NO_NUL: &str = "must not contain the NUL character";

/// A file of which the first line is read.
pub(super) struct Sheet<'a> {
    text: &'a [u8],
    separator: u8,
    columns: &'static [Column],
    /// Of each cell of a line the place of its column.
    places: Vec<usize>,
}

/// One row of a file.
pub(super) struct Row {
    /// In which it begins, from 1.
    pub line: u64,
    columns: &'static [Column],
    /// By the place of the column; nothing where the file has no such column.
    cells: Vec<Option<String>>,
}

impl Row {
    /// What stands in a column; nothing where the file has no such column.
    pub(super) fn cell(&self, name: &str) -> Option<&str> {
        let place = self.columns.iter().position(|column| column.name == name)?;
        self.cells.get(place)?.as_deref()
    }

    /// The cells that say something else than `known`, the cells of the row that is there.
    pub(super) fn differing<'a>(
        &'a self,
        known: Option<&'a [Cell<'a>]>,
    ) -> impl Iterator<Item = (&'static Column, &'a str)> {
        let is_known = move |place: usize, text: &str| known.is_some_and(|known| known[place].says() == text);
        let said = self.columns.iter().zip(&self.cells).enumerate();
        said.filter_map(move |(place, (column, cell))| {
            let text = cell.as_deref()?;
            (!is_known(place, text)).then_some((column, text))
        })
    }
}

impl<'a> Sheet<'a> {
    /// Reads the first line.
    pub(super) fn open(file: &'a [u8], columns: &'static [Column], needed: &[&str]) -> Result<Self> {
        if UTF_16.iter().any(|mark| file.starts_with(mark)) {
            return Err(of_header(NOT_UTF_8));
        }
        let text = file.strip_prefix(UTF_8).unwrap_or(file);
        let separator = separator_of(text);
        let mut header = ByteRecord::new();
        let is_there = reader(text, separator).read_byte_record(&mut header).map_err(Error::internal)?;
        let known = || columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ");
        if !is_there {
            return Err(of_header(&format!("is missing: it names the columns, which may be {}", known())));
        }
        if header.len() > MOST_COLUMNS {
            return Err(of_header(&format!("has more than {MOST_COLUMNS} columns; they may be {}", known())));
        }
        let mut places: Vec<usize> = Vec::new();
        for name in &header {
            let name = std::str::from_utf8(name).map_err(|_| of_header(NOT_UTF_8))?.trim();
            let place = columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
            let place = place.ok_or_else(|| {
                of_header(&format!("has an unknown column {:?}; those known are {}", shown(name), known()))
            })?;
            if places.contains(&place) {
                return Err(of_header(&format!("has the column {name} twice; leave one of the two out")));
            }
            places.push(place);
        }
        let has = |name: &&&str| places.iter().any(|place| columns[*place].name == **name);
        if let Some(name) = needed.iter().find(|name| !has(name)) {
            return Err(of_header(&format!("has no column {name}, by which rows are known; add it")));
        }
        Ok(Self { text, separator, columns, places })
    }

    /// Its rows, from the first.
    pub(super) fn rows(&self) -> Rows<'_> {
        let mut reader = reader(self.text, self.separator);
        let mut record = ByteRecord::new();
        // Whether it is there, and what is in it, is known.
        let header = reader.read_byte_record(&mut record).map(drop);
        Rows { sheet: self, reader, record, broken: header.err(), counted: (0, 1), read: 0 }
    }
}

/// The start of a name that somebody may have taken for one.
fn shown(name: &str) -> String {
    name.chars().take(40).collect()
}

fn of_header(message: &str) -> Error {
    Error::field("line 1", message)
}

fn reader(text: &[u8], separator: u8) -> Reader<&[u8]> {
    ReaderBuilder::new().delimiter(separator).has_headers(false).flexible(true).from_reader(text)
}

/// What parts the cells of the first line: whatever is there most often outside of quotes.
fn separator_of(text: &[u8]) -> u8 {
    let (mut counts, mut quoted) = ([0; SEPARATORS.len()], false);
    for byte in text {
        match byte {
            b'"' => quoted = !quoted,
            b'\r' | b'\n' if !quoted => break,
            byte if !quoted => {
                if let Some(place) = SEPARATORS.iter().position(|separator| separator == byte) {
                    counts[place] += 1;
                }
            }
            _ => {}
        }
    }
    let most = counts.iter().max().copied().unwrap_or_default();
    let place = counts.iter().position(|count| *count == most).unwrap_or_default();
    SEPARATORS[place]
}

/// The rows of a file, one part after the other.
pub(super) struct Rows<'a> {
    sheet: &'a Sheet<'a>,
    reader: Reader<&'a [u8]>,
    record: ByteRecord,
    broken: Option<csv::Error>,
    /// A place in the text, and the line that it is in.
    counted: (usize, u64),
    read: u64,
}

impl Rows<'_> {
    /// The next rows, at most so many; none at the end. What cannot be read goes into `report`.
    pub(super) fn next(&mut self, most: usize, report: &mut Report) -> Result<Vec<Row>> {
        if let Some(error) = self.broken.take() {
            return Err(Error::internal(error));
        }
        let mut rows = Vec::new();
        while rows.len() < most && self.reader.read_byte_record(&mut self.record).map_err(Error::internal)? {
            // What spreadsheets leave behind the last row.
            if self.record.iter().all(|cell| cell.trim_ascii().is_empty()) {
                continue;
            }
            self.read += 1;
            if self.read > MOST {
                let text = format!("has more than {MOST} rows; send it in parts");
                return Err(Error::field("file", text));
            }
            let line = self.line();
            if let Some(row) = self.row(line, report) {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    fn row(&self, line: u64, report: &mut Report) -> Option<Row> {
        let Sheet { columns, places, .. } = self.sheet;
        if self.record.len() != places.len() {
            let text = format!(
                "has {} cells, and the first line has {}: put a text in quotes that has what parts cells in it, and close each \
                 quote",
                self.record.len(),
                places.len()
            );
            report.fault(line, None, &text);
            return None;
        }
        let (mut cells, mut is_text) = (vec![None; columns.len()], true);
        for (cell, place) in self.record.iter().zip(places) {
            let text = std::str::from_utf8(cell).ok();
            if text.is_some_and(|text| text.contains('\0')) {
                report.fault(line, Some(columns[*place].name), NO_NUL);
                is_text = false;
            } else if let Some(cell) = text {
                cells[*place] = Some(as_written(cell).into_owned());
            } else {
                report.fault(line, Some(columns[*place].name), NOT_UTF_8);
                is_text = false;
            }
        }
        is_text.then_some(Row { line, columns, cells })
    }

    /// The line in which the record begins that was read last. The reader says where that is, before the ends of lines that it
    /// passes over.
    fn line(&mut self) -> u64 {
        let text = self.sheet.text;
        let start = self.record.position().map_or(0, csv::Position::byte);
        let mut start = usize::try_from(start).unwrap_or(usize::MAX).min(text.len());
        while matches!(text.get(start), Some(b'\r' | b'\n')) {
            start += 1;
        }
        let (from, line) = self.counted;
        let ends = (from..start).filter(|at| match text[*at] {
            b'\n' => true,
            b'\r' => text.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        self.counted = (start.max(from), line + ends.count() as u64);
        self.counted.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backoffice::sheets::cells::{amount, field};

    static COLUMNS: [Column; 3] = [field("sku"), field("name"), amount("price")];

    /// Each row with its line, and the places of faults.
    fn read(text: &[u8]) -> (Vec<String>, Vec<String>) {
        let sheet = Sheet::open(text, &COLUMNS, &["sku"]).expect("a header");
        let (mut rows, mut report) = (sheet.rows(), Report::default());
        let mut found = Vec::new();
        loop {
            // Two at once, so that the count of lines goes on.
            let some = rows.next(2, &mut report).expect("rows");
            if some.is_empty() {
                break;
            }
            for row in some {
                let cells = ["sku", "name", "price"].map(|name| row.cell(name).unwrap_or("-").to_owned());
                found.push(format!("{} {}", row.line, cells.join("|")));
            }
        }
        let report = serde_json::to_value(&report).expect("JSON");
        let faults = report["errors"].as_array().expect("a list").iter();
        (found, faults.map(|fault| format!("{} {}", fault["line"], fault["column"])).collect())
    }

    fn refused(text: &[u8]) -> String {
        Sheet::open(text, &COLUMNS, &["sku"]).err().map(|error| error.text().to_owned()).expect("a refusal")
    }

    #[test]
    fn a_row_is_known_by_the_line_it_begins_in_whatever_ends_lines() {
        for end in ["\n", "\r\n", "\r"] {
            let text =
                ["sku,name,price", "A,Tea,1", "", "B,\"two", "lines\",2", "C,Milk,3", ",,", "D,Salt,4", ""].join(end);
            let (rows, faults) = read(text.as_bytes());
            let two = format!("4 B|two{end}lines|2");
            assert_eq!(rows, ["2 A|Tea|1", &two, "6 C|Milk|3", "8 D|Salt|4"], "{end:?}");
            assert!(faults.is_empty(), "{faults:?}");
        }
    }

    #[test]
    fn what_parts_cells_is_seen_in_the_first_line_and_columns_stand_in_any_order() {
        for (text, row) in [
            ("sku,name\nA,Tea", "2 A|Tea|-"),
            ("Name;SKU\nTea;A", "2 A|Tea|-"),
            ("price\tsku\n\"19,99\"\tA", "2 A|-|19,99"),
            ("\u{feff}\"sku\";\"price\"\n\"A\";19,99", "2 A|-|19,99"),
            ("sku\nA", "2 A|-|-"),
            ("sku,name\nA,'=1+1", "2 A|=1+1|-"),
        ] {
            assert_eq!(read(text.as_bytes()).0, [row], "{text:?}");
        }
    }

    #[test]
    fn a_first_line_that_cannot_be_is_refused_with_what_it_may_say() {
        assert!(refused(b"").contains("which may be sku, name, price"));
        assert!(refused(b"sku,pirce\n").contains("unknown column \"pirce\"; those known are sku, name, price"));
        assert!(refused(b"sku,SKU\n").contains("twice"));
        assert!(refused(b"name,price\n").contains("no column sku"));
        assert!(refused(b"\xff\xfes\0k\0u\0").contains("CSV UTF-8"));
        assert!(refused(b"sku,n\xe4me\n").contains("CSV UTF-8"));
    }

    #[test]
    fn a_row_of_another_length_or_in_another_coding_is_a_fault_of_its_line() {
        let (rows, faults) = read(b"sku,name\nA\nB,Tea\nC,M\xfcsli\nD,a,b\n");
        assert_eq!(rows, ["3 B|Tea|-"]);
        assert_eq!(faults, ["2 null", "4 \"name\"", "5 null"]);
    }
}
