//! Enrolled tills. They stay at their store.

use super::{Field, id, label};

pub static ENROLMENT: [Field; 2] = [id("registerId"), label("name", 100)];
