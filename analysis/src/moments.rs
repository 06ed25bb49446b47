//! Knows means, variances, quantiles and the classical distributions behind tests and intervals.
//! Must not know what the numbers stand for.
//! Start at `quantile`.

use statrs::distribution::{
    ChiSquared, Continuous, ContinuousCDF, FisherSnedecor, Normal, StudentsT,
};

/// Arithmetic mean; 0 for no values.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        0.0
    } else {
        values.iter().sum::<f64>() / values.len() as f64
    }
}

/// Variance with N − 1; 0 for fewer than two values.
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    squares / (values.len() - 1) as f64
}

/// Quantile of sorted values by linear interpolation (Hyndman–Fan type 7); `values` must not be empty.
pub fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let position = probability.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

/// Quantile as of `quantile`, of values in any order, which are reordered; `values` must not be empty.
pub fn select_quantile(values: &mut [f64], probability: f64) -> f64 {
    let position = probability.clamp(0.0, 1.0) * (values.len() - 1) as f64;
    let below = position.floor();
    let (_, low, rest) = values.select_nth_unstable_by(below as usize, f64::total_cmp);
    let low = *low;
    let high = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    low + (position - below) * (high - low)
}

/// P(F > f) with the given degrees of freedom, both at least 1.
pub fn f_upper_tail(f: f64, df_numerator: f64, df_denominator: f64) -> f64 {
    if f <= 0.0 {
        return 1.0;
    }
    FisherSnedecor::new(df_numerator, df_denominator)
        .expect("degrees of freedom are positive")
        .sf(f)
}

/// P(T ≤ t) with the given degrees of freedom.
pub fn t_lower_tail(t: f64, df: f64) -> f64 {
    student(df).cdf(t)
}

/// Degrees of freedom from which a quantile of t is expanded about the normal one.
const MANY: f64 = 1e5;

/// The t with P(T ≤ t) = probability, for a probability strictly inside (0, 1). From 10^5 degrees of freedom on by the
/// expansion in 1/df (Abramowitz and Stegun, 26.7.5), since the incomplete beta function loses digits there.
pub fn t_quantile(probability: f64, df: f64) -> f64 {
    if df >= MANY {
        let z = normal_quantile(probability);
        let first = (z.powi(3) + z) / 4.0;
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
        return z + first / df + second / (df * df);
    }
    let distribution = student(df);
    let mut t = distribution.inverse_cdf(probability);
    // Newton steps bring the library's inverse to the precision of its distribution function.
    for _ in 0..3 {
        let density = distribution.pdf(t);
        if density > 0.0 {
            t -= (distribution.cdf(t) - probability) / density;
        }
    }
    t
}

fn student(df: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, df).expect("degrees of freedom are positive")
}

/// The x with P(χ² ≤ x) = probability, for a probability strictly inside (0, 1) and degrees of freedom of at least 1.
pub fn chi_squared_quantile(probability: f64, df: f64) -> f64 {
    let distribution = ChiSquared::new(df).expect("degrees of freedom are positive");
    let mut x = distribution.inverse_cdf(probability);
    // Newton steps bring the library's inverse to the precision of its distribution function.
    for _ in 0..3 {
        let density = distribution.pdf(x);
        if density > 0.0 {
            x -= (distribution.cdf(x) - probability) / density;
        }
    }
    x
}

/// Φ.
pub fn normal_lower_tail(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// Φ⁻¹.
pub fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_order_statistics() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert_eq!(quantile(&[7.0], 0.3), 7.0);
        for probability in [0.0, 0.025, 0.4, 0.5, 0.975, 1.0] {
            let selected = select_quantile(&mut [4.0, 1.0, 8.0, 2.0], probability);
            assert_eq!(selected, quantile(&[1.0, 2.0, 4.0, 8.0], probability));
        }
    }

    #[test]
    fn the_quantile_of_t_meets_its_expansion_and_its_normal_limit() {
        let (below, above) = (t_quantile(0.975, 99_999.0), t_quantile(0.975, 100_001.0));
        assert!(below > above && below - above < 1e-9);
        assert!((t_lower_tail(above, 100_001.0) - 0.975).abs() < 1e-10);
        assert!((t_quantile(0.975, 1e9) - normal_quantile(0.975)).abs() < 1e-8);
    }

    #[test]
    fn tails_match_published_tables() {
        // t(.975; 5) and t(.975; 10) to more digits than tables print.
        assert!((t_quantile(0.975, 5.0) - 2.570_581_835_636_314).abs() < 1e-8);
        assert!((t_quantile(0.975, 10.0) - 2.228_138_851_964_938_6).abs() < 1e-8);
        assert!((chi_squared_quantile(0.05, 10.0) - 3.940_299_136_119_099).abs() < 1e-8);
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-10);
        assert!((f_upper_tail(4.102_821_015_309_716, 2.0, 10.0) - 0.05).abs() < 1e-9);
    }
}
