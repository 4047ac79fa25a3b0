package import WiretapeCommandLine
package import WiretapeFaults
package import WiretapeProxy
internal import WiretapeRuntime
internal import WiretapeSystem
package import WiretapeTLS

/// What listeners that speak TLS show their clients: certificates of this user's authority, one for each name that clients
/// ask for, or the one of `--cert`.
package struct TLSDoors {
    private let certificate: (path: String, key: String)?
    private let folder: String?
    /// Whose certificates clients may show; nil: they are asked for none.
    private let clients: TLSClients?

    /// - Throws: when a certificate has no key, or there is no listener for it.
    package init(_ arguments: ParsedArguments, listens: [Origin], isForward: Bool = false) throws(UsageError) {
        folder = arguments.value("ca-dir")
        switch (arguments.value("cert"), arguments.value("key")) {
        case (nil, nil): certificate = nil
        case (let certificate?, let key): self.certificate = (certificate, key ?? certificate)
        case (nil, _?): throw arguments.error("--key needs --cert, the certificate that it belongs to")
        }
        clients = arguments.value("client-ca").map {
            TLSClients(authorities: $0, isRequired: arguments.value("client-auth") != "optional")
        }
        if clients == nil, arguments.has("client-auth") {
            throw arguments.error("--client-auth needs --client-ca, which says whose certificates clients may show")
        }
        let option = certificate != nil ? "cert" : clients != nil ? "client-ca" : nil
        if let option, !isForward, !listens.contains(where: \.isTLS) {
            throw arguments.error(
                "--\(option): no listener speaks TLS; add --tls or write --listen https://HOST:PORT")
        }
    }

    /// What is behind the listeners, for one run.
    package struct Opened {
        /// Nil when no listener speaks TLS, and none is a proxy.
        package var door: TLSDoor?
        /// Who issues what clients are shown; nil for a given certificate.
        package var authority: TLSIdentity?
        /// Variables that make a started command trust the authority.
        package var environment: [(name: String, value: String)] = []
    }

    /// - Parameter hosts: names of the servers that clients believe to reach; a client that names none is shown them.
    /// - Parameter isForward: the listener is a proxy, within which TLS is spoken to every host.
    package func open(_ listens: [Origin], hosts: [String], isForward: Bool = false, _ log: Log) throws -> Opened {
        guard isForward || listens.contains(where: \.isTLS) else { return Opened() }
        do {
            let keyLog = try Self.keyLog()
            let clients = clients
            if let certificate {
                let context = try TLSContext(
                    certificate: certificate.path, key: certificate.key, clients: clients, keyLog: keyLog)
                let names = Self.names(listens, hosts)
                let flawed = FlawedCertificates(trusted: nil) { authority, leaves throws(TLSError) in
                    try TLSContext(
                        serverIssuing: authority, leaves: leaves, fallbackNames: names, clients: clients,
                        keyLog: keyLog)
                }
                return Opened(door: TLSDoor(context, flawed: flawed) { log.warning(Self.refusal($0, $1, nil)) })
            }
            let folder = try AuthorityFolder(folder)
            let (authority, isNew) = try folder.loadOrMake()
            if isNew {
                log.warning(
                    "made a certificate authority in \(folder.path): clients that do not trust it refuse to connect; "
                        + "'wiretape ca trust-help' says how they come to trust it")
            }
            let names = Self.names(listens, hosts)
            let context = try TLSContext(
                serverIssuing: authority, fallbackNames: names, clients: clients, keyLog: keyLog)
            let flawed = FlawedCertificates(trusted: authority) { authority, leaves throws(TLSError) in
                try TLSContext(
                    serverIssuing: authority, leaves: leaves, fallbackNames: names, clients: clients, keyLog: keyLog)
            }
            let path = folder.certificatePath
            var opened = Opened(door: TLSDoor(context, flawed: flawed) { log.warning(Self.refusal($0, $1, path)) })
            opened.authority = authority
            opened.environment = [("WIRETAPE_CA", path), ("NODE_EXTRA_CA_CERTS", path)]
            if let bundle = try folder.bundle(authority) {
                opened.environment += ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"].map { ($0, bundle) }
            }
            return opened
        } catch let error as TLSError {
            throw Failure("TLS: \(error)")
        }
    }

    /// What the certificate says for a client that names nobody.
    private static func names(_ listens: [Origin], _ hosts: [String]) -> [String] {
        var names = ["localhost", "127.0.0.1", "::1"]
        for name in listens.flatMap(Listening.hosts) + hosts where !names.contains(name) { names.append(name) }
        return names
    }

    /// Holds rules about TLS handshakes against what there is.
    /// - Throws: when one could not be carried out.
    package func check(
        _ plan: FaultPlan, _ listens: [Origin], isForward: Bool, _ arguments: ParsedArguments
    ) throws(UsageError) {
        let hasTLS = isForward || listens.contains(where: \.isTLS)
        if let problem = plan.problemsOfTLS(hasTLS: hasTLS, issues: certificate == nil).first {
            throw arguments.error(problem.description)
        }
    }

    /// The file of `SSLKEYLOGFILE`, which programs with TLS share.
    static func keyLog() throws(TLSError) -> TLSKeyLog? {
        guard let path = ThisProcess.environment("SSLKEYLOGFILE"), !path.isEmpty else { return nil }
        return try TLSKeyLog(path: path)
    }

    private static func refusal(_ peer: Address?, _ error: TLSError, _ authority: String?) -> String {
        var text = "\(peer.map { "\($0)" } ?? "a client"): \(error)"
        // What clients say that do not know the issuer.
        let isUntrusted = error.message.contains("unknown ca") || error.message.contains("certificate unknown")
        if let authority, isUntrusted, error.code != .wanted {
            text += "; it does not trust \(authority) ('wiretape ca trust-help')"
        }
        return text
    }
}
