/// Why a compressed stream cannot be read on.
package enum InflateFault: Hashable, Sendable {
    /// The bytes are not deflate, a header is wrong, or a checksum or length does not agree.
    case corrupt
    /// A zlib stream that wants a preset dictionary.
    case needsDictionary
    /// No memory for zlib's window.
    case outOfMemory
    /// zlib refused the call: our own mistake.
    case misused
}
