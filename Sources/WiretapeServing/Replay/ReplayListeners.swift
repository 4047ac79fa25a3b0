package import WiretapeBytes
package import WiretapeCommandLine
package import WiretapeNet
package import WiretapeProtocol
package import WiretapeProxy
package import WiretapeReplay
package import WiretapeReplayServer
package import WiretapeRuntime

/// Where the clients of a replay connect: the listeners of `--listen`. Of a tape with several upstreams the n-th is for the
/// n-th of them; with `--session` it has the n-th name. With both each upstream has a listener for each name:
/// `api.alice`, `api.bob`, `hub.alice`, `hub.bob`. What has no address gets a free port on the first one's host.
package struct ReplayListeners {
    private struct Door {
        /// What its clients go by, and whose requests they make.
        var name: String?
        var upstream: String?
        /// In `urls`, and in `{url:NAME}`.
        var title: String
        var origin: Origin
    }

    private let doors: [Door]
    private let names: [String]

    /// - Parameter scheme: of addresses that name none: `https` with `--tls`.
    package init(
        _ listen: [String], names: [String], upstreams: Upstreams, scheme: String = "http"
    ) throws(OptionError) {
        self.names = names
        guard !upstreams.names.isEmpty else {
            doors = try ReplayListeners.doors(listen, names: names, scheme)
            return
        }
        let free = ListenValue.free(scheme)
        var doors: [Door] = []
        for upstream in upstreams.names {
            if names.isEmpty {
                doors.append(Door(upstream: upstream, title: upstream, origin: free))
            } else {
                doors += names.map {
                    Door(name: $0, upstream: upstream, title: "\(upstream).\($0)", origin: free)
                }
            }
        }
        let what = names.isEmpty ? "upstreams of the tape" : "upstreams and names"
        let origins = try ListenValue.assign(listen, to: doors.map(\.title), what, scheme: scheme)
        for (i, origin) in origins.enumerated() { doors[i].origin = origin }
        self.doors = doors
    }

    /// Those of a tape with one upstream.
    private static func doors(
        _ listen: [String], names: [String], _ scheme: String
    ) throws(OptionError) -> [Door] {
        guard names.isEmpty || listen.count <= names.count else {
            // Those beyond the names are for clients that name themselves.
            let origins = try listen.map { text throws(OptionError) in
                try ListenValue.parseUnnamed(text, scheme: scheme)
            }
            return origins.enumerated().map { i, origin in
                let name = i < names.count ? names[i] : nil
                return Door(name: name, title: name ?? "listener-\(i + 1)", origin: origin)
            }
        }
        guard names.isEmpty else {
            let origins = try ListenValue.assign(listen, to: names, "names of --session", scheme: scheme)
            return zip(names, origins).map { Door(name: $0, title: $0, origin: $1) }
        }
        let origins = try listen.map { text throws(OptionError) in try ListenValue.parseUnnamed(text, scheme: scheme) }
        return (origins.isEmpty ? [ListenValue.free(scheme)] : origins).enumerated().map { i, origin in
            Door(title: i == 0 ? "main" : "listener-\(i + 1)", origin: origin)
        }
    }

    /// What they are called in `urls`.
    package var titles: [String] { doors.map(\.title) }

    /// - Throws: when a name is not on the tape.
    package func check(_ tape: LoadedTape) throws(Failure) {
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
    /// - Parameter secure: what listeners with TLS are.
    package func open(
        _ server: ReplayService, _ secure: TLSDoor?, on loop: UVLoop
    ) throws -> [(name: String, url: String)] {
        try open(server, secure) { try Listening.address($0, on: loop) }
    }

    /// - Parameter resolve: the address of what somebody wrote.
    package func open(
        _ server: ReplayService, _ secure: TLSDoor?, resolve: (Origin) throws -> Address
    ) throws -> [(name: String, url: String)] {
        try doors.map { door in
            let address = try server.listen(
                on: resolve(door.origin), name: door.name, upstream: door.upstream,
                door: door.origin.isTLS ? secure : nil)
            return (door.title, Listening.url(address, isTLS: door.origin.isTLS))
        }
    }

    /// Where they listen.
    package var origins: [Origin] { doors.map(\.origin) }

    /// The session that clients of the first listener get first.
    package func first(_ sessions: [RecordedSession], _ upstreams: Upstreams) -> RecordedSession? {
        let served = sessions.filter {
            doors[0].upstream == nil || upstreams.home(of: $0.upstream) == doors[0].upstream
        }
        return served.first { $0.name == names.first } ?? served.first
    }
}
