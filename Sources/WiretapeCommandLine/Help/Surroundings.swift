/// What the program finds around it, for the man page: variables and files.
package enum Surroundings {
    package static let variables: [(name: String, meaning: String)] = [
        (
            "WIRETAPE_OPTION",
            "The value of an option that is not on the command line: its name in capitals with _ for each dash. "
                + "WIRETAPE_SPEED is --speed. Switches take true and false. Stronger than settings files; 'wiretape config' "
                + "shows what holds."
        ),
        ("WIRETAPE_CONFIG", "The settings file to read in place of those that are found, as --config."),
        ("WIRETAPE_CA_DIR", "The folder of the certificate authority, as --ca-dir."),
        ("XDG_DATA_HOME, HOME", "Where that folder is else: wiretape/ca in the user's data."),
        (
            "SSL_CERT_FILE, SSL_CERT_DIR",
            "The certificates that upstreams are verified against, in place of the system's."
        ),
        ("SSLKEYLOGFILE", "A file that gets the secrets of TLS connections, for packet captures."),
        ("TMPDIR", "Where 'sweep' writes without --output, and the tape of a replayed HAR; /tmp when it is not set."),
        ("PATH", "Where the command behind -- is looked for."),
        ("CI", "Where it is set, and not to 0 or false, 'auto' records nothing unless --record-mode says so."),
        (
            "WIRETAPE_CONTROL, WIRETAPE_CONTROL_TOKEN",
            "Set for the command behind --: where the control API of --control is (empty when there is none), and its token. "
                + "WIRETAPE_CONTROL_TOKEN is --control-token, too."
        ),
        (
            "WIRETAPE_URL, WIRETAPE_WS_URL",
            "Set for the command behind --: the run's address for HTTP and for WebSockets. WIRETAPE_URL_NAME is that of the "
                + "listener NAME."
        ),
        (
            "WIRETAPE_CA, NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE",
            "Set for the command behind -- when a listener speaks TLS with the authority's certificates, so that it is trusted."
        ),
        (
            "http_proxy, https_proxy, ws_proxy, wss_proxy, all_proxy, no_proxy, NODE_USE_ENV_PROXY",
            "Set for the command behind -- in forward mode, the first six in capitals as well: where the proxy is, and what "
                + "--bypass names."
        ),
    ]

    package static let files: [(name: String, meaning: String)] = [
        ("FILE.tape, FILE.tape.gz", "A tape: JSON Lines, plain or in gzip."),
        ("FILE.tape.yaml", "Settings for one tape, beside it. They set matching and policies only."),
        (
            "wiretape.yaml",
            "Settings: the nearest one, from the current folder up to the repository's root or the home folder."
        ),
        ("FILE.NUMBER.new", "What a command that was killed may leave beside a tape that it changed. Nobody needs it."),
        (
            "~/.local/share/wiretape/ca",
            "The certificate authority of this user: ca.pem, which clients trust, and ca.key, which only its owner may read. "
                + "bundle.pem has the system's certificates, too."
        ),
        ("/tmp/wiretape-sweep-NUMBER", "What a sweep found, without --output."),
        (
            "/etc/ssl/certs/ca-certificates.crt",
            "The certificates of the system that upstreams are verified against; other systems' places are known, too."
        ),
    ]
}
