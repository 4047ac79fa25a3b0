import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeProtocol
import WiretapeTape
import WiretapeTapeTools

/// Parts of tapes that captures became: what was not captured is told in the part that it belongs to, and nothing else changes.
struct CutCaptureTests {
    private func cut(_ tape: [UInt8], _ choice: CutChoice) throws -> [TapeNewLine] {
        var cut = TapeCut(choice, codecs: Codecs.all)
        var reader = try TapeLineReader(bytes: tape, name: "capture.tape")
        while let line = try reader.next() { cut.look(line) }
        try cut.settle()
        reader = try TapeLineReader(bytes: tape, name: "capture.tape")
        var lines: [TapeNewLine] = []
        while let line = try reader.next() { lines += try cut.change(line) }
        return lines
    }

    private func bytes(_ lines: [TapeNewLine]) -> [UInt8] { Array(lines.map { $0.bytes + [0x0a] }.joined()) }

    private func isGap(_ line: TapeNewLine) -> Bool {
        if case .missing? = line.event?.kind { true } else { false }
    }

    /// Whatever is cut out of it, a tape with gaps says nothing that the whole one does not say, and each gap stands in one part.
    @Test(arguments: 0..<20) func gapsStayInTheirTime(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed + 7_000))
        let turns = (0..<8).flatMap { n -> [(fromClient: Bool, bytes: [UInt8])] in
            let body = (0..<2_000).map { _ in UInt8(ascii: "a") + UInt8(random.below(26)) }
            return [
                (true, Array("POST /\(n) HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n".utf8) + body),
                (false, Array("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n".utf8) + body.reversed()),
            ]
        }
        var capture = SyntheticCapture(turns, start: 1, &random)
        for i in capture.packets.indices { capture.packets[i].time = UInt32(i * 10_000) }
        capture.packets.removeAll { !$0.payload.isEmpty && random.below(12) == 0 }
        let imported = try Imported(capture.bytes)
        var choice = CutChoice()
        let all = try cut(imported.tape, choice)
        #expect(bytes(all) == imported.tape)
        let middle = (imported.events.last?.time ?? 0) / 2
        choice.to = middle
        let before = try cut(imported.tape, choice)
        choice = CutChoice()
        choice.from = middle + 1
        let behind = try cut(imported.tape, choice)
        #expect(all.contains(where: isGap))
        #expect(before.count(where: isGap) + behind.count(where: isGap) == all.count(where: isGap))
        let whole = Set(all.compactMap(\.event?.kind))
        for part in [before, behind] {
            // Where the capture began in the middle, or lost the end of a body, no part may be worse off than the whole.
            var reader = try TapeReader(bytes: bytes(part), name: "part.tape")
            while let next = try reader.next() {
                if case .stop = next.event.kind { continue }
                #expect(whole.contains(next.event.kind))
            }
        }
    }

    /// A message of which the end was not captured: its piece stays before the gap, and is no part of what comes behind it.
    @Test func piecesBeforeAGapStayBeforeIt() throws {
        let lines = [
            #"{"tape":1,"started":"2026-01-01T00:00:00.000000Z"}"#,
            #"{"t":1,"c":1,"e":"open"}"#,
            #"{"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/ws","headers":[["Upgrade","websocket"]]}"#,
            #"{"t":3,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}"#,
            #"{"t":4,"c":1,"e":"part","d":"<","op":"text","n":0,"text":"the beginning"}"#,
            #"{"t":5,"c":1,"e":"gap","d":"<","lost":1,"bytes":700}"#,
            #"{"t":6,"c":1,"e":"part","d":"<","op":"text","n":0,"text":"an"}"#,
            #"{"t":7,"c":1,"e":"part","d":"<","op":"text","n":1,"text":"other","last":true}"#,
            #"{"t":8,"c":1,"e":"message","d":"<","op":"text","text":"a third"}"#,
            #"{"t":9,"c":1,"e":"gone","by":"server","how":"fin"}"#,
        ]
        let tape = Array((lines.joined(separator: "\n") + "\n").utf8)
        var choice = CutChoice()
        choice.to = 8
        let left = try cut(tape, choice).map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(left == Array(lines.dropLast()))
        choice.to = 6
        #expect(try cut(tape, choice).filter(isGap).count == 1)
        choice = CutChoice()
        choice.messages = 2...2
        let last = try cut(tape, choice).compactMap { line -> String? in
            if case .message(_, _, let bytes, _, _)? = line.event?.kind {
                String(decoding: bytes, as: UTF8.self)
            } else {
                nil
            }
        }
        #expect(last == ["a third"])
    }
}
