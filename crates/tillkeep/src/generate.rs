//! `tillkeep generate`: manual pages and completions of shells, from the words of `--help`. For whoever makes packages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;

use crate::output::say;

pub const COMMAND: &str = "generate";
/// What the binary is called, and so what a shell completes.
const PROGRAM: &str = "tillkeep";
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Where the files go.
#[derive(Args)]
pub struct GenerateArgs {
    /// The folder to write `man` and `completions` to; made when it is missing.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Writes what `command`, the whole command line, is described by.
pub fn run(args: &GenerateArgs, command: &Command) -> Result<()> {
    let shown = shown(command);
    let (pages, completions) = (folder(&args.out, "man")?, folder(&args.out, "completions")?);
    clap_mangen::generate_to(shown.clone(), &pages).with_context(|| pages.display().to_string())?;
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut shown.clone(), PROGRAM, &completions)
            .with_context(|| completions.display().to_string())?;
    }
    say!("{} and {} are written.", pages.display(), completions.display());
    Ok(())
}

fn folder(out: &Path, name: &str) -> Result<PathBuf> {
    let folder = out.join(name);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// The command without what its help hides: completions would offer it.
fn shown(command: &Command) -> Command {
    // Once for each command of a program that ends after this.
    let name: &'static str = command.get_name().to_owned().leak();
    let mut shown = Command::new(name)
        .args(command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned())
        .subcommands(command.get_subcommands().filter(|inner| !inner.is_hide_set()).map(self::shown));
    if let Some(version) = command.get_version() {
        shown = shown.version(&*version.to_owned().leak());
    }
    if let Some(about) = command.get_about() {
        shown = shown.about(about.clone());
    }
    if let Some(about) = command.get_long_about() {
        shown = shown.long_about(about.clone());
    }
    if let Some(help) = command.get_after_help() {
        shown = shown.after_help(help.clone());
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    /// The words of each command that `--help` lists, and those of the hidden ones.
    fn listed(command: &Command, words: &[String], hidden: &mut Vec<String>) -> Vec<Vec<String>> {
        let mut found = vec![words.to_vec()];
        for inner in command.get_subcommands() {
            let words = [words, &[inner.get_name().to_owned()]].concat();
            if inner.is_hide_set() {
                hidden.push(inner.get_name().to_owned());
            } else {
                found.extend(listed(inner, &words, hidden));
            }
        }
        found
    }

    #[test]
    fn every_command_that_is_shown_has_a_page_and_is_completed_and_no_hidden_one_is() {
        let dir = tempfile::tempdir().expect("a directory");
        run(&GenerateArgs { out: dir.path().to_owned() }, &Cli::command()).expect("written");
        let mut hidden = Vec::new();
        let commands = listed(&Cli::command(), &[PROGRAM.to_owned()], &mut hidden);
        assert!(commands.len() > 20 && hidden.contains(&COMMAND.to_owned()), "{commands:?} {hidden:?}");

        let expected: BTreeSet<String> = commands.iter().map(|words| format!("{}.1", words.join("-"))).collect();
        let pages = fs::read_dir(dir.path().join("man")).expect("pages").map(|entry| entry.expect("a page"));
        let pages: BTreeSet<String> = pages.map(|page| page.file_name().to_string_lossy().into_owned()).collect();
        assert_eq!(pages, expected);

        let file = |folder: &str, name: &str| fs::read_to_string(dir.path().join(folder).join(name)).expect("a file");
        let mut texts: Vec<String> = expected.iter().map(|page| file("man", page)).collect();
        for name in ["tillkeep.bash", "_tillkeep", "tillkeep.fish"] {
            let text = file("completions", name);
            for word in commands.iter().flat_map(|words| &words[1..]) {
                assert!(text.contains(word.as_str()), "{name} does not complete {word}");
            }
            texts.push(text);
        }
        for name in hidden {
            // As a command: in a page each stroke has another one before it.
            let escaped = name.replace('-', "\\-");
            let forms = [format!("tillkeep {name}"), format!("tillkeep-{name}"), format!("tillkeep\\-{escaped}")];
            let is_there =
                |text: &String| forms.iter().any(|form| text.contains(form)) || text.contains(&format!("'{name}:"));
            assert!(!texts.iter().any(is_there), "{name} is hidden");
        }
    }

    #[test]
    fn a_page_says_what_help_says() {
        let dir = tempfile::tempdir().expect("a directory");
        run(&GenerateArgs { out: dir.path().to_owned() }, &Cli::command()).expect("written");
        let page = fs::read_to_string(dir.path().join("man/tillkeep-store.1")).expect("the page");
        assert!(
            page.contains("Runs a store server") && page.contains("SYNC_TOKEN") && page.contains("listen"),
            "{page}"
        );
        let first = fs::read_to_string(dir.path().join("man/tillkeep.1")).expect("the page");
        assert!(first.contains(env!("CARGO_PKG_VERSION").split('-').next().expect("a number")), "{first}");
    }
}
