//! A PostgreSQL server of one's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::{Mutex, MutexGuard};
use rustix::process::Signal;

use crate::process::{Account, Place, free_port, password};

const TRIES: usize = 5;
const USER: &str = "superstep";

/// A running PostgreSQL server with a superuser `superstep` and a database of that name. It does not wait for the
/// disk unless asked to (`("fsync", "on")`): what was acknowledged outlives [`Postgres::kill`] all the same, because the
/// operating system goes on.
#[derive(Debug)]
pub struct Postgres {
    place: Mutex<Place>,
    programs: PathBuf,
    settings: Vec<String>,
    port: u16,
    password: String,
    url: String,
    databases: AtomicU32,
}

impl Postgres {
    /// Starts a server, or gives `None` when servers are not wanted (see the crate).
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with further settings, as in `("max_connections", "5")`.
    ///
    /// # Panics
    /// When PostgreSQL is not installed, with what to install, or when it does not start, with what it says.
    pub fn start_with(settings: &[(&str, &str)]) -> Option<Self> {
        if crate::unwanted("PostgreSQL server") {
            return None;
        }
        Some(Self::start_from(&Self::installed(), settings))
    }

    fn installed() -> PathBuf {
        programs().into_iter().next().unwrap_or_else(|| {
            panic!(
                "PostgreSQL is not installed. Run `apt-get install postgresql` (`./dev test` does), or set \
                 SUPERSTEP_WITHOUT_SERVERS=1 to skip the tests that need it."
            )
        })
    }

    /// Starts a server that has a disk of this many megabytes: for its log (`pg_wal`), or for
    /// [`Postgres::database_on_disk`]. Only root can; for others there is `None`.
    ///
    /// # Panics
    /// As [`Postgres::start_with`].
    pub fn start_on_disk(megabytes: u64, log: bool) -> Option<Self> {
        if crate::unwanted("PostgreSQL server") {
            return None;
        }
        let programs = Self::installed();
        let mut message = String::new();
        for _ in 0..TRIES {
            let account = Account::instead_of_root(&["postgres", "nobody"]);
            let mut place = Place::new("postgres", account, Signal::INT);
            if !place.with_disk(megabytes << 20) {
                return None;
            }
            // The smallest pieces of the log, and as few as the server can do with; none is kept to be written over.
            let small = [
                ("min_wal_size", "2MB"),
                // Room that comes back when the log is cut would keep the disk from ever being full.
                ("max_wal_size", "1GB"),
                ("checkpoint_timeout", "1d"),
                ("wal_recycle", "off"),
            ];
            let making: &[&str] = match log {
                true => &["--wal-segsize=1", "--waldir=disk/log"],
                false => &[],
            };
            match Self::try_start_at(place, &programs, if log { &small } else { &[] }, making) {
                Ok(postgres) => return Some(postgres),
                Err(words) => message = words,
            }
        }
        panic!("no PostgreSQL server could be started on a small disk; the last one said:\n{message}");
    }

    /// Creates a new, empty database on the small disk and returns its address.
    ///
    /// # Panics
    /// When the server does not make it.
    pub fn database_on_disk(&self) -> String {
        let made = self
            .place()
            .command("mkdir")
            .args(["-m", "700", "disk/tables"])
            .status();
        assert!(made.is_ok_and(|made| made.success()), "a folder on the disk");
        let folder = self.place().folder.join("disk/tables");
        self.create_from(&format!(
            "CREATE TABLESPACE small LOCATION '{}'",
            folder.display()
        ));
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.create_from(&format!("CREATE DATABASE {name} TABLESPACE small"));
        let (server, _) = self.url.rsplit_once('/').expect("the address names a database");
        format!("{server}/{name}")
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

    /// Starts a server that offers TLS, and gives the file of its certificate, which is its own authority.
    ///
    /// # Panics
    /// When `openssl` is missing, and as [`Postgres::start`].
    pub fn start_with_tls() -> Option<(Self, PathBuf)> {
        let server = Self::start()?;
        server.stop();
        {
            let place = server.place();
            let made = place
                .command("openssl")
                .args([
                    "req",
                    "-x509",
                    "-newkey",
                    "ec",
                    "-pkeyopt",
                    "ec_paramgen_curve:prime256v1",
                    "-nodes",
                ])
                .args([
                    "-keyout",
                    "data/server.key",
                    "-out",
                    "data/server.crt",
                    "-days",
                    "2",
                ])
                .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"])
                .args(["-addext", "basicConstraints=critical,CA:FALSE"])
                .output();
            match made {
                Ok(made) if made.status.success() => {}
                other => panic!("openssl makes no certificate (apt-get install openssl): {other:?}"),
            }
            let settings = place.folder.join("data/postgresql.conf");
            let mut text = fs::read_to_string(&settings).expect("the settings can be read");
            text.push_str("\nssl = on\n");
            fs::write(settings, text).expect("the settings can be written");
        }
        server.restart();
        let certificate = server.place().folder.join("data/server.crt");
        Some((server, certificate))
    }

    /// Starts a server that offers an extension, as in `vector`, or says that none here does.
    ///
    /// # Panics
    /// When it does not start, with what it says.
    pub fn start_with_extension(extension: &str) -> Option<Self> {
        if crate::unwanted("PostgreSQL server") {
            return None;
        }
        let offering = programs()
            .into_iter()
            .find(|programs| offers(programs, extension));
        if offering.is_none() {
            println!("skipped: no PostgreSQL here has the extension {extension}");
        }
        Some(Self::start_from(&offering?, &[]))
    }

    fn start_from(programs: &Path, settings: &[(&str, &str)]) -> Self {
        let mut message = String::new();
        // Somebody may take the port between our looking and the server's binding it.
        for _ in 0..TRIES {
            match Self::try_start(programs, settings) {
                Ok(postgres) => return postgres,
                Err(words) => message = words,
            }
        }
        panic!("no PostgreSQL server could be started; the last one said:\n{message}");
    }

    fn try_start(programs: &Path, settings: &[(&str, &str)]) -> Result<Self, String> {
        let account = Account::instead_of_root(&["postgres", "nobody"]);
        // SIGINT is PostgreSQL's fast shutdown: it does not wait for clients.
        let place = Place::new("postgres", account, Signal::INT);
        Self::try_start_at(place, programs, settings, &[])
    }

    fn try_start_at(
        place: Place,
        programs: &Path,
        settings: &[(&str, &str)],
        making: &[&str],
    ) -> Result<Self, String> {
        let (port, password) = (free_port(), password());
        fs::write(place.folder.join("password"), &password).expect("the folder can be written");
        let made = place
            .command(programs.join("initdb"))
            .args(["--pgdata=data", "--auth=scram-sha-256", "--pwfile=password"])
            .args(["--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"])
            .arg(format!("--username={USER}"))
            .args(making.iter().map(|option| match option.split_once("=disk") {
                // It wants a whole path.
                Some((name, rest)) => format!("{name}={}/disk{rest}", place.folder.display()),
                None => (*option).to_owned(),
            }))
            .output()
            .map_err(|error| format!("initdb: {error}"))?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into_owned());
        }
        let own = [
            ("listen_addresses", "127.0.0.1"),
            ("port", &port.to_string()),
            ("unix_socket_directories", ""),
            ("fsync", "off"),
            // Nothing outside the folder, whatever way the server ends.
            ("dynamic_shared_memory_type", "mmap"),
            ("shared_buffers", "64MB"),
            ("max_connections", "200"),
            ("lc_messages", "C"),
        ];
        let settings = own
            .iter()
            .chain(settings)
            .map(|(name, value)| format!("--{name}={value}"))
            .collect();
        let postgres = Postgres {
            place: Mutex::new(place),
            programs: programs.to_owned(),
            settings,
            port,
            url: format!("postgres://{USER}:{password}@127.0.0.1:{port}/{USER}"),
            password,
            databases: AtomicU32::new(0),
        };
        postgres.run()?;
        postgres.create(USER)?;
        Ok(postgres)
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock()
    }

    fn run(&self) -> Result<(), String> {
        let mut place = self.place();
        let mut command = place.command(self.programs.join("postgres"));
        command.args(["-D", "data"]).args(&self.settings);
        let state = place.folder.join("data/postmaster.pid");
        // The first line is the process, so that an old file is not taken for a new one; the eighth is what it is doing.
        place.start(command, |pid| {
            let text = fs::read_to_string(&state).unwrap_or_default();
            let mut lines = text.lines();
            lines.next() == Some(&pid.to_string())
                && lines.nth(6).is_some_and(|doing| doing.trim() == "ready")
        })
    }

    fn create(&self, name: &str) -> Result<(), String> {
        let made = self
            .place()
            .command(self.programs.join("createdb"))
            .args([
                "--host=127.0.0.1",
                "--no-password",
                "--maintenance-db=postgres",
                name,
            ])
            .arg(format!("--port={}", self.port))
            .arg(format!("--username={USER}"))
            .env("PGPASSWORD", &self.password)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("createdb: {error}"))?;
        match made.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&made.stderr).into_owned()),
        }
    }

    /// Executes a statement on the server as its superuser.
    fn create_from(&self, sql: &str) {
        let done = self
            .place()
            .command(self.programs.join("psql"))
            .args(["--host=127.0.0.1", "--no-password", "--no-psqlrc", "--quiet"])
            .args(["--dbname=postgres", "--command", sql])
            .arg(format!("--port={}", self.port))
            .arg(format!("--username={USER}"))
            .env("PGPASSWORD", &self.password)
            .stdin(Stdio::null())
            .output();
        let message = done
            .as_ref()
            .map(|done| String::from_utf8_lossy(&done.stderr).into_owned());
        assert!(
            done.as_ref().is_ok_and(|done| done.status.success()),
            "{sql}: {message:?}"
        );
    }

    /// Returns the address of the server, including the password.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Creates a new, empty database on the server and returns its address.
    ///
    /// # Panics
    /// When the server does not make it.
    pub fn database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        if let Err(message) = self.create(&name) {
            panic!("no database could be made:\n{message}");
        }
        let (server, _) = self.url.rsplit_once('/').expect("the address names a database");
        format!("{server}/{name}")
    }

    /// Stops it in good order; clients are cut off. What it holds stays for [`Postgres::restart`].
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
        let mut message = String::new();
        // After a kill its processes may take a moment to notice, and a new server waits for none of them.
        for _ in 0..50 {
            match self.run() {
                Ok(()) => return,
                Err(words) => message = words,
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("the PostgreSQL server did not start again:\n{message}");
    }
}

/// Returns whether the server with these programs offers the extension.
fn offers(programs: &Path, extension: &str) -> bool {
    let version = programs.parent().and_then(Path::file_name).unwrap_or_default();
    // Debian keeps what belongs to a version apart from its programs.
    let places = [
        programs.join("../share/postgresql"),
        Path::new("/usr/share/postgresql").join(version),
    ];
    places.into_iter().any(|place| {
        place
            .join("extension")
            .join(format!("{extension}.control"))
            .is_file()
    })
}

/// Returns the folders of server programs, the preferred one first: the newest of the distribution, the one on the
/// path, and the one that `SUPERSTEP_POSTGRES` names.
fn programs() -> Vec<PathBuf> {
    let complete = |folder: &PathBuf| {
        ["postgres", "initdb", "createdb"]
            .iter()
            .all(|name| folder.join(name).is_file())
    };
    // Debian keeps them off the path, one folder for each version.
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                entry.path().join("bin"),
            ))
        })
        .collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::var_os("SUPERSTEP_POSTGRES").map(PathBuf::from);
    versions
        .into_iter()
        .rev()
        .map(|(_, folder)| folder)
        .chain(std::env::split_paths(&path))
        .chain(named)
        .filter(complete)
        .collect()
}
