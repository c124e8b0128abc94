//! Commands and flags.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::arguments::{DemoArgs, HqServer, StoreServer};
use crate::output::{line, say};
use crate::{
    audit, backup, bench, configuration, demo, doctor, export, generate, keys, rescue, run, series, sheets, shop,
    verify,
};

/// A point-of-sale backend for a retail chain.
#[derive(Parser)]
#[command(name = "tillkeep", version, arg_required_else_help = true)]
pub struct Cli {
    /// A configuration file; `tillkeep config default` prints one with every key.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the headquarters server.
    #[command(after_help = configuration::help("hq"))]
    Hq(HqArgs),
    /// Runs a store server. Needs `SYNC_TOKEN` and `HQ_URL`.
    #[command(after_help = configuration::help("store"))]
    Store(StoreArgs),
    /// Shows a chain at work on this machine: headquarters, stores, tills that sell.
    Demo(DemoArgs),
    /// Measures this machine: real servers at work, each beside the limit of the same machine in the same minutes.
    Bench(bench::BenchArgs),
    #[command(hide = true, name = bench::empty::COMMAND)]
    EmptyHandler(bench::empty::EmptyArgs),
    /// Writes manual pages and completions of shells, for packages.
    #[command(hide = true, name = generate::COMMAND)]
    Generate(generate::GenerateArgs),
    /// Makes and changes products, customers and prices of stores by a CSV file: all of it or nothing.
    ///
    /// Headquarters that runs takes the file, as from the pages. Ends with 1 when the file has a fault; each one is told by
    /// line and column.
    Import {
        #[command(subcommand)]
        what: sheets::Import,
    },
    /// Writes products, customers, prices of stores or sales to a CSV file.
    ///
    /// Headquarters that runs makes the file, as for the pages. All but sales go in again by `tillkeep import`.
    Export {
        #[command(subcommand)]
        what: sheets::Export,
    },
    /// Verifies the audit log of a server.
    Audit {
        #[command(subcommand)]
        what: audit::AuditCommand,
    },
    /// Checks databases against what must always hold: sales, stock, numbers, copies, the audit log.
    ///
    /// Reads only, beside running servers or without them. What is under way is no finding, unless --settled says that
    /// nothing is.
    Verify(verify::VerifyArgs),
    /// Looks at one installation, and says what is not as it should be and what to do about it.
    ///
    /// Reads only, beside the running server or without it. Ends with 0 when nothing needs anybody, 1 after warnings, 2 after
    /// faults.
    Doctor {
        #[command(subcommand)]
        what: doctor::DoctorCommand,
    },
    /// Writes the database of a running or stopped server, with its keys, to one file; `check` looks into such a file.
    Backup(backup::Backup),
    /// Puts a backup back, so that headquarters and stores notice and heal.
    Restore(backup::Restore),
    /// Shows or changes the keys that tokens are signed with.
    Keys {
        #[command(subcommand)]
        what: keys::KeysCommand,
    },
    /// Shows or checks the configuration.
    Config {
        #[command(subcommand)]
        what: ConfigCommand,
    },
}

#[derive(Args)]
struct HqArgs {
    #[command(flatten)]
    server: HqServer,
    #[command(subcommand)]
    command: Option<HqCommand>,
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
struct StoreArgs {
    #[command(flatten)]
    server: StoreServer,
    #[command(subcommand)]
    command: Option<shop::StoreCommand>,
}

#[derive(Subcommand)]
enum HqCommand {
    /// Fills an empty database with the demo chain and prints its accounts.
    SeedDemo {
        /// Same seed, same chain.
        #[arg(long, default_value_t = demo::SEED)]
        seed: u64,
        /// Stores of the chain.
        #[arg(long, default_value_t = 3)]
        stores: usize,
    },
    /// Gives the configured database a new identity, after it was restored by other means than `tillkeep restore`
    /// (the tools of `PostgreSQL`): stores then send again what it lacks. Headquarters must not be running.
    NewEpoch,
    /// Writes the documents of a month that is over to files: sales, drawers, stock adjustments.
    ///
    /// Reads only, beside the running server or without it. A month with documents that do not change any more gives
    /// the same bytes each time.
    Export(export::Export),
    /// Looks at the keys of headquarters.
    Keys {
        #[command(subcommand)]
        what: HqKeys,
    },
    /// Gives a user a new PIN, shown this once, and ends their sessions. They choose another one when they sign in.
    ResetPin {
        /// The username.
        name: String,
    },
    /// Removes the second factors and recovery codes of a user who has lost them, and ends their sessions.
    ResetFactor {
        /// The username.
        name: String,
    },
    /// Makes a user an administrator of the whole chain, active again if need be; a new account with a PIN, shown this
    /// once, when there is no user of this name.
    MakeAdmin {
        /// The username.
        name: String,
    },
    /// Sets one of a store's series of numbers right: headquarters counts it from there, and a store that asks goes on above.
    SetSeries {
        /// The code of the store.
        #[arg(long)]
        store: String,
        #[command(flatten)]
        series: series::SetSeries,
    },
}

#[derive(Subcommand)]
enum HqKeys {
    /// Counts the users with a PIN that is still kept as in release 0.1.0, under one key for the whole chain.
    Pins,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Prints the built-in configuration with its comments.
    Default,
    /// Says what is wrong with the configuration, and where.
    Check,
}

impl Cli {
    /// Whether it runs until it is stopped, with a log that others read.
    pub const fn is_server(&self) -> bool {
        matches!(
            self.command,
            Command::Hq(HqArgs { command: None, .. }) | Command::Store(StoreArgs { command: None, .. })
        )
    }

    /// Does what was asked; what the program ends with.
    pub async fn run(self) -> Result<u8> {
        let file = self.config.as_deref();
        let done = match self.command {
            Command::Doctor { what } => return doctor::run(what, file).await,
            Command::Import { what } => return sheets::import(what, file).await,
            Command::Export { what } => sheets::export(what, file).await,
            Command::Hq(HqArgs { server, command: None }) => run::hq(server, file).await,
            Command::Hq(HqArgs { server, command: Some(command) }) => command.run(&server, file).await,
            Command::Store(StoreArgs { command: Some(command), .. }) => shop::run(command).await,
            Command::Store(StoreArgs { server, command: None }) => run::store(server, file).await,
            Command::Demo(args) => demo::run(args).await,
            Command::Bench(args) => bench::run(args).await,
            Command::EmptyHandler(args) => bench::empty::serve(args).await,
            Command::Generate(args) => generate::run(&args, &Self::command()),
            Command::Audit { what } => audit::run(what, file).await,
            Command::Verify(args) => verify::run(args, file).await,
            Command::Backup(args) => backup::run(args).await,
            Command::Restore(args) => backup::restore(args).await,
            Command::Keys { what } => keys::run(&what),
            Command::Config { what: ConfigCommand::Default } => line(configuration::DEFAULT.trim_end()),
            Command::Config { what: ConfigCommand::Check } => {
                let configuration = configuration::load(file)?;
                let (hq, store) = (&configuration.hq, &configuration.store);
                for (section, cert, key) in
                    [("hq", &hq.tls_cert, &hq.tls_key), ("store", &store.tls_cert, &store.tls_key)]
                {
                    configuration::tls(cert, key).with_context(|| section)?;
                }
                configuration::database(hq).context("hq")?;
                configuration::broker(hq).context("hq")?;
                say!("{}# The configuration is sound.", configuration::shown(&configuration)?);
                Ok(())
            }
        };
        done.map(|()| 0)
    }
}

impl HqCommand {
    async fn run(self, server: &HqServer, file: Option<&Path>) -> Result<()> {
        let settings = || run::existing_hq(server, file);
        match self {
            Self::SeedDemo { seed, stores } => demo::seed(&run::hq_settings(server, file)?.0, seed, stores).await,
            Self::NewEpoch => run::new_epoch(server, file).await,
            Self::Export(export) => export::run(&settings()?, &export).await,
            Self::ResetPin { name } => rescue::reset_pin(&settings()?, &name).await,
            Self::ResetFactor { name } => rescue::reset_factor(&settings()?, &name).await,
            Self::MakeAdmin { name } => rescue::make_admin(&settings()?, &name).await,
            Self::Keys { what: HqKeys::Pins } => run::former_pins(server, file).await,
            Self::SetSeries { store, series } => series::at_headquarters(&settings()?, &store, &series).await,
        }
    }
}
