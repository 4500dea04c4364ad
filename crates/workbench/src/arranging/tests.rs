//! Arrangements of the examples beside ELK's, and of graphs that mean harm.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Deserialize;

use super::figures::figures;
use super::*;
use crate::wire::{ArrangeBox, ArrangeLink};

#[derive(Deserialize)]
struct Example {
    boxes: Vec<ArrangeBox>,
    links: Vec<ArrangeLink>,
    elk: Measured,
}

#[derive(Debug, Deserialize)]
struct Measured {
    crossings: u64,
    length: f64,
}

fn place(boxes: &[LayoutBox], links: &[Link]) -> Vec<(f64, f64)> {
    arrange(boxes, links, &mut Budget::new(MAX_COST, &|_, _| true)).expect("nobody stops it")
}

fn card(height: f64) -> LayoutBox {
    LayoutBox {
        width: 216.0,
        height,
        port: 22.0,
        end: None,
    }
}

fn link(from: usize, to: usize) -> Link {
    Link { from, to, port: 22.0 }
}

fn overlap(boxes: &[LayoutBox], places: &[(f64, f64)]) -> Option<(usize, usize)> {
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by(|&a, &b| places[a].0.total_cmp(&places[b].0));
    for (at, &one) in order.iter().enumerate() {
        for &other in &order[at + 1..] {
            if places[other].0 >= places[one].0 + boxes[one].width {
                break;
            }
            let (a, b) = (places[one].1, places[other].1);
            if a < b + boxes[other].height && b < a + boxes[one].height {
                return Some((one, other));
            }
        }
    }
    None
}

#[test]
fn the_examples_are_placed_about_as_well_as_elk_places_them() {
    let examples: BTreeMap<String, Example> =
        serde_json::from_str(include_str!("examples.json")).expect("the interface's tests wrote it");
    for (name, example) in examples {
        let request = ArrangeGraph {
            boxes: example.boxes,
            links: example.links,
            work: None,
        };
        let (boxes, links) = read(&request).expect("the interface wrote it");
        let places = place(&boxes, &links);
        let found = figures(&boxes, &links, &places);
        println!("{name}: {found:?} beside ELK's {:?}", example.elk);
        assert!(
            found.crossings as f64 <= example.elk.crossings as f64 * 1.3,
            "{name}: {found:?} beside ELK's {:?}",
            example.elk
        );
        assert!(
            found.length <= example.elk.length * 1.3,
            "{name}: {found:?} beside ELK's {:?}",
            example.elk
        );
        assert_eq!(
            overlap(&boxes, &places),
            None,
            "{name}: two boxes lie on each other"
        );
    }
}

/// Creates a graph that is the same in every run: links near each other, some far, some back.
fn dense(count: usize, more: usize) -> (Vec<LayoutBox>, Vec<Link>) {
    let mut seed = 7u64;
    let mut next = |most: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % most
    };
    let mut boxes: Vec<LayoutBox> = (0..count).map(|_| card(44.0 + 18.0 * next(4) as f64)).collect();
    boxes[0].end = Some(End::First);
    boxes[count - 1].end = Some(End::Last);
    let mut links: Vec<Link> = (1..count)
        .map(|index| link(next(index).max(index.saturating_sub(12)), index))
        .collect();
    for _ in 0..more {
        links.push(match next(10) {
            0 => link(next(count), count - 1),
            1 | 2 => link(next(count), next(count)),
            _ => {
                let from = next(count);
                link(from, (from + 1 + next(20)).min(count - 1))
            }
        });
    }
    (boxes, links)
}

#[test]
fn large_graphs_keep_their_order_and_lie_on_nothing() {
    for (count, more) in [(500, 700), (10_000, 6_000)] {
        let (boxes, links) = dense(count, more);
        let began = Instant::now();
        let places = place(&boxes, &links);
        println!("{count} nodes, {} links: {:?}", links.len(), began.elapsed());
        assert_eq!(overlap(&boxes, &places), None);
        if count < 1000 {
            assert_eq!(
                places,
                place(&boxes, &links),
                "the same graph has the same places"
            );
        }
        let (start, end) = (places[0].0, places[count - 1].0);
        assert!(
            places.iter().all(|&(x, _)| start <= x && x <= end),
            "the ends stand at the ends"
        );
    }
}

#[test]
fn circles_loops_parts_and_depth_are_all_placed() {
    let ring: Vec<Link> = (0..50).map(|index| link(index, (index + 1) % 50)).collect();
    let boxes = vec![card(44.0); 50];
    assert_eq!(overlap(&boxes, &place(&boxes, &ring)), None);

    let own = [link(0, 0), link(0, 1), link(1, 0), link(0, 1)];
    let boxes = vec![card(44.0); 4];
    let places = place(&boxes, &own);
    assert_eq!(
        overlap(&boxes, &places),
        None,
        "two parts without links, a loop, a link twice"
    );
    assert!(places[1].0 > places[0].0);

    let deep: Vec<Link> = (1..100_000).map(|index| link(index - 1, index)).collect();
    let boxes = vec![card(44.0); 100_000];
    let places = place(&boxes, &deep);
    assert!(
        places
            .windows(2)
            .all(|pair| pair[0].0 < pair[1].0 && (pair[0].1 - pair[1].1).abs() < 1.0)
    );
    assert_eq!(place(&[], &[]), []);
}

#[test]
fn without_a_budget_there_are_places_and_who_stops_it_gets_none() {
    let (boxes, links) = dense(300, 300);
    let hurried = arrange(&boxes, &links, &mut Budget::new(0, &|_, _| true)).expect("nobody stops it");
    assert_eq!(overlap(&boxes, &hurried), None);
    let stopped = arrange(&boxes, &links, &mut Budget::new(MAX_COST, &|done, _| done == 0));
    assert_eq!(stopped, Err(Stopped));
}

#[test]
fn a_request_may_hold_anything() {
    let request = |from: u32, width: f64| ArrangeGraph {
        boxes: vec![ArrangeBox {
            width,
            height: f64::NAN,
            port: -5.0,
            first: true,
            last: true,
        }],
        links: vec![ArrangeLink {
            from,
            to: 0,
            port: f64::INFINITY,
        }],
        work: None,
    };
    assert!(read(&request(1, 10.0)).is_err(), "there is no such box");
    let (boxes, links) = read(&request(0, f64::INFINITY)).expect("numbers are made usable");
    assert_eq!(place(&boxes, &links).len(), 1);
}
