// Swift's URLSession as a client of SignalR without WebSockets, which it does not have on Linux: client_urlsession URL, where URL is
// a hub's. It negotiates, talks over an event stream, then over long polling, and prints a line for each thing that it saw.
import Foundation
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

let hub = CommandLine.arguments[1]
let end = "\u{1e}"

func fail(_ text: String) -> Never {
    print("error", text)
    exit(1)
}

func request(_ method: String, _ query: String, _ path: String = "", _ body: String? = nil) -> URLRequest {
    guard let url = URL(string: hub + path + query) else { fail("no URL: \(hub)") }
    var request = URLRequest(url: url, timeoutInterval: 20)
    request.httpMethod = method
    if let body {
        request.httpBody = Data(body.utf8)
        request.setValue("text/plain;charset=UTF-8", forHTTPHeaderField: "Content-Type")
    }
    return request
}

/// The text of an answer, once it has come.
func ask(_ request: URLRequest) -> String {
    let done = DispatchSemaphore(value: 0)
    final class Answer: @unchecked Sendable { var text = "" }
    let answer = Answer()
    URLSession.shared.dataTask(with: request) { data, response, error in
        if let error { fail("\(request.httpMethod ?? ""): \(error.localizedDescription)") }
        guard let status = (response as? HTTPURLResponse)?.statusCode, status < 300 else {
            fail("\(request.httpMethod ?? ""): \(String(describing: response))")
        }
        answer.text = String(decoding: data ?? Data(), as: UTF8.self)
        done.signal()
    }.resume()
    done.wait()
    return answer.text
}

/// An answer that goes on: what has come of it.
final class Stream: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let changed = NSCondition()
    private var text = ""

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        changed.lock()
        text += String(decoding: data, as: UTF8.self)
        changed.broadcast()
        changed.unlock()
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        if let error, (error as? URLError)?.code != .cancelled { fail("stream: \(error.localizedDescription)") }
    }

    /// The first message that holds a text, once it has come.
    func message(with sought: String) -> String {
        changed.lock()
        defer { changed.unlock() }
        let limit = Date(timeIntervalSinceNow: 20)
        while true {
            // Whole lines; there are comments between the events.
            let lines = text.replacingOccurrences(of: "\r\n", with: "\n").components(separatedBy: "\n").dropLast()
            let data = lines.filter { $0.hasPrefix("data:") }.map { $0.dropFirst(5).drop { $0 == " " } }
            if let found = messages(data.joined()).first(where: { $0.contains(sought) }) { return found }
            if !changed.wait(until: limit) { fail("the stream has \(text)") }
        }
    }
}

func negotiate() -> String {
    let answer = ask(request("POST", "?negotiateVersion=1", "/negotiate", ""))
    guard let tree = try? JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any],
        let token = (tree["connectionToken"] ?? tree["connectionId"]) as? String
    else { fail("negotiate: \(answer)") }
    let offered = (tree["availableTransports"] as? [[String: Any]] ?? []).compactMap { $0["transport"] as? String }
    print("negotiate", offered.sorted().joined(separator: " "))
    return "?id=" + (token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? token)
}

let hello = #"{"protocol":"json","version":1}"# + end
func call(_ text: String) -> String {
    #"{"type":1,"invocationId":"1","target":"Echo","arguments":["\#(text)"]}"# + end
}
/// Messages but keepalives.
func messages(_ text: String) -> [String] {
    text.components(separatedBy: end).filter { !$0.isEmpty && !$0.contains(#""type":6"#) }
}

// Over an event stream.
var id = negotiate()
let stream = Stream()
let session = URLSession(configuration: .default, delegate: stream, delegateQueue: nil)
var listening = request("GET", id)
listening.setValue("text/event-stream", forHTTPHeaderField: "Accept")
let task = session.dataTask(with: listening)
task.resume()
_ = ask(request("POST", id, "", hello))
_ = stream.message(with: "{}")
for text in ["one", "two"] {
    _ = ask(request("POST", id, "", call(text)))
    print("stream", stream.message(with: text))
}
task.cancel()

// By long polling: the first poll opens the connection.
id = negotiate()
_ = ask(request("GET", id))
_ = ask(request("POST", id, "", hello))
var told = ""
func poll(until text: String) {
    let limit = Date(timeIntervalSinceNow: 20)
    while !messages(told).contains(where: { $0.contains(text) }) {
        if Date() > limit { fail("the polls have \(told)") }
        told += ask(request("GET", id))
    }
}
poll(until: "{}")
for text in ["three", "four"] {
    _ = ask(request("POST", id, "", call(text)))
    poll(until: text)
    print("poll", messages(told).last ?? "")
}
_ = ask(request("DELETE", id))
print("done")
