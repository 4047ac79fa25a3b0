import Foundation

/// An answer with its whole body.
struct HTTPAnswer: Sendable {
    var status: Int
    var headers: [String: String]
    var body: String
}

/// Where the hub is: `http://127.0.0.1:5000/hub`.
struct HubAddress: Sendable {
    let host: String
    let port: UInt16
    let path: String

    init(_ url: String) throws {
        guard let parts = URLComponents(string: url), parts.scheme == "http", let host = parts.host else {
            throw ConnectionLost("\(url) is no http address")
        }
        self.host = host
        port = UInt16(parts.port ?? 80)
        path = parts.path.isEmpty ? "/" : parts.path
    }

    func connect() throws -> Socket { try Socket(host: host, port: port) }

    /// One request on a connection of its own.
    func request(_ method: String, _ target: String, token: String?, body: String? = nil) async throws -> HTTPAnswer {
        try await onThread {
            let socket = try connect()
            var head = "\(method) \(target) HTTP/1.1\r\nHost: \(host):\(port)\r\nConnection: close\r\n"
            if let token { head += "Authorization: Bearer \(token)\r\n" }
            if method == "POST" { head += "Content-Length: \((body ?? "").utf8.count)\r\n" }
            try socket.write(Array((head + "\r\n" + (body ?? "")).utf8))
            var bytes: [UInt8] = []
            while case let more = try socket.read(), !more.isEmpty { bytes += more }
            guard let (answer, rest) = HTTPAnswer.parse(bytes) else { throw ConnectionLost("no answer to \(method) \(target)") }
            var whole = answer
            whole.body = String(decoding: answer.isChunked ? HTTPAnswer.unchunked(rest) : rest, as: UTF8.self)
            return whole
        }
    }
}

extension HTTPAnswer {
    var isChunked: Bool { headers["transfer-encoding"]?.lowercased() == "chunked" }

    /// The head at the beginning of `bytes`, and what is behind it; nil while it is not whole.
    static func parse(_ bytes: [UInt8]) -> (HTTPAnswer, rest: [UInt8])? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count > 1, let status = Int(words[1]) else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        return (HTTPAnswer(status: status, headers: headers, body: ""), Array(bytes[end.upperBound...]))
    }

    static func unchunked(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        var out: [UInt8] = []
        while let line = rest.firstRange(of: [13, 10]),
            let count = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16), count > 0,
            rest.distance(from: line.upperBound, to: rest.endIndex) >= count
        {
            out += rest[line.upperBound..<line.upperBound + count]
            rest = rest[(line.upperBound + count)...].dropFirst(2)
        }
        return out
    }
}
