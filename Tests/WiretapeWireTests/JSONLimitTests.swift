import Testing
import WiretapeWire

/// A text is no larger as a tree than `mostValues` allow.
@Suite struct JSONLimitTests {
    private static let most = JSONValue.mostValues

    private func list(_ item: String, _ count: Int) -> String {
        "[" + Array(repeating: item, count: count).joined(separator: ",") + "]"
    }

    /// The array itself is a value.
    @Test func theLastValueThatIsReadAndTheFirstThatIsNot() throws {
        #expect(try JSONValue(parsing: list("0", Self.most - 1)).array?.count == Self.most - 1)
        let tooMany = list("0", Self.most)
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: tooMany) }
        #expect(error?.reason == "more than \(Self.most) values" && error?.offset == tooMany.utf8.count - 2)
    }

    @Test func listsObjectsAndNamesCount() {
        #expect(throws: JSONError.self) { try JSONValue(parsing: list("[]", Self.most)) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: list("[[]]", Self.most / 2)) }
        let members = "{" + Array(repeating: #""":0"#, count: Self.most / 2).joined(separator: ",") + "}"
        #expect(throws: JSONError.self) { try JSONValue(parsing: members) }
    }

    @Test(arguments: ["0", "[]", #""""#, #"{"":0}"#])
    func aTextOfTwoMebibytesIsAlwaysRead(_ item: String) throws {
        let count = (2 << 20) / (item.utf8.count + 1) - 1
        #expect(try JSONValue(parsing: list(item, count)).array?.count == count)
    }

    @Test func aValueIsNoBox() { #expect(MemoryLayout<JSONValue>.stride <= 24) }

    @Test func theBeginningOfAText() throws {
        let value = try JSONValue(parsing: list(#"{"a":"b"}"#, 100))
        #expect(value.beginning(.max) == value.text)
        #expect(value.text.hasPrefix(value.beginning(50).dropLast()))
        #expect(value.beginning(50).utf8.count < 70)
        #expect(JSONValue.string(String(repeating: "x", count: 1_000)).beginning(10) == #""xxxxxxxxxx""#)
    }
}
