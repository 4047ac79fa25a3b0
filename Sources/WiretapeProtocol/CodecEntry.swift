/// A line of the list of codecs: what the sessions need to find and make one.
package struct CodecEntry: Sendable {
    package var id: String
    package var type: any FrameCodec.Type

    package init(_ type: any FrameCodec.Type) {
        self.id = type.id
        self.type = type
    }
}
