//! The tables of settings, options and variables that switch checks off, each group with its source.

use crate::effect::Severity;

/// What says no.
pub(super) const OFF: &[&str] = &["false", "no", "off", "0", "none", "disabled"];
/// What says yes.
const ON: &[&str] = &["true", "yes", "on", "1"];
const ANYTHING: &[&str] = &["*"];
/// In place of a value: whatever is not empty, since a list of hosts that names one is believed.
pub(super) const SOMEBODY: &str = "somebody";
/// In place of a value: a list that stands for all hosts.
pub(super) const EVERYTHING: &str = "everything";

/// Orders of package managers with which something comes in, or credentials go out.
const FETCHING: &[&str] = &[
    "install", "i", "ci", "add", "update", "upgrade", "up", "download", "sync", "lock", "get", "mod",
    "publish", "login", "exec", "dlx", "wheel", "tool", "run", "create", "restore", "fetch", "pull", "push",
    "compile", "build", "deploy", "verify", "package",
];
/// What git sends or fetches by.
pub(super) const GIT_VERBS: &[&str] =
    &["clone", "fetch", "pull", "push", "ls-remote", "submodule", "remote", "lfs", "archive"];

/// A setting that stays: programs, the verb that sets one, the key in small letters, and the values that switch the check off.
pub(super) struct Setting {
    pub(super) programs: &'static [&'static str],
    pub(super) verbs: &'static [&'static str],
    pub(super) key: &'static str,
    pub(super) values: &'static [&'static str],
}

/// An option of one call.
pub(super) struct Switch {
    pub(super) programs: &'static [&'static str],
    pub(super) verbs: &'static [&'static str],
    pub(super) option: &'static str,
    pub(super) severity: Severity,
}

/// A variable of one call: its names, the values that switch the check off, who reads it and for what.
pub(super) struct GivenVariable {
    pub(super) names: &'static [&'static str],
    pub(super) values: &'static [&'static str],
    pub(super) programs: &'static [&'static str],
    pub(super) verbs: &'static [&'static str],
    pub(super) severity: Severity,
}

const fn setting(
    programs: &'static [&'static str],
    verbs: &'static [&'static str],
    key: &'static str,
    values: &'static [&'static str],
) -> Setting {
    Setting { programs, verbs, key, values }
}

const fn switch(
    programs: &'static [&'static str],
    verbs: &'static [&'static str],
    option: &'static str,
) -> Switch {
    Switch { programs, verbs, option, severity: Severity::High }
}

/// One of a program of the project, of which nobody knows what it fetches.
const fn own(programs: &'static [&'static str], option: &'static str) -> Switch {
    Switch { programs, verbs: &[], option, severity: Severity::Medium }
}

const fn variable(
    names: &'static [&'static str],
    values: &'static [&'static str],
    programs: &'static [&'static str],
    verbs: &'static [&'static str],
) -> GivenVariable {
    GivenVariable { names, values, programs, verbs, severity: Severity::High }
}

const fn own_variable(
    names: &'static [&'static str],
    values: &'static [&'static str],
    programs: &'static [&'static str],
) -> GivenVariable {
    GivenVariable { names, values, programs, verbs: &[], severity: Severity::Medium }
}

/// Variables that any program of a language reads: Node.js 24, "Command-line API"; PEP 493; requests, "SSL Cert Verification"; LWP(3).
const OF_LANGUAGES: &str = "node_tls_reject_unauthorized";

pub(super) const SETTINGS: &[Setting] = &[
    // conda, "Configuration"; Poetry 2.1, `certificates`; PDM 2.25, "pypi.verify_ssl"; Composer 2.8, "config"; bundle-config(1); npm, pnpm and Yarn, "config".
    setting(&["conda", "mamba", "micromamba"], &["config"], "ssl_verify", OFF),
    setting(&["poetry"], &["config"], "certificates.*.cert", OFF),
    setting(&["pdm"], &["config"], "*.verify_ssl", OFF),
    setting(&["composer"], &["config"], "disable-tls", ON),
    setting(&["composer"], &["config"], "secure-http", OFF),
    setting(&["bundle", "bundler"], &["config"], "ssl_verify_mode", OFF),
    setting(&["npm", "pnpm", "yarn"], &["config", "c", "set"], "strict-ssl", OFF),
    setting(&["yarn"], &["config"], "enablestrictssl", OFF),
    setting(&["yarn"], &["config"], "npmregistries*.enablestrictssl", OFF),
    // kubectl, "config set"; gcloud, "auth/disable_ssl_validation"; Azure CLI, "core.disable_connection_verification"; glab, `skip_tls_verify`; Snyk CLI, `insecure`.
    setting(&["kubectl", "oc"], &["config"], "clusters.*.insecure-skip-tls-verify", ON),
    setting(&["gcloud"], &["config"], "auth/disable_ssl_validation", ON),
    setting(&["az"], &["config", "configure"], "core.disable_connection_verification", ON),
    setting(&["glab"], &["config"], "skip_tls_verify", ON),
    setting(&["snyk"], &["config"], "insecure", ON),
    // `go help environment`: what is fetched by plain HTTP, and what no checksum database has seen.
    setting(&["go"], &["-w"], "goflags", &["*-insecure*"]),
    setting(&["go"], &["-w"], "goinsecure", &[SOMEBODY]),
    setting(&["go"], &["-w"], "gosumdb", &["off"]),
    setting(&["go"], &["-w"], "gonosumdb", &[EVERYTHING]),
    setting(&["go"], &["-w"], "gonosumcheck", ON),
    // Variables that last: systemctl(1), launchctl(1), `setx`, mise, conda.
    setting(&["systemctl", "launchctl", "setx", "mise", "conda"], &[], OF_LANGUAGES, OFF),
    setting(&["systemctl", "launchctl", "setx", "mise", "conda"], &[], "git_ssl_no_verify", ON),
    setting(&["systemctl", "launchctl", "setx", "mise", "conda"], &[], "pythonhttpsverify", OFF),
    // dnf.conf(5), `sslverify`; yum-config-manager(1).
    setting(
        &["dnf", "yum", "yum-config-manager", "dnf5"],
        &["config-manager", "--save"],
        "--setopt=*sslverify",
        OFF,
    ),
    setting(
        &["dnf", "yum", "yum-config-manager", "dnf5"],
        &["config-manager", "--save"],
        "--setopt=*gpgcheck",
        OFF,
    ),
];

pub(super) const OPTIONS: &[Switch] = &[
    // pip 25, "--trusted-host"; uv 0.8, "--allow-insecure-host"; npm, pnpm, Yarn 1, "strict-ssl".
    switch(&["pip", "pip3", "pipx"], FETCHING, "--trusted-host"),
    switch(&["uv", "uvx"], &[], "--allow-insecure-host"),
    switch(&["npm", "pnpm", "yarn", "npx"], FETCHING, "--strict-ssl=false"),
    switch(&["npm", "pnpm", "yarn", "npx"], FETCHING, "--no-strict-ssl"),
    switch(&["npm", "pnpm", "yarn", "npx"], FETCHING, "--strict-ssl false"),
    // kubectl 1.34, Helm 3.19, Flux 2, Argo CD 3: whoever answers gets the token of the user.
    switch(&["kubectl", "oc", "helm", "flux", "k9s", "istioctl", "argo"], &[], "--insecure-skip-tls-verify"),
    switch(&["helm"], &[], "--kube-insecure-skip-tls-verify"),
    switch(&["helm"], &["login", "push", "pull"], "--insecure"),
    switch(&["argocd"], &[], "--insecure"),
    switch(&["aws"], &[], "--no-verify-ssl"),
    switch(&["cf", "cf7", "cf8"], &[], "--skip-ssl-validation"),
    switch(&["vault", "bao", "nomad"], &[], "-tls-skip-verify"),
    switch(&["tea"], &["login"], "--insecure"),
    switch(&["jf", "jfrog"], &[], "--insecure-tls"),
    switch(&["snyk"], &["test", "monitor", "container", "code", "auth"], "--insecure"),
    // podman(1), buildah(1), skopeo(1), crane, oras, regctl, nerdctl, dockerd(8), cosign: images are run.
    switch(&["podman", "buildah", "skopeo", "docker"], &[], "--tls-verify=false"),
    switch(&["skopeo"], &[], "--src-tls-verify=false"),
    switch(&["skopeo"], &[], "--dest-tls-verify=false"),
    switch(&["crane", "oras"], &[], "--insecure"),
    switch(&["nerdctl"], &[], "--insecure-registry"),
    switch(&["dockerd"], &[], "--insecure-registry"),
    switch(&["regctl"], &[], "--tls disabled"),
    switch(&["regctl"], &[], "--tls insecure"),
    switch(&["cosign"], &["verify", "verify-blob", "verify-attestation"], "--allow-insecure-registry"),
    switch(&["cosign"], &["verify", "verify-blob", "verify-attestation"], "--insecure-ignore-tlog"),
    // git-config(1), `http.sslVerify`; hg(1); svn(1); `go help get` until 1.17.
    switch(&["git"], GIT_VERBS, "-c http*.sslverify=false"),
    switch(&["git"], GIT_VERBS, "-c http*.sslverify=0"),
    switch(&["git"], GIT_VERBS, "-c http*.sslverify=no"),
    switch(&["git"], GIT_VERBS, "-c http*.sslverify=off"),
    switch(&["git"], GIT_VERBS, "--config http*.sslverify=false"),
    switch(&["git"], GIT_VERBS, "--config=http*.sslVerify=false"),
    switch(&["git"], GIT_VERBS, "--config-env=http*.sslVerify=*"),
    switch(&["git"], GIT_VERBS, "--config-env=http*.sslverify=*"),
    switch(&["git"], GIT_VERBS, "--config-env http*.sslverify=*"),
    switch(&["hg"], &["clone", "pull", "push", "incoming", "outgoing"], "--insecure"),
    switch(&["svn"], &[], "--trust-server-cert"),
    switch(&["svn"], &[], "--trust-server-cert-failures"),
    switch(&["go"], &["get", "install"], "-insecure"),
    // Maven Wagon and Resolver, "Configuration"; Gradle, "Dependency verification"; Coursier; .NET 9, `dotnet nuget add source`.
    switch(&["mvn", "mvnw", "mvnd"], &[], "-D*http.ssl.insecure=true"),
    switch(&["mvn", "mvnw", "mvnd"], &[], "-D*http.ssl.allowall=true"),
    switch(&["mvn", "mvnw", "mvnd"], &[], "-Daether.connector.https.securityMode=insecure"),
    switch(&["gradle", "gradlew"], &[], "--dependency-verification off"),
    switch(&["gradle", "gradlew"], &[], "--dependency-verification=off"),
    switch(&["gradle", "gradlew"], &[], "-F off"),
    switch(&["sbt", "cs", "coursier"], &[], "-Dcoursier.allow-http=true"),
    switch(&["dotnet"], &["nuget"], "--allow-insecure-connections"),
    // apt.conf(5), apt-secure(8), dnf(8), zypper(8), flatpak-remote-add(1).
    switch(&["apt", "apt-get", "aptitude"], &[], "-o acquire::https*::verify-peer=false"),
    switch(&["apt", "apt-get", "aptitude"], &[], "-o acquire::https*::verify-host=false"),
    switch(&["apt", "apt-get", "aptitude"], &[], "-o acquire::allowinsecurerepositories=true"),
    switch(&["apt", "apt-get", "aptitude"], &[], "--allow-unauthenticated"),
    switch(&["apt", "apt-get", "aptitude"], &[], "--allow-insecure-repositories"),
    switch(&["dnf", "yum", "dnf5", "microdnf"], &[], "--nogpgcheck"),
    switch(&["dnf", "yum", "dnf5", "microdnf"], &[], "--no-gpgchecks"),
    switch(&["dnf", "yum", "dnf5", "microdnf"], &[], "--setopt=*sslverify=false"),
    switch(&["dnf", "yum", "dnf5", "microdnf"], &[], "--setopt=*sslverify=0"),
    switch(&["zypper"], &[], "--no-gpg-checks"),
    switch(&["flatpak"], &["remote-add", "remote-modify"], "--no-gpg-verify"),
    // restic, rclone, `mc`, s3cmd and s5cmd: whoever answers gets the data.
    switch(&["restic"], &[], "--insecure-tls"),
    switch(&["rclone"], &[], "--no-check-certificate"),
    switch(&["mc", "minio-client"], &[], "--insecure"),
    switch(&["s3cmd"], &[], "--no-check-certificate"),
    switch(&["s5cmd"], &[], "--no-verify-ssl"),
    // Deno 2, "run"; Java, "Networking Properties".
    own(&["deno"], "--unsafely-ignore-certificate-errors"),
    own(&["java"], "-Djdk.internal.httpclient.disableHostnameVerification*"),
    own(&["java"], "-Dcom.sun.jndi.ldap.object.disableEndpointIdentification*"),
];

pub(super) const VARIABLES: &[GivenVariable] = &[
    // git(1), `GIT_SSL_NO_VERIFY`: any value counts.
    variable(&["GIT_SSL_NO_VERIFY"], &["1", "true", "yes", "on"], &["git"], GIT_VERBS),
    variable(
        &["GIT_SSL_NO_VERIFY"],
        &["1", "true", "yes", "on"],
        &["cargo", "go", "pip", "pip3", "composer", "bundle"],
        FETCHING,
    ),
    variable(
        &["NODE_TLS_REJECT_UNAUTHORIZED"],
        &["0"],
        &["npm", "pnpm", "yarn", "bun"],
        &["install", "i", "ci", "add", "update", "up", "publish", "login", "upgrade"],
    ),
    own_variable(
        &["NODE_TLS_REJECT_UNAUTHORIZED"],
        &["0"],
        &["node", "tsx", "ts-node", "npx", "pnpx", "bunx", "yarn", "deno"],
    ),
    variable(
        &["npm_config_strict_ssl", "NPM_CONFIG_STRICT_SSL"],
        OFF,
        &["npm", "pnpm", "npx", "yarn"],
        FETCHING,
    ),
    variable(&["YARN_ENABLE_STRICT_SSL", "YARN_STRICT_SSL"], OFF, &["yarn"], &[]),
    // pip, "Configuration"; uv, "Environment variables"; bundle-config(1); requests, "SSL Cert Verification"; PEP 493; huggingface_hub.
    variable(&["PIP_TRUSTED_HOST"], &[SOMEBODY], &["pip", "pip3", "pipx"], FETCHING),
    variable(&["UV_INSECURE_HOST"], &[SOMEBODY], &["uv", "uvx"], &[]),
    variable(&["BUNDLE_SSL_VERIFY_MODE"], OFF, &["bundle", "bundler"], &[]),
    variable(
        &["CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"],
        &[""],
        &["pip", "pip3", "pipx", "poetry", "huggingface-cli", "hf"],
        &[],
    ),
    own_variable(
        &["PYTHONHTTPSVERIFY", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"],
        &["", "0"],
        &["python", "python3"],
    ),
    variable(&["HF_HUB_DISABLE_SSL_VERIFY"], ON, &["huggingface-cli", "hf"], &[]),
    // `go help environment`.
    variable(&["GOINSECURE"], &[SOMEBODY], &["go"], &["get", "install", "mod", "build", "run"]),
    variable(&["GONOSUMCHECK"], ON, &["go"], &["get", "install", "mod", "build", "run"]),
    variable(&["GONOSUMDB"], &[EVERYTHING], &["go"], &["get", "install", "mod", "build", "run"]),
    variable(&["GOSUMDB"], &["off"], &["go"], &["get", "install", "mod"]),
    variable(&["GOFLAGS"], &["*-insecure*"], &["go"], &["get", "install", "mod", "build", "run"]),
    // Azure CLI; gcloud; Vault, Nomad and Consul; Helm; rclone; LWP(3); Julia, "Environment variables"; Maven, `MAVEN_OPTS`.
    variable(&["AZURE_CLI_DISABLE_CONNECTION_VERIFICATION"], &[SOMEBODY], &["az"], &[]),
    variable(&["CLOUDSDK_AUTH_DISABLE_SSL_VALIDATION"], ON, &["gcloud"], &[]),
    variable(&["VAULT_SKIP_VERIFY"], ON, &["vault", "bao"], &[]),
    variable(&["NOMAD_SKIP_VERIFY"], ON, &["nomad"], &[]),
    variable(&["CONSUL_HTTP_SSL_VERIFY"], OFF, &["consul"], &[]),
    variable(&["HELM_KUBEINSECURE_SKIP_TLS_VERIFY"], ON, &["helm"], &[]),
    variable(&["RCLONE_NO_CHECK_CERTIFICATE"], ON, &["rclone"], &[]),
    variable(&["PERL_LWP_SSL_VERIFY_HOSTNAME"], OFF, &["cpan", "cpanm", "cpanp"], &[]),
    own_variable(&["PERL_LWP_SSL_VERIFY_HOSTNAME"], OFF, &["perl"]),
    own_variable(&["JULIA_SSL_NO_VERIFY_HOSTS"], ANYTHING, &["julia"]),
    variable(
        &["MAVEN_OPTS", "JAVA_TOOL_OPTIONS"],
        &["*http.ssl.insecure=true*", "*http.ssl.allowall=true*", "*disablehostnameverification*"],
        &["mvn", "mvnw", "mvnd"],
        &[],
    ),
    own_variable(
        &["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"],
        &["*disablehostnameverification*", "*disableendpointidentification*"],
        &["java"],
    ),
];
