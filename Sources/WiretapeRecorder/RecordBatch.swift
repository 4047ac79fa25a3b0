package import WiretapeBytes

/// Records as bytes, one behind the other: what goes to a ``RecordConsumer``.
package enum RecordBatch {
    /// Appends a record.
    @inline(__always)
    package static func append(
        _ kind: RecordKind, _ connection: UInt32, flags: UInt8 = 0, x: UInt32 = 0, at time: WireInstant,
        _ payload: Span<UInt8>, to batch: inout [UInt8]
    ) {
        let n = UInt32(truncatingIfNeeded: payload.count)
        let t = time.nanoseconds
        batch.append(addingCapacity: RecordKind.headSize + payload.count) { out in
            out.append(kind.rawValue)
            out.append(flags)
            out.append(0)
            out.append(0)
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                out.append(UInt8(truncatingIfNeeded: connection >> shift))
            }
            for shift in stride(from: UInt64(0), to: 64, by: 8) { out.append(UInt8(truncatingIfNeeded: t >> shift)) }
            for shift in stride(from: UInt32(0), to: 32, by: 8) { out.append(UInt8(truncatingIfNeeded: x >> shift)) }
            for shift in stride(from: UInt32(0), to: 32, by: 8) { out.append(UInt8(truncatingIfNeeded: n >> shift)) }
            for i in payload.indices { out.append(payload[i]) }
        }
    }
}
