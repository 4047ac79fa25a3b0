internal import CWiretapeZlib

// Lifetime: the bytes are lent for the call; what comes back is an offset.

/// The offset of the first `byte` in `bytes` at or after `from`; nil when there is none. Uses the C library's search.
package func firstIndex(of byte: UInt8, in bytes: Span<UInt8>, from: Int = 0) -> Int? {
    guard from >= 0, from < bytes.count else { return nil }
    return unsafe bytes.withUnsafeBufferPointer { all in
        guard let base = all.baseAddress,
            let hit = unsafe wiretape_memchr(base + from, Int32(byte), all.count - from)
        else { return nil }
        return unsafe hit - UnsafeRawPointer(base)
    }
}
