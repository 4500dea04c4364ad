//! Programs that are ended with everything they started.
//!
//! A group of processes is not enough: a program can leave it (`setsid`), and may end before what it started. So on Linux
//! this executable is started once more between this process and the program: what loses its parent becomes a child of
//! that one, which ends all of them. Elsewhere, and in hosts that do not serve as a helper, the group is ended.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

use crate::programs::helper::HelperProgram;

/// A program and how it is started.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) folder: &'a Path,
    /// Its whole environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
}

/// A program that runs. Dropped, it ends with everything it started.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    child: Box<dyn ChildWrapper>,
    /// Number of the process, as long as nobody has waited for it.
    leader: Option<u32>,
    /// Is it the helper between?
    supervised: bool,
}

/// The pipes of a program.
pub(crate) type Pipes = (ChildStdin, ChildStdout, ChildStderr);

impl ProcessGroup {
    pub(crate) fn start(start: Start<'_>, helper: Option<&HelperProgram>) -> io::Result<(Self, Pipes)> {
        let helper = helper.filter(|_| cfg!(target_os = "linux"));
        let mut command = match helper {
            Some(helper) => supervised(&start, helper)?,
            None => {
                let mut command = Command::new(&start.program);
                command.args(&start.args).env_clear();
                command
            }
        };
        command
            .envs(start.variables)
            .current_dir(start.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(windows)]
        command.creation_flags(0x0800_0000);
        let mut command = CommandWrap::from(command);
        // Away from the terminal's group, so that its Ctrl-C is for us alone.
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        let mut child = command.spawn()?;
        let family = |child: Box<dyn ChildWrapper>| Self {
            leader: child.id(),
            child,
            supervised: helper.is_some(),
        };
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin().take(), child.stdout().take(), child.stderr().take())
        else {
            drop(family(child));
            return Err(io::Error::other("its standard streams are not there"));
        };
        Ok((family(child), (stdin, stdout, stderr)))
    }

    /// Waits for the end of the program; what it started ends then.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        if !self.supervised {
            self.end();
        }
        self.leader = None;
        status
    }

    /// Ends the program and what it started, without waiting for it.
    pub(crate) fn end(&mut self) {
        let Some(leader) = self.leader else { return };
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process, kill_process_group};
            let Some(leader) = i32::try_from(leader).ok().and_then(Pid::from_raw) else {
                return;
            };
            // It may have ended by itself.
            let _ = match self.supervised {
                true => kill_process(leader, Signal::TERM),
                false => kill_process_group(leader, Signal::KILL),
            };
        }
        #[cfg(not(unix))]
        {
            let _ = leader;
            let _ = self.child.start_kill();
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
    }
}

/// Creates the command of the helper that starts a program. A program that cannot be started at all is an error here,
/// not one of the helper.
fn supervised(start: &Start<'_>, helper: &HelperProgram) -> io::Result<Command> {
    let path = start.variables.iter().find(|(name, _)| name == "PATH");
    found(start, path.map(|(_, path)| path))?;
    let mut command = Command::new(&helper.path);
    command.args(&helper.args).env_clear();
    #[cfg(target_os = "linux")]
    command
        .arg0("superstep-helper")
        .envs([crate::programs::helper::HelperWork::ProcessGroup.variable()])
        .env(supervisor::WORDS, supervisor::words(&start.program, &start.args));
    Ok(command)
}

/// Checks whether the program exists.
fn found(start: &Start<'_>, path: Option<&OsString>) -> io::Result<()> {
    let program = Path::new(&start.program);
    let is_file = |file: PathBuf| file.metadata().is_ok_and(|facts| facts.is_file());
    let is_there = match program.components().count() > 1 || program.is_absolute() {
        true => {
            start.folder.join(program).metadata()?;
            true
        }
        false => path
            .iter()
            .flat_map(std::env::split_paths)
            .any(|folder| is_file(start.folder.join(folder).join(program))),
    };
    match is_there {
        true => Ok(()),
        false => Err(io::Error::from(io::ErrorKind::NotFound)),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn work() -> bool {
    false
}
#[cfg(target_os = "linux")]
pub(crate) use supervisor::work;

/// The helper's side.
#[cfg(target_os = "linux")]
mod supervisor {
    use std::ffi::{OsStr, OsString};
    use std::fs;
    use std::io::{self, Write};
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;
    use std::time::{Duration, Instant};

    use rustix::process::{
        Pid, Signal, WaitOptions, getpid, getppid, kill_process, set_child_subreaper,
        set_parent_process_death_signal, wait, waitpid,
    };
    use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
    use tokio::process::Command;
    use tokio::signal::unix::{SignalKind, signal};

    /// Variable with the words of the command.
    pub(super) const WORDS: &str = "SUPERSTEP_COMMAND";
    /// Exit code when the program cannot be started.
    const NOT_STARTED: i32 = 126;
    /// Longest time that ending everything takes.
    const PATIENCE: Duration = Duration::from_secs(5);

    /// Encodes words as text: each byte is one character.
    pub(super) fn words(program: &OsStr, args: &[OsString]) -> String {
        let word = |word: &OsStr| word.as_bytes().iter().map(|byte| char::from(*byte)).collect();
        let words = std::iter::once(program).chain(args.iter().map(OsString::as_os_str));
        serde_json::Value::from(words.map(word).collect::<Vec<String>>()).to_string()
    }

    fn read(words: &str) -> Option<Vec<OsString>> {
        let words: Vec<String> = serde_json::from_str(words).ok()?;
        let word = |word: String| {
            let bytes: Option<Vec<u8>> = word.chars().map(|c| u8::try_from(c).ok()).collect();
            bytes.map(OsString::from_vec)
        };
        words.into_iter().map(word).collect()
    }

    /// Runs the command and ends what is left of it; ends the process as the command ended.
    pub(crate) fn work() -> bool {
        let words = std::env::var(WORDS).ok().and_then(|words| read(&words));
        let Some(words) = words.filter(|words| !words.is_empty()) else {
            return false;
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return false };
        let status = match runtime.block_on(supervise(&words)) {
            Ok(status) => status,
            Err(error) => {
                let _ = writeln!(io::stderr(), "{}: {error}", words[0].to_string_lossy());
                std::process::exit(NOT_STARTED);
            }
        };
        end_all();
        if let Some(number) = status.and_then(|status| status.signal())
            && let Some(signal) = Signal::from_named_raw(number)
        {
            let _ = kill_process(getpid(), signal);
        }
        // A program that was ended for us has no status of its own.
        std::process::exit(status.and_then(|status| status.code()).unwrap_or(1));
    }

    /// Runs the command until it has ended, somebody wants it to end, or the process that started this one is gone.
    async fn supervise(words: &[OsString]) -> io::Result<Option<ExitStatus>> {
        let mut ended = signal(SignalKind::terminate())?;
        let mut orphaned = signal(SignalKind::user_defined1())?;
        let mut children = signal(SignalKind::child())?;
        let parent = getppid();
        set_child_subreaper(Some(getpid()))?;
        // It is also sent when only the thread has ended that started this process.
        set_parent_process_death_signal(Some(Signal::USR1))?;
        if getppid() != parent {
            return Ok(None);
        }
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .env_remove(WORDS)
            .env_remove(crate::programs::helper::HelperWork::ProcessGroup.variable().0)
            .process_group(0);
        let mut leader = command.spawn()?;
        // Its pipes are the program's now: nobody is to wait for this process to close them.
        let nothing = fs::File::options().read(true).write(true).open("/dev/null")?;
        dup2_stdin(&nothing)?;
        dup2_stdout(&nothing)?;
        dup2_stderr(&nothing)?;
        let number = leader.id();
        loop {
            tokio::select! {
                status = leader.wait() => return status.map(Some),
                _ = ended.recv() => return Ok(None),
                _ = orphaned.recv() => if getppid() != parent {
                    return Ok(None);
                },
                _ = children.recv() => bury(number),
            }
        }
    }

    /// Waits for children that have ended, other than the command itself.
    fn bury(leader: Option<u32>) {
        let leader = leader.and_then(|leader| i32::try_from(leader).ok());
        for (child, parent) in processes() {
            if parent == getpid().as_raw_nonzero().get() && Some(child) != leader {
                let _ = waitpid(Pid::from_raw(child), WaitOptions::NOHANG);
            }
        }
    }

    /// Lists every process with its parent.
    fn processes() -> Vec<(i32, i32)> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let facts = |entry: fs::DirEntry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name before it may hold anything.
            let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
            Some((process, parent))
        };
        entries.filter_map(facts).collect()
    }

    /// Ends everything below this process. What a process starts while it is ended is found in the next round.
    fn end_all() {
        let began = Instant::now();
        loop {
            let all = processes();
            let mut family = vec![getpid().as_raw_nonzero().get()];
            let mut at = 0;
            while let Some(parent) = family.get(at).copied() {
                family.extend(
                    all.iter()
                        .filter(|(_, of)| *of == parent)
                        .map(|(child, _)| *child),
                );
                at += 1;
            }
            for process in family.into_iter().skip(1).filter_map(Pid::from_raw) {
                let _ = kill_process(process, Signal::KILL);
            }
            loop {
                match wait(WaitOptions::NOHANG) {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    // There is none any more.
                    Err(_) => return,
                }
            }
            if began.elapsed() > PATIENCE {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
