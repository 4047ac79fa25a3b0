import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRedaction
import WiretapeTape
import WiretapeTapeTools
import WiretapeWire

/// Tapes that were redacted one by one become one, on which no pseudonym stands for two secrets.
struct TapeMergeTests {
    private static let header =
        #"{"tape":1,"started":"2026-01-01T00:00:00.000000Z","upstreams":{"main":"http://u:td_1@a"},"redaction":"default"}"#

    private static func message(_ t: Int, _ text: String, _ direction: String = ">") -> String {
        #"{"t":\#(t),"c":1,"e":"message","d":"\#(direction)","op":"text","text":\#(JSONValue.string(text).text)}"#
    }

    private static func packed(_ t: Int, _ bytes: [UInt8]) -> String {
        #"{"t":\#(t),"c":1,"e":"message","d":">","op":"binary","b64":"\#(Base64.encode(bytes.span))"}"#
    }

    private static let jwt = String(
        decoding: Pseudonym.make(
            2,
            for: Array(
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIiwiZXhwIjo5fQ.c2ln".utf8)), as: UTF8.self)

    private static let open = #"{"t":1,"c":1,"e":"open","upstream":"main"}"#
    private static let one = [
        header, "# td_1 is ada", open,
        #"{"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/ws?access_token=td_1","headers":[["Cookie","s=td_2"],["Upgrade","websocket"]]}"#,
        #"{"t":3,"c":1,"e":"response","x":1,"status":101,"headers":[]}"#,
        message(4, #"{"token":"\#(jwt)","key":"74645f0000000003","n":746400004}"#),
        message(5, "[\"line\\ntd_5\", \"td_0\"]", "<"),
    ]
    private static let two =
        one.dropLast(2) + [
            message(
                4,
                #"{"token":"\#(jwt)","key":"74645f0000000003","n":746400004,"u":"74645f00-0000-4000-8000-000000000001"}"#
            ),
            message(5, "[\"line\\ntd_5\", \"td_0\", \"td_7\"]", "<"),
        ]

    private static func numbers(_ line: String) -> [Int] {
        let value = try? JSONValue(parsing: line)
        let texts = [value?["text"]?.string ?? "", value?["target"]?.string ?? "", value?["headers"]?.text ?? ""]
        return texts.flatMap { text in
            Pseudonym.ranges(in: Array(text.utf8)).compactMap { Pseudonym.number(of: Array(Array(text.utf8)[$0])) }
        }
    }

    /// The first tape stays as it is; what another one has, too, gets a number of its own, everywhere and in its shape.
    @Test func pseudonymsStayApart() throws {
        let (lines, result) = try TapeAlgebra.merge([Self.one, Array(Self.two)])
        #expect(result.renumbered == 5 && result.unnumbered == 0)
        #expect(Array(lines[1...6]) == Array(Self.one.dropFirst()))
        #expect(lines[0].contains(#""main":"http://u:td_1@a""#))
        let old = Self.two.map(Self.numbers)
        let new = lines[7...].map(Self.numbers)
        #expect(lines[7] == "# td_6 is ada")
        var names: [Int: Int] = [:]
        for (a, b) in zip(old.dropFirst(), new) {
            #expect(a.count == b.count)
            for (a, b) in zip(a, b) { names[a] = b }
        }
        // The smallest that nobody has and that are as long, which 7 is not: the second tape has it itself.
        #expect(names == [0: 0, 1: 6, 2: 8, 3: 9, 4: 10, 5: 11, 7: 7], "\(lines)")
        #expect(lines.last?.contains(#"line\\ntd_11"#) == true)
        #expect(lines.contains { $0.contains(#""key\":\"74645f0000000009\""#) && $0.contains("746400010") })
        #expect(lines.contains { $0.contains("74645f00-0000-4000-8000-000000000006") })
    }

    /// Lengths in MessagePack are counted anew; bytes of no known form keep their length, and rather lose a number.
    @Test func binaryMessagesStayWhole() throws {
        let packed: [UInt8] =
            [0x82, 0xa1, 0x74, 0xa4] + Array("td_1".utf8) + [0xa1, 0x6e, 0xce, 0x2c, 0x7d, 0x29, 0x01]
        let bytes: [UInt8] = [0xff, 0xfe] + Array(" td_1 ".utf8) + [0xfd, 0x00]
        let all = (1...9).map { Self.message(3, "td_\($0)") }
        let second = [Self.header, Self.open, Self.packed(4, packed), Self.packed(5, bytes)]
        let (lines, _) = try TapeAlgebra.merge([[Self.header, Self.open] + all, second])
        let texts = try lines.suffix(2).map { line -> [UInt8] in
            let text = try JSONValue(parsing: line)["b64"]?.string ?? ""
            return try #require(Base64.decode(text))
        }
        let number = [UInt8](Array("td_10".utf8))
        #expect(
            texts[0] == [0x82, 0xa1, 0x74, 0xa5] + number + [0xa1, 0x6e, 0xce, 0x2c, 0x7d, 0x29, 0x0a], "\(lines)")
        #expect(texts[1] == [0xff, 0xfe] + Array(" td_0 ".utf8) + [0xfd, 0x00])
    }

    /// Pieces of a stream and of a long message, with a pseudonym across two of them: nothing is lost, nothing is joined otherwise.
    @Test func piecesAreGoneThrough() throws {
        func tape(_ n: Int) -> [String] {
            [
                Self.header, #"{"t":1,"c":1,"e":"open"}"#,
                #"{"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/","headers":[]}"#,
                #"{"t":3,"c":1,"e":"response","x":1,"status":200,"headers":[["Content-Type","text/event-stream"]],"stream":true}"#,
                #"{"t":4,"c":1,"e":"chunk","x":1,"d":"<","text":"data: td_1\n\ndata: t"}"#,
                #"{"t":5,"c":1,"e":"chunk","x":1,"d":"<","text":"d_2\n\n"}"#,
                #"{"t":6,"c":1,"e":"end","x":1,"d":"<"}"#,
                #"{"t":7,"c":1,"e":"part","d":">","op":"text","n":0,"text":"[\"td_"}"#,
                #"{"t":8,"c":1,"e":"part","d":">","op":"text","n":1,"text":"1\"]","last":true}"#,
                #"{"t":9,"c":1,"e":"stop","events":8,"connections":1}"#,
            ]
        }
        let (lines, result) = try TapeAlgebra.merge([tape(1), tape(2)])
        #expect(result.renumbered == 2)
        #expect(lines.count == 1 + 2 * 8 + 1)
        let second = lines.dropFirst(9).compactMap { try? JSONValue(parsing: $0) }
        func joined(_ kind: String) -> String {
            second.filter { $0["e"]?.string == kind }.compactMap { $0["text"]?.string }.joined()
        }
        #expect(joined("chunk") == "data: td_3\n\ndata: td_4\n\n")
        #expect(joined("part") == "[\"td_3\"]")
        #expect(second.allSatisfy { $0["c"]?.int == 2 || $0["e"]?.string == "stop" })
    }

    /// Tapes that share no number are copied byte for byte.
    @Test func whatNeedsNoNumberStays() throws {
        let tail = #""e":"message","d":">","op":"text","text":"\u0074d_1 td_9","unknown": [1 ,2]}"#
        let other = [Self.header.replacing("td_1", with: "td_8"), #"{"t":4,"c":1,"# + tail]
        let (lines, result) = try TapeAlgebra.merge([
            [Self.header.replacing("td_1", with: "td_3"), Self.open, Self.message(4, "td_2")], other,
        ])
        #expect(result.renumbered == 0)
        #expect(lines.last?.hasSuffix(tail) == true, "\(lines)")
    }

    /// More than the shapes have room for.
    @Test func thereIsAnEndOfNumbers() throws {
        var numbers = PseudonymNumbers()
        #expect(numbers.add(Set(1...Pseudonym.largest)) == [:])
        #expect(numbers.add([3, 70_000]) == [3: 0, 70_000: 0])
        #expect(numbers.unnumbered == 2 && numbers.changed == 0)
        var few = PseudonymNumbers()
        #expect(few.add([1, 2, 100]) == [:])
        #expect(few.add([2, 3, 100]) == [2: 4, 100: 101])
        #expect(few.add([2, 3, 100]) == [2: 5, 3: 6, 100: 102])
    }
}
