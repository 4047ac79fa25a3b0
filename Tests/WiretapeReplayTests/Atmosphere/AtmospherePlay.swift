import WiretapeBytes
import WiretapeCodecs
import WiretapeProtocol
import WiretapeRecorder
import WiretapeReplay
import WiretapeTape
import WiretapeWire

/// Sessions of clients that name them by a tracking id, and such clients.
enum AtmosphereTape {
    static let id = "98b2609f-7aea-4c8e-b9a6-8685f5652015"
    static let handshake = "41|\(id)|0|X|"

    static func target(_ transport: String, id: String = "0", lengths: Bool = true, path: String = "/chat") -> String {
        "\(path)?X-Atmosphere-tracking-id=\(id)&X-Atmosphere-Transport=\(transport)"
            + (lengths ? "&X-Atmosphere-TrackMessageSize=true" : "") + "&X-atmo-protocol=true"
    }

    /// A session over a WebSocket, written as a conversation: `5 < text`; `5 > text`; `5 < close`.
    static func sessions(_ script: String, id: String = id) throws -> [RecordedSession] {
        var lines = [
            #"{"tape":1}"#, #"{"t":0,"c":1,"e":"open"}"#,
            #"{"t":0,"c":1,"e":"request","x":1,"method":"GET","target":"\#(target("websocket"))","headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}"#,
            #"{"t":0,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}"#,
            #"{"t":1,"c":1,"e":"message","d":"<","op":"text","text":"41|\#(id)|0|X|"}"#,
        ]
        for line in script.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
            let start = #"{"t":\#(UInt64(parts[0])! * 1_000_000),"c":1,"#
            if parts[2] == "close" {
                lines.append(start + #""e":"close","d":"<","code":1000}"#)
            } else {
                let text = parts[1] == "<" ? "\(parts[2].utf16.count)|\(parts[2])" : parts[2]
                lines.append(
                    start + #""e":"message","d":"\#(parts[1])","op":"text","text":\#(JSONValue.string(text).text)}"#)
            }
        }
        return try sessions(tape: lines.joined(separator: "\n") + "\n")
    }

    static func sessions(tape: String) throws -> [RecordedSession] {
        var reader = try TapeReader(bytes: Array(tape.utf8), name: "test.tape")
        var sessions = SessionReader(codecs: Codecs.all, header: reader.header)
        var messages: [DecodedMessage] = []
        while let next = try reader.next() {
            sessions.read(next.event, number: next.number, line: next.line, into: &messages)
        }
        return sessions.finish()
    }
}

extension Playbook {
    /// A request of that transport on a connection of its own.
    func atmosphere(_ transport: String, id: String = "0", lengths: Bool = true) -> ConnectionID {
        let upgrade = [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")]
        return request(
            "GET", AtmosphereTape.target(transport, id: id, lengths: lengths), transport == "websocket" ? upgrade : [])
    }

    func pollAgain(_ c: ConnectionID, id: String, lengths: Bool = true) {
        ask(c, "GET", AtmosphereTape.target("long-polling", id: id, lengths: lengths))
    }

    func push(_ text: String, id: String) -> [String] {
        let c = request("POST", AtmosphereTape.target("polling", id: id), body: Array(text.utf8))
        return take(c)
    }

    /// What came, without padding.
    func said(_ c: ConnectionID) -> [String] {
        take(c).map { $0.trimmingBlanks() }.filter { !$0.isEmpty && !$0.allSatisfy { $0 == " " || $0 == "\n" } }
    }
}
