//! A receipt as the bytes that a printer of receipts takes: ESC/POS. What stands on it is what its text has, line by line.

use escpos::errors::Result;
use escpos::printer::Printer;
use escpos::printer_options::PrinterOptions;
use escpos::utils::{CharacterSet, GS_BARCODE_HEIGHT, GS_BARCODE_POSITION, GS_BARCODE_PRINT, GS_BARCODE_WIDTH};
use escpos::utils::{ESC, JustifyMode, Protocol};
use tillkeep_model::paper::{Block, Receipt, Weight, blocks, lines};

use super::letters::{Bytes, Letters};
use crate::printers::Printer as Settings;

/// What opens a drawer: 50 ms on the second pin, then half a second of rest. The crate leaves the two times out, so that the
/// printer would take the next bytes for them.
const PULSE: [u8; 5] = [ESC, b'p', 0, 25, 250];

/// Code 128, which the crate does not have.
const CODE_128: u8 = 73;
/// Of the letters of Code 128 those that a number is written in.
const SET_B: &[u8] = b"{B";
/// Dots of the thinnest bar, and of the height of all.
const BAR: u8 = 2;
const HEIGHT: u8 = 80;
/// Where the number stands: below its bars.
const BELOW: u8 = 2;

/// Dots of a letter: a paper is as wide as its line.
const DOTS: usize = 12;

/// Asks for the state of the paper once all before it is printed: the answer says that the end is reached.
pub(super) const TELL_AT_THE_END: [u8; 3] = [0x1D, b'r', 1];

/// `receipt` for a printer, with the opening of the drawer before all else.
pub(crate) fn escpos(receipt: &Receipt, settings: &Settings, opens_drawer: bool) -> Result<Vec<u8>> {
    of_blocks(&blocks(receipt), settings, opens_drawer)
}

/// As [`escpos`], of any paper. Without a block nothing comes out: the drawer opens, and that is all.
pub(crate) fn of_blocks(blocks: &[Block], settings: &Settings, opens_drawer: bool) -> Result<Vec<u8>> {
    let letters = Letters::of(&settings.code_page);
    let columns = settings.columns();
    let options = PrinterOptions::new(Some(letters.page()), None, u8::try_from(columns).unwrap_or(42));
    let mut printer = Printer::new(Bytes::default(), Protocol::default(), Some(options));
    printer.init()?;
    if opens_drawer {
        printer.custom(&PULSE)?;
    }
    // What is set with a switch of the printer changes signs of the alphabet.
    printer.character_set(CharacterSet::USA)?;
    for block in blocks {
        write(&mut printer, letters, block, columns)?;
    }
    if !blocks.is_empty() {
        printer.cut()?;
    }
    printer.print()?;
    Ok(printer.driver().into_inner())
}

fn write(printer: &mut Printer<Bytes>, letters: Letters, block: &Block, columns: usize) -> Result<()> {
    if let Block::Barcode(number) = block
        && let Some(bars) = bars(number, columns)
    {
        printer.justify(JustifyMode::CENTER)?.custom(&bars)?.feed()?.justify(JustifyMode::LEFT)?;
        return Ok(());
    }
    let weight = weight(block);
    match weight {
        Weight::Plain => {}
        Weight::Strong => {
            printer.bold(true)?;
        }
        Weight::Large => {
            printer.bold(true)?.size(1, 2)?;
        }
    }
    for line in lines(&block.map(|text| letters.spelled(text)), columns) {
        printer.custom(&letters.encoded(&line))?.feed()?;
    }
    match weight {
        Weight::Plain => {}
        Weight::Strong => {
            printer.bold(false)?;
        }
        Weight::Large => {
            printer.reset_size()?.bold(false)?;
        }
    }
    Ok(())
}

const fn weight(block: &Block) -> Weight {
    match block {
        Block::Centre(_, weight) | Block::Text(_, weight) | Block::Pair(_, _, weight) | Block::Row(_, weight) => {
            *weight
        }
        Block::Rule | Block::Barcode(_) => Weight::Plain,
    }
}

/// The bars of `number`; nothing when they are wider than the paper or it has other signs: it is printed in letters then.
fn bars(number: &str, columns: usize) -> Option<Vec<u8>> {
    // Each sign takes eleven bars' widths; a beginning, a check sign and an end of thirteen go with them.
    let widths = 11 * (number.len() + 2) + 13;
    let is_plain = number.bytes().all(|byte| matches!(byte, b' '..=b'z'));
    let fits = is_plain && !number.is_empty() && widths * usize::from(BAR) <= columns * DOTS;
    let length = u8::try_from(number.len() + SET_B.len()).ok().filter(|_| fits)?;
    let mut bars = Vec::new();
    for (command, value) in [(GS_BARCODE_HEIGHT, HEIGHT), (GS_BARCODE_WIDTH, BAR), (GS_BARCODE_POSITION, BELOW)] {
        bars.extend_from_slice(command);
        bars.push(value);
    }
    bars.extend_from_slice(GS_BARCODE_PRINT);
    bars.extend([CODE_128, length]);
    bars.extend_from_slice(SET_B);
    bars.extend_from_slice(number.as_bytes());
    Some(bars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_that_are_wider_than_the_paper_are_no_bars() {
        let bars_of = bars("S01-02-000123", 32).expect("bars");
        assert_eq!(bars_of[..9], [0x1D, b'h', 80, 0x1D, b'w', 2, 0x1D, b'H', 2]);
        assert_eq!(bars_of[9..], *b"\x1dkI\x0f{BS01-02-000123");
        assert_eq!(bars("WAREHOUSE1-01B-000123", 32), None);
        assert!(bars("WAREHOUSE1-01B-000123", 48).is_some());
        assert_eq!((bars("", 48), bars("Ä-1", 48), bars("{-1", 48)), (None, None, None));
    }
}
