//! Knows the reference values of paired tests and of Shapley values.
//! Must not know results of other packages recorded beside the targets.
//! Start at the tests.

use evalxrl_analysis::estimate::PValue;
use evalxrl_analysis::shapley::shapley;
use evalxrl_analysis::signed_rank::{SignedRank, ZeroRule, sign_flip, signed_rank};
use evalxrl_analysis::two_sample::Effort;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde_json::Value;

use crate::golden::{cases, close, numbers};

/// A target such as `13/64`.
fn fraction(target: &Value) -> Option<(u64, u64)> {
    let (count, total) = target.as_str()?.split_once('/')?;
    Some((count.parse().ok()?, total.parse().ok()?))
}

#[test]
fn signed_ranks_of_wilcoxon_json_match_the_reference_counts() {
    for case in cases("wilcoxon.json") {
        let differences = numbers(&case["d"]);
        for (field, rule) in [
            ("exact_wilcox", ZeroRule::Wilcox),
            ("exact_pratt", ZeroRule::Pratt),
        ] {
            let target = &case[field];
            let what = format!("{field} of {}", case["name"]);
            let found = signed_rank(&differences, rule).unwrap();
            assert_eq!(Some(found.n), target["n"].as_u64(), "{what}");
            close(&what, found.w_plus, &target["W_plus"]);
            close(&what, found.two_sided.value, &target["two_sided"]);
            if found.n > 0 {
                close(&what, found.w_minus, &target["W_minus"]);
            }
            let SignedRank { less, greater, .. } = &found;
            for (key, p) in [("less", less), ("greater", greater)] {
                close(&what, p.value, &target[key]);
                assert!(p.exact, "{what}");
                if found.n > 0 {
                    let counted = p.count.zip(p.total);
                    assert_eq!(counted, fraction(&target[format!("{key}_frac")]), "{what}");
                }
            }
        }
    }
}

#[test]
fn sign_flips_of_wilcoxon_json_match_the_reference_counts() {
    for case in cases("wilcoxon.json") {
        let effort = Effort {
            exact_limit: 5_000_000,
            draws: 1,
        };
        let mut rng = ChaCha8Rng::from_seed([0; 32]);
        let target = &case["signflip_mean_less"];
        let PValue {
            value,
            exact,
            count,
            total,
            ..
        } = sign_flip(&numbers(&case["d"]), effort, &mut rng)
            .unwrap()
            .less;
        assert!(exact);
        assert_eq!(count, target["count"].as_u64(), "{}", case["name"]);
        assert_eq!(total, target["total"].as_u64(), "{}", case["name"]);
        close("signflip_mean_less", value, &target["p"]);
    }
}

#[test]
fn drawn_sign_flips_come_near_the_exact_share() {
    for case in cases("wilcoxon.json") {
        let draws = 20_000;
        let p = |exact_limit| {
            let mut rng = ChaCha8Rng::from_seed([3; 32]);
            let effort = Effort { exact_limit, draws };
            sign_flip(&numbers(&case["d"]), effort, &mut rng).unwrap()
        };
        let (exact, drawn) = (p(5_000_000).less.value, p(0).less.value);
        let error = 4.0 * (exact * (1.0 - exact) / draws as f64).sqrt() + 1.0 / draws as f64;
        assert!(
            (exact - drawn).abs() <= error,
            "{exact} and {drawn} of {}",
            case["name"]
        );
    }
}

#[test]
fn shapley_values_of_shapley_json_match_numbers_and_fractions() {
    for case in cases("shapley.json") {
        let found = shapley(&numbers(&case["v"])).unwrap();
        let targets = case["shapley"].as_array().unwrap();
        let fractions = case["shapley_frac"].as_array().unwrap();
        assert_eq!(found.values.len(), targets.len());
        for ((value, target), exact) in found.values.iter().zip(targets).zip(fractions) {
            close("shapley", *value, target);
            let (top, bottom) = exact.as_str().unwrap().split_once('/').unwrap();
            let exact: f64 = top.parse::<f64>().unwrap() / bottom.parse::<f64>().unwrap();
            assert!((value - exact).abs() <= 1e-12, "{value} instead of {exact}");
        }
        close("sum", found.sum, &case["sum"]);
        close("efficiency", found.efficiency, &case["efficiency"]);
    }
}
