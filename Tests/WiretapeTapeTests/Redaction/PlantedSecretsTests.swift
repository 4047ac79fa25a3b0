import Foundation
import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeRedaction
import WiretapeTape
import WiretapeTapeTools
import WiretapeWire

/// 30 secrets of ten kinds, in every place where one may stand, in four protocols: no byte of them is on the tape, and a
/// tape that was recorded without redaction has all of them found.
@Suite struct PlantedSecretsTests {
    static let protocols = ["signalr", "graphql", "eventflit", "atmosphere"]

    /// Three of each kind. Their bytes stand nowhere else in this test.
    static let secrets: [String] = (1...3).flatMap { n -> [String] in
        let hex = (0..<64).map { String(($0 * 7 + n * 3 + $0 / 5) % 16, radix: 16) }.joined()
        let claims = Data("{\"sub\":\"planted-\(n)\",\"exp\":1999999999}".utf8).base64EncodedString()
            .replacing("=", with: "")
        return [
            "bearer.Planted-\(n)-9f8e7d6c5b4a", Data("ada:planted-basic-\(n)x".utf8).base64EncodedString(),
            "eyJhbGciOiJIUzI1NiJ9.\(claims).cGxhbnRlZHNpZ25hdHVyZQ\(n)", "cookie-planted-value-\(n)0", hex,
            "\(n)f1c2d3e-1a2b-4c3d-8e4f-0123456789ab", "ghp_plantedplantedplantedplanted012345\(n)",
            "p4ssw0rd planted, \(n)!", "da2-plantedapikey\(n)abcdef", "9\(n)5511223344",
        ]
    }

    private static func json(_ text: String) -> String { JSONValue.string(text).text }

    /// Where a secret stands in a protocol: what is recorded.
    private static func record(_ name: String, _ secret: String, into stream: inout RecordStream) {
        let escaped = json(secret)
        let percent = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? secret
        let quoted = json(#"{"auth":\#(escaped)}"#)
        func exchange(_ x: UInt32, _ request: String, _ body: String, _ answer: String, _ reply: [UInt8]) {
            stream.add(.request, x: x, at: 1_000_000, Array(request.utf8))
            if !body.isEmpty { stream.add(.body, x: x, at: 1_000_000, Array(body.utf8)) }
            stream.add(.bodyEnd, x: x, at: 1_000_000)
            stream.add(.response, flags: RecordFlags.toClient, x: x, at: 2_000_000, Array(answer.utf8))
            // In two pieces, late: a stream.
            let half = reply.count / 2
            stream.add(.body, flags: RecordFlags.toClient, x: x, at: 30_000_000, Array(reply[..<half]))
            stream.add(.body, flags: RecordFlags.toClient, x: x, at: 31_000_000, Array(reply[half...]))
            stream.add(.bodyEnd, flags: RecordFlags.toClient, x: x, at: 32_000_000)
        }
        let isToken = !secret.contains(" ")
        let fields =
            isToken ? "Authorization: Bearer \(secret)\r\nCookie: a=1; s=\(secret)\r\nX-Api-Key: \(secret)\r\n" : ""
        let set = isToken ? "Set-Cookie: s=\(secret); Path=/\r\n" : ""
        let sse = Array("data: {\"say\":\(escaped)}\n\ndata: {\"token\":\(escaped)}\n\n".utf8)
        exchange(
            1,
            "POST /login?access_token=\(percent)&x=1 HTTP/1.1\r\nHost: h\r\n\(fields)Content-Type: application/json\r\n\r\n",
            #"{"password":\#(escaped),"x":1}"#, "HTTP/1.1 200 OK\r\n\(set)Content-Type: text/event-stream\r\n\r\n", sse)
        exchange(
            2, "POST /form HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n",
            "user=ada&password=\(percent)",
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", Array(#"{"token":\#(escaped)}"#.utf8))
        let part = "--b\r\nContent-Disposition: form-data; name=\"secret\"\r\n\r\n\(secret)\r\n--b--"
        exchange(
            3, "POST /m HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n", part,
            "HTTP/1.1 200 OK\r\n\r\n", Array("ok\n".utf8))
        let texts: [String] =
            switch name {
            case "signalr":
                [
                    #"{"type":1,"invocationId":"0","target":"Login","arguments":[{"token":\#(escaped)}]}"# + "\u{1e}",
                    #"{"type":1,"target":"Echo","arguments":[\#(json("you said " + secret))]}"# + "\u{1e}",
                ]
            case "graphql":
                [
                    #"{"type":"connection_init","payload":{"headers":{"whatever":\#(escaped)}}}"#,
                    #"{"id":"1","type":"subscribe","payload":{"query":"q","variables":{"password":\#(escaped)}}}"#,
                ]
            case "eventflit":
                [
                    #"{"event":"pusher:subscribe","data":{"channel":"private-a","auth":\#(json("key:" + secret))}}"#,
                    #"{"event":"m","channel":"private-a","data":\#(quoted)}"#,
                ]
            default: [#"61|{"token":\#(escaped)}|"#, #"X|{"body":\#(quoted)}"#]
            }
        stream.upgrade(extensions: "permessage-deflate")
        for text in texts {
            let bytes = Array(text.utf8)
            stream.bytes(frame(0x81, bytes), .toServer)
            stream.bytes(frame(0x81, bytes), .toClient, cuts: [bytes.count / 2])
            var deflater = Deflater(windowBits: 15)
            var packed: [UInt8] = []
            _ = deflater.append(bytes.span, flush: .message, into: &packed)
            stream.bytes(frame(0xc1, packed), .toServer)
        }
        var pack: [UInt8] = [0x82, 0xa5] + Array("token".utf8)
        MessagePack.write(secret, into: &pack)
        pack += [0xa4] + Array("said".utf8)
        MessagePack.write("again \(secret)", into: &pack)
        stream.bytes(frame(0x82, pack), .toClient)
        stream.add(.gone, flags: GoneFlags.encode(.client, .rst), at: 40_000_000)
    }

    private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        payload.count < 126
            ? [first, UInt8(payload.count)] + payload
            : [first, 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload
    }

    private static func tape(_ name: String, _ secret: String, _ redaction: TapeRedaction?) -> [UInt8] {
        var stream = RecordStream()
        stream.open()
        record(name, secret, into: &stream)
        let header = TapeHeader(
            started: "2026-11-23T00:00:00.000000Z", redaction: redaction == nil ? "none" : "default")
        let tape = InlineTape(header: header, origin: .zero, redaction: redaction)
        _ = tape.offer(stream.batch, loop: 0, oldest: 0)
        return tape.finish()
    }

    /// Everything that a tape's bytes say, base64 decoded too.
    private static func said(_ tape: [UInt8]) throws -> String {
        var all = String(decoding: tape, as: UTF8.self)
        for line in all.split(separator: "\n") {
            guard let text = try JSONValue(parsing: String(line))["b64"]?.string, let bytes = Base64.decode(text) else {
                continue
            }
            all += String(decoding: bytes, as: UTF8.self)
        }
        return all
    }

    private static func pieces(of secret: String) -> [String] {
        [
            secret, secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? secret,
            String(json(secret).dropFirst().dropLast()),
        ]
    }

    @Test(arguments: protocols, secrets) func nothingReachesTheTape(name: String, secret: String) throws {
        let said = try Self.said(Self.tape(name, secret, TapeRedaction()))
        for piece in Self.pieces(of: secret) {
            let lines = said.split(separator: "\n").filter { $0.contains(piece) }
            #expect(lines.isEmpty, "\(name): \(piece)")
        }
        // Of text, of hexadecimal digits, and of a token, whose claims are in base64.
        #expect(["td_", "74645f", "dGRf"].contains { said.contains($0) })
        // The control: the same traffic without redaction has it in many places.
        let plain = try Self.said(Self.tape(name, secret, nil))
        #expect(plain.components(separatedBy: secret).count > 8)
    }

    @Test(arguments: protocols, secrets) func rewritingATapeDoesTheSame(name: String, secret: String) throws {
        let path = temporaryPath("planted.tape")
        defer { remove(path) }
        writeFile(path, Self.tape(name, secret, nil))
        var found: Set<SecretFinding> = []
        _ = try TapeScan.run(path, RedactionRules()) { found.insert($0.secret) }
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { !$0.masked.contains(secret) })
        let first = try TapeRedactor.write(path, to: .place, RedactionRules(), name: "default", tell: { _ in })
        #expect(first > 0)
        let said = try Self.said(readFile(path))
        for piece in Self.pieces(of: secret) {
            let lines = said.split(separator: "\n").filter { $0.contains(piece) }
            #expect(lines.isEmpty, "\(name): \(piece)")
        }
        // It is idempotent, and nothing is found any more.
        let once = readFile(path)
        #expect(try TapeRedactor.write(path, to: .place, RedactionRules(), name: "default", tell: { _ in }) == 0)
        #expect(readFile(path) == once)
        var left: [TapeScan.Finding] = []
        _ = try TapeScan.run(path, RedactionRules()) { left.append($0) }
        #expect(left.isEmpty, "\(left)")
    }

    /// The tapes of this repository have none.
    @Test func theRecordingsHaveNone() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("recordings")
        let tapes = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains(".tape") }
        #expect(tapes.count > 30)
        for tape in tapes {
            var found: [TapeScan.Finding] = []
            _ = try TapeScan.run(folder.appendingPathComponent(tape).path, RedactionRules()) { found.append($0) }
            #expect(found.isEmpty, "\(tape): \(found)")
        }
    }
}

/// A tape that is rewritten counts what stands on it then.
@Suite struct RewrittenTapeTests {
    @Test func piecesAreMovedAndCounted() throws {
        let path = temporaryPath("pieces.tape")
        defer { remove(path) }
        let lines = [
            #"{"tape":1,"redaction":"none"}"#, #"{"t":1,"c":1,"e":"open"}"#,
            #"{"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/e","headers":[],"later":1}"#,
            #"{"t":3,"c":1,"e":"response","x":1,"status":200,"headers":[],"stream":true}"#,
            #"{"t":4,"c":1,"e":"chunk","x":1,"d":"<","text":"token=abc"}"#,
            #"{"t":5,"c":1,"e":"chunk","x":1,"d":"<","text":"def"}"#,
            #"{"t":6,"c":1,"e":"end","x":1,"d":"<"}"#, #"{"t":7,"e":"stop","events":6,"connections":1}"#,
        ]
        writeFile(path, Array((lines.joined(separator: "\n") + "\n").utf8))
        #expect(try TapeRedactor.write(path, to: .place, RedactionRules(), name: "default", tell: { _ in }) == 1)
        let text = String(decoding: readFile(path), as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(text.count == 7)
        #expect(text[0] == #"{"tape":1,"redaction":"default"}"# && text[2] == lines[2])
        #expect(text[4] == #"{"t":6,"c":1,"e":"chunk","x":1,"d":"<","text":"token=td_1"}"#)
        #expect(text[5] == lines[6])
        #expect(text[6] == #"{"t":7,"e":"stop","events":5,"connections":1}"#)
    }
}
