import Foundation
import Testing
import WiretapeTesting

/// A tape of 1,000 events is accepting within milliseconds.
@Suite struct StartTests {
    static func longTape(_ messages: Int) -> String {
        let upgrade = #"[["Connection","Upgrade"],["Upgrade","websocket"]]"#
        var lines = [
            #"{"tape":1,"started":"2026-11-21T03:53:26.488752Z","tool":"test","mode":"reverse","upstreams":{"main":"http://127.0.0.1:5000"},"redaction":"none"}"#,
            #"{"t":1000000,"c":1,"e":"open","upstream":"main"}"#,
            #"{"t":2000000,"c":1,"e":"request","x":1,"method":"GET","target":"/hub","headers":\#(upgrade)}"#,
            #"{"t":3000000,"c":1,"e":"response","x":1,"status":101,"headers":\#(upgrade),"reason":"Switching Protocols"}"#,
            #"{"t":4000000,"c":1,"e":"message","d":">","op":"text","text":"{\"protocol\":\"json\",\"version\":1}\u001e"}"#,
            #"{"t":5000000,"c":1,"e":"message","d":"<","op":"text","text":"{}\u001e"}"#,
        ]
        for n in 0..<messages {
            lines.append(
                #"{"t":\#(6_000_000 + n * 1_000_000),"c":1,"e":"message","d":"<","op":"text","text":"{\"type\":1,\"target\":\"Tick\",\"arguments\":[\#(n)]}\u001e"}"#
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test func aServerIsThereAtOnce() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "wiretape-\(UUID().uuidString).tape")
        try Self.longTape(994).write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        var times: [Duration] = []
        for _ in 0..<21 {
            let begun = ContinuousClock.now
            let server = try await ReplayServer.start(tape: file.path)
            times.append(begun.duration(to: .now))
            #expect(server.endpoint.hasPrefix("http://127.0.0.1:"))
            await server.stop()
        }
        print("from the call to accepting: first \(times[0]), median \(times.sorted()[10])")
        // The target is 10 ms, of a release build on a quiet machine: tools/acceptance/parallel holds it against that.
    }
}
