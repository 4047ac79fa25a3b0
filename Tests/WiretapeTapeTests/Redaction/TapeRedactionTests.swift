import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeRedaction
import WiretapeTape
import WiretapeWire

/// What the recorder writes when it redacts: records of a loop in, lines of a tape out.
@Suite struct TapeRedactionTests {
    private func lines(
        _ rules: RedactionRules = RedactionRules(), _ fill: (inout RecordStream) -> Void
    ) -> (lines: [String], told: [String]) {
        var stream = RecordStream()
        stream.open()
        fill(&stream)
        var told: [String] = []
        let tape = InlineTape(
            header: TapeHeader(), origin: .zero, redaction: TapeRedaction(rules) { told.append($0) })
        _ = tape.offer(stream.batch, loop: 0, oldest: 0)
        let text = String(decoding: tape.finish(), as: UTF8.self)
        return (text.split(separator: "\n").dropFirst(2).dropLast().map(String.init), told)
    }

    private func exchange(
        _ stream: inout RecordStream, _ request: String, _ answer: String, _ pieces: [(UInt64, [UInt8])] = []
    ) {
        stream.add(.request, x: 1, at: 1_000_000, Array(request.utf8))
        stream.add(.bodyEnd, x: 1, at: 1_000_000)
        stream.add(.response, flags: RecordFlags.toClient, x: 1, at: 2_000_000, Array(answer.utf8))
        for (time, piece) in pieces { stream.add(.body, flags: RecordFlags.toClient, x: 1, at: time, piece) }
        stream.add(.bodyEnd, flags: RecordFlags.toClient, x: 1, at: pieces.last?.0 ?? 2_000_000)
    }

    @Test func headsAndBodies() {
        let (lines, _) = lines {
            exchange(
                &$0, "GET /x?access_token=tok-12345678&id=7 HTTP/1.1\r\nHost: h\r\nCookie: s=cookie-secret-1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nSet-Cookie: n=cookie-secret-2; Path=/\r\n\r\n",
                [(2_100_000, Array(#"{"you":"tok-12345678","token":"other-secret"}"#.utf8))])
        }
        #expect(lines.count == 4)
        #expect(lines[0].contains(#""target":"/x?access_token=td_1&id=7""#))
        #expect(lines[0].contains(#"["Cookie","s=td_2"]"#))
        #expect(lines[1].contains(#"["Set-Cookie","n=td_3; Path=/"]"#))
        #expect(lines[2].contains(#"{\"you\":\"td_1\",\"token\":\"td_4\"}"#))
    }

    /// A secret that arrives in two pieces of a stream: the first part waits, what stands before it does not.
    @Test func aSecretThatIsSplitOverChunks() {
        let pieces = ["data: {\"a\":1}\n\ndata: {\"tok", "en\":\"s3cr3t-va", "lue-99\"}\n\n", "data: {}\n\n"]
        let (lines, _) = lines {
            exchange(
                &$0, "GET /e HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
                pieces.enumerated().map { (UInt64(20 + $0.offset) * 1_000_000, Array($0.element.utf8)) })
        }
        let texts = lines.filter { $0.contains(#""e":"chunk""#) }.map {
            $0.split(separator: #""text":""#).last.map {
                $0.dropLast(2).replacing(#"\n"#, with: "\n").replacing(#"\""#, with: "\"")
            } ?? ""
        }
        #expect(texts == ["data: {\"a\":1}\n\ndata: {", "\"token\":\"td_1\"}\n\n", "data: {}\n\n"])
        #expect(lines.last?.contains(#""e":"end""#) == true)
    }

    /// What waits for more is written before the end of its stream, or of its connection.
    @Test(arguments: [true, false]) func whatWaitsIsWrittenAtTheEnd(isEnded: Bool) {
        let (lines, _) = lines {
            $0.add(.request, x: 1, at: 1, Array("GET /e HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
            $0.add(.bodyEnd, x: 1, at: 1)
            $0.add(.response, flags: RecordFlags.toClient, x: 1, at: 2, Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
            $0.add(.body, flags: RecordFlags.toClient, x: 1, at: 90_000_000, Array("x token=abc".utf8))
            if isEnded {
                $0.add(.bodyEnd, flags: RecordFlags.toClient, x: 1, at: 91_000_000)
            } else {
                $0.add(.gone, flags: GoneFlags.encode(.server, .rst), at: 91_000_000)
            }
        }
        let chunks = lines.filter { $0.contains(#""e":"chunk""#) }
        #expect(chunks.count == 2 && chunks[0].contains(#""text":"x ""#) && chunks[1].contains(#""text":"token=td_1""#))
        #expect(lines.last?.contains(isEnded ? #""e":"end""# : #""e":"gone""#) == true)
    }

    @Test func webSocketMessages() {
        let pack: [UInt8] = [0x81, 0xa5] + Array("token".utf8) + [0xac] + Array("pack-secret1".utf8)
        var deflater = Deflater(windowBits: 15)
        var packed: [UInt8] = []
        _ = deflater.append(Array(#"{"token":"deflated-secret"}"#.utf8).span, flush: .message, into: &packed)
        let (lines, _) = lines {
            $0.upgrade(extensions: "permessage-deflate")
            $0.bytes([0x81, 0x19] + Array(#"{"password":"p-secret-1"}"#.utf8), .toClient)
            $0.bytes([0x82, UInt8(pack.count)] + pack, .toClient)
            $0.bytes([0xc1, UInt8(packed.count)] + packed, .toClient)
            // In two frames.
            $0.bytes(
                [0x01, 0x0e] + Array(#"{"token":"frag"#.utf8) + [0x80, 0x09] + Array(#"-secret"}"#.utf8), .toClient)
            $0.bytes([0x89, 0x14] + Array("Bearer ping-secret-1".utf8), .toClient)
            $0.bytes([0x88, 0x18, 0x03, 0xe8] + Array("token=close-secret-99!".utf8), .toClient)
        }
        let text = lines.joined(separator: "\n")
        #expect(!text.contains("secret"), "\(text)")
        #expect(text.contains(#""deflated":true"#))
        #expect(!text.contains("frames"))
        #expect(text.contains("redaction changed 1 place in binary data"))
        #expect(lines[2].contains(#"{\"password\":\"td_1\"}"#))
    }

    /// Messages behind their lengths, over every carrier and in pieces: the lengths are those of what stands on the tape.
    @Test func lengthsAreThoseOfTheTape() {
        func joined(_ token: String) -> String {
            [#"{"token":"\#(token)"}"#, "news", #"{"say":"\#(token)"}"#].map { "\($0.utf16.count)|\($0)" }.joined()
        }
        let bare = joined("td_1")
        let all = Array(joined("a-length-ééé-secret").utf8)
        let padding = Array("    \n".utf8)
        func text(_ kind: String, _ lines: [String]) -> String {
            let texts = lines.filter { $0.contains("\"e\":\"\(kind)\"") && $0.contains(#""d":"<""#) }
                .compactMap { (try? JSONValue(parsing: $0))?["text"]?.string }
            return String(texts.joined().drop { $0 == " " || $0 == "\n" })
        }
        // A WebSocket: one message in one frame, and in three.
        let whole: [UInt8] = [0x81, UInt8(all.count)]
        let first: [UInt8] = [0x01, 5]
        let second: [UInt8] = [0x00, 20]
        let third: [UInt8] = [0x80, UInt8(all.count - 25)]
        let sockets = lines {
            $0.upgrade()
            $0.bytes(whole + all, .toClient)
            $0.bytes(first + Array(all[..<5]), .toClient)
            $0.bytes(second + Array(all[5..<25]), .toClient)
            $0.bytes(third + Array(all[25...]), .toClient)
        }.lines
        #expect(text("message", sockets) == bare + bare)
        // Long polls, and streams, in pieces that end anywhere.
        let heads = [
            "", "Content-Type: text/plain\r\n", "Content-Length: \(padding.count + all.count)\r\n",
            "Content-Type: application/octet-stream\r\n", "Content-Type: application/json\r\n",
        ]
        for head in heads {
            for cut in stride(from: 3, to: all.count, by: 5) {
                let tape = lines {
                    exchange(
                        &$0, "GET /chat HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\n\(head)\r\n",
                        [(20_000_000, padding), (40_000_000, Array(all[..<cut])), (60_000_000, Array(all[cut...]))])
                }.lines
                #expect(text("chunk", tape) == bare, "\(head) cut at \(cut)")
            }
        }
    }

    @Test func longMessagesAreLookedAtAsOne() {
        let filler = String(repeating: "x", count: (1 << 20) + 100)
        let message = Array(#"{"f":"\#(filler)","token":"long-secret-77"}"#.utf8)
        var frame: [UInt8] = [0x81, 127]
        for shift in stride(from: 56, through: 0, by: -8) {
            frame.append(UInt8(truncatingIfNeeded: message.count >> shift))
        }
        let (lines, _) = lines {
            $0.upgrade()
            $0.bytes(frame + message, .toClient)
        }
        let parts = lines.filter { $0.contains(#""e":"part""#) }
        #expect(parts.count >= 2)
        #expect(parts.last?.contains(#""last":true"#) == true)
        let text = parts.joined()
        #expect(!text.contains("long-secret") && text.contains("td_1"))
    }

    /// A message that never ends, since its sender begins another one: what waits of it is written before what comes next, and not
    /// lost.
    @Test(arguments: [
        // A whole message, the beginning of a third one.
        ([0x81, 0x06] + Array("second".utf8), #""e":"message""#),
        ([0x01, 0x06] + Array("second".utf8), #""e":"part""#),
    ])
    func whatNeverEndsStandsBeforeWhatComesNext(next: [UInt8], kind: String) {
        let (lines, _) = lines {
            $0.upgrade()
            $0.bytes([0x01, 0x05] + Array("first".utf8) + next, .toClient)
        }
        let first = lines.firstIndex { $0.contains(#""e":"part""#) && $0.contains("first") }
        let then = lines.lastIndex { $0.contains(kind) }
        #expect(first != nil && then != nil && first! < then!, "\(lines.joined(separator: "\n"))")
    }

    /// What cannot be looked at is not kept in silence: it is left out, and the tape and the log say so.
    @Test func whatCannotBeReadIsLeftOutAndTold() {
        let (lines, told) = lines {
            exchange(
                &$0, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Encoding: exi\r\nContent-Length: 4\r\n\r\n",
                [(2_100_000, [1, 2, 3, 4])])
        }
        let text = lines.joined(separator: "\n")
        #expect(text.contains(#""e":"response""#) && !text.contains("b64"), "\(text)")
        #expect(lines.last?.contains("could not be looked at for secrets") == true, "\(text)")
        #expect(told.contains { $0.contains("exi") })
    }

    /// A compressed request that comes slowly is looked at when it is whole: it stays as it came, or goes.
    @Test(arguments: [("{\"say\":\"hello\"}", true), ("{\"token\":\"slow-secret-1\"}", false)])
    func compressedRequestsInPieces(body: String, stays: Bool) {
        var compressor = MemberCompressor()
        var packed: [UInt8] = []
        let none = MemberInfo(events: 0, firstTime: .max, firstEvent: 0, opens: 0, firstConnection: 0)
        compressor.append(Array(body.utf8).span, info: none, level: 6, into: &packed)
        let (lines, told) = lines {
            let head =
                "POST /x HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
            $0.add(.request, x: 1, at: 1_000_000, Array(head.utf8))
            $0.add(.body, x: 1, at: 90_000_000, Array(packed[..<10]))
            $0.add(.body, x: 1, at: 91_000_000, Array(packed[10...]))
            $0.add(.bodyEnd, x: 1, at: 92_000_000)
        }
        let text = lines.joined(separator: "\n")
        #expect(text.contains(Base64.encode(packed.span)) == stays, "\(text)")
        #expect(told.isEmpty == stays)
        #expect(text.contains("is left out") != stays)
        #expect(lines.last?.contains(#""e":"end""#) == true)
    }

    @Test func damagedTrafficHasNoSecrets() {
        let (lines, _) = lines {
            let bad = Array("GET /\u{0} HTTP/9\r\nCookie: a=malformed-secret\r\nX-Api-Key: k-malformed-secret\r\n".utf8)
            $0.add(.malformed, at: 5, MalformedRecord.encode("no version", bad.span))
            $0.upgrade()
            $0.bytes([0xf1, 0x05] + Array("stray".utf8), .toClient)
        }
        let text = lines.joined(separator: "\n")
        #expect(text.contains("td_1") && !text.contains("malformed-secret"))
        #expect(text.contains("left out") && !text.contains("stray"))
    }

    @Test func whatHasNoSecretsIsByteForByte() {
        func fill(_ stream: inout RecordStream) {
            exchange(
                &stream, "GET /x?q=1 HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\nETag: \"x\"\r\n\r\n",
                [(2_100_000, Array("hello".utf8)), (90_000_000, [0, 1, 2, 0xff])])
            stream.upgrade()
            stream.bytes([0x81, 0x02, 0x7b, 0x7d, 0x82, 0x03, 0x92, 0x01, 0x02, 0x89, 0x01, 0x61], .toClient)
        }
        var stream = RecordStream()
        stream.open()
        fill(&stream)
        let tape = InlineTape(header: TapeHeader(), origin: .zero)
        _ = tape.offer(stream.batch, loop: 0, oldest: 0)
        let plain = String(decoding: tape.finish(), as: UTF8.self).split(separator: "\n").dropFirst(2).dropLast()
        let redacted = lines { fill(&$0) }.lines
        #expect(redacted == plain.map(String.init))
    }
}
