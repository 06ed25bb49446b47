//! Knows report.
