//! The line to a printer: how it is, the bytes of a paper, and whether it came to the end of them.

use std::time::Duration;

use escpos::utils::{DLE_REAL_TIME_STATUS, RealTimeStatusRequest, RealTimeStatusResponse};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::escpos::TELL_AT_THE_END;
use crate::state::Standing;

/// How long a printer may take for each step.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub connect: Duration,
    /// For saying how it is.
    pub status: Duration,
    /// For taking a paper, for each [`PART`] of it.
    pub write: Duration,
    /// For printing what it took, likewise.
    pub end: Duration,
}

/// Bytes of some forty centimetres of paper: a long one takes a printer longer, and is no trouble for that.
const PART: usize = 4096;

/// For a paper of so many bytes.
fn for_all(each: Duration, bytes: usize) -> Duration {
    each.saturating_mul(u32::try_from(bytes / PART + 1).unwrap_or(u32::MAX))
}

impl Default for Patience {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(2), status: seconds(1), write: seconds(10), end: seconds(15) }
    }
}

/// Why a printer takes no paper now.
#[derive(Debug)]
pub(super) struct NotReady {
    pub standing: Standing,
    pub error: String,
}

impl NotReady {
    fn new(standing: Standing, error: impl Into<String>) -> Self {
        Self { standing, error: error.into() }
    }
}

/// A printer that is spoken with.
pub(super) struct Device {
    stream: TcpStream,
    patience: Patience,
}

impl Device {
    pub(super) async fn open(address: &str, patience: Patience) -> Result<Self, NotReady> {
        let away = |why: &str| {
            let text = format!("printer away: {why} at {address}; see that it is switched on and in the network");
            NotReady::new(Standing::Away, text)
        };
        match timeout(patience.connect, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => Ok(Self { stream, patience }),
            Ok(Err(error)) => Err(away(&error.to_string())),
            Err(_) => Err(away("nothing answers")),
        }
    }

    /// Whether it would print.
    pub(super) async fn ready(&mut self) -> Result<(), NotReady> {
        use RealTimeStatusRequest::{OfflineCause, Printer, RollPaperSensor};
        use RealTimeStatusResponse::{
            CoverClosed, ErrorOccurred, Online, PrintingStopsDueToPaperEnd, RollPaperEndSensorPaperPresent,
        };
        let no_paper = || NotReady::new(Standing::OutOfPaper, "out of paper: put in a new roll");
        if self.says(Printer, Online).await? {
            let has_paper = self.says(RollPaperSensor, RollPaperEndSensorPaperPresent).await?;
            return if has_paper { Ok(()) } else { Err(no_paper()) };
        }
        if !self.says(OfflineCause, CoverClosed).await? {
            return Err(NotReady::new(Standing::CoverOpen, "cover open: close the cover of the printer"));
        }
        if self.says(OfflineCause, PrintingStopsDueToPaperEnd).await? {
            return Err(no_paper());
        }
        let fault = self.says(OfflineCause, ErrorOccurred).await?;
        let why = if fault { "it has a fault; switch it off and on" } else { "it does something else" };
        Err(NotReady::new(Standing::Busy, format!("printer busy: {why}")))
    }

    /// What it answers of itself to `asked`.
    async fn says(&mut self, asked: RealTimeStatusRequest, what: RealTimeStatusResponse) -> Result<bool, NotReady> {
        let (number, _): (u8, u8) = asked.into();
        let until = Instant::now() + self.patience.status;
        let question = [DLE_REAL_TIME_STATUS, &[number]].concat();
        let asking = async {
            self.stream.write_all(&question).await?;
            loop {
                let byte = self.stream.read_u8().await?;
                // What is no answer to this is noise.
                if let Ok(said) = RealTimeStatusResponse::parse(asked, byte) {
                    return Ok::<bool, std::io::Error>(said.get(&what).copied().unwrap_or_default());
                }
            }
        };
        match timeout_at(until, asking).await {
            Ok(Ok(said)) => Ok(said),
            Ok(Err(error)) => {
                let text =
                    format!("printer away: it closed the line ({error}); see that no other program prints there");
                Err(NotReady::new(Standing::Away, text))
            }
            Err(_) => {
                let text =
                    "the printer does not say how it is; it must answer the commands DLE EOT and GS r of ESC/POS";
                Err(NotReady::new(Standing::Unknown, text))
            }
        }
    }

    /// Sends a paper. On an error nobody knows how much of it was printed.
    pub(super) async fn send(&mut self, paper: &[u8]) -> Result<(), String> {
        let sending = async {
            self.stream.write_all(paper).await?;
            self.stream.write_all(&TELL_AT_THE_END).await?;
            self.stream.flush().await
        };
        match timeout(for_all(self.patience.write, paper.len()), sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(format!("the line to the printer broke in the middle of the paper ({error})")),
            Err(_) => Err("the printer did not take the paper in time".to_owned()),
        }
    }

    /// Waits until all `bytes` that were sent are printed.
    pub(super) async fn end(&mut self, bytes: usize) -> Result<(), String> {
        match timeout(for_all(self.patience.end, bytes), self.paper_at_the_end()).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err("out of paper while it was printed".to_owned()),
            Ok(Err(error)) => Err(format!("the line to the printer broke before the end of the paper ({error})")),
            Err(_) => Err("the printer did not say that it came to the end of the paper".to_owned()),
        }
    }

    /// The answer to [`TELL_AT_THE_END`]: whether there is paper.
    async fn paper_at_the_end(&mut self) -> std::io::Result<bool> {
        loop {
            let byte = self.stream.read_u8().await?;
            match byte & 0b1001_0011 {
                // One of the four bytes that a printer says by itself, when it was set up to.
                0b0001_0000 => {
                    self.stream.read_exact(&mut [0; 3]).await?;
                }
                bits if bits & 0b1001_0000 == 0 => return Ok(byte & 0b0000_1100 == 0),
                // An answer to another question, or noise.
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printer_may_take_longer_for_a_longer_paper() {
        let Patience { write, .. } = Patience::default();
        assert_eq!(for_all(write, 1_500), write);
        // 500 lines with what they save.
        assert!(for_all(write, 84_000) > write * 20);
    }
}
