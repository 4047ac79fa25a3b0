internal import WiretapeProtocol
internal import WiretapeWire

/// A request and its answer as another tool kept them, with what followed when it became a WebSocket.
struct ForeignExchange {
    enum Answer {
        case none
        case whole([UInt8])
        /// Of a stream, with times in nanoseconds since 1970.
        case pieces([(time: UInt64, bytes: [UInt8])])
    }

    /// `http://HOST:PORT`.
    var server: String
    /// What the file calls its connection; nil where it does not tell.
    var connection: String?
    var open = TapeEvent.Open()
    var request: RequestHead
    var requestBody: [UInt8] = []
    var requestTrailers: [HeaderField] = []
    /// Nanoseconds since 1970, as all times here.
    var requestTime: UInt64
    var response: ResponseHead?
    var responseTime: UInt64 = 0
    var answer = Answer.none
    var trailers: [HeaderField] = []
    /// Nil: the file does not tell that the answer has ended.
    var endTime: UInt64?
    /// The content coding that is no longer on the answer's body.
    var coding: String?
    /// What was said on the WebSocket, in its order; nil: it was none.
    var said: [(time: UInt64, kind: TapeEvent.Kind)]?
    /// What the file does not say of this exchange: it stands on the tape, too.
    var notes: [String] = []
    /// What is told of the import, and means nothing on the tape.
    var remarks: [String] = []

    init(server: String, request: RequestHead, requestTime: UInt64) {
        self.server = server
        self.request = request
        self.requestTime = requestTime
    }

    /// From when on the next request may come on its connection; nil: none may, as behind a 101.
    var freesConnection: UInt64? {
        guard said == nil, let response, response.status != 101 else { return nil }
        return endTime
    }
}

/// Why an entry is no exchange of a tape, without being wrong: a phrase such as 'a stub whose URL is a pattern'.
struct ForeignSkip: Error {
    var reason: String
}

/// A URL of an archive, cut into what a tape wants.
struct ForeignURL {
    /// `http://HOST:PORT`, without a user and a password.
    var server: String
    /// As `Host` has it.
    var host: String
    /// `/chat?id=1`.
    var target: String
    var isWebSocket: Bool

    init?(_ text: String) {
        guard let mark = text.firstRange(of: "://") else { return nil }
        var scheme = text[..<mark.lowerBound].lowercased()
        isWebSocket = scheme == "ws" || scheme == "wss"
        if scheme == "ws" { scheme = "http" }
        if scheme == "wss" { scheme = "https" }
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text[mark.upperBound...]
        var authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let tail = rest[authority.endIndex...].prefix { $0 != "#" }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        guard !authority.isEmpty, !authority.contains(where: { $0.isWhitespace || $0 == "\"" }) else { return nil }
        host = String(authority)
        target = tail.isEmpty ? "/" : tail.hasPrefix("/") ? String(tail) : "/" + tail
        let afterBracket = authority.lastIndex(of: "]").map { authority[$0...] } ?? authority
        let hasPort = afterBracket.contains(":")
        server = "\(scheme)://\(authority)" + (hasPort ? "" : scheme == "https" ? ":443" : ":80")
    }
}

enum ForeignTime {
    /// Nanoseconds of so many milliseconds; nil for what is no time: negative, endless, not a number.
    static func nanoseconds(milliseconds: Double?) -> UInt64? {
        guard let milliseconds, milliseconds >= 0, milliseconds < 9e12 else { return nil }
        return UInt64(milliseconds * 1e6)
    }

    static func nanoseconds(seconds: Double?) -> UInt64? { nanoseconds(milliseconds: seconds.map { $0 * 1e3 }) }

    /// The sum, never beyond what a tape can hold.
    static func sum(_ time: UInt64, _ more: UInt64?) -> UInt64 {
        let (sum, isOver) = time.addingReportingOverflow(more ?? 0)
        return isOver ? .max : sum
    }
}

/// What an archive's texts become on a tape: bytes above 0x7f of a head are the characters U+0080 to U+00FF.
enum ForeignText {
    /// A head's text, whose line ends separate several values (browsers join them so).
    static func lines(_ text: String) -> [String] {
        text.split(omittingEmptySubsequences: true) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }.map {
            line(String($0))
        }
    }

    /// Without control characters, every character one byte.
    static func line(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        let isWide = text.unicodeScalars.contains { $0.value > 0xff }
        for scalar in text.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7f || scalar.value == 9 {
            if isWide, scalar.value > 0x7f {
                for byte in String(scalar).utf8 { out.append(Unicode.Scalar(byte)) }
            } else {
                out.append(scalar)
            }
        }
        return String(out)
    }

    static func latin1(_ bytes: some Sequence<UInt8>) -> String {
        var out = String.UnicodeScalarView()
        for byte in bytes where byte >= 0x20 && byte != 0x7f || byte == 9 { out.append(Unicode.Scalar(byte)) }
        return String(out)
    }
}
