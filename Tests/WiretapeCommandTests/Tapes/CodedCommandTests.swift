import Foundation
import Testing

/// Tapes with bodies in content codings, as Python's brotli and zstandard made them.
@Suite(.waitsForPrograms) struct CodedCommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private static let tape: [String] = {
        func event(_ t: Int, _ rest: String) -> String { #"{"t":\#(t)000000,"c":1,\#(rest)}"# }
        func request(_ t: Int, _ x: Int, _ method: String, _ target: String, _ text: String = "") -> String {
            event(
                t,
                #""e":"request","x":\#(x),"method":"\#(method)","target":"\#(target)","headers":[["Host","h"]]\#(text)"#
            )
        }
        func answer(_ t: Int, _ x: Int, _ coding: String, _ base64: String) -> String {
            event(
                t,
                #""e":"response","x":\#(x),"status":200,"headers":[["Content-Encoding","\#(coding)"]],"b64":"\#(base64)""#
            )
        }
        return [
            #"{"tape":1,"started":"2026-01-01T00:00:00.000000Z"}"#, event(1, #""e":"open""#),
            request(1, 1, "POST", "/chat/negotiate?negotiateVersion=1"),
            answer(
                2, 1, "br",
                "G1kAGIzUYs0Z7gQyt9SfKZRIpzESmNw0aHOGjlPOA/VWwIFlluBB7xjHg34+bgPB9DyOhfVBBfdYQylS33Ms4CpolXw4kR8="),
            request(3, 2, "GET", "/chat?id=t1"), event(4, #""e":"response","x":2,"status":200,"headers":[]"#),
            request(5, 3, "POST", "/chat?id=t1", #","text":"{\"protocol\":\"json\",\"version\":1}\u001e""#),
            event(6, #""e":"response","x":3,"status":200,"headers":[]"#), request(7, 4, "GET", "/chat?id=t1"),
            answer(8, 4, "br", "CwGAe30eAw=="), request(9, 5, "GET", "/chat?id=t1"),
            answer(
                10, 5, "zstd", "KLUv/SAwgQEAeyJ0eXBlIjoxLCJ0YXJnZXQiOiJIZWxsbyIsImFyZ3VtZW50cyI6WyJhZGEiXX0e"),
            request(11, 6, "GET", "/users"), answer(12, 6, "br", "CwuAeyJ1c2VycyI6WyJhZGEiLCJib2IiXX0D"),
        ]
    }()

    private static let unknown = [
        #"{"t":13000000,"c":1,"e":"request","x":7,"method":"GET","target":"/logo","headers":[["Host","h"]]}"#,
        #"{"t":14000000,"c":1,"e":"response","x":7,"status":200,"headers":[["Content-Encoding","snappy"]],"b64":"AQID"}"#,
    ]

    @Test func theMessagesAreShown() throws {
        let path = try TapeFiles.write(Self.tape + Self.unknown, "t.tape", in: scratch)
        let run = try Binary.run("inspect", path)
        #expect(run.code == 0)
        #expect(run.out.contains(#"Hello("ada")"#), "\(run.out)")
        #expect(run.out.contains("the answer's body cannot be decoded (snappy): the coding 'snappy' is not known"))
    }

    @Test func validationTellsWhatCannotBeDecoded() throws {
        let good = try Binary.run(
            "validate", "--strict", try TapeFiles.write(Self.tape, "good.tape", in: scratch))
        #expect(good.code == 0, "\(good.out)")
        #expect(good.out.contains("session 1  signalr over lp, /chat, 3 messages, can be replayed"), "\(good.out)")
        let path = try TapeFiles.write(Self.tape + Self.unknown, "t.tape", in: scratch)
        let run = try Binary.run("validate", path)
        #expect(
            run.out.contains(
                ":16: warning: the answer's body cannot be decoded (snappy): the coding 'snappy' is not known; it is "
                    + "replayed as it was received"), "\(run.out)")
    }

    @Test func theCanonicalTapeIsPlain() throws {
        let path = try TapeFiles.write(Self.tape + Self.unknown, "t.tape", in: scratch)
        let run = try Binary.run("canon", path, "--output", scratch.path("c.tape"))
        #expect(run.code == 0, "\(run.err)")
        let text = try TapeFiles.lines(scratch.path("c.tape")).joined(separator: "\n")
        #expect(text.contains(#""json":{"type":1,"target":"Hello","arguments":["ada"]}"#))
        #expect(text.contains(#""coding":"br","json":{"users":["ada","bob"]}"#), "\(text)")
        #expect(text.contains(#"["Content-Encoding","snappy"]],"text":"\u0001\u0002\u0003""#))
    }

    /// In Zstandard a short body may stand as it is: changing it there would leave a body that nobody can decode.
    @Test func anEncodedBodyIsNotEdited() throws {
        let path = try TapeFiles.write(Self.tape, "t.tape", in: scratch)
        let run = try Binary.run("edit", path, "--where", "Hello", "--set", #"/arguments/0="bob""#)
        #expect(run.code != 0)
        #expect(run.err.contains("Hello(\"ada\")' is in an encoded body; `wiretape canon` decodes it"), "\(run.err)")
        #expect(try TapeFiles.lines(path) == Self.tape)
    }
}
