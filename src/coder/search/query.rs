//! Knows what `search` asks with: the dossiers' README texts and one default run of each tool.
//! Must not know how the text is used.
//! Start at `gather`.

use crate::coder::{Bench, Brief, Stop};

/// Reads every README and runs every tool once; a tool that fails adds nothing.
pub(super) async fn gather(brief: &Brief, bench: &mut dyn Bench) -> Result<String, Stop> {
    let mut text = String::new();
    for dossier in &brief.dossiers {
        let readme = bench.read(&format!("{}/README.md", dossier.folder)).await?;
        text.push_str(&readme);
        text.push('\n');
        for tool in &dossier.tools {
            let argv: &[String] = if tool.has_budget {
                &["--budget".to_owned(), "small".to_owned()]
            } else {
                &[]
            };
            let seen = bench.tool(&tool.name, argv).await?;
            if seen.code == 0 {
                text.push_str(&seen.output);
                text.push('\n');
            }
        }
    }
    Ok(text)
}
