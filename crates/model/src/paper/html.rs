//! A paper as a page of its own, for the print of a browser on a roll of 80 or 58 mm. No script, no file beside it; its style is
//! one text that a policy can name by its hash ([`style`]).

use super::barcode::svg;
use super::blocks::{Block, Weight, blocks};
use super::receipt::Receipt;

const NARROW: i64 = 58;

macro_rules! style_of {
    ($print:literal, $size:literal) => {
        concat!(
            // How long a paper is, and so its size, is the business of whoever prints it.
            "@page{margin:0}*{box-sizing:border-box}",
            "body{width:",
            $print,
            ";margin:0 auto;padding:3mm 0;background:#fff;color:#000;font:",
            $size,
            "/1.35 Arial,'Liberation Sans',Helvetica,sans-serif;font-variant-numeric:tabular-nums}",
            "p{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}p.c{text-align:center}",
            "p.p{display:flex;justify-content:space-between;gap:2mm}p.p b{flex:none;max-width:70%;text-align:right;",
            "white-space:pre-wrap}i{font-style:normal}b{font-weight:inherit}",
            "p.r{display:grid;grid-template-columns:1fr auto auto;gap:0 2mm}p.r i{text-align:right;min-width:11mm}",
            ".s{font-weight:bold}.l{font-weight:bold;font-size:1.35em}",
            "hr{border:0;border-top:.3mm dashed #000;margin:1.5mm 0}",
            "figure{margin:3mm 0 0;text-align:center;break-inside:avoid}svg{display:block;width:100%;height:12mm}"
        )
    };
}

const WIDE_STYLE: &str = style_of!("72mm", "9pt");
const NARROW_STYLE: &str = style_of!("48mm", "7.5pt");

/// The style of a page for a roll of so many millimetres.
#[must_use]
pub const fn style(millimetres: i64) -> &'static str {
    if millimetres <= NARROW { NARROW_STYLE } else { WIDE_STYLE }
}

/// A paper as a page for a roll of so many millimetres.
#[must_use]
pub fn html(receipt: &Receipt, millimetres: i64) -> String {
    page(&blocks(receipt), &receipt.locale, &receipt.number, millimetres)
}

/// `blocks` as a page with a title.
pub(super) fn page(blocks: &[Block], locale: &str, title: &str, millimetres: i64) -> String {
    let body: String = blocks.iter().map(of_block).collect();
    format!(
        "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>{}</style>\n</head>\n\
         <body>\n{body}</body>\n</html>\n",
        escaped(locale),
        escaped(title),
        style(millimetres),
    )
}

fn of_block(block: &Block) -> String {
    match block {
        Block::Centre(text, weight) => format!("<p class=\"c{}\">{}</p>\n", class(*weight), escaped(text)),
        Block::Text(text, weight) => format!("<p class=\"t{}\">{}</p>\n", class(*weight), escaped(text)),
        Block::Pair(left, right, weight) => {
            format!("<p class=\"p{}\"><span>{}</span><b>{}</b></p>\n", class(*weight), escaped(left), escaped(right))
        }
        Block::Row(cells, weight) => {
            let cells: String = cells.iter().enumerate().map(|(place, cell)| of_cell(place, cell)).collect();
            format!("<p class=\"r{}\">{cells}</p>\n", class(*weight))
        }
        Block::Rule => "<hr>\n".to_owned(),
        Block::Barcode(content) => {
            format!("<figure>{}{}</figure>\n", svg(content).unwrap_or_default(), escaped(content))
        }
    }
}

fn of_cell(place: usize, cell: &str) -> String {
    let name = if place == 0 { "span" } else { "i" };
    format!("<{name}>{}</{name}>", escaped(cell))
}

const fn class(weight: Weight) -> &'static str {
    match weight {
        Weight::Plain => "",
        Weight::Strong => " s",
        Weight::Large => " l",
    }
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(letter),
        }
    }
    safe
}
