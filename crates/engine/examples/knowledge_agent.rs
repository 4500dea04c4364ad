// Answers questions from a folder of documents and asks a person. knowledge_agent.py does the same with LangGraph.

use std::{cmp::Reverse, error::Error, fs, sync::Arc};
use superstep::*;

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../graphs/knowledge-agent");
/// How many of the words it has, title, text.
type Section = (usize, String, String);

state! {
    struct Agent {
        question: String,
        query: String,
        attempts: usize,
        sections: Vec<Section>,
        answer: String,
    }
}

/// Stands for a model: what it says depends on the prompt alone.
fn model(prompt: &str) -> &'static str {
    match prompt {
        "classify: Hello!" => "smalltalk",
        "rewrite: It went flat again, why?" => "puncture tube tyre pressure",
        _ if prompt.starts_with("rewrite") => "repair service",
        _ => "handbook",
    }
}

async fn rewrite(_: NodeContext, agent: Agent) -> Result<Value, NodeError> {
    let query = match agent.attempts {
        0 if agent.query.is_empty() => agent.question,
        0 => agent.query,
        _ => model(&format!("rewrite: {}", agent.question)).to_owned(),
    };
    Ok(json!({"query": query, "attempts": agent.attempts + 1}))
}

async fn retrieve(_: NodeContext, agent: Agent) -> Result<Value, NodeError> {
    let query = agent.query.to_lowercase();
    let words = query.split(|c: char| !c.is_alphabetic());
    let mut found: Vec<Section> = Vec::new();
    for file in fs::read_dir(format!("{PROJECT}/handbook"))? {
        for part in fs::read_to_string(file?.path())?.split("\n## ").skip(1) {
            let (title, text) = part.split_once("\n\n").unwrap_or((part, ""));
            let has = |word: &&str| word.len() > 3 && part.to_lowercase().contains(word);
            let matches = words.clone().filter(has).count();
            found.push((matches, title.to_owned(), text.trim().to_owned()));
        }
    }
    found.sort_by_key(|(matches, title, _)| (Reverse(*matches), title.clone()));
    Ok(json!({"sections": Value::encode(&found.into_iter().take(3).collect::<Vec<_>>())?}))
}

fn grade(agent: Agent) -> &'static str {
    match (&agent.sections[..], agent.attempts) {
        ([(2.., ..), ..], _) => "generate",
        (_, 2..) => "clarify",
        _ => "rewrite",
    }
}

async fn clarify(context: NodeContext, agent: Agent) -> Result<Command, NodeError> {
    let hint = context.interrupt(json!(format!("I found nothing about: {}", agent.question)))?;
    Ok(Command::goto("rewrite").update(json!({"query": hint, "attempts": 0})))
}

async fn generate(_: NodeContext, agent: Agent) -> Result<Value, NodeError> {
    let (_, title, text) = &agent.sections[0];
    Ok(json!({"answer": format!("{} [{title}]", text.lines().next().unwrap_or_default())}))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let classify = |agent: Agent| match model(&format!("classify: {}", agent.question)) {
        "smalltalk" => "chat",
        _ => "rewrite",
    };
    let graph = StateGraph::of::<Agent>()
        .node("chat", typed(async |_, _: Agent| Ok(json!({"answer": "Hello!"}))))
        .node("rewrite", typed(rewrite))
        .node("retrieve", typed(retrieve))
        .node("clarify", typed(clarify))
        .node("generate", typed(generate))
        .branch(START, Branch::new(choose(classify)))
        .edge("rewrite", "retrieve")
        .branch("retrieve", Branch::new(choose(grade)))
        .compile()?
        .with_checkpointer(Arc::new(MemorySaver::new()))
        .typed::<Value, Agent>();
    for (question, expected) in [
        ("Hello!", "Hello!"),
        ("Why do disc brakes squeal?", "[Squealing disc brakes]"),
        ("It went flat again, why?", "[Puncture]"),
        ("Do you sell kayaks?", "[Trailers]"),
    ] {
        let thread = || RunConfig::on(question);
        let mut ended = graph.invoke(&json!({"question": question}), thread()).await?;
        if let Outcome::Asked(questions) = &ended {
            println!("{}", questions[0].value);
            ended = graph.resume("trailer coupling", thread()).await?;
        }
        let answer = ended.done().ok_or("it asks again")?.answer;
        println!("{question}\n  {answer}");
        assert!(answer.contains(expected), "{answer}");
    }
    Ok(())
}
