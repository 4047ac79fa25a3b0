internal import WiretapeBytes
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeReplay
internal import WiretapeRuntime
internal import WiretapeWire

/// The clients of a replay server that are connected, by the numbers of their connections. What the driver wants done comes here, and is said to
/// its client by the functions below.
final class ReplayClients {
    private var open: [ConnectionID: ReplayConnection] = [:]
    private var nextID: ConnectionID = 1

    var count: Int { open.count }
    var isEmpty: Bool { open.isEmpty }

    /// The number of a connection.
    func takeNumber() -> ConnectionID {
        defer { nextID += 1 }
        return nextID
    }

    func add(_ connection: ReplayConnection) { open[connection.id] = connection }

    func remove(_ connection: ReplayConnection) { open[connection.id] = nil }

    /// All of them, in the order in which they came.
    var all: [ReplayConnection] { open.keys.sorted().compactMap { open[$0] } }

    /// What no client is told.
    enum Rest {
        /// Nobody is there to acknowledge anything.
        case gone(ConnectionID, ticket: UInt64)
        case note(ConnectionID, TapeNote)
        case log(String)
    }

    /// Does what the driver wants done.
    /// - Returns: what is the server's to do.
    func carryOut(_ action: ReplayAction) -> Rest? {
        switch action {
        case .respond(let c, let answer, let thenClose, let ticket):
            open[c]?.respond(answer, thenClose: thenClose, ticket)
        case .beginStream(let c, let answer): open[c]?.beginStream(answer)
        case .piece(let c, let bytes, let ticket): open[c]?.piece(bytes, ticket)
        case .endStream(let c): open[c]?.endStream()
        case .passThrough(let c): open[c]?.passThrough()
        case .upgrade(let c, let headers, let accept, let deflate): open[c]?.upgrade(headers, accept, deflate)
        case .raw(let c, let bytes, let ticket): open[c]?.raw(bytes, ticket)
        case .limit(let c, let count): open[c]?.limit(count)
        case .pace(let c, let pace): open[c]?.pace(pace)
        case .hold(let c, let time): open[c]?.hold(time)
        case .stall(let c, let reads, let writes): open[c]?.stall(reads: reads, writes: writes)
        case .mute(let c, let isMuted): open[c]?.mute(isMuted)
        case .send(let c, let opcode, let payload, let ticket, let deflated, let frames):
            open[c]?.send(opcode, payload, ticket, deflated: deflated, frames: frames)
        case .closeFrame(let c, let code, let reason): open[c]?.close(code, reason)
        case .disconnect(let c): open[c]?.disconnect()
        case .reset(let c): open[c]?.reset()
        case .awaitAcknowledged(let c, let ticket):
            guard let connection = open[c] else { return .gone(c, ticket: ticket) }
            connection.awaitAcknowledged(ticket)
        case .note(let c, let what):
            guard case .fault(let fault) = what, let connection = open[c] else { return .note(c, what) }
            connection.account(for: fault)
        case .log(let line): return .log(line)
        }
        return nil
    }
}

/// What the driver says to one client.
extension ReplayConnection {
    func respond(_ answer: HTTPAnswer, thenClose: Bool, _ ticket: UInt64?) {
        guard endpoint.writer.owesAnswer else { return }
        let answer = own(answer)
        noteAnswer(answer)
        endpoint.writer.answer(answer, thenClose: thenClose, date: server.answers.date())
        if let ticket { expectWritten(ticket) }
        server.touch(self)
    }

    func beginStream(_ answer: HTTPAnswer) {
        guard endpoint.writer.owesAnswer else { return }
        let answer = own(answer)
        noteAnswer(answer, isStream: true)
        endpoint.writer.beginStream(answer, date: server.answers.date())
        server.touch(self)
    }

    func piece(_ bytes: [UInt8], _ ticket: UInt64) {
        guard endpoint.writer.isStreaming else { return }
        if !bytes.isEmpty { note(.chunk(x: exchange, .toClient, bytes)) }
        endpoint.writer.piece(bytes.span)
        expectWritten(ticket)
        server.touch(self)
    }

    func endStream() {
        guard endpoint.writer.isStreaming else { return }
        note(.end(x: exchange, .toClient, trailers: []))
        endpoint.writer.endStream()
        server.touch(self)
    }

    func upgrade(_ headers: [HeaderField], _ accept: String?, _ deflate: DeflateParameters?) {
        guard endpoint.writer.owesAnswer else { return }
        let headers = own(HTTPAnswer(status: 101, headers: headers)).headers
        if let sent = endpoint.writer.upgrade(headers, accept: accept, deflate: deflate, date: server.answers.date()) {
            noteAnswer(HTTPAnswer(status: sent.status, reason: sent.reason, headers: sent.headers))
        }
        server.touch(self)
    }

    func send(_ opcode: Opcode, _ payload: [UInt8], _ ticket: UInt64, deflated: Bool, frames: MessageFrames) {
        guard endpoint.writer.isOpenWebSocket else { return }
        let sent = endpoint.writer.send(opcode, payload.span, deflated: deflated, frames: frames)
        note(.message(.toClient, opcode, payload, deflated: sent.isDeflated, fragments: sent.frames))
        expectWritten(ticket)
        server.touch(self)
    }

    func raw(_ bytes: [UInt8], _ ticket: UInt64?) {
        endpoint.writer.raw(bytes)
        if let ticket { expectWritten(ticket) }
        server.touch(self)
    }

    func close(_ code: UInt16?, _ reason: String) {
        guard endpoint.writer.isOpenWebSocket || endpoint.writer.owesClose else {
            disconnect()
            return
        }
        note(.close(.toClient, code: code, reason: code == nil ? nil : reason))
        endpoint.writer.close(code: code, reason: reason)
        setEnd()
        server.touch(self)
    }

    func disconnect() {
        endpoint.writer.finish()
        server.touch(self)
    }

    func reset() {
        // What was said before goes as far as the kernel takes it now.
        write()
        guard !ends.isGone else { return }
        if let last = output.takeHandedOver(queued: stream.queued) { server.tell(self, .handedOver(last)) }
        ends.begin(.server)
        stream.reset()
    }

    func awaitAcknowledged(_ ticket: UInt64) {
        output.await(ticket, made: endpoint.writer.outputCount, at: server.loop.now)
        server.touch(self)
    }

    /// An answer as this client gets it: readable by pages that are let in, and leading here.
    private func own(_ answer: HTTPAnswer) -> HTTPAnswer {
        guard let head = asked?.head else { return answer }
        let led = server.answers.leading.led(answer, to: head, overTLS: stream is TLSStream, at: upstream)
        return server.entrance.access.restricted(led, to: head)
    }

    private func expectWritten(_ ticket: UInt64) { output.expect(ticket, made: endpoint.writer.outputCount) }

    /// Gives the stream what may leave now.
    func write() {
        guard !ends.isGone, !ends.sentFIN else { return }
        output.write(from: &endpoint.writer, to: stream, at: server.loop.now)
    }

    /// Writes what has gathered in a wake-up, and tells what has become of it.
    func flush() {
        defer { account() }
        guard !ends.isGone, !isPassedOn else { return }
        write()
        let looks = output.look(
            stream, settles: server.clock.isManual, needsPeer: ends.sawFIN, at: server.loop.now)
        for input in looks { server.tell(self, input) }
        if ends.wantsFIN, !ends.sentFIN {
            if output.count == 0, !output.isStopped { sendFIN() } else if ends.sawFIN, ends.by == nil { setEnd() }
        }
        goOn()
    }

    /// Our FIN after the client's closes the stream, and nothing is known of the bytes before it any more: it waits for them.
    private func sendFIN() {
        guard !ends.sawFIN || !output.isDelivering else {
            if ends.by == nil { setEnd() }
            return
        }
        ends.sentFIN = true
        ends.begin(.server)
        stream.halfClose()
        setEnd()
    }
}
