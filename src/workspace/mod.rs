//! Knows what lies in a workspace: broken source, agent, brief, and dossiers under names that carry no meaning.
//! Must not know sessions, coders or scores.
//! Start at `render`.

mod render;

pub use render::{
    DossierFiles, File, Folder, PARAMETERS, Rendered, Request, SERVE, TRAIN, ToolCommand, Tree,
    render,
};
