internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeWire

/// One entry of a HAR while its events come.
final class HARExchange {
    /// Where the payload of a line stands in the entry.
    enum Place {
        /// It has none, or keeps its own.
        case none
        case request(Range<Int>)
        case response(Range<Int>)
        case message(Int)
        case part(direction: Direction, run: Int, Range<Int>)
    }

    /// A line of the tape without its payload.
    struct Line {
        var number: UInt64
        var template: [UInt8]
        /// `text`, `b64` or `json`.
        var key: String?
        var place: Place
    }

    /// Pieces of one long message.
    struct Run {
        var opcode: Opcode
        var bytes: [UInt8] = []
        /// Of the message, once it is whole.
        var index: Int?
    }

    let connection: UInt32
    let url: String
    let request: RequestHead
    let began: UInt64
    var requestBody: [UInt8] = []
    var requestEnded: UInt64?
    var response: ResponseHead?
    var coding: String?
    var answered: UInt64 = 0
    var responseBody: [UInt8] = []
    var ended: UInt64?
    var isSocket = false
    var lines: [Line] = []
    /// The texts of `_webSocketMessages`.
    var messages: [[UInt8]] = []
    var runs: [Run] = []
    var openRuns: [Direction: Int] = [:]
    /// When each piece of the answer came, by where it ends.
    var pieces: [(end: Int, time: UInt64)] = []
    var last: UInt64

    init(_ connection: UInt32, url: String, _ request: RequestHead, at time: UInt64) {
        self.connection = connection
        self.url = url
        self.request = request
        began = time
        last = time
    }

    var isComplete: Bool { requestEnded != nil && ended != nil && !isSocket }

    /// Takes a message, or a piece of one.
    func say(_ direction: Direction, _ opcode: Opcode, _ bytes: [UInt8], at time: Double) -> Place {
        guard let message = HARExchange.message(direction, opcode, bytes, at: time) else { return .none }
        messages.append(message)
        return .message(messages.count - 1)
    }

    func say(
        part bytes: [UInt8], _ direction: Direction, _ opcode: Opcode, isFirst: Bool, isLast: Bool, at time: Double
    ) -> Place {
        if isFirst || openRuns[direction] == nil {
            runs.append(Run(opcode: opcode))
            openRuns[direction] = runs.count - 1
        }
        let run = openRuns[direction] ?? 0
        let from = runs[run].bytes.count
        runs[run].bytes += bytes
        let to = runs[run].bytes.count
        if isLast {
            openRuns[direction] = nil
            if let message = HARExchange.message(direction, opcode, runs[run].bytes, at: time) {
                messages.append(message)
                runs[run].index = messages.count - 1
            }
        }
        return .part(direction: direction, run: run, from..<to)
    }

    /// - Returns: nil for text that is none.
    private static func message(_ direction: Direction, _ opcode: Opcode, _ bytes: [UInt8], at time: Double) -> [UInt8]?
    {
        var out = Array(#"{"type":"\#(direction == .toServer ? "send" : "receive")","time":"#.utf8)
        out.append(utf8: HARText.number(time))
        out.append(utf8: opcode == .text ? #","opcode":1,"data":"# : #","opcode":2,"data":"#)
        if opcode == .text {
            guard JSONEscape.appendString(bytes.span, into: &out) else { return nil }
        } else {
            out.append(UInt8(ascii: "\""))
            Base64.append(bytes.span, into: &out)
            out.append(UInt8(ascii: "\""))
        }
        out.append(UInt8(ascii: "}"))
        return out.tight
    }
}

extension [UInt8] {
    /// The same without room for more, which is half of an array that has grown.
    var tight: [UInt8] {
        var copy: [UInt8] = []
        copy.reserveCapacity(count)
        copy += self
        return copy
    }
}

enum HARText {
    /// Seconds or milliseconds with at most six digits behind the point.
    static func number(_ value: Double) -> String {
        let micros = (value * 1e6).rounded()
        guard micros >= 0, micros < 9e18 else { return "0" }
        let whole = UInt64(micros)
        let fraction = whole % 1_000_000
        guard fraction > 0 else { return "\(whole / 1_000_000)" }
        let digits = String(fraction)
        var text = "\(whole / 1_000_000)." + String(repeating: "0", count: 6 - digits.utf8.count) + digits
        while text.hasSuffix("0") { text.removeLast() }
        return text
    }

    static func string(_ text: String, into out: inout [UInt8]) { JSONEscape.appendString(text, into: &out) }

    /// The characters U+0080 to U+00FF of a head stand for bytes; what they are as UTF-8 is shown where they are that.
    static func head(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 > 0x7f }), text.unicodeScalars.allSatisfy({ $0.value <= 0xff }) else {
            return text
        }
        return String(validUTF8: text.unicodeScalars.map { UInt8($0.value) }) ?? text
    }
}
