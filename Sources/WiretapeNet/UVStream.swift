internal import CWiretapeUV
internal import WiretapeRuntime

// Lifetime: a connect request is freed by its only callback, or at once when there is none. The stream lives as every
// `Handle` does.

/// A TCP connection. Small on purpose (about 400 bytes with libuv's part): a proxy keeps two for each client.
///
/// Bad input: a call after the end (legal, does nothing); the peer's reset (told by `ended(.reset)`, after all bytes that
/// came before it when the owner reads).
final class UVStream: Handle, ByteStream {
    var handler: (any StreamHandler)?
    /// What was written while a block is under way: the next block.
    var tail: [UInt8] = []
    /// Why the stream closes, or will close when the bytes that came before have been read. Nil on a healthy one.
    var end: StreamEnd?
    /// Place among the loop's watched streams, -1 when not watched.
    var watchSlot: Int32 = -1
    var isConnected = false
    /// A block is with libuv.
    var isWriting = false
    var wantsBytes = false
    /// `halfClose()` was called; the FIN has left; the peer's FIN was told.
    var wantsEnd = false, hasSentEnd = false, hasSeenEnd = false

    init(_ loop: UVLoop, _ handler: (any StreamHandler)?) {
        self.handler = handler
        super.init(UV_TCP)
        // Without a family no socket is made yet, and nothing can fail.
        _ = unsafe uv_tcp_init(loop.raw, tcp)
        adopt()
        // The loop was shut down: `ended(.aborted)` comes in the next round of its shutdown, or never when that is over.
        if loop.isShutDown { end(.aborted) }
    }

    var tcp: UnsafeMutablePointer<uv_tcp_t> {
        unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_tcp_t.self)
    }
    var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_stream_t.self)
    }

    // MARK: Beginning

    func connect(to address: Address) {
        guard !isClosing else { return }
        guard let target = SocketAddress(address) else {
            end(.failed("not a numeric address: \(address.host)"))
            return
        }
        _ = unsafe uv_tcp_nodelay(tcp, 1)
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        let rc = target.withPointer { name in
            unsafe uv_tcp_connect(request, tcp, name) { request, status in
                let me = unsafe Handle.owner(request!.pointee.handle.pointee.data, as: UVStream.self)
                unsafe request!.deallocate()
                me.didConnect(status)
            }
        }
        if rc != 0 {
            unsafe request.deallocate()
            end(.failed(words(rc)))
        }
    }

    private func didConnect(_ status: Int32) {
        guard !isClosing else { return }
        guard status == 0 else {
            // A reset is the peer's second thought: the connection had been made.
            end(status == UV_ECONNRESET.rawValue ? .reset : .failed(words(status)))
            return
        }
        isConnected = true
        let hadQueued = !tail.isEmpty
        // What the owner has asked for until now.
        writeTail()
        if wantsEnd { sendEnd() }
        if wantsBytes { startReading() }
        handler?.connected()
        if hadQueued, !isClosing, queued < Self.lowWater { handler?.drained() }
        if !wantsBytes, !isClosing { loop.watch(self) }
    }

    /// Takes the connection that `listener` holds.
    func take(from listener: UnsafeMutablePointer<uv_stream_t>) -> Bool {
        isConnected = unsafe uv_accept(listener, stream) == 0
        return isConnected
    }

    /// `accept` has chosen the handler of a taken connection.
    func accepted(_ handler: any StreamHandler) {
        self.handler = handler
        if !wantsBytes, !isClosing { loop.watch(self) }
    }

    func hand(to handler: any StreamHandler) { self.handler = handler }

    var peer: Address? {
        guard !isClosing else { return nil }
        var name = SocketAddress()
        var size = SocketAddress.capacity
        let rc = name.withMutablePointer { unsafe uv_tcp_getpeername(tcp, $0, &size) }
        return rc == 0 ? name.address : nil
    }

    var local: Address? {
        guard !isClosing else { return nil }
        var name = SocketAddress()
        var size = SocketAddress.capacity
        let rc = name.withMutablePointer { unsafe uv_tcp_getsockname(tcp, $0, &size) }
        return rc == 0 ? name.address : nil
    }

    var originalDestination: Address? {
        guard !isClosing, let descriptor else { return nil }
        var name = SocketAddress()
        let rc = name.withStorage { unsafe wiretape_original_destination(descriptor, $0) }
        return rc == 0 ? name.address : nil
    }

    // MARK: End

    /// Closes; `how` is told from the loop. The first reason stays.
    func end(_ how: StreamEnd) {
        if end == nil { end = how }
        loop.unwatch(self)
        close()
    }

    func reset() {
        guard !isClosing else { return }
        end = .aborted
        loop.unwatch(self)
        if closeWithReset() { return }
        // libuv refuses after a shutdown: linger 0 and an ordinary close give the same RST.
        if let descriptor { _ = wiretape_linger_zero(descriptor) }
        close()
    }

    override func didClose() {
        let handler = self.handler
        self.handler = nil
        tail = []
        loop.unwatch(self)
        handler?.ended(end ?? .aborted)
    }

    /// A write, a shutdown or a look found the connection broken. What came before can still be read, and is.
    func broke(_ status: Int32) {
        guard !isClosing, end == nil else { return }
        // The socket's own error is more exact than EPIPE.
        let cause = descriptor.map { -wiretape_socket_error($0) } ?? 0
        end = StreamEnd(status: cause == 0 ? status : cause)
        tail = []
        loop.unwatch(self)
        if hasSeenEnd || unread == 0 { close() }
    }

    /// The look at a watched stream found an error.
    func peerBroke() { broke(UV_ECONNRESET.rawValue) }

    private var unread: Int { descriptor.map { Int(wiretape_unread($0)) } ?? 0 }

    var peerHasEnded: Bool {
        guard !isClosing, let descriptor else { return false }
        return wiretape_peer_has_ended(descriptor) != 0
    }

    var unacknowledged: Int {
        if let end, end != .closed { return .max }
        guard !isClosing, let descriptor else { return 0 }
        return max(0, Int(wiretape_unacknowledged(descriptor)))
    }
}
