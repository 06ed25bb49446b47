//! Knows the noncentral F distribution: its distribution function, and the noncentrality that fits an observed F.
//! Must not know what an F was computed from.
//! Start at `noncentral_f_lower_tail` and `noncentrality`.

use statrs::function::beta::beta_reg;
use statrs::function::gamma::{gamma_ur, ln_gamma};

/// Beyond this noncentrality the numerator is all but constant, and two moments describe it.
const LARGE: f64 = 1e6;

/// P(F'(n, d, λ) ≤ f) = Σ_j Poisson(j; λ/2)·I_x(n/2 + j, d/2), x = nf/(nf + d) (Johnson, Kotz and Balakrishnan, Continuous
/// Univariate Distributions), summed outwards from the largest weight. For λ > 10⁶ the numerator is all but constant, and
/// the tail of χ²_d beyond it is expanded to its second moment.
///
/// Degrees of freedom are positive, f and λ finite and at least 0.
pub fn noncentral_f_lower_tail(
    f: f64,
    df_numerator: f64,
    df_denominator: f64,
    noncentrality: f64,
) -> f64 {
    if f <= 0.0 {
        return 0.0;
    }
    if noncentrality > LARGE {
        return expanded(f, df_numerator, df_denominator, noncentrality);
    }
    let half = noncentrality / 2.0;
    if half == 0.0 {
        return central(f, df_numerator, df_denominator);
    }
    Mixture::new(f, df_numerator, df_denominator, half).sum()
}

fn central(f: f64, df_numerator: f64, df_denominator: f64) -> f64 {
    let odds = df_numerator * f / df_denominator;
    // 1 − I_{1−x}(b, a) keeps digits where x is near 1.
    1.0 - beta_reg(df_denominator / 2.0, df_numerator / 2.0, 1.0 / (1.0 + odds))
}

/// E[P(χ²_d ≥ c·X)], c = d/(nf), over X with mean n + λ and variance 2(n + 2λ), to the second order.
fn expanded(f: f64, df_numerator: f64, df_denominator: f64, noncentrality: f64) -> f64 {
    let scale = df_denominator / (df_numerator * f);
    let centre = scale * (df_numerator + noncentrality);
    let spread = 2.0 * scale * (df_numerator + 2.0 * noncentrality) * scale;
    let half = df_denominator / 2.0;
    if !centre.is_finite() || !spread.is_finite() {
        return 0.0;
    }
    let density = ((half - 1.0) * centre.ln()
        - centre / 2.0
        - half * std::f64::consts::LN_2
        - ln_gamma(half))
    .exp();
    let curvature = density * (0.5 - (half - 1.0) / centre);
    (gamma_ur(half, centre / 2.0) + 0.5 * spread * curvature).clamp(0.0, 1.0)
}

/// The Poisson mixture of incomplete beta functions, seen from its largest weight.
struct Mixture {
    half: f64,
    /// n/2.
    a: f64,
    /// d/2.
    b: f64,
    /// x and 1 − x.
    x: f64,
    rest: f64,
    /// The number of the largest weight.
    mode: f64,
}

impl Mixture {
    fn new(f: f64, df_numerator: f64, df_denominator: f64, half: f64) -> Self {
        let odds = df_numerator * f / df_denominator;
        Self {
            half,
            a: df_numerator / 2.0,
            b: df_denominator / 2.0,
            x: odds / (1.0 + odds),
            rest: 1.0 / (1.0 + odds),
            mode: half.floor(),
        }
    }

    /// I_x(a, b) − I_x(a + 1, b) = xᵃ(1 − x)ᵇ/(a·B(a, b)).
    fn step(&self, a: f64) -> f64 {
        let log_beta = ln_gamma(a) + ln_gamma(self.b) - ln_gamma(a + self.b);
        (a * self.x.ln() + self.b * self.rest.ln() - log_beta - a.ln()).exp()
    }

    fn sum(&self) -> f64 {
        let start = self.a + self.mode;
        let tail = 1.0 - beta_reg(self.b, start, self.rest);
        // Weights relative to the largest; their sum makes probabilities of them.
        let (mut total, mut weights) = (tail, 1.0);
        // Downwards, where every step adds to the incomplete beta function.
        let (mut own, mut beta, mut j) = (1.0, tail, self.mode);
        let mut step = self.step(start);
        while j >= 1.0 && own > 1e-18 {
            // The step from a − 1 to a, out of the step from a to a + 1.
            let a = self.a + j;
            step = if step > 0.0 {
                step * a / ((a - 1.0 + self.b) * self.x)
            } else {
                self.step(a - 1.0)
            };
            beta += step;
            own *= j / self.half;
            j -= 1.0;
            total += own * beta.min(1.0);
            weights += own;
        }
        // Upwards, where every step takes away.
        let (mut own, mut beta, mut j) = (1.0, tail, self.mode);
        let mut step = self.step(start);
        while own > 1e-18 {
            let a = self.a + j;
            beta = (beta - step).max(0.0);
            step *= (a + self.b) * self.x / (a + 1.0);
            j += 1.0;
            own *= self.half / j;
            total += own * beta;
            weights += own;
        }
        (total / weights).clamp(0.0, 1.0)
    }
}

/// The λ ≥ 0 with P(F'(n, d, λ) ≤ f) = probability; 0 where the central probability is already below.
pub fn noncentrality(f: f64, df_numerator: f64, df_denominator: f64, probability: f64) -> f64 {
    let tail = |noncentrality: f64| {
        noncentral_f_lower_tail(f, df_numerator, df_denominator, noncentrality)
    };
    if tail(0.0) <= probability {
        return 0.0;
    }
    // The probability falls as λ grows.
    let (mut low, mut high) = (0.0, df_numerator.max(1.0));
    while tail(high) > probability && high < 1e300 {
        (low, high) = (high, 4.0 * high);
    }
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high || high - low <= 1e-12 * high {
            break;
        }
        if tail(middle) > probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::{noncentral_f_lower_tail, noncentrality};
    use crate::moments::f_upper_tail;

    /// With d = 2 the mixture sums up to x^(n/2)·exp(−λ(1 − x)/2), and with d = 4 to that times 1 + (n/2 + λx/2)(1 − x).
    fn closed(f: f64, n: f64, d: f64, lambda: f64) -> f64 {
        let rest = d / (n * f + d);
        let x = 1.0 - rest;
        let two = x.powf(n / 2.0) * (-lambda * rest / 2.0).exp();
        if d == 2.0 {
            two
        } else {
            two * (1.0 + (n / 2.0 + lambda * x / 2.0) * rest)
        }
    }

    #[test]
    fn two_and_four_degrees_of_freedom_have_a_closed_form() {
        for d in [2.0, 4.0] {
            for n in [1.0, 6.0, 84.0] {
                for lambda in [0.0, 0.3, 12.0, 900.0, 250_000.0] {
                    for share in [0.05, 0.6, 1.0, 4.0, 70.0] {
                        let f = share * (n + lambda) / n;
                        let (ours, expected) = (
                            noncentral_f_lower_tail(f, n, d, lambda),
                            closed(f, n, d, lambda),
                        );
                        assert!(
                            (ours - expected).abs() < 1e-9,
                            "{f} {n} {d} {lambda}: {ours} instead of {expected}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_constant_numerator_takes_over_smoothly_where_noncentrality_is_large() {
        for lambda in [2e6, 1e9, 1e15] {
            for share in [0.3, 1.0, 4.0] {
                let (f, n, d) = (share * lambda / 12.0, 12.0, 4.0);
                let ours = noncentral_f_lower_tail(f, n, d, lambda);
                let expected = closed(f, n, d, lambda);
                assert!(
                    (ours - expected).abs() < 1e-8,
                    "{lambda} {share}: {ours} {expected}"
                );
            }
        }
    }

    #[test]
    fn without_noncentrality_it_is_the_central_distribution() {
        for (f, n, d) in [(0.2, 2.0, 6.0), (2.66, 36.0, 250.0), (670.0, 2.0, 6.0)] {
            let expected = 1.0 - f_upper_tail(f, n, d);
            assert!((noncentral_f_lower_tail(f, n, d, 0.0) - expected).abs() < 1e-10);
        }
    }

    #[test]
    fn the_noncentrality_found_gives_the_probability_back() {
        for f in [0.9, 2.66, 40.0, 1e5, 1e11] {
            for probability in [0.025, 0.5, 0.975] {
                let lambda = noncentrality(f, 36.0, 250.0, probability);
                let back = noncentral_f_lower_tail(f, 36.0, 250.0, lambda);
                if lambda > 0.0 {
                    assert!((back - probability).abs() < 1e-9, "{f} {probability}");
                } else {
                    assert!(back <= probability);
                }
            }
        }
        assert_eq!(noncentrality(0.0, 36.0, 250.0, 0.5), 0.0);
    }
}
