//! A server process with a folder and a watchdog.

use std::fs::{self, File, Permissions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};

/// How long a server may take to come up or to go down.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a server is asked whether it is up.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits for the end of its input, which is the end of the test process or of the guard, then ends the server whose
/// number is in the file `pid` of the folder and removes the folder. The first argument is the signal that asks the
/// server to stop.
const WATCHDOG: &str = r#"
cat >/dev/null
pid=$(cat pid 2>/dev/null) && if [ -n "$pid" ]; then
  kill -"$1" "$pid" 2>/dev/null
  tries=0
  while kill -0 "$pid" 2>/dev/null && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -KILL "$pid" 2>/dev/null
fi
folder=$PWD
cd / && rm -rf "$folder"
"#;

/// A user other than us that the server runs as.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    uid: u32,
    gid: u32,
}

impl Account {
    /// Returns the first of these users that exists, if we are root: some servers refuse to run as root.
    pub(crate) fn instead_of_root(names: &[&str]) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let users = fs::read_to_string("/etc/passwd").expect("the list of users can be read");
        names.iter().find_map(|name| {
            let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
            let mut fields = line.split(':').skip(2).map(|field| field.parse().ok());
            Some(Account {
                uid: fields.next()??,
                gid: fields.next()??,
            })
        })
    }
}

/// A private folder, the programs that run in it, and the watchdog that cleans up.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    account: Option<Account>,
    stop: Signal,
    watchdog: Child,
    server: Option<Child>,
    /// Holds a small disk, which is gone with it.
    disk: Option<Child>,
}

/// Mounts a small disk that only its children see, and holds it until its input ends.
const DISK: &str = r#"mount -t tmpfs -o "size=$1" tmpfs disk && chmod 777 disk && echo mounted && exec cat"#;

impl Place {
    /// Creates a new folder. `stop` is the signal that asks the server to shut down cleanly.
    pub(crate) fn new(server: &str, account: Option<Account>, stop: Signal) -> Self {
        let folder = tempfile::Builder::new()
            .prefix(&format!("superstep-{server}-"))
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .expect("a temporary folder can be made")
            .keep();
        if let Some(Account { uid, gid }) = account {
            chown(&folder, Some(uid), Some(gid)).expect("root may give a folder away");
        }
        let mut command = Command::new("sh");
        command
            .args(["-c", WATCHDOG, "watchdog", &stop.as_raw().to_string()])
            .stdin(Stdio::piped());
        // In a group of its own, so that what ends the test (Ctrl-C, a time limit) does not end the cleaning up.
        command
            .current_dir(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let watchdog = as_account(&mut command, account)
            .spawn()
            .expect("a shell can be started");
        Place {
            folder,
            account,
            stop,
            watchdog,
            server: None,
            disk: None,
        }
    }

    /// Makes `disk` in the folder a disk of this many bytes, for every program that is started from now on. False, with a
    /// line that says so, when this user may not mount one.
    pub(crate) fn with_disk(&mut self, bytes: u64) -> bool {
        fs::create_dir(self.folder.join("disk")).expect("the folder can be written");
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-c", DISK, "disk", &bytes.to_string()])
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0);
        let mut holder = command.spawn().expect("unshare is part of every Linux");
        let mut message = String::new();
        let words = holder.stdout.take().expect("its output is ours");
        let read = BufReader::new(words).read_line(&mut message);
        if read.is_err() || message.trim() != "mounted" {
            let _ = holder.kill();
            let _ = holder.wait();
            println!("skipped: a small disk cannot be mounted here");
            return false;
        }
        self.disk = Some(holder);
        true
    }

    /// Returns the path of the file that fills the small disk, as this process reaches it.
    fn filling(&self) -> PathBuf {
        let holder = self.disk.as_ref().map_or(0, Child::id);
        PathBuf::from(format!("/proc/{holder}/root{}/disk/other", self.folder.display()))
    }

    /// Fills the small disk on behalf of another program, except for this many bytes.
    pub(crate) fn fill(&self, leaving: u64) {
        let other = self.filling();
        let disk = other.parent().expect("a folder");
        let free = rustix::fs::statvfs(disk).expect("the disk can be asked");
        let room = free.f_bavail * free.f_frsize;
        let bytes = vec![0_u8; usize::try_from(room.saturating_sub(leaving)).expect("a small disk")];
        fs::write(other, bytes).expect("there is so much room");
    }

    /// Removes what filled the small disk.
    pub(crate) fn empty(&self) {
        fs::remove_file(self.filling()).expect("it was filled");
    }

    /// Builds the command for a program that runs in the folder as the server's user.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let Some(disk) = &self.disk else {
            let mut command = Command::new(program.as_ref());
            command.current_dir(&self.folder);
            as_account(&mut command, self.account);
            return command;
        };
        // Only root enters where the disk is; each program takes the place of the one before it, with its number.
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--mount=/proc/{}/ns/mnt", disk.id()))
            .arg(format!("--wdns={}", self.folder.display()));
        if let Some(Account { uid, gid }) = self.account {
            command
                .args(["setpriv", "--clear-groups"])
                .args([format!("--reuid={uid}"), format!("--regid={gid}")]);
        }
        command.arg(program.as_ref());
        command
    }

    /// Starts the server and waits until `ready`. Its words, if it ends before that, are the error.
    pub(crate) fn start(&mut self, mut command: Command, ready: impl Fn(u32) -> bool) -> Result<(), String> {
        let log = self.folder.join("log");
        let output = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .expect("the log can be written");
        let errors = output.try_clone().expect("a file handle can be copied");
        command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .process_group(0);
        let server = command
            .spawn()
            .map_err(|error| format!("{:?}: {error}", command.get_program()))?;
        let pid = server.id();
        fs::write(self.folder.join("pid"), pid.to_string()).expect("the folder can be written");
        let server = self.server.insert(server);
        let began = Instant::now();
        while !ready(pid) {
            let ended = server.try_wait().expect("a child can be waited for");
            if ended.is_some() || began.elapsed() > PATIENCE {
                let words = fs::read_to_string(&log).unwrap_or_default();
                self.end(Signal::KILL);
                return Err(words);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Stops the server in good order.
    pub(crate) fn stop(&mut self) {
        self.end(self.stop);
    }

    /// Ends the server as a crash does.
    pub(crate) fn kill(&mut self) {
        self.end(Signal::KILL);
    }

    fn end(&mut self, signal: Signal) {
        let Some(mut server) = self.server.take() else {
            return;
        };
        let pid = Pid::from_child(&server);
        // It may have ended by itself, which is as good.
        let _ = kill_process(pid, signal);
        let began = Instant::now();
        while matches!(server.try_wait(), Ok(None)) {
            if began.elapsed() > PATIENCE {
                let _ = kill_process(pid, Signal::KILL);
            }
            std::thread::sleep(PAUSE);
        }
        // The number may soon be another process's.
        match fs::remove_file(self.folder.join("pid")) {
            Err(error) if error.kind() != ErrorKind::NotFound => panic!("the folder can be written: {error}"),
            _ => {}
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.server.is_some() {
            self.stop();
        }
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
        if let Some(mut disk) = self.disk.take() {
            drop(disk.stdin.take());
            let _ = disk.wait();
        }
    }
}

fn as_account(command: &mut Command, account: Option<Account>) -> &mut Command {
    match account {
        Some(Account { uid, gid }) => command.uid(uid).gid(gid),
        None => command,
    }
}

/// Ports for servers: below those that the system gives out by itself, so that no connection of another program takes
/// one between our looking and the server's binding it.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// Returns a port on 127.0.0.1 at which nothing listens, and which no other test program is given while this one runs:
/// a test that finds a server there must find its own.
pub(crate) fn free_port() -> u16 {
    static CLAIMED: Mutex<Vec<File>> = Mutex::new(Vec::new());
    let uid = rustix::process::geteuid().as_raw();
    let folder = std::env::temp_dir().join(format!("superstep-ports-{uid}"));
    fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let start = RandomState::new().build_hasher().finish();
    for step in 0..u64::from(PORTS.end - PORTS.start) {
        let offset = (start.wrapping_add(step) % u64::from(PORTS.end - PORTS.start)) as u16;
        let port = PORTS.start + offset;
        let claim = File::create(folder.join(port.to_string())).expect("the folder can be written");
        if claim.try_lock().is_ok() && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            CLAIMED.lock().push(claim);
            return port;
        }
    }
    panic!(
        "there is no free port on 127.0.0.1 from {} to {}",
        PORTS.start, PORTS.end
    );
}

/// Creates a password that nobody else knows.
pub(crate) fn password() -> String {
    let part = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", part(), part())
}
