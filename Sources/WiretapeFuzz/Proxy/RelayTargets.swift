internal import WiretapeBytes
internal import WiretapeCodecs
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeRecorder
internal import WiretapeRuntime
internal import WiretapeSimulation

/// A relay between a client and a server of which neither can be trusted, with and without rules, in virtual time. What arrives is
/// what was sent, in order and from its beginning; everything ends; the tape of it is sound.
enum RelayTargets {
    static let all = [
        FuzzTarget("relay") { judge(FuzzInput($0), nil) },
        FuzzTarget("rules-relay") { judge(FuzzInput($0), "close(1011) after message[60000, direction=toClient]") },
    ]

    private static func judge(_ input: FuzzInput, _ rule: String?) -> String? {
        let loop = SimulatedLoop(seed: UInt64(input.choices), conditions: input.chooses(0) ? .rough : .calm)
        let tape = InlineTape(
            header: TapeHeader(started: "2026-01-01T00:00:00.000000Z", redaction: "none"), origin: loop.now)
        let tap = Tap(loop, index: 0, sink: tape)
        var control: FaultControl?
        if let rule {
            guard let read = try? FaultRule(parsing: rule, from: RuleSource(file: "--fault")) else {
                return "no rule: \(rule)"
            }
            control = FaultControl(
                loop, LiveFaults(FaultPlan(rules: [read]), seed: 1, codecs: Codecs.all, at: loop.now))
        }
        var options = RelayOptions()
        options.keepHost = true
        let node = RelayNode(
            loop,
            upstream: Upstream(name: "main", url: "http://127.0.0.1:80", host: "127.0.0.1", port: 80, isTLS: false),
            tap: tap, numbers: ConnectionNumbers(), options: options, pressure: RelayPressure(loop), faults: control,
            connect: { loop.connect(to: $0, $1) })
        tap.onHold = { node.hold() }
        tap.onRelease = { node.release() }
        var servers: [FuzzPeer] = []
        let answers = input.turns.filter { $0.chooses(0) }.map(\.bytes)
        guard let proxy = try? node.listen(on: Address(host: "127.0.0.1", port: 8080), reusePort: false),
            let upstream = try? loop.listen(
                on: Address(host: "127.0.0.1", port: 80), reusePort: false,
                { stream in
                    // The first connection is the one that talks; others are hung up on.
                    let peer = FuzzPeer(loop, servers.isEmpty ? answers : [], resets: input.chooses(1))
                    peer.stream = stream
                    servers.append(peer)
                    peer.begin()
                    return peer
                })
        else { return "cannot listen" }
        let client = FuzzPeer(loop, input.turns.filter { !$0.chooses(0) }.map(\.bytes), resets: input.chooses(2))
        client.stream = loop.connect(to: proxy, client)
        loop.run(until: loop.now.advanced(by: 120_000_000_000), limit: 200_000)
        var isStopped = false
        node.stop { isStopped = true }
        loop.run(until: loop.now.advanced(by: 20_000_000_000), limit: 200_000)
        guard isStopped, node.count == 0 else { return "does not stop" }
        control?.close()
        tap.close()
        upstream.close()
        tap.onHold = nil
        tap.onRelease = nil
        let leaks = loop.leaks
        loop.shutdown()
        if !loop.violations.isEmpty { return "\(loop.violations)" }
        if !leaks.isEmpty { return "left open: \(leaks)" }
        return wrong(client, servers, hasRules: rule != nil) ?? TapeTargets.unsound(tape.finish())
    }

    private static func wrong(_ client: FuzzPeer, _ servers: [FuzzPeer], hasRules: Bool) -> String? {
        let toServer = servers.flatMap(\.received)
        // Empty lines before a head are the only bytes that a relay may drop.
        guard arrived(toServer, of: client.sent) == toServer.count || isOvertaken(toServer, client.sent) else {
            return
                "the servers got what the client did not send: \(texts(servers.map(\.received))), sent: \(texts([client.sent]))"
        }
        let sent = servers.first?.sent ?? []
        guard
            answersArrived(client.received, of: sent)
                || hasRules && asksToContinue(client.sent)
                    && answersArrived(withoutContinue(client.received), of: withoutContinue(sent))
        else {
            return
                "the client got what the server did not send: \(texts([client.received])), sent: \(texts(servers.map(\.sent)))"
        }
        return nil
    }

    /// Whether the client got what was sent to it, an answer of the relay itself perhaps behind that.
    private static func answersArrived(_ got: [UInt8], of sent: [UInt8]) -> Bool {
        let same = arrived(got, of: sent)
        let relayed = withoutOwnAnswer(got)
        return same == got.count || ownAnswer(got, behind: same) || isRechunked(relayed, sent)
            || isOvertaken(relayed, sent)
    }

    /// Whether a request may be among the bytes whose body waits for 100 (RFC 9110, 10.1.1).
    private static func asksToContinue(_ sent: [UInt8]) -> Bool {
        String(decoding: sent, as: UTF8.self).lowercased().contains("100-continue")
    }

    /// The bytes without the interim answers 100. A body that rules read has to be whole before it goes on: the relay asks for it
    /// itself, and keeps the server's own 100 from the client.
    private static func withoutContinue(_ bytes: [UInt8]) -> [UInt8] {
        let statuses = ["HTTP/1.1 100", "HTTP/1.0 100"].map { Array($0.utf8) }
        var left: [UInt8] = []
        var at = 0
        while at < bytes.count {
            if statuses.contains(where: { bytes[at...].starts(with: $0) }), let end = headEnd(bytes[at...]) {
                at = end
            } else {
                left.append(bytes[at])
                at += 1
            }
        }
        return left
    }

    /// Where an empty line ends, whose CR may be missing as that of the line before.
    private static func headEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        var isEmpty = false
        for i in bytes.indices {
            if bytes[i] == 0x0a {
                if isEmpty { return i + 1 }
                isEmpty = true
            } else if bytes[i] != 0x0d {
                isEmpty = false
            }
        }
        return nil
    }

    private static func texts(_ all: [[UInt8]]) -> [String] { all.map { String(decoding: $0, as: UTF8.self) } }

    /// How many of the bytes `got` are those that were sent, in order, with nothing but ends of lines left out.
    private static func arrived(_ got: [UInt8], of sent: [UInt8]) -> Int {
        var at = 0
        for (i, byte) in got.enumerated() {
            while at < sent.count, sent[at] != byte, sent[at] == 0x0a || sent[at] == 0x0d { at += 1 }
            guard at < sent.count, sent[at] == byte else { return i }
            at += 1
        }
        return got.count
    }

    /// Whether the bytes are those that were sent in other chunks: what rules hold of a streamed body that will never be whole
    /// goes on as one chunk, and its trailers are written anew. Ends of lines and blanks are left out of both, and lines that can be sizes of chunks may be: a body can have
    /// such lines, too, so each of them is tried both ways.
    private static func isRechunked(_ got: [UInt8], _ sent: [UInt8]) -> Bool {
        let gotEnds = sizeLineEnds(got)
        let sentEnds = sizeLineEnds(sent)
        var open = [(0, 0)]
        var seen: Set<Int> = []
        while var (at, from) = open.popLast() {
            while true {
                if let end = gotEnds[at] { open.append((end, from)) }
                if let end = sentEnds[from] { open.append((at, end)) }
                if at < got.count, isLeftOut(got[at]) {
                    at += 1
                } else if from < sent.count, isLeftOut(sent[from]) {
                    from += 1
                } else if at == got.count {
                    return true
                } else if from < sent.count, got[at] == sent[from] {
                    (at, from) = (at + 1, from + 1)
                } else {
                    break
                }
                guard seen.insert(at * (sent.count + 1) + from).inserted else { break }
            }
        }
        return false
    }

    /// Where the lines end that can be sizes of chunks, by where they begin.
    private static func sizeLineEnds(_ bytes: [UInt8]) -> [Int: Int] {
        var ends: [Int: Int] = [:]
        for line in bytes.split(whereSeparator: isLineEnd) where isChunkSize(line) {
            ends[line.startIndex] = line.endIndex
        }
        return ends
    }

    private static func isLeftOut(_ byte: UInt8) -> Bool { isLineEnd(byte) || byte == 0x20 || byte == 0x09 }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }

    /// Whether the bytes are a head and the WebSocket frames that were sent behind it, where control frames have only overtaken
    /// frames of data: a message in fragments is held until it is whole when there are rules, and a ping in between goes on at
    /// once, as RFC 6455 (5.4) allows.
    private static func isOvertaken(_ got: [UInt8], _ sent: [UInt8]) -> Bool {
        guard let (gotHead, gotFrames) = afterUpgrade(got), let (sentHead, sentFrames) = afterUpgrade(sent),
            arrived(gotHead, of: sentHead) == gotHead.count
        else { return false }
        let controls = gotFrames.filter(isControl)
        let sentControls = sentFrames.filter(isControl)
        let data = gotFrames.filter { !isControl($0) }.joined()
        let sentData = sentFrames.filter { !isControl($0) }.joined()
        guard sentControls.starts(with: controls), sentData.starts(with: data) else { return false }
        // None of them comes later than it was sent: no more data is ahead of it.
        func ahead(_ frames: [ArraySlice<UInt8>]) -> [Int] {
            frames.indices.filter { isControl(frames[$0]) }.map {
                frames[..<$0].filter { !isControl($0) }.joined().count
            }
        }
        return zip(ahead(gotFrames), ahead(sentFrames)).allSatisfy { $0 <= $1 }
    }

    /// The bytes up to the first empty line, and the frames behind it; the last piece is whatever is no whole frame.
    private static func afterUpgrade(_ bytes: [UInt8]) -> (head: [UInt8], frames: [ArraySlice<UInt8>])? {
        let end = Array("\r\n\r\n".utf8)
        guard bytes.count >= 4, let start = bytes.indices.dropLast(3).first(where: { bytes[$0...].starts(with: end) })
        else { return nil }
        var frames: [ArraySlice<UInt8>] = []
        var at = start + 4
        while at < bytes.count {
            let size = frameSize(bytes[at...]) ?? bytes.count - at
            frames.append(bytes[at..<at + size])
            at += size
        }
        return (Array(bytes[..<(start + 4)]), frames)
    }

    /// The bytes of the frame at the beginning, or nil when it is not all there.
    private static func frameSize(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 2 else { return nil }
        let start = bytes.startIndex
        let short = Int(bytes[start + 1] & 0x7f)
        let extra = short == 126 ? 2 : short == 127 ? 8 : 0
        let head = 2 + extra + (bytes[start + 1] & 0x80 == 0 ? 0 : 4)
        guard bytes.count >= head else { return nil }
        let long = bytes[(start + 2)..<(start + 2 + extra)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let length = extra == 0 ? UInt64(short) : long
        return length <= UInt64(bytes.count - head) ? head + Int(length) : nil
    }

    private static func isControl(_ frame: ArraySlice<UInt8>) -> Bool {
        frame.count >= 2 && frameSize(frame) == frame.count && frame[frame.startIndex] & 0x08 != 0
    }

    /// Digits, then perhaps blanks and an extension.
    private static func isChunkSize(_ line: ArraySlice<UInt8>) -> Bool {
        let rest = line.drop(while: isHexDigit).drop { $0 == 0x20 || $0 == 0x09 }
        return rest.isEmpty || rest.first == UInt8(ascii: ";")
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    /// The bytes before the last answer of the relay itself, which says so in a field; all when there is none.
    private static func withoutOwnAnswer(_ bytes: [UInt8]) -> [UInt8] {
        let status = Array("HTTP/1.1 ".utf8)
        // Its text may name the version, too: a status follows.
        let start = bytes.indices.last { at in
            bytes[at...].starts(with: status) && at + 9 < bytes.count && (0x34...0x35).contains(bytes[at + 9])
        }
        guard let start, bytes[start...].firstRange(of: Array("\r\nServer: wiretape\r\n".utf8)) != nil else {
            return bytes
        }
        return Array(bytes[..<start])
    }

    /// Whether an answer of the relay itself stands there: its first bytes may be those of an answer of the server that is left
    /// out, so that it may begin before `end`.
    private static func ownAnswer(_ bytes: [UInt8], behind end: Int) -> Bool {
        let status = Array("HTTP/1.1 ".utf8)
        for start in stride(from: end, through: max(0, end - 64), by: -1) where bytes[start...].starts(with: status) {
            return [UInt8(ascii: "4"), UInt8(ascii: "5")].contains(bytes[min(start + 9, bytes.count - 1)])
        }
        return false
    }
}
