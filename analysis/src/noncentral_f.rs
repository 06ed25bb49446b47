//! Knows the noncentral F distribution: its distribution function, and the noncentrality that fits an observed F.
//! Must not know what an F was computed from.
//! Start at `noncentral_f_lower_tail` and `noncentrality`.

use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

/// Beyond this noncentrality the numerator is all but constant, and two moments describe it.
const LARGE: f64 = 1e6;

/// P(F'(n, d, λ) ≤ f) = Σ_j Poisson(j; λ/2)·I_x(n/2 + j, d/2), x = nf/(nf + d) (Johnson, Kotz and Balakrishnan, Continuous
/// Univariate Distributions), summed outwards from the largest weight. For λ > 10⁶, Patnaik's approximation by a multiple
/// of a central F with the same two first moments of the numerator.
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
        let moments = df_numerator + noncentrality;
        let df = moments * moments / (df_numerator + 2.0 * noncentrality);
        let scaled = f * df_numerator / moments;
        return central(scaled, df, df_denominator);
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
        let weight = (self.mode * self.half.ln() - self.half - ln_gamma(self.mode + 1.0)).exp();
        let tail = 1.0 - beta_reg(self.b, start, self.rest);
        let mut total = weight * tail;
        // Downwards, where every step adds to the incomplete beta function.
        let (mut own, mut beta, mut j) = (weight, tail, self.mode);
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
        }
        // Upwards, where every step takes away.
        let (mut own, mut beta, mut j) = (weight, tail, self.mode);
        let mut step = self.step(start);
        while own > 1e-18 && beta > 0.0 {
            let a = self.a + j;
            beta -= step;
            step *= (a + self.b) * self.x / (a + 1.0);
            j += 1.0;
            own *= self.half / j;
            total += own * beta.max(0.0);
        }
        total.clamp(0.0, 1.0)
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
