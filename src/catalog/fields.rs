//! Knows how to read a TOML file field by field so that every defect is found in one reading.
//! Must not know which fields any file has.
//! Start at `Fields::of_file`.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::{Problem, Problems};

/// A table of a TOML file, of which each field is taken at most once; what is left over at the end is unknown.
#[derive(Debug)]
pub struct Fields {
    place: String,
    prefix: String,
    table: toml::Table,
    known: BTreeSet<&'static str>,
}

impl Fields {
    /// Parses the text of a file; a text that is no TOML is one defect and `None`.
    pub fn of_file(place: &str, text: &str, problems: &mut Problems) -> Option<Self> {
        match text.parse::<toml::Table>() {
            Ok(table) => Some(Self {
                place: place.to_owned(),
                prefix: String::new(),
                table,
                known: BTreeSet::new(),
            }),
            Err(error) => {
                let line = error
                    .span()
                    .map_or(1, |span| 1 + text[..span.start].matches('\n').count());
                problems.push(Problem::new(
                    place,
                    format!("line {line}"),
                    format!("is not TOML: {}", error.message()),
                    "correct the syntax",
                ));
                None
            }
        }
    }

    /// A defect of one field of this table.
    #[must_use]
    pub fn problem(
        &self,
        field: &str,
        wrong: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Problem {
        Problem::new(
            &self.place,
            format!("{}{field}", self.prefix),
            wrong,
            remedy,
        )
    }

    /// Takes a field that must be there; `expected` says what to write.
    pub fn required<T: DeserializeOwned>(
        &mut self,
        field: &'static str,
        expected: &str,
        problems: &mut Problems,
    ) -> Option<T> {
        if !self.table.contains_key(field) {
            self.known.insert(field);
            problems.push(self.problem(field, "is missing", format!("write {expected}")));
            return None;
        }
        self.optional(field, expected, problems)
    }

    /// Takes a field that may be absent; a wrong type is a defect.
    pub fn optional<T: DeserializeOwned>(
        &mut self,
        field: &'static str,
        expected: &str,
        problems: &mut Problems,
    ) -> Option<T> {
        self.known.insert(field);
        let value = self.table.remove(field)?;
        let shown = shorten(&value.to_string());
        match value.try_into::<T>() {
            Ok(value) => Some(value),
            Err(error) => {
                let reason = error.message().to_owned();
                let wrong = if reason.contains('`') && !reason.starts_with("invalid type") {
                    reason
                } else {
                    format!("{shown} is not accepted ({reason})")
                };
                problems.push(self.problem(field, wrong, format!("write {expected}")));
                None
            }
        }
    }

    /// Takes a table below this one.
    pub fn table(&mut self, field: &'static str, problems: &mut Problems) -> Option<Self> {
        self.known.insert(field);
        match self.table.remove(field)? {
            toml::Value::Table(table) => Some(self.below(field, table)),
            _ => {
                problems.push(self.problem(
                    field,
                    "is not a table",
                    format!("write [{field}] and its fields below"),
                ));
                None
            }
        }
    }

    /// Takes an array of tables below this one.
    pub fn tables(&mut self, field: &'static str, problems: &mut Problems) -> Vec<Self> {
        self.known.insert(field);
        let wrong = match self.table.remove(field) {
            None => return Vec::new(),
            Some(toml::Value::Array(values)) => {
                let mut tables = Vec::new();
                for (index, value) in values.into_iter().enumerate() {
                    if let toml::Value::Table(table) = value {
                        tables.push(self.below(&format!("{field}[{index}]"), table));
                    }
                }
                return tables;
            }
            Some(_) => "is not a list of tables",
        };
        problems.push(self.problem(field, wrong, format!("write [[{field}]] once for each")));
        Vec::new()
    }

    /// Reports every field that nobody took, with the nearest known one.
    pub fn finish(self, problems: &mut Problems) {
        for field in self.table.keys() {
            let nearest = self
                .known
                .iter()
                .map(|known| (strsim::damerau_levenshtein(known, field), *known))
                .min();
            let remedy = match nearest {
                Some((distance, known)) if distance <= 1 + field.len() / 3 => {
                    format!("did you mean `{known}`?")
                }
                _ => {
                    let known: Vec<&str> = self.known.iter().copied().collect();
                    format!("remove it; known fields are {}", known.join(", "))
                }
            };
            problems.push(self.problem(field, "is an unknown field", remedy));
        }
    }

    fn below(&self, field: &str, table: toml::Table) -> Self {
        Self {
            place: self.place.clone(),
            prefix: format!("{}{field}.", self.prefix),
            table,
            known: BTreeSet::new(),
        }
    }
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    let head: String = text.chars().take(57).collect();
    format!("{head}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_defect_of_a_file_is_found_in_one_reading() {
        let mut problems = Problems::none();
        let text = "version = \"one\"\nvresion = 2\n[limits]\nmemory = 3\nfrobnication = 4\n";
        let mut fields = Fields::of_file("a.toml", text, &mut problems).unwrap();
        assert_eq!(
            fields.required::<u32>("version", "a number", &mut problems),
            None
        );
        assert_eq!(
            fields.required::<String>("id", "an id", &mut problems),
            None
        );
        let mut limits = fields.table("limits", &mut problems).unwrap();
        assert_eq!(limits.optional("memory", "bytes", &mut problems), Some(3));
        limits.finish(&mut problems);
        fields.finish(&mut problems);
        let told: Vec<String> = problems.list().iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 4, "{told:#?}");
        assert!(
            told[0].starts_with("a.toml: version: \"one\" is not accepted"),
            "{}",
            told[0]
        );
        assert_eq!(told[1], "a.toml: id: is missing; write an id");
        assert!(told[2].starts_with("a.toml: limits.frobnication: is an unknown field; remove it"));
        assert_eq!(
            told[3],
            "a.toml: vresion: is an unknown field; did you mean `version`?"
        );
    }

    #[test]
    fn a_text_that_is_no_toml_names_its_line() {
        let mut problems = Problems::none();
        assert!(Fields::of_file("a.toml", "x = 1\ny = = 2\n", &mut problems).is_none());
        assert!(
            problems
                .to_string()
                .starts_with("a.toml: line 2: is not TOML")
        );
    }
}
