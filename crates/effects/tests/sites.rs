//! By which names effects elsewhere are known there: options, variables, settings, and what a command chose before.

#![allow(clippy::unwrap_used)]

use checkrein_effects::predict;
use checkrein_facts::{RecordedWorld, VersionState};
use checkrein_protocol::{AbsolutePath, Action, EffectSite, SiteKind, Target};
use checkrein_testkit::world::bare;

fn world() -> RecordedWorld {
    let home = AbsolutePath::new("/home/dev").unwrap();
    let kube = "apiVersion: v1\ncontexts:\n- name: other\ncurrent-context: eks-live\n";
    bare()
        .with_file(&home.join(".kube/config"), kube, VersionState::NoRepository)
        .with_file(&home.join("other.kube"), "current-context: \"gke-dev\"\n", VersionState::NoRepository)
        .with_file(&home.join("proj/infra/.terraform/environment"), "live-eu", VersionState::Ignored)
        .with_file(&home.join("proj/cloud/Pulumi.yaml"), "name: shop\nruntime: go\n", VersionState::NoRepository)
        .with_file(
            &home.join(".pulumi/workspaces/shop-0a1b2c-workspace.json"),
            "{\"stack\": \"acme/shop/live\"}",
            VersionState::NoRepository,
        )
        .with_file(
            &home.join(".pulumi/workspaces/shop-two-0a1b2c-workspace.json"),
            "{\"stack\": \"other\"}",
            VersionState::NoRepository,
        )
        .with_file(&home.join(".config/gcloud/active_config"), "work\n", VersionState::NoRepository)
        .with_file(
            &home.join(".config/gcloud/configurations/config_work"),
            "[compute]\nproject = no\n[core]\naccount = a@b\nproject = shop-live\n",
            VersionState::NoRepository,
        )
        .with_file(
            &home.join(".config/gcloud/configurations/config_dev"),
            "[core]\nproject=shop-dev\n",
            VersionState::NoRepository,
        )
        .with_file(
            &home.join(".ssh/config"),
            "Host shop shop-?\n  HostName web-1.example.com\nHost *.int !gate.int\n  HostName %h.example.com\nMatch all\n  HostName no\n",
            VersionState::NoRepository,
        )
}

/// The sites of all effects of a command, by kind; `?` for one whose name is not known.
fn sites(command: &str, kind: SiteKind) -> Vec<String> {
    let workspace = AbsolutePath::new("/home/dev/proj").unwrap();
    let effects = predict(&Action::command(command, workspace), &world()).effects;
    let all = effects.iter().flat_map(|effect| &effect.sites).filter(|site| site.kind == kind);
    let mut names: Vec<String> =
        all.map(|site: &EffectSite| site.name.clone().unwrap_or_else(|| "?".to_owned())).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn clusters_are_named_by_options_and_settings() {
    for (command, named) in [
        ("kubectl apply -f x.yaml", vec!["eks-live"]),
        ("kubectl --context dev apply -f x.yaml", vec!["dev"]),
        ("kubectl apply -f x.yaml --context=dev", vec!["dev"]),
        ("kubectl --kubeconfig ../other.kube apply -f x.yaml", vec!["gke-dev"]),
        ("KUBECONFIG=../other.kube kubectl apply -f x.yaml", vec!["gke-dev"]),
        ("KUBECONFIG=missing:../other.kube kubectl apply -f x.yaml", vec!["gke-dev"]),
        ("export KUBECONFIG=../other.kube; kubectl delete ns shop", vec!["gke-dev"]),
        ("kubectl config use-context staging && kubectl delete ns shop", vec!["staging"]),
        ("kubectx staging; kubectl apply -f x.yaml", vec!["staging"]),
        ("kubectl --context $(hostname) apply -f x.yaml", vec!["?"]),
        ("for c in a b; do kubectl --context $c apply -f x.yaml; done", vec!["a", "b"]),
        ("helm upgrade web ./chart", vec!["eks-live"]),
        ("helm --kube-context dev upgrade web ./chart", vec!["dev"]),
        ("HELM_KUBECONTEXT=dev helm upgrade web ./chart", vec!["dev"]),
        ("sudo kubectl --context dev delete ns shop", vec!["dev"]),
        ("sh -c 'kubectl --context dev delete ns shop'", vec!["dev"]),
        ("kubectl --context dev get pods", vec![]),
        ("echo kubectl --context dev apply", vec![]),
    ] {
        assert_eq!(sites(command, SiteKind::KubeContext), named, "{command}");
    }
}

#[test]
fn workspaces_are_named_by_variables_and_the_directory() {
    for (command, named) in [
        ("terraform apply", vec![]),
        ("terraform -chdir=infra apply", vec!["live-eu"]),
        ("cd infra && terraform destroy", vec!["live-eu"]),
        ("cd infra && TF_WORKSPACE=dev terraform destroy", vec!["dev"]),
        ("terraform workspace select live && terraform apply -auto-approve", vec!["live"]),
        ("cd infra; terraform apply -var-file=env/prod.tfvars", vec!["live-eu", "prod"]),
        ("pulumi up -y -s acme/live", vec!["acme/live"]),
        ("serverless deploy --stage live", vec!["live"]),
        ("vercel --prod", vec!["production"]),
        ("eb deploy shop-live", vec!["shop-live"]),
        ("terraform plan", vec![]),
    ] {
        assert_eq!(sites(command, SiteKind::Workspace), named, "{command}");
    }
}

#[test]
fn databases_are_named_by_hosts_addresses_and_their_own_names() {
    for (command, named) in [
        ("psql -h db.example.com shop -c 'DELETE FROM a'", vec!["a", "db.example.com", "shop"]),
        ("psql postgres://me@db.example.com/shop -c 'DELETE FROM a'", vec!["a", "db.example.com", "shop"]),
        ("PGHOST=db.example.com psql shop -c 'DELETE FROM a'", vec!["a", "db.example.com", "shop"]),
        ("dropdb -h localhost shop", vec!["shop"]),
        ("RAILS_ENV=live rails db:drop", vec!["database", "db:drop", "live"]),
        ("psql -h $(hostname) shop -c 'DELETE FROM a'", vec!["?"]),
    ] {
        assert_eq!(sites(command, SiteKind::Database), named, "{command}");
    }
}

#[test]
fn accounts_are_named_by_options_variables_and_what_lends_them() {
    for (command, named) in [
        ("aws --profile live s3 rb s3://b --force", vec!["live"]),
        ("AWS_PROFILE=live aws s3 rb s3://b --force", vec!["live"]),
        ("export AWS_PROFILE=live; terraform destroy", vec!["live"]),
        ("aws-vault exec live -- terraform destroy", vec!["live"]),
        ("gcloud --project shop-live compute instances delete a", vec!["shop-live"]),
        ("az group delete -n a --subscription live", vec!["live"]),
        ("heroku pg:reset -a shop-live", vec!["shop-live"]),
    ] {
        assert_eq!(sites(command, SiteKind::CloudProfile), named, "{command}");
    }
}

#[test]
fn sites_stand_in_the_files_of_programs() {
    for (command, kind, named) in [
        ("cd cloud && pulumi up -y", SiteKind::Workspace, vec!["acme/shop/live"]),
        ("pulumi up -y -C cloud", SiteKind::Workspace, vec!["acme/shop/live"]),
        ("mkdir -p cloud/a; cd cloud/a; pulumi destroy -y", SiteKind::Workspace, vec!["acme/shop/live"]),
        ("cd cloud && pulumi up -y -s dev", SiteKind::Workspace, vec!["dev"]),
        ("cd cloud && PULUMI_STACK=dev pulumi up -y", SiteKind::Workspace, vec!["dev"]),
        ("cd cloud && pulumi stack select dev && pulumi up -y", SiteKind::Workspace, vec!["dev"]),
        ("cd cloud && PULUMI_HOME=$(x) pulumi up -y", SiteKind::Workspace, vec!["?"]),
        ("pulumi up -y", SiteKind::Workspace, vec![]),
        ("gcloud compute instances delete a", SiteKind::CloudProfile, vec!["shop-live"]),
        (
            "gcloud compute instances delete a --configuration dev",
            SiteKind::CloudProfile,
            vec!["dev", "shop-dev"],
        ),
        ("gcloud compute instances delete a --project other", SiteKind::CloudProfile, vec!["other"]),
        (
            "CLOUDSDK_CORE_PROJECT=other gcloud compute instances delete a",
            SiteKind::CloudProfile,
            vec!["other"],
        ),
        (
            "CLOUDSDK_ACTIVE_CONFIG_NAME=dev gcloud compute instances delete a",
            SiteKind::CloudProfile,
            vec!["dev", "shop-dev"],
        ),
        (
            "gcloud config set project other && gcloud compute instances delete a",
            SiteKind::CloudProfile,
            vec!["other"],
        ),
        (
            "gcloud config configurations activate dev; gcloud compute instances delete a",
            SiteKind::CloudProfile,
            vec!["shop-dev"],
        ),
        ("gsutil rm -r gs://bucket", SiteKind::CloudProfile, vec!["shop-live"]),
        ("ssh shop sudo reboot", SiteKind::Host, vec!["shop", "web-1.example.com"]),
        ("ssh dev@shop-2 sudo reboot", SiteKind::Host, vec!["shop-2", "web-1.example.com"]),
        ("ssh db.int sudo reboot", SiteKind::Host, vec!["db.int", "db.int.example.com"]),
        ("ssh gate.int sudo reboot", SiteKind::Host, vec!["gate.int"]),
        ("scp x shop:/srv/", SiteKind::Host, vec!["web-1.example.com"]),
        ("rsync -a dist/ shop:/srv/", SiteKind::Host, vec!["web-1.example.com"]),
    ] {
        assert_eq!(sites(command, kind), named, "{command}");
    }
}

#[test]
fn machines_and_branches_are_named() {
    for (command, named) in [
        ("ssh deploy@web-1.example.com sudo systemctl restart shop", vec!["web-1.example.com"]),
        ("ssh web-1 'rm -rf /srv/shop'", vec!["web-1"]),
        ("ssh web-1 uptime", vec!["web-1"]),
    ] {
        assert_eq!(sites(command, SiteKind::Host), named, "{command}");
    }
    for (command, named) in [
        ("git push origin main", vec!["origin/main"]),
        ("git push heroku HEAD:live", vec!["heroku/live"]),
        ("git push origin +release", vec!["origin/release"]),
        ("git push origin refs/heads/live", vec!["origin/live"]),
        ("git push origin --delete live", vec!["origin/live"]),
        ("git push --force-with-lease origin live", vec!["origin/live"]),
        ("git push origin $(cat branch)", vec!["?"]),
        ("git commit -m x", vec![]),
    ] {
        assert_eq!(sites(command, SiteKind::Branch), named, "{command}");
    }
}

#[test]
fn what_happens_on_this_machine_has_no_site() {
    let workspace = AbsolutePath::new("/home/dev/proj").unwrap();
    for command in [
        "aws --profile live s3 cp s3://b/a a",
        "ssh web-1 cat a > b",
        "kubectl --context live cp web:/a a",
        "terraform -chdir=infra fmt",
    ] {
        let effects = predict(&Action::command(command, workspace.clone()), &world()).effects;
        for effect in effects.iter().filter(|effect| matches!(effect.target, Target::Path(_))) {
            assert_eq!(effect.sites, [], "{command}");
        }
    }
}

#[test]
fn the_same_words_at_another_site_are_another_effect() {
    let call = |context: &str| format!("kubectl --context {context} apply -f x.yaml");
    for command in [
        format!("{}; {}", call("dev"), call("live")),
        format!("{} || {}", call("dev"), call("live")),
        format!("{}; kubectl config use-context live; kubectl apply -f x.yaml", call("dev")),
        format!("for c in dev live dev live; do {}; done", call("$c")),
        format!("f() {{ {}; }}; f dev; f live; f dev", call("$1")),
    ] {
        let workspace = AbsolutePath::new("/home/dev/proj").unwrap();
        let effects = predict(&Action::command(command.as_str(), workspace), &world()).effects;
        let of = |name: &str| {
            let is_at = |site: &EffectSite| site.name.as_deref() == Some(name);
            effects.iter().filter(|effect| effect.sites.iter().any(is_at)).count()
        };
        assert_eq!((of("dev"), of("live")), (1, 1), "{command}: {effects:?}");
    }
    for (command, kind, named) in [
        ("git push origin main; git push heroku main", SiteKind::Branch, vec!["heroku/main", "origin/main"]),
        ("ssh a sudo reboot; ssh b sudo reboot", SiteKind::Host, vec!["a", "b"]),
        (
            "AWS_PROFILE=a aws s3 rb s3://x; AWS_PROFILE=b aws s3 rb s3://x",
            SiteKind::CloudProfile,
            vec!["a", "b"],
        ),
        (
            "aws-vault exec a -- terraform destroy; aws-vault exec b -- terraform destroy",
            SiteKind::CloudProfile,
            vec!["a", "b"],
        ),
    ] {
        assert_eq!(sites(command, kind), named, "{command}");
    }
}
