//! What the commands that run servers take.

use std::path::PathBuf;

use clap::Args;

/// Where `tillkeep hq` runs.
#[derive(Args)]
pub struct HqServer {
    /// Where database and keys live.
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<PathBuf>,
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// On an empty database: one account for each default role, PINs printed. Not for production.
    #[arg(long)]
    pub dev: bool,
}

/// Where `tillkeep store` runs.
#[derive(Args)]
pub struct StoreServer {
    /// Where database and keys live.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
}

/// How large the demo is.
#[derive(Args)]
pub struct DemoArgs {
    /// Stores to run.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=20))]
    pub stores: u8,
    /// Keeps the chain in this directory, and goes on with it the next time.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Sales per minute and till.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=6000))]
    pub pace: u32,
}
