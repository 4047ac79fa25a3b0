import Testing
import WiretapeWire

/// Records `LENGTH|message`; how a codec reads them is tested where codecs are.
@Suite struct LengthPrefixReaderTests {
    @Test(arguments: [("10|héllo € 😀", 10), ("1|\u{1}", 1), ("8|pipe|5|x", 8), ("2|😀", 2)])
    func lengthsCountUTF16(text: String, units: Int) {
        let bytes = Array(text.utf8)
        for cut in 0..<bytes.count {
            var reader = LengthPrefixReader()
            #expect(reader.next(Array(bytes[..<cut]), at: 0, isWhole: false) == .incomplete)
            let message = bytes.firstIndex(of: LengthPrefixReader.delimiter)! + 1
            #expect(reader.next(bytes, at: 0, isWhole: false) == .record(message: message, end: bytes.count))
            #expect(LengthPrefixReader.units(of: bytes[message...]) == units)
        }
    }

    @Test func whatIsNoRecord() {
        var reader = LengthPrefixReader()
        for text in ["x", "|x", "-1|x", "12345678901|x", "{}"] {
            #expect(reader.next(Array(text.utf8), at: 0, isWhole: false) == .bare, "\(text)")
        }
        #expect(reader.next(Array("5".utf8), at: 0, isWhole: true) == .bare)
        guard case .damaged = reader.next(Array("5|ab".utf8), at: 0, isWhole: true) else {
            Issue.record("it ends before its message does")
            return
        }
        guard case .damaged = reader.next(Array("1|😀".utf8), at: 0, isWhole: true) else {
            Issue.record("it ends within a character")
            return
        }
        guard case .damaged = reader.next(Array("99999999|x".utf8), at: 0, isWhole: false) else {
            Issue.record("it is too long")
            return
        }
    }
}
