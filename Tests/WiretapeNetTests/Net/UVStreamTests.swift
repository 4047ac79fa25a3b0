import Testing
import WiretapeNet
import WiretapeRuntime

struct UVStreamTests {
    @Test(arguments: ["127.0.0.1", "::1"]) func bothEndsInOrder(host: String) throws {
        let client = Peer(), server = Peer()
        client.onConnected = {
            $0.write("hello")
            $0.call { $0.halfClose() }
        }
        server.onEnd = {
            #expect($0.stream?.peer?.host == host)
            $0.write("answer to " + $0.text)
            $0.call { $0.halfClose() }
        }
        try onLoop { loop in
            var left = 2
            client.onEnded = { _ in
                left -= 1; if left == 0 { loop.stop() }
            }
            server.onEnded = client.onEnded
            let listener = try loop.pair(client, server, on: Address(host: host, port: 0))
            #expect(listener.address.host == host)
            #expect(listener.address.port != 0)
        }
        #expect(server.text == "hello")
        #expect(client.text == "answer to hello")
        #expect(client.end == .closed)
        #expect(server.end == .closed)
        #expect(client.events == ["connected", "end", "ended"])
        #expect(server.events == ["end", "ended"])
    }

    @Test func theServerMayEndFirst() throws {
        let client = Peer(), server = Peer()
        server.onConnected = {
            $0.write("greeting")
            $0.call { $0.halfClose() }
        }
        client.onEnd = {
            $0.write("late")
            $0.call { $0.halfClose() }
        }
        try onLoop { loop in
            server.onEnded = { _ in loop.stop() }
            try loop.pair(client, server)
        }
        #expect(client.text == "greeting")
        #expect(server.text == "late")
        #expect(server.end == .closed)
    }

    @Test func whatIsWrittenBeforeTheConnectionComesFirst() throws {
        let client = Peer(), server = Peer()
        client.onConnected = { $0.write(" second") }
        server.onEnd = { $0.call { $0.halfClose() } }
        try onLoop { loop in
            client.onEnded = { _ in loop.stop() }
            try loop.pair(client, server)
            client.call { $0.isReading = true }
            client.write("first")
            #expect(client.stream?.queued == 5)
            loop.after(30) { client.call { $0.halfClose() } }
        }
        #expect(server.text == "first second")
        #expect(client.events.contains("drained"))
    }

    @Test func halfCloseBeforeTheConnection() throws {
        let client = Peer(), server = Peer()
        server.onEnd = { $0.call { $0.halfClose() } }
        try onLoop { loop in
            client.onEnded = { _ in loop.stop() }
            try loop.pair(client, server)
            client.write("all")
            client.call { $0.halfClose() }
        }
        #expect(server.text == "all")
        #expect(client.end == .closed)
    }

    @Test func fiveMegabytesEchoed() throws {
        let data = noise(5_000_000)
        let client = Peer(), server = Peer()
        var sent = 0, most = 0
        func send(_ peer: Peer) {
            while sent < data.count, (peer.stream?.queued ?? 0) <= 65536 {
                let next = min(sent + 10_007, data.count)
                peer.write(Array(data[sent..<next]))
                sent = next
                most = max(most, peer.stream?.queued ?? 0)
            }
            if sent == data.count { peer.call { $0.halfClose() } }
        }
        client.onConnected = send
        client.onDrained = { if sent < data.count { send($0) } }
        // The echo stops reading while its own queue is long.
        server.onBytes = {
            $0.write($0.bytes)
            $0.bytes = []
            if ($0.stream?.queued ?? 0) > 65536 { $0.call { $0.isReading = false } }
        }
        server.onDrained = { $0.call { $0.isReading = true } }
        server.onEnd = { $0.call { $0.halfClose() } }
        try onLoop { loop in
            client.onEnded = { _ in loop.stop() }
            try loop.pair(client, server)
        }
        expectSame(client.bytes, data)
        #expect(client.end == .closed)
        #expect(most <= 65536 + 10_007)
    }

    @Test func queuedGrowsWhileThePeerDoesNotReadAndDrains() throws {
        let client = Peer(), server = Peer()
        server.reads = false
        var peak = 0
        let block = noise(1 << 20)
        client.onConnected = { client in
            for _ in 0..<32 { client.write(block) }
            peak = client.stream?.queued ?? 0
            #expect((client.stream?.unacknowledged ?? 0) > 0)
            client.call { $0.halfClose() }
            server.call { $0.isReading = true }
        }
        server.onEnd = { $0.call { $0.halfClose() } }
        try onLoop { loop in
            client.onEnded = { _ in loop.stop() }
            try loop.pair(client, server)
            server.onConnected = { server in if peak > 0 { server.call { $0.isReading = true } } }
            client.onDrained = { #expect(($0.stream?.queued ?? 0) < 32768) }
        }
        #expect(peak > 8 << 20)
        #expect(server.bytes.count == 32 << 20)
        #expect(client.events.contains("drained"))
    }

    @Test func noMoreBytesOnceReadingIsOff() throws {
        let client = Peer(), server = Peer()
        client.onConnected = { $0.write(noise(1_000_000)) }
        server.onBytes = {
            #expect($0.stream?.isReading == true)
            $0.call { $0.isReading = false }
        }
        try onLoop { loop in
            try loop.pair(client, server)
            var rounds = 0
            func goOn() {
                rounds += 1
                if rounds == 5 { return loop.stop() }
                server.call { $0.isReading = true }
                loop.after(5, goOn)
            }
            loop.after(20, goOn)
        }
        #expect(server.bytes.count <= 5 * 65536)
        #expect(!server.bytes.isEmpty)
    }

    @Test func refused() throws {
        let client = Peer()
        try onLoop { loop in
            let listener = try loop.listen(on: UVLoop.anyPort, reusePort: false) { _ in Peer() }
            let address = listener.address
            listener.close()
            client.onEnded = { _ in loop.stop() }
            loop.after(10) { client.stream = loop.connect(to: address, client) }
        }
        #expect(client.end == .failed("connection refused"))
        #expect(client.events == ["ended"])
    }

    @Test func aNameIsNoAddress() throws {
        let client = Peer()
        try onLoop { loop in
            client.onEnded = { _ in loop.stop() }
            client.stream = loop.connect(to: Address(host: "localhost", port: 1), client)
        }
        #expect(client.end == .failed("not a numeric address: localhost"))
    }

    @Test func manySmallWritesWhileThePeerIsSlow() throws {
        let client = Peer(), server = Peer()
        server.reads = false
        let numbers = (0..<400_000).map { "\($0)," }
        client.onConnected = { client in
            for number in numbers { client.write(number) }
            client.call { $0.halfClose() }
        }
        server.onEnd = { $0.call { $0.halfClose() } }
        try onLoop { loop in
            client.onEnded = { _ in loop.stop() }
            try loop.pair(client, server)
            loop.after(100) { server.call { $0.isReading = true } }
        }
        expectSame(server.bytes, Array(numbers.joined().utf8))
    }
}
