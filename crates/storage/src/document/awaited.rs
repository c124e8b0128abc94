//! What documents name and headquarters may get after them.

use tillkeep_model::fields;
use uuid::Uuid;

use super::Whole;

/// A column of a document, or of its lines, that names a row which may come later.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    /// The place of the lines among the children in the registry; `None` for a column of the document itself.
    pub lines: Option<usize>,
    pub column: &'static str,
    pub names: Reference,
}

/// What documents name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    Product,
    Customer,
    Session,
    Sale,
    SaleItem,
}

impl Reference {
    pub fn table(self) -> &'static str {
        let book = match self {
            Self::Product => &fields::product::BOOK,
            Self::Customer => &fields::customer::BOOK,
            Self::Session => &fields::session::SESSION,
            Self::Sale => &fields::sale::SALE,
            Self::SaleItem => &fields::sale::ITEM,
        };
        book.table
    }

    /// The flag of a document until HQ has the row.
    pub const fn unknown(self) -> Option<&'static str> {
        match self {
            Self::Product => Some("unknown_product"),
            Self::Customer => Some("unknown_customer"),
            Self::Session => Some("unknown_session"),
            Self::Sale | Self::SaleItem => None,
        }
    }

    /// Whether the nil id says that a document names none of them. A line without a product is one of an
    /// unknown one.
    pub const fn may_be_nil(self) -> bool {
        matches!(self, Self::Session | Self::Sale | Self::SaleItem)
    }
}

impl Awaited {
    /// The ids of the rows that `document` names here.
    pub fn ids(&self, document: &Whole<'_>) -> impl Iterator<Item = Uuid> {
        let Self { lines, column, names } = *self;
        let own = lines.is_none().then_some(document.row);
        let of_lines = lines.and_then(|place| document.lines.get(place)).into_iter().flatten().copied();
        let ids = own.into_iter().chain(of_lines).filter_map(move |row| row.uuid(column));
        ids.filter(move |id| !(id.is_nil() && names.may_be_nil()))
    }
}
