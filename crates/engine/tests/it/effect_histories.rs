//! Random histories with effects: forks, replays, edits and answers, held against a model that knows nothing of the engine.
//!
//! The graph counts `x` down, one payment a step. The model keeps the tree of checkpoints and which payment each step made,
//! and works out from that what every run may pay, what it uses and where it stops or asks.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::run::*;
use superstep::*;

use crate::support::{on_memory, routes};

/// Numbers that look random, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }
}

/// What a payment is known by: payments that stand for one another have one number.
type Group = usize;

/// A checkpoint as the model sees it; its number is its place in the order of creation.
#[derive(Clone, Debug)]
struct Point {
    parent: Option<usize>,
    /// input, loop, update or fork.
    source: &'static str,
    x: i64,
    /// Is the payment next?
    pays: bool,
    /// The payment that its step came to.
    paid: Option<(Group, i64)>,
    /// The step finished, and the next checkpoint follows.
    finished: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends {
    Done,
    Asks,
    Stops,
}

#[derive(Default)]
struct Model {
    points: Vec<Point>,
    payments: usize,
    groups: usize,
}

impl Model {
    fn add(&mut self, parent: Option<usize>, source: &'static str, x: i64, pays: bool) -> usize {
        self.points.push(Point {
            parent,
            source,
            x,
            pays,
            paid: None,
            finished: false,
        });
        self.points.len() - 1
    }

    fn line(&self, from: usize) -> Vec<usize> {
        std::iter::successors(Some(from), |at| self.points[*at].parent).collect()
    }

    /// Payments that were made elsewhere and that nobody on the line to `at` has taken, the oldest first.
    fn elsewhere(&self, at: usize) -> Vec<(Group, i64)> {
        let line = self.line(at);
        // Branches count back to where the case that the line is about began.
        let mut leaves = Vec::new();
        for (place, point) in line.iter().enumerate().skip(1) {
            let after = line[place - 1];
            let is_input = self.points[after].source == "input";
            let older = (0..after).any(|other| self.points[other].parent == Some(*point));
            if !is_input || older {
                leaves.push(*point);
            }
            if is_input {
                break;
            }
        }
        let mut taken: Vec<Group> = Vec::new();
        for (place, point) in line.iter().enumerate().skip(1) {
            if self.points[line[place - 1]].source == "loop" {
                taken.extend(self.points[*point].paid.map(|paid| paid.0));
            }
        }
        let mut found = Vec::new();
        for (number, point) in self.points.iter().enumerate() {
            let Some(paid) = point.paid else { continue };
            let up = self.line(number);
            let Some(meets) = up.iter().find(|ancestor| line.contains(ancestor)) else {
                continue;
            };
            let place = line.iter().position(|on| on == meets).unwrap();
            // The step of a checkpoint on the line is the line's own when the line went on from it.
            let own = *meets == number && (place == 0 || self.points[line[place - 1]].source == "loop");
            if !own && (place == 0 || leaves.contains(meets)) && !taken.contains(&paid.0) {
                found.push(paid);
            }
        }
        found
    }

    /// Runs on from `at`, where an answer may be given first; the last checkpoint and how it ends.
    fn run(&mut self, mut at: usize, policy: EffectPolicy, mut answer: Option<&str>) -> (usize, Ends) {
        while self.points[at].pays {
            let x = self.points[at].x;
            let elsewhere = self.elsewhere(at);
            let same = elsewhere.iter().find(|paid| paid.1 == x);
            let (known, usable) = match (same, elsewhere.first()) {
                (Some(paid), _) => (Some(paid.0), true),
                (None, Some(paid)) => (Some(paid.0), false),
                (None, None) => (None, false),
            };
            let group = match (known, policy, answer.take()) {
                (None, ..) => {
                    self.payments += 1;
                    self.groups += 1;
                    self.groups
                }
                (Some(group), EffectPolicy::Again, _) | (Some(group), EffectPolicy::Ask, Some("again")) => {
                    self.payments += 1;
                    group
                }
                (Some(group), EffectPolicy::Reuse, _) if usable => group,
                (Some(group), EffectPolicy::Ask, Some("use")) if usable => group,
                (Some(group), EffectPolicy::Ask, Some("by hand")) => group,
                (Some(_), EffectPolicy::Ask, _) => return (at, Ends::Asks),
                (Some(_), ..) => return (at, Ends::Stops),
            };
            self.points[at].paid = Some((group, x));
            self.points[at].finished = true;
            at = self.add(Some(at), "loop", x - 1, x > 1);
        }
        (at, Ends::Done)
    }
}

fn countdown(paid: &Arc<Mutex<Vec<String>>>) -> Graph {
    let paid = paid.clone();
    let more = |state: &Value| match state.get("x").and_then(Value::as_i64) {
        Some(x) if x > 0 => vec![Target::node("pay")],
        _ => vec![Target::node(END)],
    };
    on_memory(
        StateGraph::new()
            .channel("x", ChannelSpec::last_value())
            .node_with(
                "pay",
                Arc::new(move |context: NodeContext, state: Value| {
                    let paid = paid.clone();
                    async move {
                        let x = state.get("x").and_then(Value::as_i64).unwrap_or_default();
                        paid.lock().unwrap().push(context.effect_key().to_owned());
                        Ok(NodeOutput::from(json!({"x": x - 1})))
                    }
                }),
                NodeOptions::new().effect(Effect::Once),
            )
            .branch(START, Branch::new(routes(more)))
            .branch("pay", Branch::new(routes(more))),
    )
}

/// What the engine stored, in the order of creation: parent, source, x, whether the payment is next.
async fn stored(graph: &Graph) -> Vec<(CheckpointId, Option<CheckpointId>, &'static str, i64, bool)> {
    let entries = graph
        .get_state_history(&"t".into(), &ListQuery::default())
        .await
        .unwrap();
    let mut found: Vec<_> = entries
        .iter()
        .map(|entry| {
            let head = entry.checkpoint.as_ref().unwrap();
            let x = entry.values.get("x").and_then(Value::as_i64).unwrap_or_default();
            let pays = head.next.iter().any(|next| &**next == "pay");
            (
                head.id.clone(),
                head.parent.clone(),
                head.metadata.source.as_str(),
                x,
                pays,
            )
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

async fn history(seed: u64) {
    let mut dice = Dice(seed);
    let paid = Arc::new(Mutex::new(Vec::new()));
    let graph = countdown(&paid);
    let mut model = Model::default();
    // The model's number of each checkpoint of the engine.
    let mut ids: BTreeMap<CheckpointId, usize> = BTreeMap::new();
    let mut newest: Option<(usize, Ends)> = None;
    let mut done = Vec::new();
    let policies = [
        EffectPolicy::Reuse,
        EffectPolicy::Again,
        EffectPolicy::Stop,
        EffectPolicy::Ask,
    ];
    for _ in 0..10 {
        let policy = policies[dice.roll(4)];
        let mut config = RunConfig::on("t").effects(policy);
        let forkable: Vec<usize> = (0..model.points.len())
            .filter(|point| model.points[*point].pays)
            .collect();
        let place = |number: usize| ids.iter().find(|(_, known)| **known == number).unwrap().0.clone();
        let (input, ends) = match (dice.roll(5), newest) {
            (1, Some(_)) if !forkable.is_empty() => {
                let from = forkable[dice.roll(forkable.len())];
                done.push(format!("replay {from} {policy:?}"));
                config.checkpoint_id = Some(place(from));
                let point = model.points[from].clone();
                // The newest edit is gone on from where it stands.
                let stands = point.source == "update" || point.source == "fork";
                let is_newest = newest.unwrap().0 == from;
                let at = match stands && is_newest {
                    true => from,
                    false => model.add(Some(from), "fork", point.x, true),
                };
                (Input::Continue, model.run(at, policy, None))
            }
            (2, Some(_)) if !forkable.is_empty() => {
                let from = forkable[dice.roll(forkable.len())];
                let (x, node) = (1 + dice.roll(3) as i64, [START, "pay"][dice.roll(2)]);
                done.push(format!("edit {from} x={x} as {node}, {policy:?}"));
                let update = StateUpdate {
                    values: json!({"x": x}),
                    as_node: Some(node.into()),
                    ..StateUpdate::default()
                };
                let edited = graph
                    .update_state(&StateRef::at("t", place(from)), update)
                    .await
                    .unwrap();
                let at = model.add(Some(from), "update", x, true);
                ids.insert(edited.checkpoint_id, at);
                (Input::Continue, model.run(at, policy, None))
            }
            (3, Some((at, Ends::Asks))) => {
                let answer = ["use", "again", "by hand"][dice.roll(3)];
                done.push(format!("answer {answer}"));
                config.effects = EffectPolicy::Ask;
                let given = match answer {
                    "by hand" => json!({"update": {"x": model.points[at].x - 1}}),
                    word => Value::from(word),
                };
                (
                    Input::answer(given),
                    model.run(at, EffectPolicy::Ask, Some(answer)),
                )
            }
            (4, Some((at, Ends::Asks | Ends::Stops))) => {
                done.push(format!("go on {policy:?}"));
                (Input::Continue, model.run(at, policy, None))
            }
            _ => {
                let x = 1 + dice.roll(3) as i64;
                done.push(format!("input {x} {policy:?}"));
                let before = newest.map(|(at, _)| at);
                let input = model.add(before, "input", before.map_or(0, |at| model.points[at].x), false);
                let at = model.add(Some(input), "loop", x, true);
                (Input::value(json!({"x": x})), model.run(at, policy, None))
            }
        };
        let result = graph.invoke(input, config).await;
        let ended = match &result {
            Ok(result) if result.status == RunStatus::Interrupted => Ends::Asks,
            Ok(_) => Ends::Done,
            Err(RunError::Effect { .. }) => Ends::Stops,
            Err(error) => panic!("seed {seed}: {done:?}: {error}"),
        };
        assert_eq!(ended, ends.1, "seed {seed}: how it ends after {done:#?}");
        assert_eq!(
            paid.lock().unwrap().len(),
            model.payments,
            "seed {seed}: what was paid after {done:#?}"
        );
        let stored = stored(&graph).await;
        assert_eq!(
            stored.len(),
            model.points.len(),
            "seed {seed}: checkpoints after {done:#?}"
        );
        for (number, (id, parent, source, x, pays)) in stored.into_iter().enumerate() {
            let known = &model.points[number];
            ids.insert(id, number);
            assert_eq!(
                (parent.map(|parent| ids[&parent]), source, pays),
                (known.parent, known.source, known.pays),
                "seed {seed}: checkpoint {number} after {done:#?}"
            );
            if pays {
                assert_eq!(x, known.x, "seed {seed}: checkpoint {number}");
            }
        }
        newest = Some(ends);
    }
    // One key for payments that stand for one another with the same input.
    let keys: HashMap<String, usize> = paid.lock().unwrap().iter().fold(HashMap::new(), |mut keys, key| {
        *keys.entry(key.clone()).or_default() += 1;
        keys
    });
    assert!(keys.len() <= model.payments);
}

#[tokio::test]
async fn random_histories_pay_what_the_model_says() {
    for seed in 0..120 {
        history(seed).await;
    }
}
