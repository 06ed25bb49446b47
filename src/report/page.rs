//! Knows how a view becomes HTML and text: templates, escaping, and that every printed text is inert.
//! Must not know findings or files.
//! Start at `Pages::new`.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context, escape_formatter};
use serde::Serialize;

use super::inert::inert;

const TEMPLATES: [(&str, &str); 6] = [
    ("report.html", include_str!("templates/report.html.jinja")),
    ("stratum.html", include_str!("templates/stratum.html.jinja")),
    ("parts.html", include_str!("templates/parts.html.jinja")),
    (
        "transcript.html",
        include_str!("templates/transcript.html.jinja"),
    ),
    ("report.md", include_str!("templates/report.md.jinja")),
    ("style.css", include_str!("templates/style.css")),
];

const SCRIPT: &str = include_str!("templates/sort.js");

/// The templates, ready to render.
pub(super) struct Pages {
    environment: Environment<'static>,
}

impl Pages {
    /// # Errors
    /// A template that does not parse: a defect of ours.
    pub(super) fn new() -> Result<Self, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true);
        environment.set_syntax(syntax.build()?);
        environment.set_auto_escape_callback(|name| match name.rsplit_once('.') {
            Some((_, "html")) => AutoEscape::Html,
            _ => AutoEscape::None,
        });
        environment.set_formatter(|out, state, value| match value.as_str() {
            Some(text) if !value.is_safe() => {
                let text = inert(text);
                let text = if state.name().ends_with(".md") {
                    markdown(&text)
                } else {
                    text.into_owned()
                };
                escape_formatter(out, state, &Value::from(text))
            }
            _ => escape_formatter(out, state, value),
        });
        for (name, source) in TEMPLATES {
            environment.add_template(name, source)?;
        }
        Ok(Self { environment })
    }

    /// The page; `nonce` marks the one script that may run.
    pub(super) fn html(
        &self,
        shown: &impl Serialize,
        nonce: &str,
    ) -> Result<String, minijinja::Error> {
        self.environment
            .get_template("report.html")?
            .render(context! {
                page => Value::from(Serde(shown)),
                nonce,
                script => Value::from_safe_string(SCRIPT.to_owned()),
            })
    }

    /// The same as text.
    pub(super) fn markdown(&self, shown: &impl Serialize) -> Result<String, minijinja::Error> {
        self.environment
            .get_template("report.md")?
            .render(context! { page => Value::from(Serde(shown)) })
    }

    /// One transcript.
    pub(super) fn transcript(&self, shown: &impl Serialize) -> Result<String, minijinja::Error> {
        self.environment
            .get_template("transcript.html")?
            .render(context! { page => Value::from(Serde(shown)) })
    }
}

/// Escapes what Markdown and the HTML inside it read as markup, on one line.
fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' => {
                out.push('\\');
                out.push(character);
            }
            plain => out.push(plain),
        }
    }
    out
}
