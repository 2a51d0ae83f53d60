//! Whether an effect is on production: the one place that decides it.
//!
//! The configuration names what is production, by patterns of the names that it has. What nobody named counts by what it is called, as far as
//! it is asked about already: a name alone asks about nothing.

use checkrein_glob::{Glob, Style};
use checkrein_protocol::{Effect, EffectKind, EffectSite, NetworkReach, SiteKind, Target};

use crate::config::{Config, ProductionSettings};

/// Parts of names by which production is called where nobody named it (ours).
const BY_NAME: [&str; 4] = ["prod", "production", "prd", "live"];

/// How it is known that an effect is on production.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProductionBy {
    /// It is called so, and nobody named it.
    Name,
    /// The configuration says so.
    Configuration,
}

/// An effect that is on production.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnProduction {
    /// Which of the effects, as an index into the list.
    pub effect: usize,
    /// How that is known.
    pub by: ProductionBy,
    /// What of production it is on, for people: ``kube context `prod` ``.
    pub site: String,
}

/// The first effect that is on production, one that the configuration names before one that is only called so; `None` where none is.
pub fn on_production(effects: &[Effect], config: &Config) -> Option<OnProduction> {
    let found = effects.iter().enumerate().filter_map(|(index, effect)| {
        let (by, site) = production_of(effect, &config.production)?;
        Some(OnProduction { effect: index, by, site })
    });
    found.max_by_key(|found| (found.by, std::cmp::Reverse(found.effect)))
}

fn production_of(effect: &Effect, settings: &ProductionSettings) -> Option<(ProductionBy, String)> {
    if !changes_what_others_use(effect) {
        return None;
    }
    let of_target = target_site(effect);
    let sites = || effect.sites.iter().chain(&of_target);
    if let Some(site) = sites().find(|site| is_named(site, settings)) {
        return Some((ProductionBy::Configuration, in_words(site)));
    }
    let is_here = effect.reach == Some(NetworkReach::Local);
    if settings.always && reach_of(effect.kind) == Beyond::Always && !is_here {
        return Some((ProductionBy::Configuration, "what `production.always` means".to_owned()));
    }
    let called = |site: &&EffectSite| site.name.as_deref().is_some_and(is_called_so);
    sites().find(called).map(|site| (ProductionBy::Name, in_words(site)))
}

/// Whether an effect may change something that others use, beyond this machine.
fn changes_what_others_use(effect: &Effect) -> bool {
    match reach_of(effect.kind) {
        Beyond::Always => true,
        // What happens on this machine names no site.
        Beyond::WithSite => !effect.sites.is_empty() || effect.kind == EffectKind::DataUpload,
        Beyond::Never => false,
    }
}

/// Whether effects of a kind change what others use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beyond {
    /// They do.
    Always,
    /// They do where they happen at a site.
    WithSite,
    /// They look, or change this machine.
    Never,
}

fn reach_of(kind: EffectKind) -> Beyond {
    match kind {
        EffectKind::InfrastructureChange
        | EffectKind::InfrastructureDestroy
        | EffectKind::DatastoreChange
        | EffectKind::DatastoreDestroy
        | EffectKind::Publish
        | EffectKind::VcsRemoteUpdate => Beyond::Always,
        EffectKind::DataUpload
        | EffectKind::RemoteCodeExecution
        | EffectKind::PrivilegeEscalation
        | EffectKind::SystemModification
        | EffectKind::ProcessKill
        | EffectKind::Persistence
        | EffectKind::VcsHistoryRewrite
        | EffectKind::Opaque => Beyond::WithSite,
        EffectKind::FileRead
        | EffectKind::FileCreate
        | EffectKind::FileModify
        | EffectKind::FileDelete
        | EffectKind::PermissionChange
        | EffectKind::SecretRead
        | EffectKind::NetworkRequest
        | EffectKind::PackageInstall
        | EffectKind::ProcessSpawn
        | EffectKind::VcsLocalLoss
        | EffectKind::GuardTampering => Beyond::Never,
    }
}

/// The machine that something is sent to.
fn target_site(effect: &Effect) -> Option<EffectSite> {
    let is_sent = matches!(effect.kind, EffectKind::DataUpload | EffectKind::Publish);
    match &effect.target {
        Target::Host(host) if is_sent => Some(EffectSite::named(SiteKind::Host, host.as_str())),
        Target::Host(_)
        | Target::Path(_)
        | Target::Glob(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => None,
    }
}

/// Whether the configuration names a site. One whose name nobody knows beforehand may be any of those that are named.
fn is_named(site: &EffectSite, settings: &ProductionSettings) -> bool {
    let patterns = match site.kind {
        SiteKind::KubeContext => &settings.kube_contexts,
        SiteKind::Workspace => &settings.workspaces,
        SiteKind::Database => &settings.databases,
        SiteKind::Host => &settings.hosts,
        SiteKind::CloudProfile => &settings.cloud_profiles,
        SiteKind::Branch => &settings.branches,
    };
    let Some(name) = &site.name else { return !patterns.is_empty() };
    patterns.iter().any(|pattern| forms(site.kind, name).any(|form| fits(pattern, form)))
}

/// The forms in which a name may be meant: a branch also without its remote, a machine also without scheme, user, port and path.
fn forms(kind: SiteKind, name: &str) -> impl Iterator<Item = &str> {
    let other = match kind {
        SiteKind::Branch => name.split_once('/').map(|(_, branch)| branch),
        SiteKind::Host | SiteKind::Database => Some(machine(name)),
        SiteKind::KubeContext | SiteKind::Workspace | SiteKind::CloudProfile => None,
    };
    std::iter::once(name).chain(other)
}

fn machine(address: &str) -> &str {
    let bare = address.split_once("://").map_or(address, |(_, bare)| bare);
    let authority = bare.split(['/', '?']).next().unwrap_or(bare);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.matches(':').count() > 1 { host } else { host.split(':').next().unwrap_or(host) }
}

fn fits(pattern: &str, name: &str) -> bool {
    let pattern = Glob::new(&pattern.to_ascii_lowercase(), Style::Word);
    pattern.matches(&name.to_ascii_lowercase())
}

fn is_called_so(name: &str) -> bool {
    name.split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|part| BY_NAME.iter().any(|word| part.eq_ignore_ascii_case(word)))
}

fn in_words(site: &EffectSite) -> String {
    match &site.name {
        Some(name) => format!("{} `{}`", site.kind.in_words(), name.replace('`', "'")),
        None => format!("{} that is not known beforehand", site.kind.in_words()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(kind: EffectKind, site: EffectSite) -> Effect {
        let mut effect = Effect::new(kind, Target::Service("web".to_owned()));
        effect.sites.push(site);
        effect
    }

    fn list(settings: &mut ProductionSettings, kind: SiteKind) -> &mut Vec<String> {
        match kind {
            SiteKind::KubeContext => &mut settings.kube_contexts,
            SiteKind::Workspace => &mut settings.workspaces,
            SiteKind::Database => &mut settings.databases,
            SiteKind::Host => &mut settings.hosts,
            SiteKind::CloudProfile => &mut settings.cloud_profiles,
            SiteKind::Branch => &mut settings.branches,
        }
    }

    fn by(kind: EffectKind, site: EffectSite, config: &Config) -> Option<ProductionBy> {
        on_production(&[effect(kind, site)], config).map(|found| found.by)
    }

    #[test]
    fn each_list_names_its_sort_of_site_and_no_other() {
        for named in SiteKind::ALL {
            let mut config = Config::default();
            list(&mut config.production, named).push("eu-*".to_owned());
            for kind in SiteKind::ALL {
                let found = by(EffectKind::InfrastructureChange, EffectSite::named(kind, "EU-1"), &config);
                assert_eq!(
                    found,
                    (kind == named).then_some(ProductionBy::Configuration),
                    "{named:?} {kind:?}"
                );
                let unknown = by(EffectKind::InfrastructureChange, EffectSite { kind, name: None }, &config);
                assert_eq!(
                    unknown,
                    (kind == named).then_some(ProductionBy::Configuration),
                    "{named:?} {kind:?}"
                );
            }
        }
    }

    #[test]
    fn names_are_those_of_whole_parts_and_ask_for_nothing_else() {
        let config = Config::default();
        for (name, is_so) in [
            ("prod", true),
            ("eu-prod-1", true),
            ("db.live.example", true),
            ("products", false),
            ("staging", false),
            ("delivery", false),
        ] {
            let found = by(EffectKind::DatastoreChange, EffectSite::named(SiteKind::Database, name), &config);
            assert_eq!(found, is_so.then_some(ProductionBy::Name), "{name}");
        }
        let unknown = EffectSite { kind: SiteKind::Database, name: None };
        assert_eq!(by(EffectKind::DatastoreChange, unknown, &config), None, "nobody named anything");
    }

    #[test]
    fn looking_is_no_change() {
        let mut config = Config::default();
        config.production.always = true;
        config.production.hosts.push("*".to_owned());
        for kind in [EffectKind::NetworkRequest, EffectKind::FileRead, EffectKind::SecretRead] {
            assert_eq!(by(kind, EffectSite::named(SiteKind::Host, "web"), &config), None, "{kind:?}");
        }
    }

    #[test]
    fn a_name_is_found_in_the_form_in_which_it_is_written() {
        let mut config = Config::default();
        config.production.branches = vec!["release".to_owned(), "live/main".to_owned()];
        config.production.hosts = vec!["web-*.example.com".to_owned()];
        let named = |kind, name| {
            by(EffectKind::DataUpload, EffectSite::named(kind, name), &config)
                == Some(ProductionBy::Configuration)
        };
        assert!(named(SiteKind::Branch, "origin/release"));
        assert!(named(SiteKind::Branch, "live/main"));
        assert!(!named(SiteKind::Branch, "origin/main"));
        assert!(named(SiteKind::Host, "deploy@web-1.example.com:22"));
        assert!(!named(SiteKind::Host, "web-1.example.com.evil.net"));
    }
}
