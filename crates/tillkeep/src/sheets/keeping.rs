//! A list as it comes, kept as a file: all of it or none, and never more of it in memory than a part.

use std::fs;
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, Response};
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use super::line::{Asked, Headquarters};
use super::progress::Progress;
use crate::output::say;

const KIND: &str = "text/csv";
/// How long a file may be made before it begins to come; headquarters takes 30 seconds at the most.
const BEGIN_WITHIN: Duration = Duration::from_mins(1);
/// How long nothing may come of it.
const STALL: Duration = Duration::from_mins(1);

/// A file that has its name when all of it is there. Whatever ends this before takes it away.
struct Draft {
    file: NamedTempFile,
    path: PathBuf,
}

impl Draft {
    fn of(path: &Path) -> Result<Self> {
        // A device or a folder would be replaced by a file.
        if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
            bail!("--out {} is there already and no file", path.display());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        let file = tempfile::Builder::new().prefix(".tillkeep-export-").tempfile_in(folder);
        let file = file.with_context(|| format!("--out {}: no file can be made there", path.display()))?;
        Ok(Self { file, path: path.to_owned() })
    }

    fn keep(self) -> Result<()> {
        let path = self.path;
        let kept = self.file.as_file().sync_all().and_then(|()| self.file.persist(&path).map_err(|kept| kept.error));
        kept.map(drop).with_context(|| format!("--out {}", path.display()))
    }
}

/// Keeps what `GET path` answers as a file at `out`, or writes it to the standard output.
pub async fn keep(hq: &Headquarters, path: &str, query: &[Asked], out: Option<&Path>) -> Result<()> {
    let draft = out.map(Draft::of).transpose()?;
    let response = begin(hq, path, query).await?;
    let file = match &draft {
        Some(draft) => draft.file.as_file().try_clone().context("the file")?,
        None => std::io::stdout().as_fd().try_clone_to_owned().context("the standard output")?.into(),
    };
    let mut progress = Progress::of("received", response.content_length());
    let written = write(hq, response, File::from_std(file), &mut progress).await;
    let bytes = progress.done();
    drop(progress);
    written?;
    if let Some(draft) = draft {
        let name = draft.path.display().to_string();
        draft.keep()?;
        say!("{name} is written, {bytes} bytes.");
    }
    Ok(())
}

/// The answer, when it is a file.
async fn begin(hq: &Headquarters, path: &str, query: &[Asked]) -> Result<Response> {
    let asked = hq.send(hq.request(Method::GET, path, query)?);
    let response = timeout(BEGIN_WITHIN, asked).await.context("headquarters takes too long to make the file")??;
    if !response.status().is_success() {
        return Err(hq.refused(&hq.hear(response).await?));
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with(KIND)) {
        return Err(hq.is_another(response.status()));
    }
    Ok(response)
}

/// A reader that has gone, such as `head`, has all that it wanted.
async fn write(hq: &Headquarters, mut response: Response, mut out: File, progress: &mut Progress) -> Result<()> {
    loop {
        let part = timeout(STALL, response.chunk()).await.context("nothing more came of the file")?;
        let Some(part) = part.map_err(|error| hq.lost(&error))? else { break };
        match out.write_all(&part).await {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            written => written.context("the file cannot be written")?,
        }
        progress.add(part.len());
    }
    match out.flush().await {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("the file cannot be written"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_has_its_name_when_all_of_it_is_there_and_nothing_stays_of_a_half() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("products.csv");
        fs::write(&path, "before").expect("a file");
        let mut half = Draft::of(&path).expect("a draft");
        half.file.write_all(b"hal").expect("written");
        assert_eq!(names(dir.path()).len(), 2);
        drop(half);
        assert_eq!((names(dir.path()).len(), fs::read(&path).expect("the file")), (1, b"before".to_vec()));
        let mut whole = Draft::of(&path).expect("a draft");
        whole.file.write_all(b"whole").expect("written");
        whole.keep().expect("kept");
        assert_eq!((names(dir.path()).len(), fs::read(&path).expect("the file")), (1, b"whole".to_vec()));
    }

    #[test]
    fn what_is_there_and_no_file_is_not_replaced_by_one() {
        let dir = tempfile::tempdir().expect("a directory");
        for path in [dir.path(), Path::new("/dev/null"), &dir.path().join("none/products.csv")] {
            let error = format!("{:#}", Draft::of(path).err().unwrap_or_else(|| panic!("{} is taken", path.display())));
            assert!(error.contains("--out"), "{error}");
        }
    }
}
