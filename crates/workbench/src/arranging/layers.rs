//! Which layer each box is in. Links that lead back are left out: the canvas leads them round. Links over several
//! layers get a bend in each, so that they take part in the order and are given room.

use super::boxes::{End, LayoutBox, Link};

/// More bends than this would be most of the work: the longest links get none then.
const MAX_BENDS: usize = 60_000;

/// A box or a bend of a link.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) layer: usize,
    pub(super) height: f64,
    /// A bend is no box.
    pub(super) is_bend: bool,
}

/// A link between items of neighbouring layers, or over several for the longest ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) out: f64,
    pub(super) into: f64,
    /// Its layers are neighbours.
    pub(super) short: bool,
}

/// Items in their layers.
#[derive(Debug)]
pub(super) struct Layered {
    /// The boxes first, then the bends.
    pub(super) items: Vec<Item>,
    pub(super) spans: Vec<Span>,
    /// The items of each layer, from the top.
    pub(super) layers: Vec<Vec<usize>>,
    /// Spans by the item that they leave, and reach.
    pub(super) after: Vec<Vec<usize>>,
    pub(super) before: Vec<Vec<usize>>,
    /// Parts that no link joins; each is placed under the one before it.
    pub(super) part: Vec<usize>,
}

/// Puts the boxes into layers and the links between them.
pub(super) fn layered(boxes: &[LayoutBox], links: &[Link]) -> Layered {
    let count = boxes.len();
    let mut out = vec![Vec::new(); count];
    for (index, link) in links.iter().enumerate() {
        if link.from != link.to {
            out[link.from].push(index);
        }
    }
    let back = leading_back(boxes, links, &out);
    let forward: Vec<usize> = (0..links.len())
        .filter(|&index| !back[index] && links[index].from != links[index].to)
        .collect();
    let layer = layers_of(boxes, links, &forward);
    let part = parts(count, links);
    let mut items: Vec<Item> = (0..count)
        .map(|index| Item {
            layer: layer[index],
            height: boxes[index].height,
            is_bend: false,
        })
        .collect();
    let spans = bends(boxes, links, &forward, &mut items);
    finish(items, spans, part, count)
}

/// Returns which links close a cycle, seen from the first box and in the order of the list.
fn leading_back(boxes: &[LayoutBox], links: &[Link], out: &[Vec<usize>]) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        Open,
        Done,
    }
    let mut seen = vec![Seen::Not; boxes.len()];
    let mut back = vec![false; links.len()];
    let mut begin: Vec<usize> = (0..boxes.len()).collect();
    begin.sort_by_key(|&index| boxes[index].end != Some(End::First));
    for first in begin {
        if seen[first] != Seen::Not {
            continue;
        }
        seen[first] = Seen::Open;
        let mut path = vec![(first, 0)];
        while let Some((index, next)) = path.last_mut() {
            let index = *index;
            let Some(&link) = out[index].get(*next) else {
                seen[index] = Seen::Done;
                path.pop();
                continue;
            };
            *next += 1;
            let to = links[link].to;
            match seen[to] {
                Seen::Open => back[link] = true,
                Seen::Not => {
                    seen[to] = Seen::Open;
                    path.push((to, 0));
                }
                Seen::Done => {}
            }
        }
    }
    // What leads from the end or to the start is of no layer.
    for (index, link) in links.iter().enumerate() {
        if boxes[link.from].end == Some(End::Last) || boxes[link.to].end == Some(End::First) {
            back[index] = true;
        }
    }
    back
}

/// Computes the longest path from a source to each box; then boxes with more links away from them than to them move as
/// far right as they can.
fn layers_of(boxes: &[LayoutBox], links: &[Link], forward: &[usize]) -> Vec<usize> {
    let count = boxes.len();
    let mut after = vec![Vec::new(); count];
    let mut waiting = vec![0usize; count];
    for &index in forward {
        after[links[index].from].push(links[index].to);
        waiting[links[index].to] += 1;
    }
    let arriving = waiting.clone();
    let mut ordered: Vec<usize> = (0..count).filter(|&index| waiting[index] == 0).collect();
    let mut layer = vec![0; count];
    let mut at = 0;
    while let Some(&index) = ordered.get(at) {
        at += 1;
        for &to in &after[index] {
            layer[to] = layer[to].max(layer[index] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ordered.push(to);
            }
        }
    }
    for &index in ordered.iter().rev() {
        let nearest = after[index].iter().map(|&to| layer[to]).min();
        if let Some(nearest) = nearest
            && boxes[index].end.is_none()
            && after[index].len() > arriving[index]
        {
            layer[index] = nearest - 1;
        }
    }
    // The start alone in the first layer, the end alone in the last.
    let first = boxes.iter().any(|each| each.end == Some(End::First));
    let last = layer.iter().max().copied().unwrap_or(0) + 1;
    for index in 0..count {
        match boxes[index].end {
            Some(End::First) => layer[index] = 0,
            Some(End::Last) => layer[index] = last + usize::from(first),
            None if first && arriving[index] == 0 => layer[index] += 1,
            None => {}
        }
    }
    if first {
        // What a source of its own pushed right pushes what follows it.
        for &index in &ordered {
            for &to in &after[index] {
                if boxes[to].end != Some(End::Last) {
                    layer[to] = layer[to].max(layer[index] + 1);
                }
            }
        }
    }
    without_gaps(layer)
}

/// Renumbers the layers without empty ones.
fn without_gaps(mut layer: Vec<usize>) -> Vec<usize> {
    let mut used: Vec<usize> = layer.clone();
    used.sort_unstable();
    used.dedup();
    for each in &mut layer {
        *each = used.partition_point(|&other| other < *each);
    }
    layer
}

/// Returns the part that each box belongs to: boxes joined by links form a part.
fn parts(count: usize, links: &[Link]) -> Vec<usize> {
    let mut above: Vec<usize> = (0..count).collect();
    fn root(above: &mut [usize], mut index: usize) -> usize {
        while above[index] != index {
            above[index] = above[above[index]];
            index = above[index];
        }
        index
    }
    for link in links {
        let (one, other) = (root(&mut above, link.from), root(&mut above, link.to));
        above[one.max(other)] = one.min(other);
    }
    (0..count).map(|index| root(&mut above, index)).collect()
}

/// Creates spans for the forward links, with bends where they pass a layer.
fn bends(boxes: &[LayoutBox], links: &[Link], forward: &[usize], items: &mut Vec<Item>) -> Vec<Span> {
    let length = |index: usize| items[links[index].to].layer - items[links[index].from].layer;
    let mut lengths: Vec<usize> = forward.iter().map(|&index| length(index)).collect();
    lengths.sort_unstable();
    let mut sum = 0;
    let longest = lengths
        .iter()
        .take_while(|&&each| {
            sum += each - 1;
            sum <= MAX_BENDS
        })
        .last()
        .copied()
        .unwrap_or(0);
    let mut spans = Vec::with_capacity(forward.len());
    for &index in forward {
        let Link { from, to, port } = links[index];
        let (first, last) = (items[from].layer, items[to].layer);
        let into = boxes[to].port;
        if last - first > longest {
            spans.push(Span {
                from,
                to,
                out: port,
                into,
                short: last - first == 1,
            });
            continue;
        }
        let (mut at, mut out) = (from, port);
        for layer in first + 1..last {
            items.push(Item {
                layer,
                height: 0.0,
                is_bend: true,
            });
            let bend = items.len() - 1;
            spans.push(Span {
                from: at,
                to: bend,
                out,
                into: 0.0,
                short: true,
            });
            (at, out) = (bend, 0.0);
        }
        spans.push(Span {
            from: at,
            to,
            out,
            into,
            short: true,
        });
    }
    spans
}

/// Indexes what was found, with a first order of each layer: as a walk along the spans from the sources meets the items.
fn finish(items: Vec<Item>, spans: Vec<Span>, mut part: Vec<usize>, boxes: usize) -> Layered {
    let count = items.len();
    let (mut after, mut before) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for (index, span) in spans.iter().enumerate() {
        after[span.from].push(index);
        before[span.to].push(index);
    }
    part.resize(count, 0);
    let depth = items.iter().map(|item| item.layer + 1).max().unwrap_or(0);
    let mut layers = vec![Vec::new(); depth];
    let mut seen = vec![false; count];
    let mut begin: Vec<usize> = (0..boxes).collect();
    begin.sort_by_key(|&index| (part[index], items[index].layer));
    for first in begin {
        if seen[first] {
            continue;
        }
        seen[first] = true;
        let mut next = std::collections::VecDeque::from([first]);
        while let Some(index) = next.pop_front() {
            layers[items[index].layer].push(index);
            for &span in &after[index] {
                let to = spans[span].to;
                part[to] = part[index];
                if !std::mem::replace(&mut seen[to], true) {
                    next.push_back(to);
                }
            }
        }
    }
    for layer in &mut layers {
        layer.sort_by_key(|&index| part[index]);
    }
    Layered {
        items,
        spans,
        layers,
        after,
        before,
        part,
    }
}
