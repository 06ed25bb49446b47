//! Knows the scaffold `null`: it submits what it was handed.
//! Must not know how to change anything.
//! Start at `Null`.

use async_trait::async_trait;

use super::{Bench, Brief, Ending, Scaffold, Stop};

/// Submits at once. Its repair score is 0: the bundle is the one that was handed out.
pub(super) struct Null;

#[async_trait]
impl Scaffold for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    async fn repair(&self, _brief: &Brief, bench: &mut dyn Bench) -> Result<Ending, Stop> {
        Ok(match bench.submit("").await? {
            Ok(()) => Ending::Submitted,
            Err(reason) => {
                Ending::GaveUp(format!("the bundle as handed out was refused: {reason}"))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coder::scripted::{Call, Scripted, brief};

    #[tokio::test]
    async fn null_submits_and_does_nothing_else() {
        let mut bench = Scripted::new([]);
        assert_eq!(
            Null.repair(&brief(), &mut bench).await,
            Ok(Ending::Submitted)
        );
        assert_eq!(bench.calls, [Call::Submit(String::new())]);
    }

    #[tokio::test]
    async fn null_gives_up_when_the_bundle_is_refused() {
        let mut bench = Scripted::new([]);
        bench.refusals = 1;
        let ending = Null.repair(&brief(), &mut bench).await;
        assert!(
            matches!(ending, Ok(Ending::GaveUp(reason)) if reason.contains("refused by script"))
        );
    }
}
