//! Knows the words that betray a malfunction and finds them in text that a coder may see.
//! Must not know where that text lies.
//! Start at `Secrets`.

use super::malfunction::{Class, Malfunction};

/// Everything a coder must not read: ids, classes, oracle texts.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    words: Vec<String>,
    texts: Vec<String>,
}

impl Secrets {
    /// The secrets of these malfunctions; the classes are always secret.
    #[must_use]
    pub fn of<'a>(malfunctions: impl IntoIterator<Item = &'a Malfunction>) -> Self {
        let mut secrets = Self::default();
        for class in Class::ALL {
            // `composite` is a plain word of English and says nothing by itself.
            if class != Class::Composite {
                secrets.words.push(class.as_str().to_owned());
                secrets.words.push(class.as_str().replace('-', "_"));
            }
        }
        for malfunction in malfunctions {
            secrets.words.push(malfunction.id.to_string());
            secrets
                .words
                .push(malfunction.id.as_str().replace('-', "_"));
            let own = [&malfunction.oracle, &malfunction.summary];
            let observations = malfunction.causal.iter().chain(&malfunction.not_causal);
            for text in own.into_iter().chain(observations) {
                secrets.texts.push(text.clone());
            }
        }
        secrets
    }

    /// The secrets that a text holds, as they are spelt in the catalogue; long texts are cut.
    #[must_use]
    pub fn found_in(&self, text: &str) -> Vec<String> {
        let lower = text.to_lowercase();
        let flat = flatten(&lower);
        let words = self
            .words
            .iter()
            .filter(|word| lower.contains(word.as_str()));
        let texts = self
            .texts
            .iter()
            .filter(|secret| flat.contains(&flatten(&secret.to_lowercase())));
        words
            .chain(texts)
            .map(|secret| secret.chars().take(60).collect())
            .collect()
    }
}

/// One space for any white space, so that a wrapped text is found as well.
fn flatten(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_found_in_any_case_and_spelling() {
        let secrets = Secrets::of([]);
        assert_eq!(
            secrets.found_in("see Reward_Hacking below"),
            ["reward_hacking"]
        );
        assert!(secrets.found_in("the reward is composite").is_empty());
    }

    #[test]
    fn a_wrapped_text_is_found() {
        let secrets = Secrets {
            words: Vec::new(),
            texts: vec!["Remove the clip and retrain.".into()],
        };
        assert_eq!(
            secrets.found_in("remove the\n    clip and retrain.").len(),
            1
        );
    }
}
