internal import CWiretapeUV

// Lifetime: libuv owns a handle's memory from its init to its close callback. The handle is retained for that time and
// let go in `handleDidClose`, so a callback always finds its owner; the memory is freed with the object, later.

/// Owner of one libuv handle. The handle's memory never moves; libuv owns a reference to this object from ``adopt()`` until
/// the close callback, so no other file thinks about lifetimes. Belongs to the loop's thread.
@safe class Handle {
    let raw: UnsafeMutablePointer<uv_handle_t>
    final private(set) var isClosing = false

    /// Memory for a handle of this type, not yet initialised: the subclass calls libuv's init, then ``adopt()``.
    init(_ type: uv_handle_type) {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: uv_handle_size(type), alignment: 16)
        unsafe raw = memory.assumingMemoryBound(to: uv_handle_t.self)
    }

    deinit { unsafe UnsafeMutableRawPointer(raw).deallocate() }

    /// After a successful init of libuv's: from here on only the close callback lets go of the object.
    final func adopt() {
        unsafe raw.pointee.data = Unmanaged<Handle>.passRetained(self).toOpaque()
        loop.handleOpened()
    }

    /// The loop that the handle was initialised with.
    final var loop: UVLoop {
        unsafe Unmanaged<UVLoop>.fromOpaque(raw.pointee.loop.pointee.data).takeUnretainedValue()
    }

    /// Before libuv closes it.
    func willClose() {}

    /// The last call, from the loop: the handle is gone, libuv's reference follows.
    func didClose() {}

    final func close() {
        guard !isClosing else { return }
        isClosing = true
        willClose()
        unsafe uv_close(raw, handleDidClose)
    }

    /// Closes with an RST where the system allows it: never after a shutdown.
    final func closeWithReset() -> Bool {
        guard !isClosing else { return true }
        let tcp = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_tcp_t.self)
        guard unsafe uv_tcp_close_reset(tcp, handleDidClose) == 0 else { return false }
        isClosing = true
        return true
    }

    /// The descriptor, or nil before there is one.
    final var descriptor: Int32? {
        var number: uv_os_fd_t = -1
        return unsafe uv_fileno(raw, &number) == 0 ? number : nil
    }

    /// The object behind a handle's `data`.
    static func owner<T: Handle>(_ data: UnsafeMutableRawPointer?, as _: T.Type = T.self) -> T {
        unsafe unsafeDowncast(Unmanaged<Handle>.fromOpaque(data!).takeUnretainedValue(), to: T.self)
    }
}

private func handleDidClose(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
    let owner = unsafe Unmanaged<Handle>.fromOpaque(handle!.pointee.data!).takeRetainedValue()
    let loop = owner.loop
    owner.didClose()
    loop.handleClosed()
}
