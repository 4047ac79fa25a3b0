import Foundation
import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

/// A number on a tape, which the tests replace.
struct NumbersTape: CustomTestStringConvertible, Sendable {
    /// `chat: message.t`
    var name: String
    var lines: [[UInt8]]
    var line: Int
    var range: Range<Int>

    var testDescription: String { name }

    func bytes(with number: String) -> [UInt8] {
        var lines = lines
        lines[line] = LimitNumbers.replacing(range, of: lines[line], with: number)
        return lines.flatMap { $0 + [0x0a] }
    }

    /// Lines that recordings do not have, or have with other keys.
    private static let rare = [
        #"{"tape":1,"started":"2026-01-01T00:00:00.000000Z"}"#,
        #"{"t":1,"c":1,"e":"open"}"#,
        #"{"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/echo","headers":[["Upgrade","websocket"]]}"#,
        #"{"t":3,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}"#,
        #"{"t":4,"c":1,"e":"message","d":">","op":"text","text":"ab","frames":[1,1]}"#,
        #"{"t":5,"c":1,"e":"part","d":">","op":"text","n":0,"text":"a"}"#,
        #"{"t":5,"c":1,"e":"part","d":">","op":"text","n":1,"text":"b","last":true}"#,
        #"{"t":6,"c":1,"e":"ping","d":"<","text":""}"#,
        #"{"t":6,"c":1,"e":"pong","d":">","text":""}"#,
        #"{"t":7,"c":1,"e":"frame","d":"<","head":128,"text":"x","why":"reserved bit"}"#,
        #"{"t":7,"c":1,"e":"malformed","d":"<","text":"x","why":"no HTTP"}"#,
        #"{"t":8,"c":1,"e":"fault","rule":"drop on a","action":"drop","ref":5,"delivered":3,"line":5}"#,
        #"{"t":8,"e":"mark","text":"connection 1 carries session 1 of the tape, run 1"}"#,
        #"{"t":9,"e":"gap","lost":2}"#,
        #"{"t":9,"c":1,"e":"close","d":"<","code":1000,"reason":""}"#,
        #"{"t":9,"c":1,"e":"gone","by":"server","how":"fin"}"#,
        #"{"t":0,"e":"take","started":"2026-01-02T00:00:00.000000Z"}"#,
        #"{"t":1,"c":1,"e":"open"}"#,
        #"{"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/list","headers":[]}"#,
        #"{"t":3,"c":1,"e":"response","x":1,"status":200,"headers":[],"stream":true}"#,
        #"{"t":4,"c":1,"e":"chunk","x":1,"d":"<","text":"a"}"#,
        #"{"t":5,"c":1,"e":"end","x":1,"d":"<"}"#,
        #"{"t":6,"e":"stop","events":21,"connections":2,"level":1}"#,
    ]

    static let recordings: [(name: String, lines: [[UInt8]])] = {
        let folder = Golden.root.appending(path: "recordings")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".tape.gz") }.sorted().compactMap { name in
            guard var reader = try? TapeLineReader(path: folder.appending(path: name).path) else { return nil }
            var lines: [[UInt8]] = []
            while let line = try? reader.next() { lines.append(line.bytes) }
            return (String(name.dropLast(8)), lines)
        }
    }()

    /// The first two of each number that lines of each kind have.
    static let ofLines: [NumbersTape] = {
        var seen: [String: Int] = [:]
        var found: [NumbersTape] = []
        // Short ones first: each tape is read very often.
        let tapes = [("rare", rare.map { Array($0.utf8) })] + recordings.sorted { $0.lines.count < $1.lines.count }
        for (name, lines) in tapes {
            for (i, line) in lines.enumerated() {
                let text = String(decoding: line.prefix(120), as: UTF8.self)
                let kind = text.firstRange(of: #""e":""#).map { text[$0.upperBound...].prefix { $0 != "\"" } } ?? "tape"
                // Numbers of a payload under `json` are the next test's.
                let end = text.firstRange(of: #""json":"#).map {
                    text.utf8.distance(from: text.startIndex, to: $0.lowerBound)
                }
                for place in LimitNumbers.places(in: line) where place.range.upperBound <= end ?? .max {
                    seen["\(kind).\(place.key)", default: 0] += 1
                    guard seen["\(kind).\(place.key)"] ?? 0 <= 2 else { continue }
                    found.append(
                        NumbersTape(name: "\(name): \(kind).\(place.key)", lines: lines, line: i, range: place.range))
                }
            }
        }
        return found
    }()

    /// The first of each number that messages of the server have, by protocol, transport and member, in the shortest recording that has it.
    static let ofMessages: [NumbersTape] = {
        var seen: Set<String> = []
        var found: [NumbersTape] = []
        for (name, lines) in recordings.sorted(by: { $0.lines.count < $1.lines.count }) {
            guard let first = try? CodedTape.read(lines.flatMap { $0 + [0x0a] }).sessions.first else { continue }
            for (i, line) in lines.enumerated() {
                guard let payload = payload(line) else { continue }
                for place in LimitNumbers.places(escaped: line[payload]) {
                    guard seen.insert("\(first.codec.id) \(first.transport.rawValue) \(place.key)").inserted else {
                        continue
                    }
                    found.append(
                        NumbersTape(name: "\(name): '\(place.key)'", lines: lines, line: i, range: place.range))
                }
            }
        }
        return found
    }()

    /// Where the value of the line's `text` or `json` stands, on a line of the server.
    private static func payload(_ line: [UInt8]) -> Range<Int>? {
        let text = String(decoding: line, as: UTF8.self)
        guard text.contains(#""d":"<""#) || text.contains(#""e":"response""#), text.utf8.count == line.count else {
            return nil
        }
        for key in [#""text":""#, #""json":"#] {
            guard let at = text.firstRange(of: key) else { continue }
            return text.utf8.distance(from: text.startIndex, to: at.upperBound)..<line.count
        }
        return nil
    }
}
