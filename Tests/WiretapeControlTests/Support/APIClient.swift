import Foundation
import Testing
import WiretapeControl
import WiretapeNet
import WiretapeRuntime
import WiretapeWire

/// An answer as it came.
struct Answer: Sendable {
    var status: Int
    var headers: [HeaderField]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    /// The sentence of an error.
    var error: String { json["error"]?.string ?? "" }
}

/// A program that asks the control API over a socket of its own for each request. Each answer is held against `docs/openapi.json`.
struct APIClient: Sendable {
    let thread: LoopThread
    let address: Address
    var headers: [HeaderField] = []
    var spec: OpenAPI? = try? OpenAPI.read()

    func get(_ path: String) async throws -> Answer { try await call("GET", path) }

    func post(_ path: String, _ body: String = "") async throws -> Answer { try await call("POST", path, body) }

    func call(_ method: String, _ path: String, _ body: String = "", headers extra: [HeaderField] = []) async throws
        -> Answer
    {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n"
        for field in headers + extra { text += "\(field.name): \(field.value)\r\n" }
        if !body.isEmpty || method == "POST" || method == "PUT" {
            text += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        }
        let bytes = try await send(Array((text + "\r\n" + body).utf8))
        let answer = try APIClient.parse(bytes)
        let spec = try #require(spec)
        if method != "OPTIONS", method != "HEAD" {
            let problems = spec.problems(method, path, answer)
            #expect(
                problems.isEmpty, "\(method) \(path) \(body): \(answer.status) \(answer.text.prefix(600)): \(problems)")
        }
        return answer
    }

    /// Sends bytes and reads until the server ends the connection.
    func send(_ bytes: [UInt8]) async throws -> [UInt8] {
        let address = address
        return try await handedOver { give in
            thread.post { loop in
                let exchange = Exchange(bytes, give)
                exchange.stream = loop.connect(to: address, exchange)
            }
        }
    }

    static func parse(_ bytes: [UInt8]) throws -> Answer {
        let mark = try #require(
            bytes.firstRange(of: Array("\r\n\r\n".utf8)), "no head in \(String(decoding: bytes, as: UTF8.self))")
        let lines = String(decoding: bytes[..<mark.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let status = try #require(lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) })
        let headers = lines.dropFirst().compactMap { line -> HeaderField? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return HeaderField(String(line[..<colon]), line[colon...].dropFirst().trimmingCharacters(in: .whitespaces))
        }
        return Answer(status: status, headers: headers, body: Array(bytes[mark.upperBound...]))
    }
}

private final class Exchange: StreamHandler {
    var stream: (any ByteStream)?
    private let request: [UInt8]
    private var bytes: [UInt8] = []
    private let done: (Result<[UInt8], any Error>) -> Void

    init(_ request: [UInt8], _ done: @escaping (Result<[UInt8], any Error>) -> Void) {
        self.request = request
        self.done = done
    }

    func connected() {
        stream?.isReading = true
        let request = request
        stream?.write(request.span)
    }

    func received(_ bytes: Span<UInt8>) { for i in bytes.indices { self.bytes.append(bytes[i]) } }
    func receivedEnd() { stream?.halfClose() }
    func drained() {}

    func ended(_ how: StreamEnd) {
        stream = nil
        if case .failed(let why) = how, bytes.isEmpty {
            return done(.failure(NetError("connect", code: 0, reason: why)))
        }
        done(.success(bytes))
    }
}

/// A subscriber of the event stream, or of nothing: it reads when it is told to.
final class Subscriber: StreamHandler {
    private(set) var bytes: [UInt8] = []
    private(set) var hasEnded = false
    private var stream: (any ByteStream)?
    private let request: String
    private let reads: Bool

    init(_ address: Address, _ path: String, reads: Bool = true, headers: String = "", on loop: UVLoop) {
        request = "GET \(path) HTTP/1.1\r\nHost: \(address)\r\n\(headers)\r\n"
        self.reads = reads
        stream = loop.connect(to: address, self)
    }

    func connected() {
        stream?.isReading = reads
        let bytes = Array(request.utf8)
        stream?.write(bytes.span)
    }

    func received(_ bytes: Span<UInt8>) { for i in bytes.indices { self.bytes.append(bytes[i]) } }
    func receivedEnd() { stream?.halfClose() }
    func drained() {}
    func ended(_ how: StreamEnd) {
        hasEnded = true
        stream = nil
    }

    func begin() { stream?.isReading = true }
    func leave() { stream?.reset() }

    /// The data of the events so far, without the chunks' sizes.
    var events: [JSONValue] {
        String(decoding: bytes, as: UTF8.self).components(separatedBy: "\n").compactMap { line in
            line.hasPrefix("data: ") ? try? JSONValue(parsing: String(line.dropFirst(6))) : nil
        }
    }

    var names: [String] { events.compactMap { $0["event"]?.string } }
}
