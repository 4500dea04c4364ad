//! `superstep trust`: what the graphs of a folder may touch outside of themselves.

use std::path::Path;

use serde_json::json;
use superstep_nodes::Registry;
use superstep_nodes::attach::AttachTarget;
use superstep_workbench::{Granted, Trust, WantedAccess};

use crate::args::TrustArgs;
use crate::commands::attach::NamedProgram;
use crate::commands::attach_server::NamedServer;
use crate::fault::Fault;
use crate::graph::{GraphFile, described};
use crate::out::{self, quoted};
use crate::place;

pub(crate) fn trust(args: &TrustArgs) -> Result<(), Fault> {
    let trust = Trust::of(&place::data_dir()?);
    let Some(graph) = &args.graph else {
        return list(&trust, args.json);
    };
    let Subject {
        project,
        wanted,
        errors,
    } = Subject::read(graph)?;
    if args.revoke {
        let these = (!args.allow.is_empty()).then_some(args.allow.as_slice());
        trust.revoke(&project, these)?;
    } else if args.all {
        trust.allow(&project, wanted.keys().cloned())?;
    } else if !args.allow.is_empty() {
        trust.allow(&project, args.allow.iter().cloned())?;
    }
    let granted = trust.granted(&project);
    let grants = trust.grants(&project);
    if args.json {
        let wants: Vec<_> = wanted
            .iter()
            .map(|(access, nodes)| {
                json!({"access": access.key(), "nodes": nodes, "inside": access.inside(), "allowed": grants.allow(access)})
            })
            .collect();
        return Ok(out::pretty(
            &json!({"project": project, "wants": wants, "allowed": allowed(&granted)}),
        )?);
    }
    out::note(&format!("project {project}"));
    if errors > 0 {
        out::note(&format!(
            "The graph has {}, and what is broken in it is not looked at: it may want more once that is mended. \
             `superstep check {}` shows everything.",
            out::count(errors as u64, "error"),
            quoted(&graph.to_string_lossy())
        ));
    } else if wanted.is_empty() {
        out::note("The graph touches nothing outside of itself.");
    }
    let mut rows: Vec<Vec<String>> = wanted
        .iter()
        .map(|(access, nodes)| {
            let state = if grants.allow(access) { "allowed" } else { "asks" };
            let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
            vec![state.into(), access.key(), described(access), nodes.join(", ")]
        })
        .collect();
    // What was allowed for an earlier form of the graph, or for another one of the folder.
    let more = granted
        .iter()
        .filter(|granted| !wanted.contains_key(&granted.access));
    rows.extend(more.map(|granted| {
        vec![
            "allowed".into(),
            granted.access.key(),
            described(&granted.access),
            "-".into(),
        ]
    }));
    if !rows.is_empty() {
        out::table(&["STATE", "WHAT", "WHICH IS", "NODES"], &rows)?;
    }
    if wanted.keys().any(|access| !grants.allow(access)) {
        out::note(&format!(
            "Allow all of it with: superstep trust {} --all",
            quoted(&graph.to_string_lossy())
        ));
    }
    Ok(())
}

/// The graph, program or server whose grants are shown.
struct Subject {
    project: String,
    wanted: WantedAccess,
    /// Number of errors of a graph, whose broken parts are not looked at.
    errors: usize,
}

impl Subject {
    /// Reads a graph file, or finds what a LangGraph program or server needs.
    fn read(graph: &Path) -> Result<Self, Fault> {
        if let Some(text) = graph.to_str().filter(|text| NamedServer::is_named_by(text)) {
            let server = NamedServer::find(text, &[], None)?;
            return Ok(Self {
                project: server.project(),
                wanted: server.wanted,
                errors: 0,
            });
        }
        if let Some(text) = graph.to_str().filter(|text| AttachTarget::is_named_by(text)) {
            let program = NamedProgram::find(text, &[])?;
            return Ok(Self {
                project: program.project(),
                wanted: program.wanted,
                errors: 0,
            });
        }
        let file = GraphFile::read(graph)?;
        let registry = Registry::standard();
        let problems = file.problems(&registry);
        Ok(Self {
            project: Trust::project_of(&file.path),
            wanted: file.wanted(&registry),
            errors: problems.iter().filter(|problem| problem.is_error()).count(),
        })
    }
}

fn allowed(granted: &[Granted]) -> Vec<serde_json::Value> {
    let one = |granted: &Granted| json!({"access": granted.access.key(), "at": granted.at});
    granted.iter().map(one).collect()
}

fn list(trust: &Trust, json: bool) -> Result<(), Fault> {
    let projects = trust.projects()?;
    if json {
        let all: serde_json::Map<String, serde_json::Value> = projects
            .iter()
            .map(|(project, granted)| (project.clone(), allowed(granted).into()))
            .collect();
        return Ok(out::pretty(&all)?);
    }
    if projects.is_empty() {
        out::note("Nothing is allowed in any project.");
        return Ok(());
    }
    let mut rows = Vec::new();
    for (project, granted) in &projects {
        let gone = if Path::new(project).is_dir() || NamedServer::is_named_by(project) {
            ""
        } else {
            " (not there)"
        };
        for granted in granted {
            rows.push(vec![
                granted.at.clone(),
                granted.access.key(),
                format!("{project}{gone}"),
            ]);
        }
    }
    Ok(out::table(&["ALLOWED", "WHAT", "PROJECT"], &rows)?)
}
