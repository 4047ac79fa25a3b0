internal import WiretapeCore
internal import WiretapeNet
internal import WiretapeProxy

/// Where the clients of a replay connect: the listeners of `--listen`, of which the n-th has the n-th name of `--session`.
/// Names beyond them get a free port each on the first one's host.
struct ReplayListeners {
    private let origins: [Origin]
    private let names: [String]

    init(_ arguments: ParsedArguments, names: [String]) throws(OptionError) {
        var origins: [Origin] = []
        for text in arguments.all("listen") { origins.append(try ListenValue.parse(text)) }
        if origins.isEmpty { origins.append(Origin(scheme: "http", host: "127.0.0.1", port: 0, rest: "")) }
        var free = origins[0]
        free.port = 0
        while origins.count < names.count { origins.append(free) }
        self.origins = origins
        self.names = names
    }

    /// - Throws: when a name is not on the tape.
    func check(_ tape: LoadedTape) throws(Failure) {
        let known = tape.sessions.compactMap(\.name)
        for name in names where !known.contains(name) {
            guard !known.isEmpty else {
                throw Failure(
                    "--session \(name): no session of \(tape.name) has a name; give it one with 'wiretape name "
                        + "\(tape.name) \(name)=1'", .missing)
            }
            var listed: [String] = []
            for one in known where !listed.contains(one) { listed.append(one) }
            let hint = NearestName.hint(name, among: listed)
            throw Failure(
                "--session \(name): no session of \(tape.name) has that name; it has \(listed.joined(separator: ", "))"
                    + hint, .missing)
        }
    }

    /// Opens all of them.
    /// - Returns: what each is called and where clients reach it.
    func open(_ server: ReplayServer, on loop: UVLoop) throws -> [(name: String, url: String)] {
        var urls: [(name: String, url: String)] = []
        for (i, origin) in origins.enumerated() {
            let name = i < names.count ? names[i] : nil
            let address = try server.listen(on: Listening.address(origin, on: loop), name: name)
            urls.append((name ?? (i == 0 ? "main" : "listener-\(i + 1)"), Listening.url(address)))
        }
        return urls
    }

    /// The session that clients of the first listener get first.
    func first(_ sessions: [RecordedSession]) -> RecordedSession? {
        sessions.first { $0.name == names.first } ?? sessions.first
    }
}
