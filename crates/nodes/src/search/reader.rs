//! Reads PDF and HTML in another process.
//!
//! Their readers are made for well-formed files. A hostile one makes them call themselves without end, which takes the
//! whole program down with it, or unpack more than there is memory. So the program starts itself a second time, with
//! limits of the operating system, and hands it one file after the other; when it dies, takes too long or answers too much,
//! that file is not searched, and the next one gets a fresh process.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::files::Form;
use crate::base::processor::{bound_processor_time, exceeded_processor_time};
use crate::programs::helper::{HelperProgram, HelperWork};

/// Stands before an answer: what libraries print goes the same way.
const MARK: char = '\u{1e}';
/// Processor time for one file, unless set otherwise.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many times longer than its processor time a file may take: a busy computer makes no file unreadable, and a
/// process that waits for nothing ends at last.
const MAX_WAIT: u32 = 10;
/// How often somebody may say stop.
const BEAT: Duration = Duration::from_millis(50);
/// Longest text of one file.
const MAX_TEXT: usize = 16 * 1024 * 1024;
/// Memory of the process.
#[cfg(unix)]
const MEMORY: u64 = 1536 * 1024 * 1024;
/// Deep documents want a deep stack.
const STACK: usize = 64 * 1024 * 1024;

/// Command that starts the other process.
#[derive(Clone, Debug)]
pub struct ReaderProgram {
    /// The file.
    pub path: PathBuf,
    /// What it is given. It must call [`serve_if_asked`](crate::serve_if_asked) before anything else.
    pub args: Vec<OsString>,
    /// Processor time that one file may take. Where the system cannot bound it, and for a process that does nothing,
    /// ten times as long by the clock.
    pub patience: Duration,
}

impl ReaderProgram {
    /// Returns this program as a reader; `None` if it does not call [`serve_if_asked`](crate::serve_if_asked).
    pub fn this() -> Option<Self> {
        let HelperProgram { path, args } = HelperProgram::this()?;
        Some(Self {
            path,
            args,
            patience: PATIENCE,
        })
    }
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct DocumentPage {
    /// Counted from one, where the document has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) number: Option<u32>,
    pub(super) text: String,
}

#[derive(Deserialize, Serialize)]
struct Question {
    pdf: bool,
    length: usize,
    /// Processor time that the answer may take.
    patience: Duration,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum ReaderAnswer {
    Pages(Vec<DocumentPage>),
    Problem(String),
}

/// Reader of documents while one folder is indexed; the process is started for the first one and ends with this.
pub(super) struct Reader<'a> {
    program: Option<&'a ReaderProgram>,
    process: Option<ReaderProcess>,
}

struct ReaderProcess {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<ReaderAnswer>,
    patience: Duration,
}

impl Drop for ReaderProcess {
    fn drop(&mut self) {
        self.input = None;
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(program: Option<&'a ReaderProgram>) -> Self {
        Self {
            program,
            process: None,
        }
    }

    /// Reads the pages of a document, or returns why there are none. `None` if `stop` returned true.
    pub(super) fn read(
        &mut self,
        form: Form,
        bytes: Vec<u8>,
        stop: &dyn Fn() -> bool,
    ) -> Option<Result<Vec<DocumentPage>, String>> {
        let Some(program) = self.program else {
            return Some(Err("this program reads no PDF and no HTML".to_owned()));
        };
        let mut process = match self.process.take().map_or_else(|| start(program), Ok) {
            Ok(process) => process,
            Err(e) => return Some(Err(format!("the reader of documents cannot be started: {e}"))),
        };
        let answer = process.ask(form, bytes, stop)?;
        // After a failure nothing is known about the process; the next file gets another.
        if answer.is_ok() {
            self.process = Some(process);
        }
        Some(answer.and_then(|answer| match answer {
            ReaderAnswer::Pages(pages) => Ok(pages),
            ReaderAnswer::Problem(problem) => Err(problem),
        }))
    }
}

fn start(program: &ReaderProgram) -> std::io::Result<ReaderProcess> {
    let mut child = Command::new(&program.path)
        .args(&program.args)
        .env_clear()
        .envs([HelperWork::Documents.variable()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (send, answers) = sync_channel(1);
    let output = child.stdout.take();
    std::thread::Builder::new()
        .name("documents".to_owned())
        .spawn(move || {
            let mut lines = BufReader::new(output?);
            loop {
                let mut line = Vec::new();
                // JSON writes some signs as six.
                let most = MAX_TEXT as u64 * 6;
                let read = lines.by_ref().take(most).read_until(b'\n', &mut line).ok()?;
                let text = std::str::from_utf8(&line)
                    .ok()
                    .and_then(|text| text.strip_prefix(MARK));
                if let Some(answer) = text.and_then(|text| serde_json::from_str(text).ok()) {
                    send.send(answer).ok()?;
                } else if read == 0 || read as u64 == most {
                    return Some(());
                }
            }
        })?;
    Ok(ReaderProcess {
        input: child.stdin.take(),
        child,
        answers,
        patience: program.patience,
    })
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

impl ReaderProcess {
    /// Returns whether the system has ended the process because of its processor time.
    fn is_out_of_time(&mut self) -> bool {
        // One that only closed its output does not end by itself; the status of one that has ended stays what it is.
        let _ = self.child.kill();
        self.child.wait().is_ok_and(exceeded_processor_time)
    }

    fn ask(
        &mut self,
        form: Form,
        bytes: Vec<u8>,
        stop: &dyn Fn() -> bool,
    ) -> Option<Result<ReaderAnswer, String>> {
        const DIED: &str = "its reader broke down: the file is broken, or made to break it";
        let question = Question {
            pdf: form == Form::Pdf,
            length: bytes.len(),
            patience: self.patience,
        };
        let Some(mut input) = self.input.take() else {
            return Some(Err(DIED.to_owned()));
        };
        // A process that hangs takes no input, and must not make this thread hang too.
        let (given, taken) = sync_channel(1);
        let writer = std::thread::Builder::new().spawn(move || {
            let head = serde_json::to_string(&question).unwrap_or_default();
            let written = writeln!(input, "{head}").and_then(|()| input.write_all(&bytes));
            let written = written.and_then(|()| input.flush());
            // Nobody waits any longer when this fails.
            let _ = given.send(written.is_ok().then_some(input));
        });
        if let Err(e) = writer {
            return Some(Err(format!("the reader of documents cannot be used: {e}")));
        }
        let began = Instant::now();
        loop {
            if stop() {
                return None;
            }
            match self.answers.recv_timeout(BEAT) {
                Ok(answer) => {
                    self.input = taken.recv_timeout(self.patience).ok().flatten();
                    return Some(Ok(answer));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Some(Err(match self.is_out_of_time() {
                        true => format!(
                            "reading it takes more than {} of a processor",
                            seconds(self.patience)
                        ),
                        false => DIED.to_owned(),
                    }));
                }
                Err(RecvTimeoutError::Timeout) if began.elapsed() > self.patience * MAX_WAIT => {
                    return Some(Err(format!(
                        "reading it took longer than {}",
                        seconds(self.patience * MAX_WAIT)
                    )));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Reads documents from standard input until it ends; false when that went wrong.
pub(crate) fn work() -> bool {
    limit();
    let served = std::thread::Builder::new().stack_size(STACK).spawn(serve);
    served.is_ok_and(|served| served.join().is_ok())
}

/// Limits the process: no more memory than a document may need, no files written, no core dumps.
fn limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let most = |value| Rlimit {
            current: Some(value),
            maximum: Some(value),
        };
        for (resource, value) in [(Resource::As, MEMORY), (Resource::Fsize, 0), (Resource::Core, 0)] {
            // Where a limit cannot be set, the time and the size of the answer still are limited.
            let _ = setrlimit(resource, most(value));
        }
    }
}

fn serve() {
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    while matches!(input.read_line(&mut line), Ok(read) if read > 0) {
        let Ok(question) = serde_json::from_str::<Question>(&line) else {
            return;
        };
        let mut bytes = Vec::new();
        let length = question.length as u64;
        if input.by_ref().take(length).read_to_end(&mut bytes).is_err() {
            return;
        }
        bound_processor_time(Some(question.patience));
        let pages = match question.pdf {
            true => pdf(&bytes),
            false => html(&bytes),
        };
        bound_processor_time(None);
        let answer = match pages {
            Ok(pages) => ReaderAnswer::Pages(pages),
            Err(problem) => ReaderAnswer::Problem(problem),
        };
        let json = serde_json::to_string(&answer).unwrap_or_default();
        let mut output = std::io::stdout().lock();
        if writeln!(output, "\n{MARK}{json}")
            .and_then(|()| output.flush())
            .is_err()
        {
            return;
        }
        line.clear();
    }
}

/// Reads the texts of the pages. A page that cannot be read does not hide the others.
fn pdf(bytes: &[u8]) -> Result<Vec<DocumentPage>, String> {
    use pdf_extract::{Document, PlainTextOutput, output_doc_page};
    let guarded = std::panic::AssertUnwindSafe(|| {
        let mut document =
            Document::load_mem(bytes).map_err(|e| format!("it is no PDF that can be read ({e})"))?;
        // What is locked only against changes opens without a word.
        if document.is_encrypted() && document.decrypt("").is_err() {
            return Err("it is locked with a password".to_owned());
        }
        Ok(document)
    });
    let document =
        std::panic::catch_unwind(guarded).unwrap_or_else(|_| Err("it is a broken PDF".to_owned()))?;
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    let (mut pages, mut size, mut broken) = (Vec::new(), 0, 0);
    for number in &numbers {
        let page = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut text = String::new();
            let mut output = PlainTextOutput::new(&mut text);
            output_doc_page(&document, &mut output, *number).map(|()| text)
        }));
        let Ok(Ok(text)) = page else {
            broken += 1;
            continue;
        };
        let text = text.replace('\0', "");
        size += text.len();
        if size > MAX_TEXT {
            return Err(format!("its text is longer than {} MB", MAX_TEXT >> 20));
        }
        if !text.trim().is_empty() {
            pages.push(DocumentPage {
                number: Some(*number),
                text,
            });
        }
    }
    match (pages.is_empty(), broken) {
        (false, _) => Ok(pages),
        (true, 0) => Err("it has no text; its pages may be pictures".to_owned()),
        (true, _) => Err(format!("none of its {} pages can be read", numbers.len())),
    }
}

/// Reads the text of a page, with its headings in Markdown.
fn html(bytes: &[u8]) -> Result<Vec<DocumentPage>, String> {
    // Lines are the paragraphs' own, not those of a screen.
    const WIDTH: usize = 100_000;
    let guarded = std::panic::AssertUnwindSafe(|| {
        html2text::config::plain()
            .link_footnotes(false)
            .no_table_borders()
            .string_from_read(bytes, WIDTH)
    });
    let text = match std::panic::catch_unwind(guarded) {
        Ok(Ok(text)) => text,
        Ok(Err(e)) => return Err(format!("it is no HTML that can be read ({e})")),
        Err(_) => return Err("it is broken HTML".to_owned()),
    };
    if text.len() > MAX_TEXT {
        return Err(format!("its text is longer than {} MB", MAX_TEXT >> 20));
    }
    Ok(vec![DocumentPage {
        number: None,
        text: unrolled(&text),
    }])
}

/// Repairs headings that are never closed, which include everything that follows, each line marked as a heading. Only
/// the first of such lines is the heading; between two headings there is an empty line.
fn unrolled(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut above = 0;
    for line in text.split_inclusive('\n') {
        let level = line.chars().take_while(|c| *c == '#').count();
        let marked = (1..=6).contains(&level) && line[level..].starts_with([' ', '\n']);
        if marked && above == level {
            // The mark and its space; what is left is the line as it would be without the heading.
            let rest = &line[level..];
            plain.push_str(rest.strip_prefix(' ').unwrap_or(rest));
            continue;
        }
        above = if marked { level } else { 0 };
        plain.push_str(line);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_ends_where_its_text_does() {
        let text = |page: &str| html(page.as_bytes()).unwrap().remove(0).text;
        assert_eq!(
            text("<h1>Open<p>Some words</p><ul><li>one</li></ul>"),
            "# Open\n\nSome words\n* one\n"
        );
        assert_eq!(
            text("<h2>A</h2><h2>B</h2><p>b</p><h3>C"),
            "## A\n\n## B\n\nb\n\n### C\n"
        );
    }
}
