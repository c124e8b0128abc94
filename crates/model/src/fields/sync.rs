//! What people say of failed entries.

use super::{Field, text};

pub static RESOLUTION: [Field; 1] = [text("note", 1000)];
