//! The printer of a register, as the register has it.

use serde::Deserialize;
use tillkeep_storage::entity::register;

/// Characters in a line of a printer that does not say it.
const COLUMNS: usize = 42;

/// Where the papers of a register are printed, and how.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Printer {
    /// Host and port.
    pub address: String,
    /// Characters in a line.
    pub width: u32,
    /// Its table of letters.
    pub code_page: String,
    /// Whether a drawer for cash is plugged into it.
    #[serde(default)]
    pub opens_drawer: bool,
    /// Whether every sale is printed.
    #[serde(default)]
    pub automatic: bool,
}

impl Printer {
    pub(crate) fn of(register: &register::Model) -> Option<Self> {
        Self::deserialize(&register.printer.as_ref()?.0).ok()
    }

    pub(crate) fn columns(&self) -> usize {
        usize::try_from(self.width).unwrap_or(COLUMNS)
    }
}

/// A paper that is shown, and not printed here: for a printer as most are.
impl Default for Printer {
    fn default() -> Self {
        Self { address: String::new(), width: 42, code_page: "PC437".to_owned(), opens_drawer: false, automatic: false }
    }
}
