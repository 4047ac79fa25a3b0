internal import CWiretapeOpenSSL

// Lifetime: the BIO is its machine's; the room is lent for the call.

/// Reading what OpenSSL has put into a memory BIO.
enum MemoryBIO {
    @unsafe static func drain(_ bio: OpaquePointer, into out: inout [UInt8]) {
        let count = unsafe BIO_ctrl_pending(bio)
        guard count > 0, count <= Int(Int32.max) else { return }
        out.append(addingCapacity: count) { free in
            unsafe free.withUnsafeMutableBufferPointer { room, filled in
                guard let base = room.baseAddress else { return }
                let taken = unsafe BIO_read(bio, base + filled, Int32(count))
                if taken > 0 { filled += Int(taken) }
            }
        }
    }
}
