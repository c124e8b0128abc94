//! What a command says on the standard output.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use anyhow::{Context, Result};

/// A line, written at once. A reader that has gone, such as `head`, has all that it wanted: that is no failure.
pub fn line(text: impl Display) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("the standard output"),
        _ => Ok(()),
    }
}

/// [`line`] with the arguments of `println!`, in a function that may fail.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*))? };
}

pub(crate) use say;
