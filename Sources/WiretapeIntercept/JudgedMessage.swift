package import WiretapeFaults
package import WiretapeMessages
internal import WiretapeProtocol

/// A message of live traffic, and what rules say of it: nothing, mostly. (No tuple: those cost a look-up at run time.)
package struct JudgedMessage: Sendable {
    package let message: Message
    package let fate: MessageFate?
}
