//! Knows how long H1 takes: the jobs of the specification, each as the median of several runs.
//! Must not know other packages; ratios to them are measured from Python.
//! Start at `main`; run with `cargo bench -p evalxrl-analysis --bench interaction`.

use std::time::{Duration, Instant};

use evalxrl_analysis::effect_size::adjusted_interval;
use evalxrl_analysis::interaction::{Matrix, TestName, interaction_of, run_tests, structure_of};
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

const RUNS: usize = 15;

fn main() {
    let plan = AnalysisPlan::default();
    let simulated = AnalysisPlan {
        permutations: 199,
        ..plan.clone()
    };
    let matrix = matrix(7, 15, 6);
    let smaller = self::matrix(5, 10, 6);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads can be started");
        pool.install(|| {
            let of = |name: &str, job: &mut dyn FnMut()| report(threads, name, job);
            let tests = |matrix: &Matrix, names: &[TestName], plan: &AnalysisPlan| {
                std::hint::black_box(run_tests(matrix, names, plan, &mut rng()));
            };
            of("literal + session_f, 7x15x6, B = 9999", &mut || {
                tests(&matrix, &[TestName::Literal, TestName::SessionF], &plan);
            });
            of("wild, 7x15x6, B = 9999", &mut || {
                tests(&matrix, &[TestName::Wild], &plan);
            });
            of("freedman_lane, 7x15x6, B = 9999", &mut || {
                tests(&matrix, &[TestName::FreedmanLane], &plan);
            });
            of("five tests of a scenario, 5x10x6, B = 199", &mut || {
                let names = [
                    TestName::Literal,
                    TestName::SessionF,
                    TestName::FreedmanLane,
                    TestName::Wild,
                    TestName::Parametric,
                ];
                tests(&smaller, &names, &simulated);
            });
            of("verdict alone, 7x15x6, B = 9999", &mut || {
                drop(std::hint::black_box(structure_of(
                    &matrix,
                    &plan,
                    &mut rng(),
                )));
            });
            of("adjusted interval, 7x15x6, 50000 resamples", &mut || {
                drop(std::hint::black_box(adjusted_interval(
                    &matrix,
                    50_000,
                    0.95,
                    &mut rng(),
                )));
            });
            of("the whole of H1 on one scale, 7x15x6", &mut || {
                let found = interaction_of(&matrix, Scale::Clipped, &plan, &mut rng());
                drop(std::hint::black_box(found));
            });
        });
    }
}

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::from_seed([1; 32])
}

/// Methods that differ in strength, with noise.
fn matrix(methods: usize, malfunctions: usize, sessions: usize) -> Matrix {
    let mut rng = ChaCha8Rng::from_seed([2; 32]);
    let mut uniform = || f64::from(rng.next_u32()) / f64::from(u32::MAX);
    let cells: Vec<Vec<Vec<f64>>> = (0..methods)
        .map(|method| {
            (0..malfunctions)
                .map(|_| {
                    let strength = method as f64 / methods as f64;
                    (0..sessions)
                        .map(|_| 0.5 * strength + 0.5 * uniform())
                        .collect()
                })
                .collect()
        })
        .collect();
    let names = |kind: &str, count: usize| -> Vec<String> {
        (0..count).map(|index| format!("{kind}{index}")).collect()
    };
    Matrix::new(&names("m", methods), &names("k", malfunctions), &cells)
        .expect("the cells fit the names")
}

#[expect(clippy::print_stdout, reason = "a benchmark shows what it measures")]
fn report(threads: usize, name: &str, job: &mut dyn FnMut()) {
    job();
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            job();
            start.elapsed()
        })
        .collect();
    times.sort();
    println!(
        "{threads} thread(s)  {:9.3} ms  {name}",
        times[RUNS / 2].as_secs_f64() * 1e3
    );
}
