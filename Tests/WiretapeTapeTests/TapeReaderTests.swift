import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

struct TapeReaderTests {
    @Test func everyKindComesBack() {
        let events = goldenLines.map(\.event)
        let reading = Tapes.read(Tapes.plain(events))
        #expect(reading.error == nil && !reading.isTruncated && !reading.isStopped)
        #expect(reading.events.map(\.event) == events)
        #expect(reading.events.map(\.number) == (1...UInt64(events.count)).map { $0 })
        #expect(reading.events.map(\.line) == (2...events.count + 1).map { $0 })
    }

    @Test func compressedAndPlainTapesAreTheSame() {
        let events = Tapes.events(500)
        let (bytes, members) = Tapes.file(events, linesPerMember: 60)
        let reading = Tapes.read(bytes)
        #expect(reading.error == nil && !reading.isTruncated && reading.isStopped)
        #expect(reading.events.dropLast().map(\.event) == events)
        #expect(reading.events.last?.event.kind == .stop(events: 500, connections: 13, level: nil))
        #expect(reading.events.map(\.offset).allSatisfy { members.contains(Int($0)) })
        #expect(Tapes.read(Tapes.plain(events)).events.map(\.event) == events)
    }

    @Test func plainOffsetsAreThoseOfTheLines() {
        let bytes = Tapes.plain(Tapes.events(3000))
        let reading = Tapes.read(bytes)
        #expect(reading.events.count == 3000)
        for event in reading.events.enumerated().filter({ $0.offset % 97 == 0 }).map(\.element) {
            let at = Int(event.offset)
            #expect(bytes[at] == UInt8(ascii: "{") && bytes[at - 1] == 0x0a)
            #expect(String(decoding: bytes[at..<at + 30], as: UTF8.self).hasPrefix("{\"t\":\(event.event.time),"))
        }
    }

    @Test func commentsBlankLinesAndUnknownKeysAreSkipped() throws {
        let text = """
            # made by hand
            {"tape":1,"later":[{"a":"]"}]}

            # a comment
            {"t":1,"e":"mark","text":"a","new":{"x":[1,"}\\"",null]},"n":3}
            {"t":2,"c":9,"e":"brandnew","payload":true}\r
              {"t" : 3 , "e" : "gap", "lost" : 1}
            """
        let reading = Tapes.read(Array(text.utf8))
        #expect(reading.error == nil && !reading.isTruncated)
        #expect(reading.events.map(\.line) == [5, 6, 7])
        #expect(reading.events.map(\.event.kind) == [.mark("a"), .unknown("brandnew"), .gap(lost: 1)])
    }

    @Test func sparseTapesLeaveOutWhatIsPlain() throws {
        let text = """
            {"tape":1,"protocol":"signalr","route":"/chat"}
            {"d":">","json":{"b": 1.0, "a":"x"}}
            {"d":"<","after":"1.5s","text":"hi"}
            {"d":"<","after":"20ms","b64":"AA=="}
            """
        var reader = try TapeReader(bytes: Array(text.utf8), name: "s.tape")
        #expect(reader.header.protocolID == "signalr" && reader.header.route == "/chat")
        let first = try reader.next()
        #expect(first?.isUnframed == true)
        #expect(
            first?.event.kind
                == .message(.toServer, .text, Array(#"{"b":1.0,"a":"x"}"#.utf8), deflated: false, fragments: []))
        let second = try reader.next()
        #expect(second?.event.time == 1_500_000_000 && second?.event.connection == 1)
        let third = try reader.next()
        #expect(third?.event.time == 1_520_000_000)
        #expect(third?.event.kind == .message(.toClient, .binary, [0], deflated: false, fragments: []))
    }

    @Test(arguments: [
        (#"{"t":1,"c":1,"d":">"}"#, #"no "e""#),
        (#"{"c":1,"e":"mark","text":""}"#, #"no "t""#),
        (#"{"t":1,"e":"message","d":">","text":""}"#, #""message" without "op""#),
        (#"{"t":1,"e":"message","op":"text","text":""}"#, #""message" without "d""#),
        (#"{"t":1,"e":"message","op":"text","d":">"}"#, #""message" without "text", "b64" or "json""#),
        (#"{"t":1,"e":"request","method":"GET","target":"/","headers":[]}"#, #""request" without "x""#),
        (#"{"t":1.5,"e":"mark","text":""}"#, #""t" is not a whole number"#),
        (#"{"t":-1,"e":"mark","text":""}"#, #""t" is not a whole number"#),
        (#"{"t":18446744073709551616,"e":"mark","text":""}"#, #""t" is too large"#),
        (#"{"t":1,"c":4294967296,"e":"mark","text":""}"#, #""c" is too large"#),
        (#"{"t":1,"e":"chunk","x":1,"d":"!","text":""}"#, #""d" is neither ">" nor "<""#),
        (#"{"t":1,"e":"chunk","x":1,"d":">","b64":"?"}"#, #""b64" is not base64"#),
        (#"{"t":1,"e":"close","d":">","code":70000}"#, #""code" is too large"#),
        (#"{"t":1,"e":"gone","by":"me","how":"fin"}"#, #""by" is none of client, server, proxy"#),
        (#"{"t":1,"e":"mark","text":"a}"#, "a string without end"),
        (#"{"t":1,"e":"mark","text":"a"} x"#, "more behind the event"),
        (#"{"t":1,"e":"mark","text":"\q"}"#, "an unknown escape"),
        (#"{"t":1,"e":"mark","text":"\u12"}"#, #"a bad \u escape"#),
        (#"{"t":1,"e":"mark","new":[[[}"#, "expected a value"),
        (#"not json"#, "expected '{'"),
        (#"[1]"#, "expected '{'"),
        (#"{"t":1,"e":"message","d":">","op":"text","json":{"a":01}}"#, #""json": not a value"#),
    ])
    func badLinesAreNamed(line: String, reason: String) {
        let text = #"{"tape":1}"# + "\n" + #"{"t":0,"e":"mark","text":"good"}"# + "\n" + line + "\n"
        let reading = Tapes.read(Array(text.utf8))
        #expect(reading.events.count == 1)
        #expect(reading.error?.kind == .badLine && reading.error?.event == 1 && reading.error?.offset == 44)
        #expect(reading.error?.message.hasPrefix("line 3 (at byte 44, column ") == true)
        #expect(reading.error?.message.hasSuffix(": " + reason) == true, "\(reading.error?.message ?? "")")
    }

    @Test func escapesComeBackAsTheyWere() {
        let line = #"{"t":1,"e":"mark","text":"\"\\\/\b\f\n\r\té😀\ud800 \udc00x"}"#
        let reading = Tapes.read(Array((#"{"tape":1}"# + "\n" + line).utf8))
        #expect(reading.events.first?.event.kind == .mark("\"\\/\u{8}\u{c}\n\r\té😀\u{fffd} \u{fffd}x"))
    }

    @Test(arguments: [
        ("", TapeError.Kind.empty), ("hello\n", .notATape), (#"{"a":1}"#, .notATape), ("\u{0}\u{1}", .notATape),
        (#"{"tape":2,"x":1}"# + "\n", .newerVersion), (#"{"tape":0}"# + "\n", .notATape),
        ("# only a comment\n", .empty),
        (#"{"tape":"1"}"#, .notATape), (#"{"tape":1"#, .notATape),
    ])
    func whatIsNoTapeIsToldApart(text: String, kind: TapeError.Kind) {
        let reading = Tapes.read(Array(text.utf8))
        #expect(reading.error?.kind == kind)
        #expect(reading.events.isEmpty)
    }

    @Test func otherGzipFilesAreToldApart() {
        #expect(Tapes.read([0x1f, 0x8b, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]).error?.kind == .notATape)
        #expect(Tapes.read([0x1f]).error?.kind == .notATape)
        #expect(Tapes.read([0x1f, 0x8b]).error?.kind == .empty)
        var compressor = MemberCompressor()
        var bytes: [UInt8] = []
        let text = Array("something else\n".utf8)
        let info = MemberInfo(events: 0, firstTime: 0, firstEvent: 0, opens: 0, firstConnection: 0)
        compressor.append(text.span, info: info, level: 6, into: &bytes)
        #expect(Tapes.read(bytes).error?.kind == .notATape)
    }

    @Test func readingGoesOnWhenTheTapeGrows() throws {
        let events = Tapes.events(300)
        let (bytes, members) = Tapes.file(events, linesPerMember: 50)
        for isPlain in [false, true] {
            let whole = isPlain ? Tapes.plain(events) : bytes
            let path = temporaryPath("grow")
            defer { remove(path) }
            var written = 0
            var reader: TapeReader?
            var got: [TapeEvent] = []
            for end in [members[1] / 2 + 40, members[1], members[2] + 1, members[3] - 1, whole.count] {
                try appendFile(path, Array(whole[written..<end]))
                written = end
                if reader == nil { reader = try TapeReader(path: path) }
                while let event = try reader?.next() { got.append(event.event) }
                #expect(reader?.progress.read == UInt64(end))
            }
            #expect(got.prefix(300) == events[...])
            #expect(reader?.isTruncated == false)
        }
    }

    @Test func aMissingFileSaysSo() {
        do {
            _ = try TapeReader(path: "/nowhere/x.tape")
            Issue.record("opened")
        } catch {
            #expect(error.kind == .unreadable)
            #expect(error.description == "/nowhere/x.tape: cannot be opened: No such file or directory")
        }
    }
}
