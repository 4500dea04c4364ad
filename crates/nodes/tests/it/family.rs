//! What programs of a graph started is ended with them, here without a helper process: what is in their group.
#![cfg(unix)]

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use superstep::{Input, MemorySaver};
use superstep_nodes::{Environment, Grants, Registry};

use crate::support::{document, one_node, run, wait_until};

/// Is there a process of this number that has not ended?
fn lives(process: &str) -> bool {
    let shown = std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", process])
        .output()
        .unwrap();
    let stat = String::from_utf8(shown.stdout).unwrap();
    !stat.trim().is_empty() && !stat.trim().starts_with('Z')
}

async fn gone_after(folder: &Path, kind: &str, config: Json, input: Json) {
    let registry = Registry::standard().with_helper(None);
    let keys = json!({"n": {}, "messages": {"type": "array", "reducer": "add_messages"}});
    let environment = Environment::new(Some(folder.to_owned())).with_grants(Grants::all());
    let built = registry
        .build(&document(&one_node(keys, kind, config)), &environment)
        .unwrap();
    let graph = built.graph.with_checkpointer(Arc::new(MemorySaver::new()));
    // Whether it comes to something is not what this is about.
    let _ = run(&graph, Input::Value(input.into()), &[]).await;
    drop((graph, registry));
    let file = folder.join("child.pid");
    wait_until("the start of a process", || file.exists()).await;
    let process = std::fs::read_to_string(file).unwrap().trim().to_owned();
    wait_until("the end of the process", || !lives(&process)).await;
}

#[tokio::test]
async fn what_a_server_left_behind_is_ended_when_it_has_ended_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let script = "sh -c 'echo $$ > part; mv part child.pid; exec sleep 1000' </dev/null >/dev/null 2>&1 & \
        while ! [ -e child.pid ]; do sleep 0.01; done; exit 1";
    let servers = json!({"mcpServers": {"odd": {"command": "sh", "args": ["-c", script]}}});
    std::fs::write(folder.path().join(".mcp.json"), servers.to_string()).unwrap();
    let config = json!({"messages": "messages", "mcp": [{"server": "odd", "approval": "none"}]});
    let call = json!({"name": "x", "args": {}, "id": "1", "type": "tool_call"});
    let message = json!({"type": "ai", "content": "", "id": "a", "tool_calls": [call]});
    gone_after(folder.path(), "tools", config, json!({"messages": [message]})).await;
}

#[tokio::test]
async fn what_python_started_is_ended_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = "
import os, subprocess, time
none = subprocess.DEVNULL
script = 'echo $$ > part; mv part child.pid; exec sleep 1000'
subprocess.Popen(['sh', '-c', script], stdin=none, stdout=none, stderr=none)
while not os.path.exists('child.pid'):
    time.sleep(0.01)
return {'n': 1}";
    let config = json!({"language": "python", "source": source});
    gone_after(folder.path(), "code", config, json!({})).await;
}
