internal import CWiretapeUV
internal import WiretapeRuntime

// Lifetime: the read buffer is the loop's, and what was read is used up within the callback. The stream is retained
// until its close callback.

extension UVStream {
    var isReading: Bool {
        get { wantsBytes }
        set {
            guard wantsBytes != newValue, !hasSeenEnd, !isClosing else { return }
            wantsBytes = newValue
            guard isConnected else { return }
            if newValue {
                startReading()
            } else {
                _ = unsafe uv_read_stop(stream)
                loop.watch(self)
            }
        }
    }

    func startReading() {
        guard !isClosing, !hasSeenEnd else { return }
        loop.unwatch(self)
        let rc = unsafe uv_read_start(stream, lendBuffer, didRead)
        if rc != 0 { broke(rc) }
    }

    fileprivate func received(_ bytes: Span<UInt8>) {
        handler?.received(bytes)
    }

    fileprivate func readEnded(_ status: Int32) {
        guard !isClosing else { return }
        if let end {
            // It was broken already, and these were its last bytes.
            self.end(end)
        } else if status != UV_EOF.rawValue {
            end(StreamEnd(status: status))
        } else {
            _ = unsafe uv_read_stop(stream)
            hasSeenEnd = true
            wantsBytes = false
            if !hasSentEnd { loop.watch(self) }
            handler?.receivedEnd()
            if hasSentEnd { end(.closed) }
        }
    }
}

/// The loop's one buffer: it is used up before the next read.
private func lendBuffer(
    _ handle: UnsafeMutablePointer<uv_handle_t>?, _: Int, _ out: UnsafeMutablePointer<uv_buf_t>?
) {
    let loop = unsafe Unmanaged<UVLoop>.fromOpaque(handle!.pointee.loop.pointee.data)
    let (buffer, limit) = unsafe loop._withUnsafeGuaranteedRef { unsafe ($0.readBuffer, $0.readLimit) }
    unsafe out!.pointee = uv_buf_init(buffer.baseAddress, UInt32(max(1, min(buffer.count, limit))))
}

private func didRead(
    _ stream: UnsafeMutablePointer<uv_stream_t>?, _ count: Int, _ buffer: UnsafePointer<uv_buf_t>?
) {
    let me = unsafe Handle.owner(stream!.pointee.data, as: UVStream.self)
    if count > 0 {
        let start = unsafe UnsafeRawPointer(buffer!.pointee.base!).assumingMemoryBound(to: UInt8.self)
        unsafe me.received(UnsafeBufferPointer(start: start, count: count).span)
    } else if count < 0 {
        me.readEnded(Int32(truncatingIfNeeded: count))
    }
}
