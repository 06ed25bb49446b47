//! Knows the verbs, the terminal, the process environment and the exit codes; the only room that prints or exits.
//! Must not know how anything is done: one file per verb, each a thin call into the rooms.
//! Start at `main`.

mod add;
mod agreement;
mod analyze;
mod check;
mod clean;
mod context;
mod doctor;
mod environments;
mod exit;
mod export;
mod facts;
mod images;
mod interpreter;
mod jobs;
mod list;
mod localise;
mod new;
mod out;
mod pack;
mod pilot;
mod plan;
mod planning;
mod power;
mod progress;
mod reference;
mod report;
mod root;
mod run;
mod sandboxes;
mod scores;
mod show;
mod simulate;
mod tool_check;
mod try_dossier;
mod visits;
mod whole_file;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use exit::{Code, Failure};

/// Measures how much an explanation method helps somebody repair a broken reinforcement-learning agent.
#[derive(Debug, Parser)]
#[command(name = "evalxrl", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Args),
    New(new::Args),
    #[command(name = "try")]
    TryDossier(try_dossier::Args),
    Localise(localise::Args),
    Pack(pack::Args),
    Add(add::Args),
    List(list::Args),
    Plan(plan::Args),
    Reference(reference::Args),
    #[command(name = "env")]
    Environments(environments::Args),
    Run(run::Args),
    Show(show::Args),
    Report(report::Args),
    Analyze(analyze::Args),
    Agreement(agreement::Args),
    Power(power::Args),
    Simulate(simulate::Args),
    Export(export::Args),
    Doctor(doctor::Args),
    Images(images::Args),
    Clean(clean::Args),
}

/// Reads the command line, runs the verb, and turns its failure into a message and an exit code.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments.verb) {
        Ok(()) => Code::Done.into(),
        Err(failure) => failure.report(),
    }
}

fn run(verb: &Verb) -> Result<(), Failure> {
    match verb {
        Verb::Check(args) => check::run(args),
        Verb::New(args) => new::run(args),
        Verb::TryDossier(args) => try_dossier::run(args),
        Verb::Localise(args) => localise::run(args),
        Verb::Pack(args) => pack::run(args),
        Verb::Add(args) => add::run(args),
        Verb::List(args) => list::run(args),
        Verb::Plan(args) => plan::run(args),
        Verb::Reference(args) => reference::run(args),
        Verb::Environments(args) => environments::run(args),
        Verb::Run(args) => run::run(args),
        Verb::Show(args) => show::run(args),
        Verb::Report(args) => report::run(args),
        Verb::Analyze(args) => analyze::run(args),
        Verb::Agreement(args) => agreement::run(args),
        Verb::Power(args) => power::run(args),
        Verb::Simulate(args) => simulate::run(args),
        Verb::Export(args) => export::run(args),
        Verb::Doctor(args) => doctor::run(args),
        Verb::Images(args) => images::run(args),
        Verb::Clean(args) => clean::run(args),
    }
}
