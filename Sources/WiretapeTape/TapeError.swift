/// Why a tape cannot be read or written.
package struct TapeError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The file cannot be opened or read.
        case unreadable
        case empty
        case notATape
        case newerVersion
        /// Bad deflate data, a bad checksum or a bad length where more of the file follows, or in a whole last member.
        case damaged
        /// A whole line that is not an event.
        case badLine
        /// A line, or the ratio of a member, is beyond what a tape may have.
        case tooLarge
        /// The file to write is there already.
        case exists
        /// Another process is writing the file.
        case inUse
        /// The file cannot be made or written.
        case unwritable
        /// The device or the quota is full.
        case noSpace
    }

    package var kind: Kind
    /// As it was given; a name for bytes in memory.
    package var file: String
    /// Of the member, or in a plain tape of the line; 0 where the file as a whole is meant.
    package var offset: UInt64
    /// The last event that was read before, 0 for none.
    package var event: UInt64
    /// What is wrong and what helps, without the file's name.
    package var message: String

    package init(_ kind: Kind, file: String, offset: UInt64 = 0, event: UInt64 = 0, _ message: String) {
        self.kind = kind
        self.file = file
        self.offset = offset
        self.event = event
        self.message = message
    }

    package var description: String { "\(file): \(message)" }
}
