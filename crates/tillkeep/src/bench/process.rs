//! What the operating system says of a server: processor, context switches, memory.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// Ticks a second in `/proc/PID/stat`, whatever the kernel is built with.
const TICKS: u64 = 100;

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
    }
}
