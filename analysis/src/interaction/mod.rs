//! Knows H1: does the method × malfunction matrix have structure beyond main effects?
//! Must not know the other hypotheses.
//! Start at `H1`.

mod result;

pub use result::{Decomposition, H1, Interaction, InteractionTest, TestName, TestRole};
