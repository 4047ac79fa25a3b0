import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Peers that end in the middle of something: what a rule never touched arrives as without rules.
@Suite struct InterceptedCutTests {
    private static let rule = "reset after message[999999]"

    /// A message, a ping, a message in two frames with a ping that is cut at last: every kind of header.
    private static func conversation(_ mask: UInt32?) -> [UInt8] {
        var bytes: [UInt8] = []
        FrameWriter.append(opcode: 1, payload: Array("hello".utf8).span, mask: mask, into: &bytes)
        FrameWriter.append(opcode: 9, payload: Array("p".utf8).span, mask: mask, into: &bytes)
        FrameWriter.append(
            opcode: 1, fin: false, payload: [UInt8](repeating: 65, count: 40).span, mask: mask, into: &bytes)
        FrameWriter.append(
            opcode: 0, fin: false, payload: [UInt8](repeating: 66, count: 130).span, mask: mask, into: &bytes)
        FrameWriter.append(opcode: 9, payload: Array("cut".utf8).span, mask: mask, into: &bytes)
        return bytes
    }

    @Test(arguments: [Direction.toServer, .toClient]) func nothingIsLostAtFIN(_ direction: Direction) throws {
        let all = Self.conversation(direction == .toServer ? 0x0102_0304 : nil)
        // The last ping goes ahead of what is held, as keepalives do, once it is whole.
        for count in 0..<all.count {
            let sent = Array(all.prefix(count))
            let stage = try InterceptStage([Self.rule])
            stage.onServer = { server in
                guard direction == .toClient else { return }
                server.onOpen = { server in
                    server.send(sent)
                    server.stream?.halfClose()
                    server.didEnd = true
                }
            }
            let client = stage.client()
            client.onMessage = { client, text in
                guard direction == .toServer, text == "open" else { return }
                client.send(sent)
                client.stream?.halfClose()
                client.didEnd = true
            }
            stage.run(1_000)
            #expect(stage.node.heldCount <= 1)
            let heard = direction == .toServer ? stage.servers.first?.raw : client.raw
            #expect(heard == sent, "\(count) bytes of \(direction)")
            #expect((direction == .toServer ? stage.servers.first?.sawEnd : client.sawEnd) != nil)
            let lines = stage.finish()
            if count > 20 {
                #expect(lines.contains { $0.contains(#""e":"part""#) || $0.contains("hello") }, "\(lines)")
            }
        }
    }

    private static let query = #"{"query":"{ hello }"}"#

    /// A body that is wanted whole and is cut, with a length and in chunks.
    @Test(arguments: [
        "Content-Length: 100\r\n\r\n\(query)", "Transfer-Encoding: chunked\r\n\r\n15\r\n\(query)\r\n",
        "Content-Length: 100\r\n\r\n",
    ]) func aCutRequestArrives(_ rest: String) throws {
        let request = "POST /graphql HTTP/1.1\r\nHost: p\r\nContent-Type: application/json\r\n" + rest
        var server: ScriptedPeer?
        let stage = try InterceptStage(["reset after next[99]"]) { stream in
            let peer = ScriptedPeer()
            peer.stream = stream
            stream.isReading = true
            server = peer
            return peer
        }
        let client = ScriptedPeer()
        client.onConnect = {
            $0.send(request)
            $0.shut()
        }
        client.stream = stage.connect(client)
        stage.run(2_000)
        #expect(stage.node.heldCount <= 1)
        #expect(server?.text == request.replacing("Host: p", with: "Host: 127.0.0.1"))
        #expect(server?.sawEnd == true)
        _ = stage.finish()
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"data\":",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"data\":\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n7\r\ndata: x\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Ty",
    ]) func aCutAnswerArrives(_ answer: String) throws {
        let stage = try InterceptStage(["reset after next[99]"]) { stream in
            let peer = ScriptedPeer()
            peer.stream = stream
            stream.isReading = true
            peer.onBytes = { peer in
                guard peer.text.hasSuffix(Self.query) else { return }
                peer.send(answer)
                peer.shut()
            }
            return peer
        }
        let client = ScriptedPeer()
        client.onConnect = {
            $0.send(
                "POST /graphql HTTP/1.1\r\nHost: p\r\nContent-Type: application/json\r\nContent-Length: \(Self.query.utf8.count)"
                    + "\r\n\r\n\(Self.query)")
        }
        client.stream = stage.connect(client)
        stage.run(2_000)
        #expect(client.text == answer)
        #expect(client.sawEnd)
        _ = stage.finish()
    }

    /// Every answer on the tape was sent: a client that breaks the protocol after the server's FIN hears nothing any more.
    @Test(arguments: [false, true]) func nothingIsOnTheTapeThatWasNotSaid(_ hasRules: Bool) throws {
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let client = ScriptedPeer()
        client.onEnd = { $0.send("no request\r\n\r\n") }
        client.onConnect = { $0.send("GET /chat HTTP/1.1\r\nHost: p\r\n\r\n") }
        let serve = { (peer: ScriptedPeer) in
            peer.onBytes = { peer in
                peer.send(ok)
                peer.shut()
            }
        }
        let lines: [String]
        if hasRules {
            let stage = try InterceptStage(["respond(503) on request[99]"]) { stream in
                let peer = ScriptedPeer()
                peer.stream = stream
                stream.isReading = true
                serve(peer)
                return peer
            }
            client.stream = stage.connect(client)
            stage.run(2_000)
            client.stream?.halfClose()
            lines = stage.finish()
        } else {
            let stage = try RelayStage(serve: serve)
            let other = stage.client(client.onConnect)
            other.onEnd = client.onEnd
            client.onConnect = { _ in }
            lines = stage.finish()
            client.received = other.received
        }
        #expect(client.text == ok)
        #expect(lines.filter { $0.contains(#""e":"response""#) }.count == 1, "\(lines)")
        #expect(lines.contains { $0.contains(#""e":"malformed""#) }, "\(lines)")
    }
}
