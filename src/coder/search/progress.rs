//! Knows the progress lines of training.
//! Must not know why anybody reads them.
//! Start at `half_time_return`.

/// The training return at the first line at or after half of the updates; `None` when there is none.
///
/// Lines read `update 24/48  return -52.1  entropy 0.8  steps/s 91k`; others are passed over.
pub(super) fn half_time_return(output: &str) -> Option<f64> {
    output.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        if words.next() != Some("update") {
            return None;
        }
        let (done, all) = words.next()?.split_once('/')?;
        let (done, all) = (done.parse::<u64>().ok()?, all.parse::<u64>().ok()?);
        if words.next() != Some("return") || done.checked_mul(2)? < all {
            return None;
        }
        words
            .next()?
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_at_half_time_is_read_among_others() {
        let output = "compiling\nupdate 12/48  return -90.0  entropy 1\nupdate 24/48  return -52.1  entropy 0.8\n\
                      update 36/48  return -3  entropy 0.8\n";
        assert_eq!(half_time_return(output), Some(-52.1));
    }

    #[test]
    fn an_odd_number_of_updates_takes_the_first_line_past_the_half() {
        assert_eq!(
            half_time_return("update 1/3  return 1.0\nupdate 2/3  return 2.0\n"),
            Some(2.0)
        );
    }

    #[test]
    fn output_without_progress_or_without_a_number_has_none() {
        for output in [
            "",
            "update\n",
            "update 5/0",
            "update x/y  return 1",
            "update 2/2  return nan\n",
            "error\n",
        ] {
            assert_eq!(half_time_return(output), None, "{output:?}");
        }
    }
}
