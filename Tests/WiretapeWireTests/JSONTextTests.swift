import Testing
import WiretapeBytes
import WiretapeWire

@Suite struct JSONTextTests {
    private static let text = #" { "a" : [1, {"b":"x"} ,3] , "c/d":null,"a":[true] } "#

    private func changed(_ text: String, _ change: (inout JSONText) throws -> Void) rethrows -> String {
        var json = JSONText(Array(text.utf8))
        try change(&json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("/c~1d", "7", #" { "a" : [1, {"b":"x"} ,3] , "c/d":7,"a":[true] } "#),
        // The last of equal names counts, as for JavaScript.
        ("/a/0", "false", #" { "a" : [1, {"b":"x"} ,3] , "c/d":null,"a":[false] } "#),
        ("/a/1", "2", #" { "a" : [1, {"b":"x"} ,3] , "c/d":null,"a":[true,2] } "#),
        ("/a/-", "2", #" { "a" : [1, {"b":"x"} ,3] , "c/d":null,"a":[true,2] } "#),
        ("/e", "{}", #" { "a" : [1, {"b":"x"} ,3] , "c/d":null,"a":[true],"e":{} } "#),
        ("", "0", " 0 "),
    ])
    func setChangesOnePlace(_ pointer: String, _ value: String, _ wanted: String) throws {
        #expect(try changed(Self.text) { try $0.set(pointer, to: Array(value.utf8)) } == wanted)
    }

    @Test(arguments: [
        (#"{"a":1, "b":[1, 2 ,3],"c":{}}"#, "/a", #"{"b":[1, 2 ,3],"c":{}}"#),
        (#"{"a":1, "b":[1, 2 ,3],"c":{}}"#, "/c", #"{"a":1, "b":[1, 2 ,3]}"#),
        (#"{"a":1, "b":[1, 2 ,3],"c":{}}"#, "/b/1", #"{"a":1, "b":[1, 3],"c":{}}"#),
        (#"{"a":1, "b":[1, 2 ,3],"c":{}}"#, "/b/2", #"{"a":1, "b":[1, 2],"c":{}}"#),
        (#"{ "a":"," }"#, "/a", "{  }"), ("[[]]", "/0", "[]"),
    ])
    func removeTakesTheCommaAlong(_ text: String, _ pointer: String, _ wanted: String) throws {
        #expect(try changed(text) { try $0.remove(pointer) } == wanted)
    }

    @Test func emptyContainersGrow() throws {
        #expect(try changed("{ }") { try $0.set("/a", to: [0x31]) } == #"{"a":1 }"#)
        #expect(try changed("[]") { try $0.set("/0", to: [0x31]) } == "[1]")
    }

    @Test(arguments: [
        ("/a/5", "'/a/5' is beyond the end: there are 2 items"), ("/b/c", "nothing stands at '/b'"),
        ("/a/0/x", "'/a/0' is neither an object nor an array: it has no '/x'"),
        ("a", "'a' is no JSON Pointer; it begins with '/', as in /arguments/0"),
    ])
    func whatCannotBeSetIsRefused(_ pointer: String, _ reason: String) {
        var json = JSONText(Array(#"{"a":[1,2]}"#.utf8))
        #expect(throws: JSONText.Fault(reason: reason)) { try json.set(pointer, to: [0x31]) }
        #expect(throws: JSONText.Fault.self) { try json.remove("/zz") }
    }

    /// Any bytes: it finds what it can and never traps.
    @Test func brokenTextsDoNoHarm() {
        var random = SplitMix64(seed: 5)
        let whole = Array(Self.text.utf8)
        for _ in 0..<2_000 {
            var bytes = whole
            for _ in 0..<3 { bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(random.next() % 128) }
            if random.next() % 2 == 0 { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
            var json = JSONText(bytes)
            _ = json.range(at: "/a/1/b")
            try? json.set("/a/0", to: [0x30])
            try? json.set("/x", to: [0x30])
            try? json.remove("/a/1")
        }
    }
}
