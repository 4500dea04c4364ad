//! A Redis server of one's own.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rustix::process::Signal;

use crate::process::{Place, free_port, password};

const TRIES: usize = 5;
/// How long a server that is there may take to answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// A running Redis server. It writes every command to its append-only file before it answers, so that what was
/// acknowledged outlives [`Redis::kill`].
#[derive(Debug)]
pub struct Redis {
    place: Mutex<Place>,
    settings: Vec<String>,
    port: u16,
    password: String,
    url: String,
}

impl Redis {
    /// Starts a server, or gives `None` when servers are not wanted (see the crate).
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with further settings, as in `("maxmemory", "1mb")`.
    ///
    /// # Panics
    /// When Redis is not installed, with what to install, or when it does not start, with what it says.
    pub fn start_with(settings: &[(&str, &str)]) -> Option<Self> {
        if crate::unwanted("Redis server") {
            return None;
        }
        let mut message = String::new();
        // Somebody may take the port between our looking and the server's binding it.
        for _ in 0..TRIES {
            match Self::try_start(settings) {
                Ok(redis) => return Some(redis),
                Err(words) => message = words,
            }
        }
        panic!("no Redis server could be started; the last one said:\n{message}");
    }

    /// Starts a server that keeps its file on a disk of this many megabytes; only root can, and for others there is `None`.
    ///
    /// # Panics
    /// As [`Redis::start_with`].
    pub fn start_on_disk(megabytes: u64) -> Option<Self> {
        if crate::unwanted("Redis server") {
            return None;
        }
        let mut message = String::new();
        for _ in 0..TRIES {
            let mut place = Place::new("redis", None, Signal::TERM);
            if !place.with_disk(megabytes << 20) {
                return None;
            }
            match Self::try_start_at(place, &[("dir", "disk"), ("auto-aof-rewrite-percentage", "0")]) {
                Ok(redis) => return Some(redis),
                Err(words) => message = words,
            }
        }
        panic!("no Redis server could be started on a small disk; the last one said:\n{message}");
    }

    /// Fills the small disk on behalf of another program, except for this many bytes.
    ///
    /// # Panics
    /// When that cannot be written.
    pub fn fill_disk(&self, leaving: u64) {
        self.place().fill(leaving);
    }

    /// Removes what filled the small disk.
    ///
    /// # Panics
    /// When it was not filled.
    pub fn empty_disk(&self) {
        self.place().empty();
    }

    fn try_start(settings: &[(&str, &str)]) -> Result<Self, String> {
        Self::try_start_at(Place::new("redis", None, Signal::TERM), settings)
    }

    fn try_start_at(place: Place, settings: &[(&str, &str)]) -> Result<Self, String> {
        let (port, password) = (free_port(), password());
        let own = [
            ("bind", "127.0.0.1"),
            ("port", &port.to_string()),
            ("requirepass", &password),
            ("save", ""),
            ("appendonly", "yes"),
            // With `everysec` it answers before it writes while its disk is slow, and a kill would lose that.
            ("appendfsync", "no"),
        ];
        let settings = own
            .iter()
            .chain(settings)
            .flat_map(|(name, value)| [format!("--{name}"), (*value).to_owned()])
            .collect();
        let redis = Redis {
            place: Mutex::new(place),
            settings,
            port,
            url: format!("redis://:{password}@127.0.0.1:{port}/0"),
            password,
        };
        redis.run()?;
        Ok(redis)
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock()
    }

    fn run(&self) -> Result<(), String> {
        let mut place = self.place();
        let mut command = place.command("redis-server");
        command.args(&self.settings);
        place.start(command, |_| self.is_ready().is_some()).map_err(|message| {
            format!(
                "{message}\nIf redis-server is missing: apt-get install redis-server (`./dev test` does), or set \
                 SUPERSTEP_WITHOUT_SERVERS=1 to skip the tests that need it."
            )
        })
    }

    /// Checks whether the server is ready: it listens before it has read its file, and until then it refuses every
    /// command.
    fn is_ready(&self) -> Option<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(ANSWERS_WITHIN)).ok()?;
        write!(stream, "AUTH {}\r\nPING\r\n", self.password).ok()?;
        let mut lines = BufReader::new(stream).lines();
        let message = [lines.next()?.ok()?, lines.next()?.ok()?];
        (message == ["+OK", "+PONG"]).then_some(())
    }

    /// Returns the address of the server, including the password.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Stops it in good order. What it holds stays for [`Redis::restart`].
    pub fn stop(&self) {
        self.place().stop();
    }

    /// Ends it as a crash does.
    pub fn kill(&self) {
        self.place().kill();
    }

    /// Stops it if it runs and starts it again at the same address.
    ///
    /// # Panics
    /// When it does not start.
    pub fn restart(&self) {
        self.stop();
        if let Err(message) = self.run() {
            panic!("the Redis server did not start again:\n{message}");
        }
    }
}
