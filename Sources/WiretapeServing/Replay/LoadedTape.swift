internal import WiretapeCodecs
package import WiretapeCommandLine
package import WiretapeProtocol
package import WiretapeReplay
internal import WiretapeSystem
internal import WiretapeTape
package import WiretapeWire

/// The tape that is played, once it was read.
package final class PlayedTape {
    package var tape: LoadedTape?

    package init(_ tape: LoadedTape?) { self.tape = tape }
}

/// A tape as a replay needs it: its sessions and ordinary exchanges, decoded.
package struct LoadedTape {
    package var sessions: [RecordedSession]
    /// Ordinary requests beside them.
    package var exchanges: [RecordedExchange]
    /// Requests of sessions that do not begin on the tape.
    package var unplaced: [SessionReader.Unplaced]
    /// The file's name without its folders, as messages show it.
    package var name: String

    /// Files from this size on get a progress bar.
    private static let longFile: UInt64 = 8 << 20

    /// Reads all of it. Of a long tape the messages are not kept.
    /// - Parameters:
    ///   - ignore: what takes no part in matching.
    ///   - memory: what may be held of it.
    /// - Throws: `TapeError` when it is no tape or is damaged.
    package init(path: String, ignore: [IgnoreRule], memory: Int, log: Log) throws {
        name = LoadedTape.name(path)
        var reader = try TapeReader(path: path, longestLine: TapeReader.longestLine(memory: memory))
        var decoder = SessionReader(codecs: Codecs.all, header: reader.header)
        var bar = ProgressBar(name, isWanted: log.level == .info && reader.progress.size > Self.longFile)
        defer { bar.clear() }
        var long = LongTape(isCompressed: reader.isCompressed, ignore: ignore, memory: memory)
        var messages: [DecodedMessage] = []
        while let next = try reader.next() {
            decoder.read(
                next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
            messages.removeAll(keepingCapacity: true)
            try long.add(next, &decoder, of: reader.name)
            guard next.number % 1_024 == 0 else { continue }
            let (read, size) = reader.progress
            bar.show(read, of: size)
        }
        sessions = long.finish(&decoder, reader)
        exchanges = decoder.exchanges
        unplaced = decoder.unplaced
        if reader.isTruncated {
            log.warning(
                "\(name) is cut off within its last event, as a recorder that was killed leaves it; the rest is used")
        }
    }

    /// The upstreams that a tape names, of which each has a listener where there are several.
    /// - Parameter isForward: clients name the hosts that they want to reach.
    package static func upstreams(path: String, isForward: Bool = false) throws -> Upstreams {
        let named = try TapeReader(path: path).header.upstreams
        guard isForward else { return Upstreams(named.map(\.name)) }
        var hosts: [String: String] = [:]
        for (name, url) in named {
            guard let origin = try? Origin.parse(url) else { continue }
            hosts[name] = ForwardTarget(host: origin.host, port: origin.port).tapeName(isTLS: origin.isTLS)
        }
        return Upstreams(forward: hosts)
    }

    /// The recorded upstreams and where they were, of a tape with several.
    package static func servers(path: String) throws -> [(name: String, server: WebOrigin)] {
        let upstreams = try TapeReader(path: path).header.upstreams
        guard upstreams.count > 1 else { return [] }
        return upstreams.compactMap { name, url in
            guard let origin = try? Origin.parse(url) else { return nil }
            return (name, WebOrigin(ForwardTarget(host: origin.host, port: origin.port), isTLS: origin.isTLS))
        }
    }

    /// The hosts of the recorded upstreams.
    package static func hosts(path: String) throws -> [String] {
        try TapeReader(path: path).header.upstreams.compactMap { try? Origin.parse($0.url).host }
    }

    /// - Throws: with the command that makes it, when there is no recording at `path`.
    package static func require(_ path: String) throws(Failure) {
        guard !SystemFiles().exists(path) else { return }
        throw Failure(
            "there is no recording \(path); make it with: wiretape record --upstream URL --output \(path)", .missing)
    }

    package static func name(_ path: String) -> String {
        let path = StandardInput.named(path)
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Requests of sessions that do not begin on the tape.
    package static func unplaced(path: String) throws -> [SessionReader.Unplaced] {
        var reader = try TapeReader(path: path)
        var decoder = SessionReader(codecs: Codecs.all, header: reader.header, keepsEntries: false)
        var messages: [DecodedMessage] = []
        while let next = try reader.next() {
            decoder.read(
                next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
            messages.removeAll(keepingCapacity: true)
        }
        return decoder.unplaced
    }

    /// The first session of a tape, as far as its beginning tells; nil when it does not.
    package static func firstSession(path: String) throws -> RecordedSession? {
        var reader = try TapeReader(path: path)
        var decoder = SessionReader(codecs: Codecs.all, header: reader.header)
        var messages: [DecodedMessage] = []
        while !decoder.hasSessions, reader.number < 1_000, let next = try reader.next() {
            decoder.read(
                next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        return decoder.finish().first
    }

    /// Whether the tape is read in no time.
    package static func isShort(path: String) throws -> Bool { try TapeReader(path: path).progress.size <= 64 << 10 }
}
