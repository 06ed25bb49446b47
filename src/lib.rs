//! EvalXRL.
