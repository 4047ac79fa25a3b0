internal import CWiretapeUV
internal import WiretapeBytes
internal import WiretapeRuntime

// Lifetime: bytes that the kernel did not take are copied into one block with their request, which the write's only
// callback frees; what is tried at once is lent for the call.

/// Writing: the kernel is asked at once; what it does not take leaves as one block, and what comes meanwhile as the next.
extension UVStream {
    /// `drained` is told when fewer bytes than this are queued.
    static var lowWater: Int { 32768 }

    var queued: Int {
        guard !isClosing else { return 0 }
        return unsafe uv_stream_get_write_queue_size(stream) + tail.count
    }

    func write(_ bytes: Span<UInt8>) {
        guard !isClosing, end == nil, !wantsEnd, !bytes.isEmpty else { return }
        if isWriting || !isConnected {
            tail.append(copying: bytes)
        } else {
            writeNow(bytes)
        }
    }

    /// Nothing is queued.
    private func writeNow(_ bytes: Span<UInt8>) {
        let taken = unsafe bytes.withUnsafeBufferPointer { pointer in
            let start = unsafe UnsafeMutableRawPointer(mutating: pointer.baseAddress!)
            var buffer = unsafe uv_buf_init(
                start.assumingMemoryBound(to: CChar.self), UInt32(clamping: min(pointer.count, 1 << 30)))
            return unsafe uv_try_write(stream, &buffer, 1)
        }
        if taken >= 0 {
            if taken < bytes.count { enqueue(bytes.extracting(Int(taken)...)) }
        } else if taken == UV_EAGAIN.rawValue {
            enqueue(bytes)
        } else {
            broke(taken)
        }
    }

    func writeTail() {
        guard !tail.isEmpty else { return }
        let bytes = tail
        tail = []
        writeNow(bytes.span)
    }

    /// One block: libuv's request, then the bytes, which it owns until the callback.
    private func enqueue(_ rest: Span<UInt8>) {
        let count = rest.count
        let head = unsafe MemoryLayout<uv_write_t>.stride
        let block = UnsafeMutableRawPointer.allocate(byteCount: head + count, alignment: 16)
        unsafe rest.withUnsafeBytes { unsafe (block + head).copyMemory(from: $0.baseAddress!, byteCount: count) }
        let request = unsafe block.bindMemory(to: uv_write_t.self, capacity: 1)
        var buffer = unsafe uv_buf_init((block + head).assumingMemoryBound(to: CChar.self), UInt32(clamping: count))
        isWriting = true
        let rc = unsafe uv_write(request, stream, &buffer, 1) { request, status in
            let me = unsafe Handle.owner(request!.pointee.handle.pointee.data, as: UVStream.self)
            unsafe UnsafeMutableRawPointer(request!).deallocate()
            me.didWrite(status)
        }
        if rc != 0 {
            unsafe block.deallocate()
            isWriting = false
            broke(rc)
        }
    }

    private func didWrite(_ status: Int32) {
        isWriting = false
        guard !isClosing, end == nil else { return }
        guard status == 0 else {
            broke(status)
            return
        }
        writeTail()
        if end == nil, queued < Self.lowWater { handler?.drained() }
    }

    func halfClose() {
        guard !isClosing, end == nil, !wantsEnd else { return }
        wantsEnd = true
        if isConnected { sendEnd() }
    }

    /// libuv sends the FIN after the blocks that it has, so the tail goes to it now.
    func sendEnd() {
        guard !isClosing, end == nil else { return }
        let rest = tail
        tail = []
        if !rest.isEmpty { enqueue(rest.span) }
        guard end == nil else { return }
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        let rc = unsafe uv_shutdown(request, stream) { request, status in
            let me = unsafe Handle.owner(request!.pointee.handle.pointee.data, as: UVStream.self)
            unsafe request!.deallocate()
            me.didSendEnd(status)
        }
        if rc != 0 {
            unsafe request.deallocate()
            broke(rc)
        }
    }

    private func didSendEnd(_ status: Int32) {
        guard !isClosing else { return }
        guard status == 0 else {
            broke(status)
            return
        }
        hasSentEnd = true
        if hasSeenEnd { end(.closed) }
    }
}
