//! Papers as they are printed, held against the files in `golden`; `UPDATE_GENERATED=1` writes these anew.

mod papers;
mod reports;

use std::fs;
use std::path::{Path, PathBuf};

use tillkeep_model::paper::report::ReportPaper;
use tillkeep_model::paper::{Block, Weight, blocks, html, lines, style, text, width};
use tillkeep_model::words::PaperKind;

const WIDTHS: [usize; 3] = [32, 42, 48];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/paper/golden").join(name)
}

/// What each paper is in each form, by the name of its file.
fn made() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (name, receipt) in papers::all() {
        for width in WIDTHS {
            files.push((format!("{name}.{width}.txt"), text(&receipt, width)));
        }
        files.push((format!("{name}.80.html"), html(&receipt, 80)));
        if name.ends_with("-sale") {
            files.push((format!("{name}.58.html"), html(&receipt, 58)));
        }
        let json = serde_json::to_string_pretty(&receipt).expect("JSON");
        files.push((format!("{name}.json"), json + "\n"));
    }
    for (name, paper) in reports::all() {
        for width in WIDTHS {
            files.push((format!("{name}.{width}.txt"), paper.text(width)));
        }
        for millimetres in [58, 80] {
            files.push((format!("{name}.{millimetres}.html"), paper.html(millimetres)));
        }
    }
    files
}

#[test]
fn every_paper_is_what_is_checked_in() {
    for (name, made) in made() {
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            fs::write(golden(&name), &made).expect("a file");
        }
        let kept = fs::read_to_string(golden(&name)).unwrap_or_default();
        assert!(kept == made, "{name} is another paper now; look at it, then make generated:\n{made}");
    }
    let known: Vec<String> = made().into_iter().map(|(name, _)| name).collect();
    for file in fs::read_dir(golden("")).expect("the papers") {
        let name = file.expect("a file").file_name().into_string().expect("a name");
        assert!(known.contains(&name), "{name} is no paper any more");
    }
}

#[test]
fn no_line_is_longer_than_its_paper_whatever_stands_on_it() {
    let long = papers::long(500);
    for (name, receipt) in papers::all().into_iter().chain([("500 lines", long)]) {
        for columns in WIDTHS.into_iter().chain([24, 8]) {
            for line in text(&receipt, columns).lines() {
                assert!(width(line) <= columns, "{name} of {columns}: {line:?}");
                assert_eq!(line, line.trim_end(), "{name} of {columns}");
            }
        }
    }
}

#[test]
fn five_hundred_lines_are_all_there_with_their_amounts() {
    let text = text(&papers::long(500), 42);
    assert_eq!(text.matches("Olive oil").count(), 125);
    assert_eq!(text.matches(" x 999,999.999").count(), 500);
}

#[test]
fn a_gift_receipt_has_no_amounts_and_the_number_that_finds_the_sale() {
    for (name, receipt) in papers::all().into_iter().filter(|(_, receipt)| receipt.kind == PaperKind::Gift) {
        let paper = text(&receipt, 42);
        assert!(paper.contains("Riz brisé parfumé") && paper.contains("TICKET CADEAU"), "{name}: {paper}");
        for amount in ["13 500", "27 000", "TVA", "XOF", "Visa", "Diop"] {
            assert!(!paper.contains(amount), "{name}: {amount} in {paper}");
        }
        assert!(blocks(&receipt).contains(&Block::Barcode(receipt.number.clone())));
    }
}

#[test]
fn a_name_in_wide_letters_is_broken_where_the_paper_ends() {
    let name = Block::Pair("抹茶ラテ".into(), "1.250 A".into(), Weight::Plain);
    assert_eq!(lines(&name, 32), ["抹茶ラテ                 1.250 A"]);
    let long = lines(&Block::Text("  日本語日本語日本語".into(), Weight::Plain), 10);
    assert_eq!(long, ["  日本語日", "  本語日本", "  語"]);
    assert_eq!(width("e\u{301}"), 1);
}

#[test]
fn an_amount_that_leaves_no_room_stands_below_what_it_is_of() {
    let pair = Block::Pair("Total of everything".into(), "-92,233,720,368,547,758.08".into(), Weight::Large);
    assert_eq!(lines(&pair, 32), ["Total of everything", "      -92,233,720,368,547,758.08"]);
    let row = Block::Row(["A VAT 20 % incl.", "1,234,567.00", "246,913.40"].map(Into::into).to_vec(), Weight::Plain);
    assert_eq!(lines(&row, 32), ["A VAT 20 % incl.", "         1,234,567.00 246,913.40"]);
}

#[test]
fn a_page_has_no_script_no_file_beside_it_and_no_tag_of_a_name() {
    for (name, mut receipt) in papers::all() {
        receipt.shop.header = Some("<script>alert(1)</script> & \"more\"".into());
        let page = html(&receipt, 80);
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;"), "{name}");
        for sign in ["<script", "src=", "href=", "url(", "@import", " style=", " on"] {
            let body = page.split("<body>").nth(1).expect("a body");
            assert!(sign == " on" || !page.contains(sign), "{name} has {sign}");
            assert!(!body.contains("javascript:"), "{name}");
        }
        assert_eq!(page.matches("<style>").count(), 1);
        assert!(
            page.contains(&format!("<style>{}</style>", style(80))),
            "{name}: a policy names the style by its hash"
        );
    }
}

#[test]
fn what_a_printer_would_obey_is_not_on_a_paper() {
    let (_, mut receipt) = papers::all().remove(0);
    receipt.cashier_name = "An\u{1b}p\u{0}na\u{202e}".into();
    receipt.lines[0].name = "Milk\u{1d}V\u{1}".into();
    let paper = text(&receipt, 42);
    assert!(paper.contains("Anpna") && paper.contains("MilkV"), "{paper}");
    assert!(paper.chars().all(|letter| letter == '\n' || !letter.is_control()), "{paper:?}");
}

#[test]
fn no_line_of_a_report_is_longer_than_its_paper() {
    for (name, paper) in reports::all() {
        for columns in WIDTHS.into_iter().chain([24, 8]) {
            for line in paper.text(columns).lines() {
                assert!(width(line) <= columns, "{name} of {columns}: {line:?}");
                assert_eq!(line, line.trim_end(), "{name} of {columns}");
            }
        }
    }
}

#[test]
fn a_report_that_waits_with_its_print_job_says_the_same_when_it_is_printed() {
    for (name, paper) in reports::all() {
        let kept = serde_json::to_string(&paper).expect("JSON");
        let read: ReportPaper = serde_json::from_str(&kept).expect("a paper");
        assert_eq!(read.text(42), paper.text(42), "{name}");
        assert_eq!(read, paper, "{name}");
        let column = serde_json::to_value(&paper).expect("a value");
        assert_eq!(serde_json::from_value::<ReportPaper>(column).expect("a paper"), paper, "{name}");
    }
}

#[test]
fn what_stands_on_a_blind_x_has_the_amounts_of_the_float_and_of_own_movements_alone() {
    for (name, paper) in reports::all().into_iter().filter(|(name, _)| name.ends_with("x-blind")) {
        let text = paper.text(42);
        let is_amount =
            |word: &&str| word.contains([',', '.']) && word.ends_with(|letter: char| letter.is_ascii_digit());
        let words = text.lines().filter(|line| !line.contains("2026")).flat_map(|line| line.split("  "));
        let amounts: Vec<&str> = words.map(str::trim).filter(is_amount).collect();
        let of_place = match &name[..9] {
            "report-de" => vec!["12,5", "12,5", "200,00", "50,00", "150,00"],
            "report-kw" => vec!["12.5", "12.5", "200.000", "50.000", "150.000"],
            _ => vec!["12,5", "12,5"],
        };
        assert_eq!(amounts, of_place, "{name}: {text}");
    }
}

#[test]
fn a_reprint_says_so_with_its_number_and_a_drawer_that_nobody_counted_has_no_count() {
    let papers = reports::all();
    let text = |wanted: &str| papers.iter().find(|(name, _)| name == wanted).expect("a paper").1.text(42);
    let forced = text("report-de-z-copy-forced");
    for part in ["KOPIE 2", "Zwangsweise ohne Zählung geschlossen", "nicht gezählt", "Die Zahlen gehen nicht auf"] {
        assert!(forced.contains(part), "{part}: {forced}");
    }
    let (_, mut uncounted) = papers.iter().find(|(name, _)| name == "report-kw-z").expect("a paper").clone();
    uncounted.copy = Some(0);
    assert!(uncounted.text(42).lines().any(|line| line.trim() == "COPY"));
    assert!(!forced.contains("Differenz") && !text("report-de-z").contains("KOPIE"));
    assert!(text("report-kw-zz").contains("02-13 - 14"), "the numbers that no Z has");
    assert!(!text("report-fr-z-old").contains("Contrôle"), "an earlier release did not count that");
    let mixed = text("report-de-zz-old");
    assert!(
        !mixed.contains("Warengruppe") && mixed.contains("Abschöpfung"),
        "a sum of some is not that of all: {mixed}"
    );
}

#[test]
fn names_on_a_page_of_a_report_are_no_tags() {
    for (name, paper) in reports::all() {
        let page = paper.html(58);
        assert!(!page.contains("<Al>"), "{name}");
        assert!(page.contains(&format!("<style>{}</style>", style(58))), "{name}");
    }
}
