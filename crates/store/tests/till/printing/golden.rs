//! The bytes of one paper, held against the file that is checked in; `UPDATE_GENERATED=1` writes it anew. And that they are the
//! text of the same paper.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{Printing, selling_with, until};
use crate::kit::printer::{Mood, Printer};
use crate::kit::{Shop, cart, id, line};

/// One line of a paper: the crate feeds by a command.
const FEED: &str = r"\x1bd\x01";

#[tokio::test]
async fn the_bytes_of_a_receipt_are_the_ones_that_are_checked_in() {
    // Nothing listens there; the clock stands still.
    let shop = Shop::of_headquarters("http://127.0.0.1:9").await;
    shop.change_product("TEA", |row| row.name = "Thé “Crème” ½ ő Ж 茶".to_owned()).await;
    let printer = Printer::plugged_in(Mood::default()).await;
    let person = selling_with(&shop, printer.address).await;
    let _printing = Printing::begin(&shop);
    let lines = json!([line("TEA", 2), line("BREAD", 1)]);
    let sale = person.post("/pos/sales", cart(lines, json!([{"tenderId": id("CASH")}]))).await.ok(201);
    until(&shop, &["printed"]).await;
    let paper = printer.papers().remove(0);
    let made = paper.escape_ascii().to_string().replace(FEED, &format!("{FEED}\n"));
    assert!(made.contains(r#"Th\x82 \"Cr\x8ame\" \xab o Zh Cha"#), "{made}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/till/printing/receipt.escpos.txt");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        fs::write(&path, &made).expect("a file");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "it is another paper now; look at it, then write the file anew:\n{made}");
    let number = sale["receiptNumber"].as_str().expect("a number");
    assert!(made.contains(&format!(r"\x1dkI\x0f{{B{number}")), "{made}");
}

#[tokio::test]
async fn a_printer_writes_what_stands_in_the_text() {
    let shop = Shop::open().await;
    let printer = Printer::plugged_in(Mood::default()).await;
    let person = selling_with(&shop, printer.address).await;
    let _printing = Printing::begin(&shop);
    let sale = person.sell(json!([line("TEA", 2), line("BREAD", 1)])).await.ok(201);
    until(&shop, &["printed"]).await;
    let number = sale["receiptNumber"].as_str().expect("a number");
    let path = format!("/pos/sales/{}/receipt?format=text&width=42", sale["id"].as_str().expect("an id"));
    let text = person.text(&path).await;
    let written = letters(&printer.papers()[0]);
    let lines = text.lines().filter(|line| !line.trim().is_empty() && line.trim() != number).collect::<Vec<_>>();
    assert!(lines.len() > 5, "{text}");
    for line in lines {
        assert!(written.contains(line), "{line:?} is missing in\n{written}");
    }
}

/// What of a paper is read, without its commands.
fn letters(paper: &[u8]) -> String {
    let (mut text, mut rest) = (String::new(), paper);
    while let Some(byte) = rest.first() {
        let taken = match rest {
            [0x1B, b'd', ..] => {
                text.push('\n');
                3
            }
            [0x1B, b'@', ..] => 2,
            [0x1B, b'p', ..] => 5,
            [0x1B | 0x1D, ..] => 3,
            _ => {
                text.push(char::from(*byte));
                1
            }
        };
        rest = &rest[taken.min(rest.len())..];
    }
    text
}
