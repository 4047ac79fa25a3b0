internal import CWiretapeUV
internal import WiretapeRuntime
internal import WiretapeSystem

// Lifetime: the handle lives as every `Handle` does; a pointer to it is used within the call that makes it.

/// A listening socket. Each connection becomes a ``UVStream``.
final class UVListener: Handle, Listener {
    private var accept: ((any ByteStream) -> any StreamHandler)?
    private(set) var address: Address
    /// Listed in ``SharedPorts``.
    private let isShared: Bool
    /// The descriptor, while the loop does not look at it: the system had none for the next connection.
    private var paused: Int32?
    private var hasFailed = false

    /// - Throws: `listen on 127.0.0.1:80: address already in use`.
    init(
        _ loop: UVLoop, _ wanted: Address, reusePort: Bool, _ accept: @escaping (any ByteStream) -> any StreamHandler
    ) throws(NetError) {
        self.accept = accept
        address = wanted
        isShared = reusePort
        super.init(UV_TCP)
        let call = "listen on \(wanted)"
        guard let name = SocketAddress(wanted) else {
            throw NetError(call, code: UV_EINVAL.rawValue, reason: "not a numeric address")
        }
        if reusePort, wanted.port != 0, !SharedPorts.contains(wanted) {
            // With SO_REUSEPORT the system would let us share the port of another process, unnoticed.
            let rc = name.withPointer { unsafe wiretape_probe_bind($0, name.size) }
            guard rc == 0 else { throw NetError(call, status: rc) }
        }
        var rc = unsafe uv_tcp_init_ex(loop.raw, tcp, UInt32(name.family))
        guard rc == 0 else { throw NetError(call, status: rc) }
        adopt()
        rc = begin(name, reusePort: reusePort)
        guard rc == 0 else {
            close()
            throw NetError(call, status: rc)
        }
        if isShared { SharedPorts.add(address) }
    }

    private var tcp: UnsafeMutablePointer<uv_tcp_t> {
        unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_tcp_t.self)
    }
    private var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_stream_t.self)
    }

    /// The system cuts the backlog to its own limit.
    private static var backlog: Int32 { 4096 }

    private func begin(_ name: SocketAddress, reusePort: Bool) -> Int32 {
        if reusePort, let descriptor {
            let rc = wiretape_set_option(descriptor, wiretape_reuse_port())
            guard rc == 0 else { return rc }
        }
        // Accepted connections inherit it.
        _ = unsafe uv_tcp_nodelay(tcp, 1)
        var rc = name.withPointer { unsafe uv_tcp_bind(tcp, $0, 0) }
        guard rc == 0 else { return rc }
        rc = unsafe uv_listen(stream, Self.backlog) { stream, status in
            unsafe Handle.owner(stream!.pointee.data, as: UVListener.self).incoming(status)
        }
        guard rc == 0 else { return rc }
        var real = SocketAddress()
        var size = SocketAddress.capacity
        rc = real.withMutablePointer { unsafe uv_tcp_getsockname(tcp, $0, &size) }
        if rc == 0, let real = real.address { address = real }
        return rc
    }

    private func incoming(_ status: Int32) {
        guard status == 0 else {
            return acceptFailed(status)
        }
        if isNearDescriptorLimit { withhold() } else { take() }
    }

    /// The system has no descriptor, or no memory, for the next connection. It waits in the backlog, and is asked for again soon.
    private func acceptFailed(_ status: Int32) {
        if !hasFailed {
            hasFailed = true
            Notice.write("accept on \(address): \(words(status)); new connections wait until others end")
        }
        guard !isClosing, paused == nil else { return }
        let descriptor = unsafe wiretape_pause(stream)
        guard descriptor >= 0 else { return }
        paused = descriptor
        loop.withholding.append(self)
        loop.armWithholding()
    }

    /// Goes on: with the connection that libuv holds, or by asking for one again.
    func goOn() {
        guard let descriptor = paused else { return take() }
        paused = nil
        unsafe wiretape_resume(stream, descriptor)
    }

    override func willClose() {
        if paused != nil { goOn() }
    }

    /// Takes the connection that libuv holds. It goes on to poll for others when it has been taken.
    func take() {
        guard !isClosing, let accept else { return }
        let connection = UVStream(loop, nil)
        guard unsafe connection.take(from: stream) else {
            connection.end(.aborted)
            return
        }
        connection.accepted(accept(connection))
    }

    /// The number of the connection that libuv holds.
    var heldDescriptor: Int32 { unsafe wiretape_accepted_descriptor(stream) }

    override func didClose() {
        accept = nil
        loop.withholding.removeAll { $0 === self }
        if isShared { SharedPorts.remove(address) }
    }
}

/// What people must know and no caller can be told: a line on stderr.
enum Notice {
    static func write(_ text: String) { Console.error.write("wiretape: \(text)\n") }
}

/// The addresses on which this process listens with SO_REUSEPORT: the second loop on one must not take the first for a
/// stranger. Shared by all threads.
enum SharedPorts {
    private static let counts = Gate<[Address: Int]>([:])

    static func contains(_ address: Address) -> Bool { counts.withLock { $0[address] != nil } }

    static func add(_ address: Address) { counts.withLock { $0[address, default: 0] += 1 } }

    static func remove(_ address: Address) {
        counts.withLock { counts in
            guard let count = counts[address] else { return }
            counts[address] = count > 1 ? count - 1 : nil
        }
    }
}
