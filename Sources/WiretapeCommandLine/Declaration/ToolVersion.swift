/// Which Wiretape this is: for `--version`, the man page, and what tapes say of their maker.
package enum ToolVersion {
    package static let text = "0.1.0"
    /// With the name, as headers of tapes have it: `wiretape/0.1.0`.
    package static let named = "wiretape/\(text)"
}
