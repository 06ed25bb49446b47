//! Knows how to check an experiment against the catalogue.
//! Must not know how the experiment file is spelt.
//! Start at `build`.

use std::collections::BTreeSet;

use evalxrl_analysis::repair_score::{Gap, ReferencePerformance};

use crate::catalog::{
    Catalog, Dossier, Environment, Malfunction, Problem, Problems, Reference, ReferenceState,
};
use crate::vocab::{Arm, CoderLabel, MethodId};

use super::experiment::{CoderWish, Experiment, Selection};
use super::freeze::freeze;
use super::{Facts, OPTIMAL, Plan, PlannedCoder};

/// Reads an experiment file and freezes it.
///
/// # Errors
/// Every defect of the file, and everything in it that the catalogue does not have or does not permit.
pub fn build(place: &str, text: &str, catalog: &Catalog, facts: &Facts) -> Result<Plan, Problems> {
    let (experiment, mut problems) = Experiment::read(place, text);
    let Some(experiment) = experiment else {
        return Err(problems);
    };
    let plan = Plan::build(&experiment, catalog, facts);
    if let Err(more) = &plan {
        problems.extend(more.clone());
    }
    problems.into_result()?;
    plan
}

impl Plan {
    /// Freezes an experiment.
    ///
    /// # Errors
    /// Everything that the catalogue does not have or does not permit.
    pub fn build(
        experiment: &Experiment,
        catalog: &Catalog,
        facts: &Facts,
    ) -> Result<Self, Problems> {
        let mut check = Check {
            experiment,
            catalog,
            problems: Problems::none(),
        };
        let malfunctions = check.malfunctions();
        let arms = check.arms(&malfunctions);
        let coders = check.coders(facts);
        check.problems.into_result()?;
        Ok(freeze(
            experiment,
            catalog,
            facts,
            &malfunctions,
            &arms,
            coders,
        ))
    }
}

/// A malfunction that may be planned.
pub(super) struct ChosenMalfunction<'a> {
    pub(super) malfunction: &'a Malfunction,
    pub(super) environment: &'a Environment,
    pub(super) reference: &'a Reference,
}

/// An arm that may be planned.
pub(super) struct ChosenArm<'a> {
    pub(super) method: MethodId,
    pub(super) arm: Arm,
    pub(super) dossiers: Vec<&'a Dossier>,
}

struct Check<'a> {
    experiment: &'a Experiment,
    catalog: &'a Catalog,
    problems: Problems,
}

impl<'a> Check<'a> {
    fn broken(&mut self, field: &str, wrong: impl Into<String>, remedy: impl Into<String>) {
        let problem = Problem::new(&self.experiment.place, field, wrong, remedy);
        self.problems.push(problem);
    }

    fn malfunctions(&mut self) -> Vec<ChosenMalfunction<'a>> {
        let catalog = self.catalog;
        let mut named: Vec<&'a Malfunction> = Vec::new();
        for selection in &self.experiment.malfunctions {
            match selection {
                Selection::One(id) => match catalog.malfunction(id) {
                    Ok(malfunction) => named.push(malfunction),
                    Err(unknown) => self.broken(
                        "malfunctions",
                        format!("no malfunction is called `{id}`"),
                        unknown.hint,
                    ),
                },
                Selection::All(id) => {
                    if let Err(unknown) = catalog.environment(id) {
                        let wrong = format!("no environment is called `{id}`");
                        self.broken("malfunctions", wrong, unknown.hint);
                    }
                    named.extend(
                        catalog
                            .malfunctions()
                            .filter(|one| one.environment == *id && !one.held_out),
                    );
                }
            }
        }
        let mut seen = BTreeSet::new();
        for malfunction in &named {
            if !seen.insert(&malfunction.id) {
                let wrong = format!("{} is named twice", malfunction.id);
                self.broken("malfunctions", wrong, "name it once");
            }
        }
        let held_out: Vec<&str> = named
            .iter()
            .filter(|one| one.held_out)
            .map(|one| one.id.as_str())
            .collect();
        if !held_out.is_empty() && held_out.len() < named.len() {
            let wrong = format!(
                "mixes held-out malfunctions ({}) with others",
                held_out.join(", ")
            );
            self.broken(
                "malfunctions",
                wrong,
                "plan them in an experiment of their own",
            );
        }
        named
            .into_iter()
            .filter_map(|malfunction| self.admit(malfunction))
            .collect()
    }

    fn admit(&mut self, malfunction: &'a Malfunction) -> Option<ChosenMalfunction<'a>> {
        let id = &malfunction.id;
        let environment = match self.catalog.environment(&malfunction.environment) {
            Ok(environment) => environment,
            Err(unknown) => {
                self.broken(
                    "malfunctions",
                    format!("{id}: {unknown}"),
                    "correct its manifest",
                );
                return None;
            }
        };
        let mend = format!("run `evalxrl reference --only {id}`");
        let reference = match self.catalog.reference(malfunction) {
            ReferenceState::Fresh(reference) => reference,
            ReferenceState::Stale(why) => {
                self.broken(
                    "malfunctions",
                    format!("the references of {id} are stale: {why}"),
                    mend,
                );
                return None;
            }
            ReferenceState::Missing => {
                self.broken("malfunctions", format!("{id} has no references"), mend);
                return None;
            }
        };
        let performance = |mean, standard_error| ReferencePerformance {
            mean,
            standard_error,
        };
        let gap = Gap::admit_at(
            performance(reference.p_clean, reference.se_clean),
            performance(reference.p_broken, reference.se_broken),
            malfunction.min_gap,
            self.experiment.analysis.gap_standard_errors,
        );
        if let Err(refused) = gap {
            let remedy = format!("leave {id} out, or make its fault stronger and measure it anew");
            self.broken(
                "malfunctions",
                format!("the gap of {id} is {refused}"),
                remedy,
            );
            return None;
        }
        Some(ChosenMalfunction {
            malfunction,
            environment,
            reference,
        })
    }

    fn arms(&mut self, malfunctions: &[ChosenMalfunction<'a>]) -> Vec<ChosenArm<'a>> {
        let mut seen = BTreeSet::new();
        let mut chosen = Vec::new();
        for method in &self.experiment.arms {
            if !seen.insert(method) {
                self.broken("arms", format!("`{method}` is named twice"), "name it once");
                continue;
            }
            let arm = Arm::of(method);
            let mut dossiers = Vec::new();
            if let Arm::Dossiers(ids) = &arm {
                for id in ids {
                    match self.catalog.dossier(id) {
                        Ok(dossier) => dossiers.push(dossier),
                        Err(unknown) => self.broken(
                            "arms",
                            format!("`{method}`: no dossier is called `{id}`"),
                            unknown.hint,
                        ),
                    }
                }
            }
            self.check_dossiers(method, &dossiers, malfunctions);
            chosen.push(ChosenArm {
                method: method.clone(),
                arm,
                dossiers,
            });
        }
        chosen
    }

    fn check_dossiers(
        &mut self,
        method: &MethodId,
        dossiers: &[&Dossier],
        malfunctions: &[ChosenMalfunction<'a>],
    ) {
        let mut tools = BTreeSet::new();
        for dossier in dossiers {
            for tool in &dossier.tools {
                if !tools.insert(&tool.name) {
                    let wrong = format!("`{method}` has the tool {} twice", tool.name);
                    self.broken("arms", wrong, "join dossiers with different tools only");
                }
            }
            let unfit: BTreeSet<&str> = malfunctions
                .iter()
                .map(|chosen| &chosen.environment.id)
                .filter(|id| !dossier.environments.contains(id))
                .map(|id| id.as_str())
                .collect();
            for environment in unfit {
                let wrong = format!("`{method}` does not work on {environment}");
                self.broken(
                    "arms",
                    wrong,
                    "leave out the arm or the malfunctions of that environment",
                );
            }
        }
    }

    fn coders(&mut self, facts: &Facts) -> Vec<PlannedCoder> {
        let offered: Vec<&str> = facts.scaffolds.keys().map(String::as_str).collect();
        let wants = |id: &str| self.experiment.arms.iter().any(|arm| arm.as_str() == id);
        let optimal = wants("optimal-repair");
        let others = self
            .experiment
            .arms
            .iter()
            .any(|arm| arm.as_str() != "optimal-repair");
        if others && self.experiment.coders.is_empty() {
            self.broken(
                "coder",
                "nobody repairs",
                "write [[coder]] with label and scaffold",
            );
        }
        let mut seen = BTreeSet::new();
        let mut coders = Vec::new();
        for (index, wish) in self.experiment.coders.iter().enumerate() {
            let field = |name: &str| format!("coder[{index}].{name}");
            if !seen.insert(&wish.label) {
                let wrong = format!("`{}` is taken", wish.label);
                self.broken(&field("label"), wrong, "give each coder a label of its own");
            }
            if wish.label.as_str() == OPTIMAL || wish.scaffold == OPTIMAL {
                self.broken(
                    &field("scaffold"),
                    "`optimal` plays the arm optimal-repair and nothing else",
                    "write the arm optimal-repair instead",
                );
                continue;
            }
            if !offered.contains(&wish.scaffold.as_str()) {
                let known = offered.iter().filter(|name| **name != OPTIMAL);
                let known: Vec<&str> = known.copied().collect();
                self.broken(
                    &field("scaffold"),
                    format!("no scaffold is called `{}`", wish.scaffold),
                    format!("write one of {}", known.join(", ")),
                );
                continue;
            }
            coders.push(planned(wish, facts));
        }
        if optimal {
            let label = CoderLabel::new(OPTIMAL).expect("a plain word is a label");
            let budget = self.experiment.coders.first().map(|wish| wish.budget);
            match (budget, offered.contains(&OPTIMAL)) {
                (Some(budget), true) => coders.push(planned(
                    &CoderWish {
                        label,
                        scaffold: OPTIMAL.to_owned(),
                        budget,
                        candidates: None,
                    },
                    facts,
                )),
                (None, _) => self.broken(
                    "coder",
                    "the arm optimal-repair works under the budget of the first coder, and there is none",
                    "write [[coder]] with label and scaffold",
                ),
                (_, false) => {
                    self.broken("arms", "optimal-repair is not offered", "leave it out");
                }
            }
        }
        coders
    }
}

fn planned(wish: &CoderWish, facts: &Facts) -> PlannedCoder {
    let prompt = facts
        .scaffolds
        .get(&wish.scaffold)
        .map_or("", String::as_str);
    PlannedCoder {
        label: wish.label.clone(),
        scaffold: wish.scaffold.clone(),
        budget: wish.budget,
        candidates: wish.candidates,
        prompt_hash: blake3::hash(prompt.as_bytes()).to_hex().to_string(),
    }
}
