//! A list as it comes, kept as a file: all of it or none, and never more of it in memory than a part.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
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
    /// Where it will be.
    path: PathBuf,
    /// What it was called.
    name: String,
}

impl Draft {
    fn of(path: &Path) -> Result<Self> {
        // A device or a folder would be replaced by a file.
        if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
            bail!("--out {} is there already and no file", path.display());
        }
        let name = path.display().to_string();
        // A link goes on leading to the file, which is somewhere else.
        let path = match path.canonicalize() {
            Ok(file) => file,
            Err(_) if path.is_symlink() => bail!("--out {name} is a link that leads to no file"),
            Err(_) => path.to_owned(),
        };
        let file = tempfile::Builder::new().prefix(".tillkeep-export-").tempfile_in(folder(&path));
        let file = file.with_context(|| format!("--out {name}: no file can be made there"))?;
        Ok(Self { file, path, name })
    }

    /// Says what it was called.
    fn keep(self) -> Result<String> {
        let Self { file, path, name } = self;
        persist(file, &path).with_context(|| format!("--out {name}"))?;
        Ok(name)
    }
}

fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|kept| kept.error)?;
    // Without it the old file may be back after a power cut.
    fs::File::open(folder(path))?.sync_all()
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// Keeps what `GET path` answers as a file at `out`, or writes it to the standard output.
pub async fn keep(hq: &Headquarters, path: &str, query: &[Asked], out: Option<&Path>) -> Result<()> {
    let draft = out.map(Draft::of).transpose()?;
    let response = begin(hq, path, query).await?;
    let file = match &draft {
        Some(draft) => draft.file.as_file().try_clone().context("the file")?,
        None => io::stdout().as_fd().try_clone_to_owned().context("the standard output")?.into(),
    };
    let mut progress = Progress::of("received", response.content_length());
    let written = write(hq, response, File::from_std(file), &mut progress).await;
    let bytes = progress.done();
    drop(progress);
    written?;
    if let Some(draft) = draft {
        let name = draft.keep()?;
        say!("{name} is written, {bytes} bytes.");
    }
    Ok(())
}

/// The answer, when it is a file.
async fn begin(hq: &Headquarters, path: &str, query: &[Asked]) -> Result<Response> {
    let asked = hq.send(hq.request(Method::GET, path, query)?);
    let response = timeout(BEGIN_WITHIN, asked).await.context("headquarters takes too long to make the file")??;
    if !response.status().is_success() {
        return Err(refusal(hq, response, STALL).await);
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with(KIND)) {
        return Err(hq.is_another(response.status()));
    }
    Ok(response)
}

/// What an answer says that is no file, when it says all of it within a time.
async fn refusal(hq: &Headquarters, response: Response, within: Duration) -> Error {
    match timeout(within, hq.hear(response)).await {
        Ok(Ok(heard)) => hq.refused(&heard),
        Ok(Err(lost)) => lost.into(),
        Err(_) => anyhow!("headquarters refuses this and does not say why; try again"),
    }
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
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::fs::symlink;

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
    fn a_link_goes_on_leading_to_the_file_and_one_that_leads_nowhere_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let [file, link, astray] = ["products.csv", "link.csv", "astray.csv"].map(|name| dir.path().join(name));
        fs::write(&file, "before").expect("a file");
        symlink(&file, &link).expect("a link");
        symlink(dir.path().join("none.csv"), &astray).expect("a link");
        let mut draft = Draft::of(&link).expect("a draft");
        draft.file.write_all(b"whole").expect("written");
        assert_eq!(draft.keep().expect("kept"), link.display().to_string());
        assert!(link.is_symlink() && fs::read(&file).expect("the file") == b"whole");
        let error = Draft::of(&astray).err().expect("it is refused").to_string();
        assert!(error.contains("leads to no file") && astray.is_symlink(), "{error}");
    }

    #[tokio::test]
    async fn a_refusal_that_does_not_end_ends_the_export() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let answering = std::thread::spawn(move || {
            let (mut line, _) = listener.accept().expect("a line");
            let mut asked = [0; 4096];
            assert!(line.read(&mut asked).expect("a request") > 0);
            line.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 100\r\n\r\n{").expect("a beginning");
            line
        });
        let hq = Headquarters::at(url, None).expect("a client");
        let request = hq.request(Method::GET, "/products", &[]).expect("an address");
        let response = hq.send(request).await.expect("an answer has begun");
        let line = answering.join().expect("it has answered");
        let error = refusal(&hq, response, Duration::from_millis(50)).await.to_string();
        assert!(error.contains("does not say why"), "{error}");
        drop(line);
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
