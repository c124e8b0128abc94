//! What the operating system says of a server: processor, context switches, memory, bytes for the disk; and of a command.

use std::fs;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Ticks a second in `/proc/PID/stat`, whatever the kernel is built with.
const TICKS: u64 = 100;
/// Between two looks at a command that runs.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// What a process used since its start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub cpu: Duration,
    /// Of the threads that are alive.
    pub switches: u64,
}

impl Usage {
    pub fn read(process: u32) -> Result<Self> {
        let stat = read(process, "stat")?;
        // The name is in brackets and may hold anything; user and system time are the 12th and 13th number after it.
        let numbers = stat.rsplit_once(')').map(|(_, rest)| rest).context("stat")?;
        let ticks: u64 = numbers.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<u64>().ok()).sum();
        let mut switches = 0;
        for task in fs::read_dir(format!("/proc/{process}/task"))? {
            // A thread may have ended since it was listed.
            let status = fs::read_to_string(task?.path().join("status")).unwrap_or_default();
            switches += status.lines().filter_map(switched).sum::<u64>();
        }
        Ok(Self { cpu: Duration::from_millis(ticks * 1000 / TICKS), switches })
    }

    pub fn add(&mut self, more: Self) {
        self.cpu += more.cpu;
        self.switches += more.switches;
    }

    /// What was used since `before`.
    pub fn since(self, before: Self) -> Self {
        Self { cpu: self.cpu.saturating_sub(before.cpu), switches: self.switches.saturating_sub(before.switches) }
    }
}

fn switched(line: &str) -> Option<u64> {
    let (name, count) = line.split_once(':')?;
    name.ends_with("voluntary_ctxt_switches").then(|| count.trim().parse().ok())?
}

/// A line of `/proc/PID/status` in bytes: `VmHWM` is the highest resident memory so far, `VmRSS` the present one.
pub fn memory(process: u32, name: &str) -> Result<u64> {
    kib(&read(process, "status")?, name).with_context(|| format!("{name} of a server")).map(|kib| kib * 1024)
}

/// Bytes that a process had written to disks so far; `None` where the system does not say it.
pub fn written(process: u32) -> Option<u64> {
    write_bytes(&read(process, "io").ok()?)
}

fn write_bytes(io: &str) -> Option<u64> {
    io.lines().find_map(|line| line.strip_prefix("write_bytes:"))?.trim().parse().ok()
}

/// A command that has ended.
pub struct Ended {
    pub took: Duration,
    /// The highest resident memory that was seen of it.
    pub most: u64,
    pub status: ExitStatus,
    /// Its standard error.
    pub said: String,
}

/// Runs a command to its end. What it prints is lost.
pub async fn run_to_end(command: &mut Command) -> Result<Ended> {
    let begun = Instant::now();
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().context("a command cannot be started")?;
    let process = child.id().context("a command without a number")?;
    let mut errors = child.stderr.take().context("no standard error")?;
    let reading = tokio::spawn(async move {
        let mut said = Vec::new();
        errors.read_to_end(&mut said).await.map(|_| said)
    });
    let mut most = 0;
    let status = loop {
        // It may have ended since the last look.
        most = most.max(memory(process, "VmHWM").unwrap_or_default());
        tokio::select! {
            status = child.wait() => break status?,
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
    };
    let took = begun.elapsed();
    let said = String::from_utf8_lossy(&reading.await??).into_owned();
    Ok(Ended { took, most, status, said })
}

/// What a server has and has used by now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    /// Bytes that are resident.
    pub memory: u64,
    pub cpu: Duration,
}

impl Standing {
    pub fn read(process: u32) -> Result<Self> {
        Ok(Self { memory: memory(process, "VmRSS")?, cpu: Usage::read(process)?.cpu })
    }

    /// Of two servers together.
    pub fn with(self, other: Self) -> Self {
        Self { memory: self.memory + other.memory, cpu: self.cpu + other.cpu }
    }
}

/// The number of a line such as `VmRSS:  1024 kB`.
pub fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

fn read(process: u32, file: &str) -> Result<String> {
    fs::read_to_string(format!("/proc/{process}/{file}")).context("a server has ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_process_has_memory_and_is_switched_and_what_is_said_of_it_is_read() {
        let own = std::process::id();
        assert!(memory(own, "VmHWM").expect("memory") > 100_000);
        assert!(Usage::read(own).expect("usage").switches > 0);
        assert_eq!(kib("VmRSSX: 3 kB\nVmRSS:\t  1024 kB\n", "VmRSS"), Some(1024));
        assert_eq!(switched("nonvoluntary_ctxt_switches:\t7"), Some(7));
        assert_eq!(switched("Threads:\t7"), None);
        assert_eq!(write_bytes("wchar: 9\nwrite_bytes: 4096\ncancelled_write_bytes: 7\n"), Some(4096));
        assert_eq!(write_bytes("wchar: 9\n"), None);
        assert!(written(own).is_some());
    }

    #[tokio::test]
    async fn what_a_command_took_and_said_is_known_at_its_end() {
        let script = "echo lost; echo two words >&2; sleep 0.1; exit 3";
        let ended = run_to_end(Command::new("sh").args(["-c", script])).await.expect("it runs");
        assert_eq!((ended.status.code(), ended.said.as_str()), (Some(3), "two words\n"));
        assert!(ended.took >= Duration::from_millis(100) && ended.most > 10_000, "{:?} {}", ended.took, ended.most);
    }
}
