/// Text of HTML and XML.
enum Markup {
    /// The text as it may stand between two tags.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
