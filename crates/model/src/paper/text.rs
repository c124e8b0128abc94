//! A paper as text of so many columns.

use super::blocks::{Block, Weight, blocks};
use super::receipt::Receipt;
use super::width::{cut, width};

/// A paper in lines of at most `columns`.
#[must_use]
pub fn text(receipt: &Receipt, columns: usize) -> String {
    joined(&blocks(receipt), columns)
}

/// `blocks` in lines of at most `columns`.
pub(super) fn joined(blocks: &[Block], columns: usize) -> String {
    let lines = blocks.iter().flat_map(|block| lines(block, columns)).collect::<Vec<_>>();
    lines.join("\n") + "\n"
}

/// The lines of one part, none of them longer than `columns`. [`Weight`] takes no columns: a large text is higher, not wider.
#[must_use]
pub fn lines(block: &Block, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    match block {
        Block::Centre(text, _) => wrapped(text, columns).iter().map(|line| centred(line, columns)).collect(),
        Block::Text(text, _) => indented(text, columns),
        Block::Pair(left, right, _) => pair(left, right, columns),
        Block::Row(cells, _) => row(cells, columns),
        Block::Rule => vec!["-".repeat(columns)],
        Block::Barcode(content) => lines(&Block::Centre(content.clone(), Weight::Plain), columns),
    }
}

fn centred(line: &str, columns: usize) -> String {
    format!("{}{line}", " ".repeat((columns - width(line).min(columns)) / 2))
}

/// What goes on is set in as far as its first line is.
fn indented(text: &str, columns: usize) -> Vec<String> {
    let rest = text.trim_start_matches(' ');
    let indent = " ".repeat((text.len() - rest.len()).min(columns / 2));
    wrapped(rest, columns - indent.len()).into_iter().map(|line| format!("{indent}{line}")).collect()
}

/// The amount stands at the end of the last line of what it is of, or below where it does not fit.
fn pair(left: &str, right: &str, columns: usize) -> Vec<String> {
    let room = columns.saturating_sub(width(right) + 1);
    let enough = columns / 3;
    // An amount that leaves no room has a line of its own.
    let mut lines = indented(left, if room < enough { columns } else { room });
    let fits = room >= enough && !lines.is_empty();
    let last = if fits { lines.pop().unwrap_or_default() } else { String::new() };
    lines.extend(right_of(&last, right, columns));
    lines
}

/// `right` at the end of the line that begins with `left`, which leaves room for it or is empty.
fn right_of(left: &str, right: &str, columns: usize) -> Vec<String> {
    let mut parts = if width(right) <= columns { vec![right.to_owned()] } else { wrapped(right, columns) };
    let first = parts.remove(0);
    let gap = columns.saturating_sub(width(left) + width(&first));
    let mut lines = vec![format!("{left}{}{first}", " ".repeat(gap)).trim_end().to_owned()];
    lines.extend(parts.into_iter().map(|part| format!("{}{part}", " ".repeat(columns - width(&part).min(columns)))));
    lines
}

/// Cells of one width each; where one is too long for that the first has a line of its own.
fn row(cells: &[String], columns: usize) -> Vec<String> {
    let Some((first, others)) = cells.split_first() else { return Vec::new() };
    let cell = columns / 4;
    let room = columns - cell * others.len().min(3);
    let is_narrow = others.iter().all(|other| width(other) < cell);
    let amounts: String = others.iter().map(|other| right_aligned(other, cell)).collect();
    if is_narrow && width(first) < room {
        return vec![format!("{first}{}{amounts}", " ".repeat(room - width(first)))];
    }
    let wide = others.iter().map(|other| width(other) + 1).sum::<usize>();
    let mut lines = indented(first, columns);
    if is_narrow {
        lines.push(right_aligned(&amounts, columns));
    } else if wide <= columns {
        lines.push(right_aligned(&others.join(" "), columns));
    } else {
        lines.extend(others.iter().flat_map(|other| right_of("", other, columns)));
    }
    lines
}

fn right_aligned(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Whole words where they fit; a longer one is cut.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    text.lines().flat_map(|line| wrapped_line(line, columns)).collect()
}

fn wrapped_line(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let gap = if line.is_empty() { "" } else { " " };
        if width(&line) + gap.len() + width(word) <= columns {
            line.push_str(gap);
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let mut rest = word;
        while width(rest) > columns {
            let (head, tail) = cut(rest, columns);
            lines.push(head.to_owned());
            rest = tail;
        }
        rest.clone_into(&mut line);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}
