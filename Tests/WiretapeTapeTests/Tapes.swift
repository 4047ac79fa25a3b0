import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

/// Tapes for tests, and what is on them.
enum Tapes {
    static let header = TapeHeader(started: "2026-11-20T17:28:00.123456Z", tool: "test", mode: "reverse")

    /// A session that looks like a chat: `count` messages on a few connections, an `open` now and then.
    static func events(_ count: Int) -> [TapeEvent] {
        var random = SplitMix64(seed: 11)
        var connections: UInt32 = 0
        return (0..<count).map { n in
            let time = UInt64(n) * 1_000_000
            if n % 40 == 0 {
                connections += 1
                return TapeEvent(time: time, connection: connections, .open(.init(from: "127.0.0.1:\(4000 + n)")))
            }
            if n % 17 == 3 {
                let bytes = (0..<20).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                return TapeEvent(
                    time: time, connection: connections,
                    .message(.toClient, .binary, bytes, deflated: false, fragments: []))
            }
            let text = #"{"type":1,"target":"Send","arguments":["\#(random.next())","hello"]}"# + "\u{1e}"
            return TapeEvent(
                time: time, connection: connections,
                .message(.toServer, .text, Array(text.utf8), deflated: n % 2 == 0, fragments: []))
        }
    }

    /// A compressed tape whose members hold `linesPerMember` events, and where each member begins (the end as well).
    static func file(
        _ events: [TapeEvent], linesPerMember: Int, level: Int = 6, stop: Bool = true
    ) -> (bytes: [UInt8], members: [Int]) {
        var packer = MemberPacker()
        var compressor = MemberCompressor()
        var bytes: [UInt8] = []
        var members = [0]
        packer.appendHeader(header)
        for (n, event) in events.enumerated() {
            packer.append(event)
            let isLast = n == events.count - 1
            guard (n + 1) % linesPerMember == 0 || isLast else { continue }
            if isLast, stop { packer.stop(level: nil) } else { packer.flush() }
            while packer.takeMember(&compressor, level: level, into: &bytes) { members.append(bytes.count) }
        }
        return (bytes, members)
    }

    static func plain(_ events: [TapeEvent]) -> [UInt8] {
        var bytes: [UInt8] = []
        TapeLines.appendHeader(header, into: &bytes)
        for event in events { TapeLines.append(event, into: &bytes) }
        return bytes
    }

    /// All that can be read: the events up to the end or to an error.
    struct Reading {
        var events: [NumberedEvent] = []
        var isTruncated = false
        var isStopped = false
        var error: TapeError?
    }

    static func read(_ bytes: [UInt8]) -> Reading {
        var reading = Reading()
        do throws(TapeError) {
            var reader = try TapeReader(bytes: bytes, name: "t.tape")
            do throws(TapeError) {
                while let event = try reader.next() { reading.events.append(event) }
            } catch {
                reading.error = error
            }
            reading.isTruncated = reader.isTruncated
            reading.isStopped = reader.isStopped
        } catch {
            reading.error = error
        }
        return reading
    }
}
