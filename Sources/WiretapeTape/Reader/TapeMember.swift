package import WiretapeBytes

/// A member of a tape as its header tells of it.
package struct TapeMember: Hashable, Sendable {
    /// Where it begins in the file.
    package var offset: UInt64
    package var info: MemberInfo
}
