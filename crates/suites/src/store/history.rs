//! Random histories, held against the store in memory.

use super::*;

/// Random choices that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % sides
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len() as u64) as usize].clone()
    }

    fn namespace(&mut self, least: u64) -> Vec<String> {
        let depth = least + self.roll(3);
        (0..depth)
            .map(|_| self.pick(&["a", "b", "B", "a b", "ab", "ä", "a-"]).to_owned())
            .collect()
    }

    fn value(&mut self) -> Value {
        let text: Vec<&str> = (0..self.roll(5))
            .map(|_| self.pick(&["aa", "ab", "abc", "dd", "Äb", "x"]))
            .collect();
        let n = self.pick(&[
            json!(1),
            json!(2),
            json!(1.5),
            json!("1"),
            json!(null),
            json!(true),
        ]);
        match self.roll(3) {
            0 => json!({"text": text.join(" ")}),
            1 => json!({"text": text.join("-"), "n": n}),
            _ => json!({"n": n, "o": {"n": self.roll(3), "l": [self.roll(2), "ab"]}}),
        }
    }

    fn filter(&mut self) -> Value {
        let n = self.pick(&[json!(1), json!("1"), json!(2)]);
        match self.roll(8) {
            0 => json!({"n": n}),
            1 => json!({"n": {"$gt": n}}),
            2 => json!({"n": {"$ne": n}}),
            3 => json!({"n": null}),
            4 => json!({"o": {"n": {"$lte": 1}}, "text": null}),
            _ => json!(null),
        }
    }

    fn op(&mut self) -> StoreOp {
        let key = self.pick(&["k", "K", "l", "é", ""]).to_owned();
        let refresh_ttl = self.pick(&[None, None, Some(true), Some(false)]);
        match self.roll(12) {
            0 | 1 => StoreOp::Get {
                namespace: self.namespace(1),
                key,
                refresh_ttl,
            },
            2 => StoreOp::Put {
                namespace: self.namespace(1),
                key,
                value: None,
                index: Index::Default,
                ttl: Ttl::Default,
            },
            3..=7 => StoreOp::Put {
                namespace: self.namespace(1),
                key,
                value: self.value().as_object().cloned(),
                index: self.pick(&[
                    Index::Default,
                    Index::Default,
                    Index::Off,
                    Index::Paths(vec!["o.l[*]".to_owned(), "text".to_owned()]),
                ]),
                ttl: self.pick(&[
                    Ttl::Default,
                    Ttl::Never,
                    Ttl::For(SECOND * 5),
                    Ttl::For(MINUTE * 2),
                ]),
            },
            8 => StoreOp::ListNamespaces(
                NamespaceQuery::default()
                    .prefix(self.pick(&[vec![], vec!["a".to_owned()], vec!["*".to_owned(), "b".to_owned()]]))
                    .suffix(self.pick(&[vec![], vec![], vec!["ab".to_owned()]]))
                    .max_depth(self.pick(&[None, None, Some(1), Some(2)]))
                    .limit(50)
                    .offset(self.roll(3) as usize),
            ),
            _ => StoreOp::Search(
                StoreQuery::default()
                    .prefix(self.namespace(0))
                    .by(Ranking::Auto)
                    .filter(self.filter())
                    .limit(self.pick(&[1, 3, 1000]))
                    .offset(self.pick(&[0, 0, 2]))
                    .refresh_ttl(refresh_ttl),
            ),
        }
    }
}

/// Returns what a query finds, without an order that depends on the backend: keys, with scores where they are cosines.
fn found(items: Vec<Item>, cosines: bool) -> Vec<(Vec<String>, String, i64)> {
    let score = |item: &Item| item.score.map_or(0, |score| (score * 1e4).round() as i64);
    let one = |item: Item| {
        (
            item.namespace.clone(),
            item.key.clone(),
            if cosines { score(&item) } else { 0 },
        )
    };
    let mut found: Vec<_> = items.into_iter().map(one).collect();
    found.sort();
    found
}

pub(super) async fn history(bench: &Bench) -> Outcome {
    let mut dice = Dice(0x5eed);
    for round in 0..100 {
        let ops: Vec<StoreOp> = (0..=dice.roll(6)).map(|_| dice.op()).collect();
        let what = format!("round {round}, {ops:?}");
        let (got, want) = (
            bench.store.batch(ops.clone()).await?,
            bench.model.batch(ops).await?,
        );
        same(&what, got, want)?;
        for ranking in [Ranking::Auto, Ranking::Words] {
            let query = StoreQuery::default()
                .query(dice.pick(&["ab", "dd x", "abc aa", "ä"]).to_owned())
                .by(ranking)
                .limit(1000)
                .prefix(dice.namespace(0))
                .refresh_ttl(false)
                .filter(dice.filter());
            let what = format!("round {round}, {query:?}");
            // Words are weighed by each backend in its own way.
            let cosines = ranking == Ranking::Auto && bench.indexed;
            let got = bench.store.search(query.clone()).await?;
            let want = bench.model.search(query).await?;
            same(&what, found(got, cosines), found(want, cosines))?;
        }
        if dice.roll(9) == 0 {
            same("swept", bench.store.sweep().await?, bench.model.sweep().await?)?;
        }
        if dice.roll(2) == 0 {
            bench.clock.advance(SECOND * dice.pick(&[1, 3, 20, 60]));
        }
    }
    Ok(())
}
