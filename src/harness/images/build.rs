//! Knows how the three container images are built, each only when the tag of its content is missing.
//! Must not know containers.
//! Start at `docker`.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use bollard::errors::Error;
use bollard::query_parameters::{
    BuildImageOptionsBuilder, CreateImageOptionsBuilder, ListImagesOptionsBuilder,
    RemoveImageOptionsBuilder,
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt};
use tokio::io::AsyncReadExt;

use super::context::Context;
use super::{Base, Progress, Recipe, debian, failed, wheelhouse};
use crate::harness::docker::{Engine, within};
use crate::harness::{ImageFacts, Role};
use crate::vocab::{FaultKind, HarnessFault};

const BUILD: Duration = Duration::from_secs(1800);
const PULL: Duration = Duration::from_secs(300);
const CALL: Duration = Duration::from_secs(60);
const SLIM: &str = "python:3.11-slim-bookworm";
const STAGE: &str = "evalxrl.stage";

/// Makes sure of the images and tells what they are, by role.
///
/// # Errors
/// `image_missing`, with the last words of what failed.
pub async fn docker(
    engine: &Engine,
    recipe: &Recipe,
    base: Base,
    progress: Progress<'_>,
) -> Result<BTreeMap<Role, ImageFacts>, HarnessFault> {
    let builder = Builder {
        engine,
        recipe,
        progress,
    };
    let packages = builder.packages(base).await?;
    let mut workspace = Context::default();
    workspace.add_folder(&recipe.docker.join("workspace"), "", &[])?;
    let mut scorer = Context::default();
    scorer.add_folder(&recipe.docker.join("scorer"), "", &[])?;
    scorer.add_folder(&recipe.package, "evalxrl_envs/", &["agents"])?;
    let workspace = builder
        .image("workspace", &packages, &workspace, None)
        .await?;
    let scorer = builder.image("scorer", &packages, &scorer, None).await?;
    Ok(BTreeMap::from([
        (Role::Workspace, workspace.clone()),
        (Role::Agent, workspace),
        (Role::Scorer, scorer),
    ]))
}

struct Builder<'a> {
    engine: &'a Engine,
    recipe: &'a Recipe,
    progress: Progress<'a>,
}

impl Builder<'_> {
    /// The image with the locked Python packages, on the wanted base.
    async fn packages(&self, base: Base) -> Result<ImageFacts, HarnessFault> {
        let folder = self.recipe.docker.join("base");
        let mut system = Context::default();
        system.add_file(&folder.join("packages.txt"), "packages.txt")?;
        system.add_file(&folder.join("slim.Dockerfile"), "Dockerfile")?;
        let mut context = Context::default();
        for name in ["Dockerfile", "passwd", "group"] {
            context.add_file(&folder.join(name), name)?;
        }
        context.add_file(&self.recipe.lock, "requirements.lock")?;

        let slim = tag("system", &system.hash(&["slim", SLIM]));
        let packages = std::fs::read_to_string(folder.join("packages.txt"))
            .map_err(|error| failed("reading packages.txt", error))?;
        let packages: Vec<String> = packages.split_whitespace().map(str::to_owned).collect();
        let mut named = Context::default();
        named.add_file(&folder.join("packages.txt"), "packages.txt")?;
        let debian = tag("system", &named.hash(&["debian"]));

        let order: &[(&str, Base)] = match base {
            Base::Slim => &[(&slim, Base::Slim)],
            Base::Debian => &[(&debian, Base::Debian)],
            Base::Either => &[(&slim, Base::Slim), (&debian, Base::Debian)],
        };
        // What stands already is taken before anything is built.
        for (system, _) in order {
            let wanted = tag("base", &context.hash(&[system]));
            if let Some(found) = self.find(&wanted).await? {
                return Ok(found);
            }
        }
        let mut system = None;
        for (name, _) in order {
            system = match system {
                None => self.find(name).await?,
                found => found,
            };
        }
        let system = match (system, base) {
            (Some(found), _) => found,
            (None, Base::Slim) => self.slim(&slim, &system_context(&folder)?).await?,
            (None, Base::Debian) => self.debian(&debian, &packages).await?,
            (None, Base::Either) => match self.slim(&slim, &system_context(&folder)?).await {
                Ok(made) => made,
                Err(_) => self.debian(&debian, &packages).await?,
            },
        };
        let wheels = wheelhouse::ensure(self.recipe, self.progress).await?;
        let made = self
            .image("base", &system, &context, Some((&wheels, "wheelhouse")))
            .await?;
        self.forget_stages().await?;
        Ok(made)
    }

    /// The base of a registry with our Debian packages.
    async fn slim(&self, tag: &str, context: &Context) -> Result<ImageFacts, HarnessFault> {
        (self.progress)("fetching the base image");
        let options = CreateImageOptionsBuilder::new().from_image(SLIM).build();
        let pull = self.engine.client().create_image(Some(options), None, None);
        within(
            PULL,
            "fetching the base image",
            pull.try_for_each(|_| async { Ok(()) }),
        )
        .await?;
        self.build(tag, SLIM, context, None, None).await
    }

    /// The base made from Debian packages.
    async fn debian(&self, tag: &str, packages: &[String]) -> Result<ImageFacts, HarnessFault> {
        (self.progress)("making the base image from Debian packages");
        let folder = tempfile::tempdir().map_err(|error| failed("making a folder", error))?;
        let archive = folder.path().join("base.tar");
        debian::make(packages, &archive).await?;
        let (name, version) = tag.split_once(':').unwrap_or((tag, "latest"));
        let options = CreateImageOptionsBuilder::new()
            .from_src("-")
            .repo(name)
            .tag(version)
            .build();
        let body = bollard::body_try_stream(stream(&archive).await?);
        let import = self
            .engine
            .client()
            .create_image(Some(options), Some(body), None);
        within(
            BUILD,
            "importing the base image",
            import.try_for_each(|_| async { Ok(()) }),
        )
        .await?;
        self.found(tag).await
    }

    /// An image on a parent; built only when its tag is missing.
    async fn image(
        &self,
        name: &str,
        parent: &ImageFacts,
        context: &Context,
        folder: Option<(&Path, &str)>,
    ) -> Result<ImageFacts, HarnessFault> {
        let tag = tag(name, &context.hash(&[&parent.tag]));
        match self.find(&tag).await? {
            Some(found) => Ok(found),
            None => {
                (self.progress)(&format!("building the {name} image"));
                self.build(&tag, &parent.tag, context, folder, Some("none"))
                    .await
            }
        }
    }

    async fn build(
        &self,
        tag: &str,
        parent: &str,
        context: &Context,
        folder: Option<(&Path, &str)>,
        network: Option<&str>,
    ) -> Result<ImageFacts, HarnessFault> {
        let archive = tempfile::NamedTempFile::new()
            .map_err(|error| failed("making a build context", error))?;
        context.pack(std::io::BufWriter::new(archive.as_file()), folder)?;
        let arguments = HashMap::from([("BASE", parent)]);
        let mut options = BuildImageOptionsBuilder::new()
            .dockerfile("Dockerfile")
            .t(tag)
            .rm(true)
            .forcerm(true)
            .buildargs(&arguments);
        if let Some(network) = network {
            options = options.networkmode(network);
        }
        let body = bollard::body_try_stream(stream(archive.path()).await?);
        let build = self
            .engine
            .client()
            .build_image(options.build(), None, Some(body));
        let last = within(BUILD, &format!("building {tag}"), last_words(build)).await?;
        match self.find(tag).await? {
            Some(made) => Ok(made),
            None => Err(failed(&format!("building {tag}"), last)),
        }
    }

    /// What the engine knows of a tag.
    async fn find(&self, tag: &str) -> Result<Option<ImageFacts>, HarnessFault> {
        let call = async {
            match self.engine.client().inspect_image(tag).await {
                Err(Error::DockerResponseServerError {
                    status_code: 404, ..
                }) => Ok(None),
                other => other.map(Some),
            }
        };
        let seen = within(CALL, "looking for an image", call).await?;
        Ok(seen.and_then(|image| image.id).map(|id| ImageFacts {
            tag: tag.to_owned(),
            id,
        }))
    }

    async fn found(&self, tag: &str) -> Result<ImageFacts, HarnessFault> {
        self.find(tag).await?.ok_or_else(|| {
            HarnessFault::new(FaultKind::ImageMissing, format!("{tag} was not made"))
        })
    }

    /// Removes what the two-stage build left without a name.
    async fn forget_stages(&self) -> Result<(), HarnessFault> {
        let filters = HashMap::from([("dangling", vec!["true"]), ("label", vec![STAGE])]);
        let options = ListImagesOptionsBuilder::new().filters(&filters).build();
        let client = self.engine.client();
        let stages = within(CALL, "listing images", client.list_images(Some(options))).await?;
        for stage in stages {
            let options = RemoveImageOptionsBuilder::new().force(true).build();
            // Another build may still stand on it; the next one clears it away.
            let _kept = within(CALL, "removing a build stage", async {
                client.remove_image(&stage.id, Some(options), None).await
            })
            .await;
        }
        Ok(())
    }
}

fn system_context(folder: &Path) -> Result<Context, HarnessFault> {
    let mut context = Context::default();
    context.add_file(&folder.join("packages.txt"), "packages.txt")?;
    context.add_file(&folder.join("slim.Dockerfile"), "Dockerfile")?;
    Ok(context)
}

fn tag(name: &str, hash: &str) -> String {
    format!("evalxrl/{name}:{hash}")
}

/// Follows a build to its end and keeps what it said last.
async fn last_words(
    build: impl Stream<Item = Result<bollard::models::BuildInfo, Error>>,
) -> Result<String, Error> {
    let mut last = Vec::new();
    let mut build = std::pin::pin!(build);
    while let Some(told) = build.next().await {
        let told = told?;
        let error = told.error_detail.and_then(|detail| detail.message);
        for text in [told.stream, error].into_iter().flatten() {
            if !text.trim().is_empty() {
                last.push(text.trim().to_owned());
            }
        }
        if last.len() > 5 {
            last.remove(0);
        }
    }
    Ok(last.join("; "))
}

/// A file as a stream of pieces.
async fn stream(
    path: &Path,
) -> Result<impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static, HarnessFault> {
    let file = tokio::fs::File::open(path)
        .await
        .map_err(|error| failed(&format!("reading {}", path.display()), error))?;
    Ok(futures_util::stream::try_unfold(file, |mut file| async {
        let mut buffer = vec![0; 256 * 1024];
        let count = file.read(&mut buffer).await?;
        buffer.truncate(count);
        Ok((count > 0).then(|| (Bytes::from(buffer), file)))
    }))
}
