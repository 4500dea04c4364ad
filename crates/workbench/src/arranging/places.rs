//! Heights and columns. Each item wants to stand where its links are straight; in a layer the wishes are met as well as
//! the order and the distances allow (the least squares of an order: neighbours that want to pass each other share a place).

use super::boxes::{Budget, LayoutBox, Stopped};
use super::layers::Layered;

/// Between two boxes of a layer, a box and a bend, two bends.
const GAP: f64 = 36.0;
const BEND_GAP: f64 = 24.0;
const BENDS_GAP: f64 = 12.0;
/// Between two layers.
const LAYER_GAP: f64 = 72.0;
/// Between parts that no link joins.
const PART_GAP: f64 = 64.0;
/// How often the layers are gone through, forth and back.
const SWEEPS: usize = 16;

/// Computes the upper sides of all items.
pub(super) fn heights(graph: &Layered, budget: &mut Budget<'_>) -> Result<Vec<f64>, Stopped> {
    let mut y = stacked(graph);
    let work = graph.items.len() + graph.spans.len();
    for round in 0..SWEEPS {
        if !budget.spend(work)? {
            break;
        }
        let sides = match round {
            _ if round + 2 >= SWEEPS => FollowedLinks::Both,
            _ if round % 2 == 0 => FollowedLinks::Before,
            _ => FollowedLinks::After,
        };
        let depth = graph.layers.len();
        let layers: Vec<usize> = if round % 2 == 0 {
            (0..depth).collect()
        } else {
            (0..depth).rev().collect()
        };
        for layer in layers {
            settle(graph, layer, sides, &mut y);
        }
    }
    apart(graph, &mut y);
    Ok(y)
}

/// Links that an item follows.
#[derive(Clone, Copy, PartialEq)]
enum FollowedLinks {
    Before,
    After,
    Both,
}

/// Stacks each layer from the top, one item under the other.
fn stacked(graph: &Layered) -> Vec<f64> {
    let mut y = vec![0.0; graph.items.len()];
    for layer in &graph.layers {
        let offsets = offsets(graph, layer);
        let half = offsets.last().map_or(0.0, |last| last / 2.0);
        for (&index, offset) in layer.iter().zip(&offsets) {
            y[index] = offset - half;
        }
    }
    y
}

/// Returns the least distances of a layer's items from its first one.
fn offsets(graph: &Layered, layer: &[usize]) -> Vec<f64> {
    let mut at = 0.0;
    let mut last: Option<usize> = None;
    layer
        .iter()
        .map(|&index| {
            if let Some(last) = last {
                let gap = match (graph.items[last].is_bend, graph.items[index].is_bend) {
                    (true, true) => BENDS_GAP,
                    (false, false) => GAP,
                    _ => BEND_GAP,
                };
                at += graph.items[last].height + gap;
            }
            last = Some(index);
            at
        })
        .collect()
}

/// Moves the items of a layer to where their links want them.
fn settle(graph: &Layered, layer: usize, sides: FollowedLinks, y: &mut [f64]) {
    let items = &graph.layers[layer];
    let offsets = offsets(graph, items);
    // Blocks of items that stand as close as they may: the sum of their wishes, their weight, their number.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (&index, offset) in items.iter().zip(&offsets) {
        let (wish, weight) = wanted(graph, index, sides, y);
        let mut block = ((wish - offset) * weight, weight, 1);
        while let Some(&(sum, weight, count)) = blocks.last() {
            if sum / weight <= block.0 / block.1 {
                break;
            }
            block = (block.0 + sum, block.1 + weight, block.2 + count);
            blocks.pop();
        }
        blocks.push(block);
    }
    let mut at = 0;
    for (sum, weight, count) in blocks {
        for place in at..at + count {
            y[items[place]] = sum / weight + offsets[place];
        }
        at += count;
    }
}

/// Returns where an item's links are straight, and how much that matters. Bends matter most: a long link should be
/// straight.
fn wanted(graph: &Layered, index: usize, sides: FollowedLinks, y: &[f64]) -> (f64, f64) {
    let mut wishes: Vec<(f64, f64)> = Vec::new();
    if sides != FollowedLinks::After {
        for &span in &graph.before[index] {
            let span = &graph.spans[span];
            wishes.push((
                y[span.from] + span.out - span.into,
                weight_of(graph, span.from, index),
            ));
        }
    }
    if sides != FollowedLinks::Before {
        for &span in &graph.after[index] {
            let span = &graph.spans[span];
            wishes.push((
                y[span.to] + span.into - span.out,
                weight_of(graph, span.to, index),
            ));
        }
    }
    if wishes.is_empty() {
        return (y[index], 0.05);
    }
    wishes.sort_by(|a, b| a.0.total_cmp(&b.0));
    (middle(&wishes), wishes.iter().map(|(_, weight)| weight).sum())
}

/// Returns the place with as much weight above it as below; between two of them the middle.
fn middle(wishes: &[(f64, f64)]) -> f64 {
    let half: f64 = wishes.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    for (at, &(wish, weight)) in wishes.iter().enumerate() {
        sum += weight;
        if sum > half {
            return wish;
        }
        if sum == half {
            return wishes
                .get(at + 1)
                .map_or(wish, |&(next, _)| f64::midpoint(wish, next));
        }
    }
    wishes.last().map_or(0.0, |&(wish, _)| wish)
}

fn weight_of(graph: &Layered, one: usize, other: usize) -> f64 {
    match (graph.items[one].is_bend, graph.items[other].is_bend) {
        (true, true) => 8.0,
        (false, false) => 1.0,
        _ => 4.0,
    }
}

/// Puts the parts under each other.
fn apart(graph: &Layered, y: &mut [f64]) {
    let mut reach: std::collections::BTreeMap<usize, (f64, f64)> = std::collections::BTreeMap::new();
    for (index, item) in graph.items.iter().enumerate() {
        let (top, bottom) = reach
            .entry(graph.part[index])
            .or_insert((f64::INFINITY, f64::NEG_INFINITY));
        *top = top.min(y[index]);
        *bottom = bottom.max(y[index] + item.height);
    }
    let mut next = 0.0;
    let moved: std::collections::BTreeMap<usize, f64> = reach
        .into_iter()
        .map(|(part, (top, bottom))| {
            let by = next - top;
            next += bottom - top + PART_GAP;
            (part, by)
        })
        .collect();
    for (index, each) in y.iter_mut().enumerate() {
        *each += moved.get(&graph.part[index]).copied().unwrap_or(0.0);
    }
}

/// Returns the left and upper sides of the boxes.
pub(super) fn positions(boxes: &[LayoutBox], graph: &Layered, y: &[f64]) -> Vec<(f64, f64)> {
    let mut widths = vec![0.0f64; graph.layers.len()];
    for (each, item) in boxes.iter().zip(&graph.items) {
        widths[item.layer] = widths[item.layer].max(each.width);
    }
    let mut x = Vec::with_capacity(widths.len());
    let mut at = 0.0;
    for width in widths {
        x.push(at);
        at += width + LAYER_GAP;
    }
    (0..boxes.len())
        .map(|index| (x[graph.items[index].layer], y[index]))
        .collect()
}
