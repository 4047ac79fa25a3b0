import Testing
import WiretapeCodecs
import WiretapeProtocol
import WiretapeRecorder

/// Frames that belong to no message, on a canonical tape.
@Suite struct CanonFrameTests {
    /// The canonical tape numbers its connections anew, and each such frame stays with its own.
    @Test func aFrameStaysWithItsConnection() throws {
        var lines = [#"{"tape":1}"#]
        for c in [7, 3] {
            lines += [
                #"{"t":1,"c":\#(c),"e":"open"}"#,
                #"{"t":2,"c":\#(c),"e":"request","x":1,"method":"GET","target":"/echo","headers":[["Upgrade","websocket"]]}"#,
                #"{"t":3,"c":\#(c),"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}"#,
                #"{"t":4,"c":\#(c),"e":"message","d":">","op":"text","text":"one"}"#,
            ]
            if c == 3 {
                lines.append(
                    #"{"t":5,"c":3,"e":"frame","d":">","head":128,"text":"x","why":"continuation of nothing"}"#)
            }
            lines.append(#"{"t":6,"c":\#(c),"e":"message","d":">","op":"text","text":"two"}"#)
            lines.append(#"{"t":7,"c":\#(c),"e":"gone","by":"client","how":"fin"}"#)
        }
        let original = Array((lines.joined(separator: "\n") + "\n").utf8)
        let canonical = try CodedTape.canonical(original)
        let text = String(decoding: canonical, as: UTF8.self)
        #expect(text.contains(#""c":2,"e":"frame","d":">""#), "\(text)")
        for bytes in [original, canonical] {
            #expect(try CodedTape.read(bytes).sessions.map(\.entries.count) == [2, 1])
        }
        #expect(try CodedTape.canonical(canonical) == canonical)
    }
}
