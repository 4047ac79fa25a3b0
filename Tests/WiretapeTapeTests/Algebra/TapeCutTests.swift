import Testing
import WiretapeProtocol
import WiretapeTape
import WiretapeTapeTools

/// A part of a tape tells when it was.
struct TapeCutTests {
    private static let tape = [
        #"{"tape":1,"started":"2026-01-01T00:00:00.000001Z","upstreams":{"main":"http://a"}}"#,
        #"{"t":1000,"c":1,"e":"open","upstream":"main"}"#,
        #"{"t":2000,"c":1,"e":"request","x":1,"method":"GET","target":"/1","headers":[]}"#,
        #"{"t":3000,"c":1,"e":"response","x":1,"status":200,"headers":[],"text":"one"}"#,
        #"{"t":3000000500,"c":1,"e":"request","x":2,"method":"GET","target":"/2","headers":[]}"#,
        #"{"t":3000001500,"c":1,"e":"response","x":2,"status":200,"headers":[],"text":"two"}"#,
        #"{"t":4000000000,"e":"mark","text":"here"}"#,
        #"{"t":5000000000,"c":1,"e":"gone","by":"client","how":"fin"}"#,
    ]

    private func choice(from: UInt64 = 0, to: UInt64 = .max) -> CutChoice {
        var choice = CutChoice()
        (choice.from, choice.to) = (from, to)
        return choice
    }

    /// The header's time moves with the cut, to the nanosecond of every event behind it.
    @Test(arguments: [1_000_000_000, 3_000_000_500, 3_000_000_499, 2_999_999_999] as [UInt64])
    func whatIsLeftIsWhereItWas(from: UInt64) throws {
        let left = try TapeAlgebra.cut(Self.tape, choice(from: from))
        let was = try TapeAlgebra.moments(Self.tape)
        let start = try #require(was.first).at - 1_000 + from
        let now = try TapeAlgebra.moments(left)
        #expect(!now.isEmpty)
        for one in now {
            let before = try #require(was.first { $0.what == one.what })
            // What a client needs to get there stands where the part begins.
            if before.at >= start {
                #expect(one.at == before.at, "\(one.what)")
            } else {
                #expect(one.at <= start && start - one.at < 1_000, "\(one.what)")
            }
        }
        #expect(left.first?.contains(#""upstreams":{"main":"http://a"}"#) == true)
    }

    @Test func withoutAStartNothingMoves() throws {
        #expect(try TapeAlgebra.cut(Self.tape, choice(to: 4_000_000_000)).first == Self.tape.first)
        let untold = [#"{"tape":1}"#] + Self.tape.dropFirst()
        let left = try TapeAlgebra.cut(untold, choice(from: 1_000_000_000))
        #expect(left.first == untold.first)
        #expect(left.last?.contains(#""t":4000000000"#) == true)
    }

    /// Of later takes, too: each has a start of its own.
    @Test func takesMoveWithTheCut() throws {
        let second = [
            #"{"t":0,"e":"take","started":"2026-01-02T00:00:00.500000Z"}"#,
            #"{"t":1000000000,"c":1,"e":"open"}"#,
            #"{"t":2000000000,"c":1,"e":"request","x":1,"method":"GET","target":"/3","headers":[]}"#,
            #"{"t":2000000000,"c":1,"e":"response","x":1,"status":200,"headers":[],"text":"three"}"#,
        ]
        let left = try TapeAlgebra.cut(Self.tape + second, choice(from: 6_500_000_000))
        #expect(left.contains { $0.contains(#""started":"2026-01-02T00:00:02.000000Z""#) }, "\(left)")
        #expect(left.last?.hasPrefix(#"{"t":500000000,"#) == true, "\(left)")
    }

    /// Cut in two and put together by time, everything is where it was.
    @Test func partsMergeByTime() throws {
        let before = try TapeAlgebra.cut(Self.tape, choice(to: 2_000_000_000))
        let behind = try TapeAlgebra.cut(Self.tape, choice(from: 2_000_000_001))
        let moments = try TapeAlgebra.moments(TapeAlgebra.merge([behind, before], by: .time).lines)
        let was = try TapeAlgebra.moments(Self.tape)
        for one in was {
            if case .open = one.what { continue }
            #expect(moments.contains { $0.what == one.what && $0.at == one.at }, "\(one.what)")
        }
    }
}
