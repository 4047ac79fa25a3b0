/// Why a compressed stream cannot be read on.
package enum InflateFault: Hashable, Sendable {
    /// The bytes are none of that coding, a header is wrong, or a checksum or length does not agree.
    case corrupt
    /// A stream that wants a preset dictionary.
    case needsDictionary
    /// A zstd stream that looks back further than 8 MiB.
    case windowTooLarge
    /// No memory for the window.
    case outOfMemory
    /// The library refused the call: our own mistake.
    case misused
}
