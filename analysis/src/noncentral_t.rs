//! Knows the distribution function of the noncentral t distribution.
//! Must not know power or tests.
//! Start at `lower_tail`.

use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

use crate::moments::normal_lower_tail;

/// Terms below this share of the sum no longer change it.
const NEGLIGIBLE: f64 = 1e-17;
/// Beyond so many degrees of freedom t is normal.
const NORMAL: f64 = 1e10;
/// Beyond this noncentrality the normal approximation stands in for the series, which would be long.
const LARGE: f64 = 100.0;

/// P(T' ≤ t) of the noncentral t distribution with `df` > 0 degrees of freedom and noncentrality δ.
///
/// For t ≥ 0: Φ(−δ) + ½Σ_j [p_j·I_x(j + ½, df/2) + q_j·I_x(j + 1, df/2)], x = t²/(t² + df),
/// p_j = e^{−δ²/2}(δ²/2)^j/j!, q_j = (δ/√2)·e^{−δ²/2}(δ²/2)^j/Γ(j + 3/2); for t < 0 the mirror image
/// (Lenth 1989, algorithm AS 243; here summed outwards from the largest weight, so that large δ does not underflow). Beyond |δ| = 100: Φ((t(1 − 1/(4·df)) − δ)/sqrt(1 + t²/(2·df))) (Abramowitz and Stegun
/// 1964, 26.7.10).
/// `None` where an argument is not finite or `df` is not above 0.
pub fn lower_tail(t: f64, df: f64, noncentrality: f64) -> Option<f64> {
    let valid = t.is_finite() && df.is_finite() && df > 0.0 && noncentrality.is_finite();
    valid.then(|| {
        if t < 0.0 {
            1.0 - above_zero(-t, df, -noncentrality)
        } else {
            above_zero(t, df, noncentrality)
        }
        .clamp(0.0, 1.0)
    })
}

fn above_zero(t: f64, df: f64, noncentrality: f64) -> f64 {
    if df > NORMAL {
        return normal_lower_tail(t - noncentrality);
    }
    if noncentrality.abs() > LARGE {
        let spread = 1.0_f64.hypot(t / (2.0 * df).sqrt());
        return normal_lower_tail((t * (1.0 - 0.25 / df).max(0.0) - noncentrality) / spread);
    }
    let central = normal_lower_tail(-noncentrality);
    let squares = t * t;
    let x = if squares.is_finite() {
        squares / (squares + df)
    } else {
        1.0
    };
    if x <= 0.0 {
        return central;
    }
    let half = noncentrality * noncentrality / 2.0;
    let term = |j: u64| {
        let j = j as f64;
        let power = if half > 0.0 { j * half.ln() } else { 0.0 };
        if half == 0.0 && j > 0.0 {
            return 0.0;
        }
        let even = (power - half - ln_gamma(j + 1.0)).exp();
        let odd = noncentrality / 2.0_f64.sqrt() * (power - half - ln_gamma(j + 1.5)).exp();
        even * share(j + 0.5, df / 2.0, x) + odd * share(j + 1.0, df / 2.0, x)
    };
    let peak = half as u64;
    let mut sum = 0.0;
    let mut add = |j: u64| {
        let value = term(j);
        sum += value;
        value.abs() > NEGLIGIBLE * sum.abs()
    };
    for j in peak.. {
        if !add(j) {
            break;
        }
    }
    for j in (0..peak).rev() {
        if !add(j) {
            break;
        }
    }
    central + sum / 2.0
}

/// I_x(a, b).
fn share(a: f64, b: f64, x: f64) -> f64 {
    if x >= 1.0 { 1.0 } else { beta_reg(a, b, x) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::moments::t_lower_tail;

    #[test]
    fn without_noncentrality_it_is_the_t_distribution() {
        for (t, df) in [
            (-2.5, 3.0),
            (-0.1, 12.0),
            (0.0, 5.0),
            (1.3, 7.5),
            (4.0, 58.0),
        ] {
            let ours = lower_tail(t, df, 0.0).unwrap();
            assert!(
                (ours - t_lower_tail(t, df)).abs() < 1e-12,
                "{t} {df}: {ours}"
            );
        }
    }

    #[test]
    fn many_degrees_of_freedom_give_the_shifted_normal() {
        let ours = lower_tail(30.5, 1e7, 30.0).unwrap();
        assert!((ours - normal_lower_tail(0.5)).abs() < 1e-4, "{ours}");
        let series = lower_tail(98.0, 40.0, 99.999).unwrap();
        let approximate = lower_tail(98.0, 40.0, 100.001).unwrap();
        assert!(
            (series - approximate).abs() < 0.02,
            "{series} {approximate}"
        );
    }

    #[test]
    fn it_agrees_with_the_integral_over_the_scale() {
        // P(T' ≤ t) = E Φ(t·S − δ), S = sqrt(χ²/df), by the midpoint rule.
        for (t, df, delta) in [(1.7, 10.0_f64, 2.0), (3.1, 14.0, 4.0), (-0.5, 6.0, 0.8)] {
            let steps = 400_000;
            let width = 6.0 / f64::from(steps);
            let constant = 2.0_f64.ln() + df / 2.0 * (df / 2.0).ln() - ln_gamma(df / 2.0);
            let integral: f64 = (0..steps)
                .map(|step| {
                    let s = (f64::from(step) + 0.5) * width;
                    let density = (constant + (df - 1.0) * s.ln() - df * s * s / 2.0).exp();
                    normal_lower_tail(t * s - delta) * density * width
                })
                .sum();
            let ours = lower_tail(t, df, delta).unwrap();
            assert!((ours - integral).abs() < 1e-9, "{ours} for {integral}");
        }
    }

    proptest! {
        #[test]
        fn no_finite_input_panics_or_leaves_the_unit_interval(
            t in proptest::num::f64::NORMAL, df in proptest::num::f64::NORMAL, delta in -1e4..1e4_f64,
        ) {
            if let Some(p) = lower_tail(t, df, delta) {
                prop_assert!((0.0..=1.0).contains(&p));
            }
        }
    }
}
