internal import WiretapeBytes
internal import WiretapeWire

extension SignalRPack {
    /// Appends the frame with other ids; every other byte of the array stays as it is. Without ids in it the frame stays.
    /// - Parameters:
    ///   - frame: one frame that has been read.
    ///   - id: nil: the recorded one.
    static func rewrite(_ frame: Span<UInt8>, id: String?, streams: [String]?, into out: inout [UInt8]) {
        guard let body = try? body(frame, at: 0), let places = try? places(frame.extracting(body)) else {
            return out.append(copying: frame)
        }
        let array = frame.extracting(body)
        var edited: [UInt8] = []
        var copied = 0
        if let id, let place = places.id {
            edited.append(copying: array.extracting(copied..<place.lowerBound))
            MessagePack.write(id, into: &edited)
            copied = place.upperBound
        }
        if let streams, let place = places.streams {
            edited.append(copying: array.extracting(copied..<place.lowerBound))
            MessagePack.writeArray(of: streams.count, into: &edited)
            for stream in streams { MessagePack.write(stream, into: &edited) }
            copied = place.upperBound
        }
        edited.append(copying: array.extracting(copied..<array.count))
        append(edited, to: &out)
    }

    /// Appends an array with its length before it.
    static func append(_ array: [UInt8], to out: inout [UInt8]) {
        var count = array.count
        while count > 0x7f {
            out.append(UInt8(count & 0x7f) | 0x80)
            count >>= 7
        }
        out.append(UInt8(count))
        out.append(copying: array.span)
    }

    /// A Completion with an error.
    static func failure(of id: String, _ reason: String) -> [UInt8] {
        var array: [UInt8] = [0x95, 0x03, 0x80]
        MessagePack.write(id, into: &array)
        array.append(0x01)
        MessagePack.write(reason, into: &array)
        var out: [UInt8] = []
        append(array, to: &out)
        return out
    }

    /// `[type, number]`: an Ack or a Sequence.
    static func numbered(_ type: UInt8, _ number: UInt64) -> [UInt8] {
        var array: [UInt8] = [0x92, type]
        MessagePack.write(number, into: &array)
        var out: [UInt8] = []
        append(array, to: &out)
        return out
    }

    /// Where the ids stand in an array.
    private static func places(
        _ array: Span<UInt8>
    ) throws(MessagePackError) -> (id: Range<Int>?, streams: Range<Int>?) {
        var at = 0
        guard let count = try MessagePack.arrayCount(array, &at), count > 2 else { return (nil, nil) }
        let type = try MessagePack.value(array, &at).int
        try MessagePack.skip(array, &at)
        let start = at
        try MessagePack.skip(array, &at)
        let id = start..<at
        guard type == 1 || type == 4, count > 5 else { return ((1...5).contains(type ?? 0) ? id : nil, nil) }
        try MessagePack.skip(array, &at)
        try MessagePack.skip(array, &at)
        let second = at
        try MessagePack.skip(array, &at)
        return (id, second..<at)
    }
}
