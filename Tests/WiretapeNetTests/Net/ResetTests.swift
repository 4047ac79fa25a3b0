import Testing
import WiretapeNet
import WiretapeRuntime

struct ResetTests {
    @Test func theResetterHearsAbortedAndThePeerReset() throws {
        let client = Peer(), server = Peer()
        client.onConnected = { $0.write("x") }
        server.onBytes = { $0.call { $0.reset() } }
        try run(client, server)
        #expect(server.end == .aborted)
        #expect(client.end == .reset)
    }

    @Test func afterOurOwnHalfClose() throws {
        let client = Peer(), server = Peer()
        server.onConnected = { server in
            server.write("x")
            server.call { $0.halfClose() }
        }
        client.onEnd = { client in client.write("answer") }
        server.onBytes = { $0.call { $0.reset() } }
        try run(client, server)
        #expect(server.end == .aborted)
        #expect(client.end == .reset)
    }

    /// libuv alone never tells this: the client has seen the FIN and polls nothing.
    @Test func afterTheOthersHalfCloseWithoutAnyWrite() throws {
        let client = Peer(), server = Peer()
        server.onConnected = { $0.call { $0.halfClose() } }
        try run(client, server) { loop in loop.after(50) { server.call { $0.reset() } } }
        #expect(client.events == ["connected", "end", "ended"])
        #expect(client.end == .reset)
    }

    @Test func whileReadingIsOff() throws {
        let client = Peer(), server = Peer()
        client.reads = false
        try run(client, server) { loop in loop.after(50) { server.call { $0.reset() } } }
        #expect(client.end == .reset)
        #expect(client.events == ["connected", "ended"])
    }

    @Test func anAcceptedStreamThatNobodyReads() throws {
        let client = Peer(), server = Peer()
        server.reads = false
        try run(client, server) { loop in loop.after(50) { client.call { $0.reset() } } }
        #expect(server.end == .reset)
    }

    @Test func bytesBeforeTheResetAreReadFirst() throws {
        let client = Peer(), server = Peer()
        client.reads = false
        server.onConnected = { $0.write("last words") }
        try run(client, server) { loop in
            loop.after(50) { server.call { $0.reset() } }
            loop.after(1500) {
                #expect(client.end == nil)
                client.call { $0.isReading = true }
            }
        }
        #expect(client.text == "last words")
        #expect(client.end == .reset)
        #expect(!client.events.contains("end"))
    }

    @Test func aWriteToABrokenStreamLetsTheLastBytesThrough() throws {
        let client = Peer(), server = Peer()
        client.reads = false
        server.onConnected = { $0.write("413") }
        try run(client, server) { loop in
            loop.after(50) { server.call { $0.reset() } }
            loop.after(100) {
                client.write("more")
                client.write("and more")
                #expect(client.stream?.queued == 0)
                client.call { $0.isReading = true }
            }
        }
        #expect(client.text == "413")
        #expect(client.end == .reset)
    }

    @Test func aFailedWriteIsToldLater() throws {
        let client = Peer(), server = Peer()
        try run(client, server) { loop in
            loop.after(50) {
                client.call { $0.isReading = false }
                server.call { $0.reset() }
                loop.after(50) { for _ in 0..<3 { client.write("x") } }
            }
        }
        #expect(client.end == .reset)
    }

    @Test func whatIsQueuedIsLost() throws {
        let client = Peer(), server = Peer()
        server.reads = false
        let block = noise(1 << 20)
        client.onConnected = { client in
            for _ in 0..<16 { client.write(block) }
            client.call { $0.reset() }
            #expect(client.stream?.queued == 0)
            client.write(block)
            client.call { $0.halfClose() }
            client.call { $0.reset() }
        }
        try run(client, server) { loop in loop.after(50) { server.call { $0.isReading = true } } }
        #expect(client.end == .aborted)
        #expect(server.end == .reset)
        #expect(server.bytes.count < 16 << 20)
    }

    @Test func beforeTheConnection() throws {
        let client = Peer()
        try onLoop { loop in
            let listener = try loop.listen(on: UVLoop.anyPort, reusePort: false) { _ in Peer() }
            client.onEnded = { _ in loop.stop() }
            client.stream = loop.connect(to: listener.address, client)
            client.call { $0.reset() }
        }
        #expect(client.end == .aborted)
        #expect(client.events == ["ended"])
    }

    @Test func fromWithinAccept() throws {
        let client = Peer(), server = Peer()
        server.onConnected = { $0.call { $0.reset() } }
        try run(client, server)
        #expect(server.end == .aborted)
        #expect(client.end == .reset)
    }

    private func run(_ client: Peer, _ server: Peer, _ more: (UVLoop) -> Void = { _ in }) throws {
        try onLoop { loop in
            var left = 2
            client.onEnded = { _ in
                left -= 1
                if left == 0 { loop.stop() }
            }
            server.onEnded = client.onEnded
            try loop.pair(client, server)
            more(loop)
        }
    }
}
