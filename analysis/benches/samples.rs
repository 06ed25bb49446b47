//! Knows how long the interval of one method's interquartile mean and the exact permutation of 105 cells take.
//! Must not know other packages; their times are taken in `python/bench`.
//! Start at `main`.

use std::hint::black_box;
use std::time::Instant;

use evalxrl_analysis::aggregate::{Statistic, aggregate_interval, aggregates};
use evalxrl_analysis::bootstrap::Options;
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::score_table::{Outcome, Roles, ScoreRow, ScoreTable, Stratum};
use evalxrl_analysis::two_sample::{
    Alternative, Effort, permutation_mean, permutation_mean_of_cells, permutation_welch,
};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

const ROUNDS: usize = 11;

fn main() {
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("two threads can be started");
        pool.install(|| rows(threads));
    }
}

fn rows(threads: usize) {
    let mut rng = ChaCha8Rng::from_seed([1; 32]);
    let method = cells(15, 6, &mut rng);
    let ragged: Vec<Vec<f64>> = method
        .iter()
        .enumerate()
        .map(|(malfunction, cell)| cell[malfunction % 3..].to_vec())
        .collect();
    let options = Options::default();
    for (name, cells) in [("6 × 15", &method), ("15 of 4 to 6", &ragged)] {
        for statistic in [Statistic::Iqm, Statistic::Mean, Statistic::Median] {
            let what = format!("{statistic:?} interval, {name}, 50,000 resamples");
            report(&what, threads, || {
                aggregate_interval(cells, statistic, 1.0, &options, &mut rng).is_ok()
            });
        }
    }
    let stratum = stratum(&mut rng);
    let plan = AnalysisPlan::default();
    let seeds = |name: &str| {
        let mut key = [0; 32];
        for (index, byte) in name.bytes().enumerate() {
            key[index % 32] ^= byte.rotate_left(index as u32 / 32);
        }
        key
    };
    report(
        "all aggregates of 7 methods and 2 reserved arms, 15 × 6",
        threads,
        || aggregates(&stratum, &plan, &seeds).improvements.len(),
    );
    let pairs: Vec<(Vec<f64>, Vec<f64>)> = (0..105)
        .map(|_| {
            let mut pair = cells(2, 6, &mut rng);
            (pair.swap_remove(0), pair.swap_remove(0))
        })
        .collect();
    let effort = Effort {
        exact_limit: 5_000_000,
        draws: 99_999,
    };
    report("exact 6v6 permutation of means, 105 calls", threads, || {
        pairs.iter().all(|(method, baseline)| {
            permutation_mean(method, baseline, Alternative::Less, effort, &mut rng).is_ok()
        })
    });
    report(
        "exact 6v6 permutation of means, 105 cells in one call",
        threads,
        || permutation_mean_of_cells(&pairs, Alternative::Less, effort, &mut rng).len(),
    );
    report("exact 6v6 permutation of t, 105 calls", threads, || {
        pairs.iter().all(|(method, baseline)| {
            permutation_welch(method, baseline, Alternative::Less, effort, &mut rng).is_ok()
        })
    });
    let mut twelve = cells(2, 12, &mut rng);
    let (method, baseline) = (twelve.swap_remove(0), twelve.swap_remove(0));
    report(
        "exact 12v12 permutation of means, one call",
        threads,
        || permutation_mean(&method, &baseline, Alternative::Less, effort, &mut rng).is_ok(),
    );
    let drawn = Effort {
        exact_limit: 0,
        ..effort
    };
    report("12v12 permutation of means, 99,999 draws", threads, || {
        permutation_mean(&method, &baseline, Alternative::Less, drawn, &mut rng).is_ok()
    });
}

/// Seven methods, baseline and cheat oracle on 15 malfunctions, six sessions each.
fn stratum(rng: &mut impl RngCore) -> Stratum {
    let mut rows = Vec::new();
    for malfunction in 0..15 {
        for method in [
            "a",
            "b",
            "c",
            "d",
            "e",
            "f",
            "g",
            "no-method",
            "cheat-oracle",
        ] {
            for (replication, raw) in (0..).zip(cells(1, 6, rng).remove(0)) {
                rows.push(ScoreRow {
                    malfunction: format!("k{malfunction:02}"),
                    environment: "treasure_grid".to_owned(),
                    method: method.to_owned(),
                    replication,
                    coder: None,
                    invocations: None,
                    block: None,
                    raw,
                    clipped: None,
                    outcome: Outcome::Submitted,
                    tool_calls: None,
                    cost_usd: None,
                    wall_s: None,
                });
            }
        }
    }
    ScoreTable::from_rows((2..).zip(rows), Roles::default())
        .expect("the rows keep every rule of a score table")
        .strata()
        .remove(0)
}

/// Scores of so many cells, uniform on [0, 1).
fn cells(count: usize, sessions: usize, rng: &mut impl RngCore) -> Vec<Vec<f64>> {
    let mut score = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    (0..count)
        .map(|_| (0..sessions).map(|_| score()).collect())
        .collect()
}

#[expect(
    clippy::print_stdout,
    reason = "the result of a benchmark is what it prints"
)]
fn report<T>(what: &str, threads: usize, mut job: impl FnMut() -> T) {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            black_box(job());
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let median = times[ROUNDS / 2];
    println!("{what}, threads {threads}: median {median:.3} ms of {ROUNDS}");
}
