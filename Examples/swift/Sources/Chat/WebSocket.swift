import Foundation
import Synchronization

/// The hub over a WebSocket (RFC 6455): texts without extensions.
final class WebSocket: Transport {
    let texts: AsyncThrowingStream<String, any Error>
    private let socket: Socket
    private let heard = Mutex(0)

    private enum Opcode: UInt8 {
        case more = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10
    }

    /// Opens one. Throws ``Refused`` when the answer is not 101.
    static func open(_ hub: HubAddress, _ target: String, token: String?) async throws -> WebSocket {
        try await onThread {
            let socket = try hub.connect()
            let key = Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
            var head = "GET \(target) HTTP/1.1\r\nHost: \(hub.host):\(hub.port)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            head += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(key)\r\n"
            if let token { head += "Authorization: Bearer \(token)\r\n" }
            try socket.write(Array((head + "\r\n").utf8))
            var bytes: [UInt8] = []
            while true {
                let more = try socket.read()
                guard !more.isEmpty else { throw ConnectionLost("no answer to the upgrade") }
                bytes += more
                guard let (answer, rest) = HTTPAnswer.parse(bytes) else { continue }
                guard answer.status == 101 else { throw Refused(status: answer.status) }
                return WebSocket(socket, rest)
            }
        }
    }

    private init(_ socket: Socket, _ early: [UInt8]) {
        self.socket = socket
        let (texts, told) = AsyncThrowingStream<String, any Error>.makeStream()
        self.texts = texts
        Thread.detachNewThread { [weak self] in
            do {
                var bytes = early
                var text: [UInt8] = []
                while true {
                    while let (opcode, isLast, payload) = WebSocket.takeFrame(&bytes) {
                        self?.heard.withLock { $0 += 1 }
                        switch opcode {
                        case .text, .binary, .more:
                            text += payload
                            guard isLast else { continue }
                            told.yield(String(decoding: text, as: UTF8.self))
                            text = []
                        case .ping: try self?.write(.pong, payload)
                        case .pong: break
                        case .close:
                            try? self?.write(.close, payload)
                            throw Closed(code: payload.count < 2 ? 1005 : Int(payload[0]) << 8 | Int(payload[1]))
                        }
                    }
                    let more = try socket.read()
                    guard !more.isEmpty else { throw ConnectionLost("the server hung up") }
                    bytes += more
                }
            } catch {
                told.finish(throwing: error)
            }
        }
    }

    var signs: Int { heard.withLock { $0 } }

    func send(_ text: String) async throws { try write(.text, Array(text.utf8)) }

    func ping() async throws { try write(.ping, []) }

    func close() async {
        try? write(.close, [0x03, 0xe8])
        // The hub answers and hangs up.
        for _ in 0..<20 {
            do { for try await _ in texts {} } catch { break }
        }
        hangUp()
    }

    func hangUp() { socket.hangUp() }

    /// A frame from a client is masked.
    private func write(_ opcode: Opcode, _ payload: [UInt8]) throws {
        var frame: [UInt8] = [0x80 | opcode.rawValue]
        switch payload.count {
        case ..<126: frame.append(0x80 | UInt8(payload.count))
        case ..<65_536: frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
        default:
            frame.append(0x80 | 127)
            frame += (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        }
        let mask = (0..<4).map { _ in UInt8.random(in: 0...255) }
        frame += mask
        frame += payload.enumerated().map { $1 ^ mask[$0 & 3] }
        try socket.write(frame)
    }

    /// Takes the first frame off; nil while it is not whole.
    private static func takeFrame(_ bytes: inout [UInt8]) -> (Opcode, isLast: Bool, payload: [UInt8])? {
        guard bytes.count >= 2, let opcode = Opcode(rawValue: bytes[0] & 0x0f) else { return nil }
        var at = 2
        var count = Int(bytes[1] & 0x7f)
        if count > 125 {
            let width = count == 126 ? 2 : 8
            guard bytes.count >= 2 + width else { return nil }
            count = bytes[2..<2 + width].reduce(0) { $0 << 8 | Int($1) }
            at += width
        }
        guard bytes.count >= at + count else { return nil }
        let payload = Array(bytes[at..<at + count])
        let isLast = bytes[0] & 0x80 != 0
        bytes.removeFirst(at + count)
        return (opcode, isLast, payload)
    }
}

/// The hub has answered with a status that is no success.
struct Refused: Error {
    var status: Int
}
