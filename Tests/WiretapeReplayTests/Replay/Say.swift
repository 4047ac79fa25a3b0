/// Records of the hub protocol, short.
func push(_ target: String, _ arguments: String = "") -> String {
    #"{"type":1,"target":"\#(target)","arguments":[\#(arguments)]}"#
}

func call(_ id: String, _ target: String, _ arguments: String = "") -> String {
    #"{"type":1,"invocationId":"\#(id)","target":"\#(target)","arguments":[\#(arguments)]}"#
}

func stream(_ id: String, _ target: String, _ arguments: String = "") -> String {
    #"{"type":4,"invocationId":"\#(id)","target":"\#(target)","arguments":[\#(arguments)]}"#
}

func item(_ id: String, _ value: String) -> String { #"{"type":2,"invocationId":"\#(id)","item":\#(value)}"# }

func done(_ id: String, _ result: String) -> String { #"{"type":3,"invocationId":"\#(id)","result":\#(result)}"# }

func end(_ id: String) -> String { #"{"type":3,"invocationId":"\#(id)"}"# }

func cancel(_ id: String) -> String { #"{"type":5,"invocationId":"\#(id)"}"# }

/// The protocol's error to a request that the tape does not have.
func refused(_ id: String, _ title: String) -> String {
    let error = "wiretape: diverged at \(title): not on chat.tape".replacing("\"", with: "\\\"")
    return #"{"type":3,"invocationId":"\#(id)","error":"\#(error)"}"#
}
