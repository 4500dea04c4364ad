//! Reference MCP servers, in the folder where `./dev test rust` puts them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use rustix::process::Signal;

use crate::process::{Place, free_port};

const TRIES: usize = 5;

/// Folder of the servers.
#[derive(Clone, Debug)]
pub struct McpServers(PathBuf);

impl McpServers {
    /// Finds the installed servers; `None` when servers are not wanted (see the crate).
    ///
    /// # Panics
    /// When they are not installed, with what to type.
    pub fn find() -> Option<Self> {
        if crate::unwanted("MCP server") {
            return None;
        }
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
            PathBuf::from,
        );
        let place = target.join("mcp-servers");
        assert!(
            place.join("superstep-wants").is_file(),
            "there are no MCP servers in {}. `./dev test rust` installs them (Node.js and Python are needed); \
             SUPERSTEP_WITHOUT_SERVERS=1 skips these tests",
            place.display()
        );
        Some(Self(place))
    }

    /// Returns the path of a server from npm, by the name of its program.
    pub fn node(&self, program: &str) -> PathBuf {
        self.0.join("node_modules/.bin").join(program)
    }

    /// Returns the path of a server from PyPI, by the name of its program.
    pub fn python(&self, program: &str) -> PathBuf {
        self.0.join("venv/bin").join(program)
    }

    /// Returns the path of Python with the SDK's second line, or with its first.
    pub fn interpreter(&self, is_first: bool) -> PathBuf {
        let venv = if is_first { "venv-1" } else { "venv" };
        self.0.join(venv).join("bin/python")
    }

    /// Returns the folder with the packages from npm.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Starts `server-everything` on a loopback port.
    ///
    /// # Panics
    /// When it does not start, with what it says.
    pub fn over_http(&self) -> McpOverHttp {
        self.serving(&self.node("mcp-server-everything"), &["streamableHttp"])
    }

    /// Starts a server on a loopback port, which it is told in the variable PORT, and in the argument PORT. The variable
    /// SERVERS names the folder of the packages.
    ///
    /// # Panics
    /// When it does not start, with what it says.
    pub fn serving(&self, program: &Path, args: &[&str]) -> McpOverHttp {
        let mut message = String::new();
        // Somebody may take the port between our looking and the server's binding it.
        for _ in 0..TRIES {
            let port = free_port();
            let server = McpOverHttp {
                place: Mutex::new(Place::new("mcp", None, Signal::TERM)),
                program: program.to_owned(),
                args: args.iter().map(ToString::to_string).collect(),
                folder: self.0.clone(),
                port,
            };
            match server.run() {
                Ok(()) => return server,
                Err(words) => message = words,
            }
        }
        panic!("no MCP server could be started; the last one said:\n{message}");
    }
}

/// A running server that speaks streamable HTTP.
#[derive(Debug)]
pub struct McpOverHttp {
    place: Mutex<Place>,
    program: PathBuf,
    args: Vec<String>,
    folder: PathBuf,
    port: u16,
}

impl McpOverHttp {
    fn run(&self) -> Result<(), String> {
        let mut place = self
            .place
            .lock()
            .expect("no test panics while it holds the place");
        let mut command: Command = place.command(&self.program);
        let port = self.port;
        let args = self.args.iter().map(|arg| match &**arg {
            "PORT" => port.to_string(),
            other => other.to_owned(),
        });
        command
            .args(args)
            .env("PORT", port.to_string())
            .env("SERVERS", &self.folder);
        place.start(command, move |_| {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        })
    }

    /// Returns the address at which the server answers.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Ends it without warning, and starts it again.
    ///
    /// # Panics
    /// When it does not come back.
    pub fn restart(&self) {
        self.place
            .lock()
            .expect("no test panics while it holds the place")
            .kill();
        if let Err(message) = self.run() {
            panic!("the MCP server did not come back: {message}");
        }
    }
}
