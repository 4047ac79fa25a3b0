import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTLS

/// The relay with a scripted client and server.
@Suite struct RelayTests {
    private func ok(_ body: String) -> String { "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)" }

    @Test func exchangesPassAndAreRecorded() throws {
        let stage = try RelayStage { server in
            server.onBytes = { peer in
                if peer.text.hasSuffix("\r\n\r\n") { peer.send(self.ok("a\(peer.text.split(separator: "GET").count)")) }
            }
        }
        let client = stage.client { $0.send("GET /x?y=1 HTTP/1.1\r\nhost: proxy:8080\r\nX-A:  b \r\n\r\n") }
        client.onBytes = { peer in
            if peer.text.hasSuffix("a1") { peer.send("GET /2 HTTP/1.1\r\nHost: p\r\n\r\n") }
            if peer.text.hasSuffix("a2") { peer.shut() }
        }
        let lines = stage.finish()
        #expect(client.text == ok("a1") + ok("a2"))
        #expect(client.end == .closed)
        #expect(
            stage.servers.first?.text
                == "GET /x?y=1 HTTP/1.1\r\nhost: 127.0.0.1\r\nX-A:  b \r\n\r\nGET /2 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        )
        let rest = plain(lines)
        try #require(rest.count == 7)
        #expect(
            rest[0].contains(
                #""e":"request","x":1,"method":"GET","target":"/x?y=1","headers":[["host","proxy:8080"],["X-A","b"]]"#))
        #expect(rest[1].contains(#""e":"response","x":1,"status":200"#))
        #expect(rest[1].contains(#""text":"a1""#))
        #expect(rest[3].contains(#""x":2,"status":200"#))
        #expect(rest[4] == #"{"c":1,"e":"gone","by":"client","how":"fin"}"#)
        #expect(rest[5] == #"{"c":1,"e":"gone","by":"server","how":"fin"}"#)
        #expect(rest[6].contains(#""e":"stop""#))
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let stage = try RelayStage { server in
            var answered = 0
            server.onBytes = { peer in
                while answered < peer.text.split(separator: "\r\n\r\n").count, peer.text.hasSuffix("\r\n\r\n") {
                    answered += 1
                    peer.send(self.ok("r\(answered)"))
                }
            }
        }
        let requests = (1...600).map { "GET /\($0) HTTP/1.1\r\nHost: p\r\n\r\n" }.joined()
        let client = stage.client { $0.send(requests) }
        client.onBytes = { if $0.text.hasSuffix("r600") { $0.shut() } }
        let lines = stage.finish()
        #expect(client.text == (1...600).map { ok("r\($0)") }.joined())
        #expect(lines.filter { $0.contains(#""e":"response""#) }.count == 600)
    }

    @Test func streamedBodyPassesAsItComes() throws {
        var pieces: [Int] = []
        let stage = try RelayStage { server in
            server.onBytes = { peer in
                guard peer.text.hasSuffix("\r\n\r\n") else { return }
                peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            }
        }
        let client = stage.client { $0.send("GET /sse HTTP/1.1\r\nHost: p\r\n\r\n") }
        client.onBytes = { peer in
            pieces.append(peer.received.count)
            // Each event is sent only after the one before has arrived: nothing may be held back.
            if pieces.count <= 5 { stage.servers[0].send("5\r\ndata\(pieces.count)\r\n") }
            if pieces.count == 6 { stage.servers[0].send("0\r\nX-T: 1\r\n\r\n") }
            if peer.text.hasSuffix("\r\n\r\n"), pieces.count > 6 { peer.shut() }
        }
        let lines = plain(stage.finish())
        #expect(client.text.hasSuffix("5\r\ndata5\r\n0\r\nX-T: 1\r\n\r\n"))
        #expect(lines.filter { $0.contains(#""e":"chunk","x":1,"d":"<","text":"data"#) }.count == 5)
        #expect(lines.contains { $0.contains(#""e":"end","x":1,"d":"<","trailers":[["X-T","1"]]"#) })
    }

    @Test func webSocketPassesThroughAndIsRecorded() throws {
        let stage = try RelayStage { server in
            server.onBytes = { peer in
                if peer.text.hasSuffix("\r\n\r\n"), peer.received.count > 20, !peer.text.contains("x\u{1}") {
                    peer.send(
                        Array(
                            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".utf8
                        )
                            + [0x81, 2, 104, 105])
                } else if peer.received.last == 0x51 ^ 0x37 || peer.received.count > 0 {
                    peer.send([0x88, 2, 3, 232])
                    peer.shut()
                }
            }
        }
        let client = stage.client {
            $0.send("GET /ws HTTP/1.1\r\nHost: p\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        }
        var sent = false
        client.onBytes = { peer in
            if !sent, peer.text.hasSuffix("hi") {
                sent = true
                // "Hello" masked, of RFC 6455 section 5.7.
                peer.send([0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58])
            }
        }
        let lines = plain(stage.finish())
        #expect(client.received.suffix(8) == [0x81, 2, 104, 105, 0x88, 2, 3, 232])
        #expect(lines.contains(#"{"c":1,"e":"message","d":"<","op":"text","text":"hi"}"#))
        #expect(lines.contains(#"{"c":1,"e":"message","d":">","op":"text","text":"Hello"}"#))
        #expect(lines.contains { $0.contains(#""e":"close","d":"<","code":1000"#) })
    }

    @Test func refusedUpgradeGoesOnAsHTTP() throws {
        let stage = try RelayStage { server in
            var n = 0
            server.onBytes = { peer in
                if peer.text.hasSuffix("\r\n\r\n") {
                    n += 1
                    peer.send(n == 1 ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" : self.ok("two"))
                }
            }
        }
        let client = stage.client {
            $0.send(
                "GET /ws HTTP/1.1\r\nHost: p\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nGET /2 HTTP/1.1\r\nHost: p\r\n\r\n"
            )
        }
        client.onBytes = { if $0.text.hasSuffix("two") { $0.shut() } }
        _ = stage.finish()
        #expect(client.text == "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" + ok("two"))
    }

    @Test func serverDown() throws {
        let stage = try RelayStage(serve: nil)
        let client = stage.client { $0.send("GET / HTTP/1.1\r\nHost: p\r\n\r\n") }
        let lines = plain(stage.finish())
        #expect(client.text.hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
        #expect(client.text.contains("cannot reach http://127.0.0.1:80 (127.0.0.1:80: connection refused)"))
        #expect(lines.contains { $0.contains(#""status":502"#) && $0.contains(#""by":"proxy""#) })
    }

    @Test func ambiguousFramingIsRefused() throws {
        let stage = try RelayStage { _ in }
        let bad = "POST / HTTP/1.1\r\nHost: p\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        let client = stage.client { $0.send(bad) }
        let lines = plain(stage.finish())
        #expect(client.text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(stage.servers.isEmpty)
        #expect(lines.contains { $0.contains(#""e":"malformed","d":">""#) })
        #expect(lines.contains { $0.contains(#""status":400"#) })
    }

    @Test(arguments: [
        "no HTTP\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
    ])
    func nothingOfARefusedClientGoesOn(answer: String) throws {
        let first = "GET /1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        let stage = try RelayStage { $0.answersOnce(answer) }
        // The second is refused while the first awaits its answer, which is the end of HTTP on this connection.
        let client = stage.client { $0.send(first + "no request\r\n\r\n") }
        client.onBytes = { $0.send("GET /smuggled HTTP/1.1\r\nHost: p\r\n\r\n") }
        _ = stage.finish()
        #expect(stage.servers.map(\.text) == [first])
        #expect(client.text == answer && client.sawEnd)
    }

    @Test(arguments: [
        "no HTTP\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
    ])
    func theBeginningOfAHeadGoesOnWhenHTTPIsOver(answer: String) throws {
        let first = "GET /1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        let stage = try RelayStage { $0.answersOnce(answer) }
        let client = stage.client { $0.send(first + "some by") }
        client.onBytes = { $0.send("tes") }
        _ = stage.finish()
        #expect(stage.servers.map(\.text) == [first + "some bytes"])
        #expect(client.text == answer)
    }

    @Test(arguments: [true, false]) func resetsReachTheOtherSide(byServer: Bool) throws {
        let stage = try RelayStage { server in
            server.onBytes = { peer in
                peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
            }
        }
        let client = stage.client {
            $0.send("GET /ws HTTP/1.1\r\nHost: p\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        }
        client.onBytes = { peer in
            if byServer { stage.servers[0].stream?.reset() } else { peer.stream?.reset() }
        }
        let lines = plain(stage.finish())
        #expect((byServer ? client : stage.servers[0]).end == .reset)
        #expect(lines.contains(#"{"c":1,"e":"gone","by":"\#(byServer ? "server" : "client")","how":"rst"}"#))
    }

    @Test func slowClientStopsTheServer() throws {
        let size = 4_000_000
        let stage = try RelayStage { server in
            server.onBytes = { peer in
                peer.send(
                    Array("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8)
                        + [UInt8](repeating: 65, count: size))
            }
        }
        let client = stage.client { $0.send("GET / HTTP/1.1\r\nHost: p\r\n\r\n") }
        client.onBytes = { $0.stream?.isReading = false }
        _ = stage.loop.run(until: stage.loop.now.advanced(by: 5_000_000_000))
        let stuck = stage.servers[0].stream?.queued ?? 0
        // Four kernel buffers of 256 KiB and what the relay may queue.
        #expect(stuck > size - (4 * 262_144 + 3 * 65536))
        client.onBytes = { peer in
            if peer.received.count >= size + 40 { peer.shut() }
        }
        client.stream?.isReading = true
        _ = stage.finish()
        #expect(client.received.count > size)
        #expect(client.received.suffix(size) == [UInt8](repeating: 65, count: size)[...])
    }

    @Test(arguments: [true, false]) func upstreamsWithTLS(isTrusted: Bool) throws {
        let authority = try TLSIdentity.authority("test")
        let context = (
            server: try TLSContext(serverIssuing: authority),
            client: try TLSContext(client: isTrusted ? .everyone : .system)
        )
        let body = String(repeating: "secret ", count: 100_000)
        let stage = try RelayStage(tls: context) { server in
            server.onBytes = { if $0.text.hasSuffix("\r\n\r\n") { $0.send(self.ok(body)) } }
        }
        let client = stage.client { $0.send("GET / HTTP/1.1\r\nHost: p\r\n\r\n") }
        client.onBytes = { if $0.text.hasSuffix("secret ") { $0.shut() } }
        let lines = plain(stage.finish())
        if isTrusted {
            #expect(client.text == ok(body))
            #expect(lines.contains { $0.contains(#""status":200"#) })
        } else {
            #expect(client.text.hasPrefix("HTTP/1.1 502"))
            #expect(client.text.contains("--upstream-ca FILE"))
        }
    }
}
