import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A chat client over SignalR's WebSockets, with sockets of the JDK only. It knows nothing of Wiretape. */
final class ChatClient implements WebSocket.Listener {
    private static final char END = '\u001e';
    private final HttpClient http = HttpClient.newHttpClient();
    private final URI hub;
    private final StringBuilder received = new StringBuilder();
    private final CompletableFuture<Void> through = new CompletableFuture<>();
    private final String said;

    /** Says one line at the hub (a ws URL). */
    ChatClient(URI hub, String said) {
        this.hub = hub;
        this.said = said;
    }

    /** Connects, and again at once when the connection is lost; done when the hub has acknowledged the line. */
    CompletableFuture<Void> run() {
        connect();
        return through;
    }

    private void connect() {
        received.setLength(0);
        http.newWebSocketBuilder().buildAsync(hub, this).exceptionally(error -> {
            through.completeExceptionally(error);
            return null;
        });
    }

    @Override
    public void onOpen(WebSocket socket) {
        socket.sendText("{\"protocol\":\"json\",\"version\":1}" + END, true);
        socket.request(1);
    }

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean isLast) {
        received.append(text);
        for (int end; (end = received.indexOf(String.valueOf(END))) >= 0; received.delete(0, end + 1)) {
            hear(socket, received.substring(0, end));
        }
        socket.request(1);
        return null;
    }

    private void hear(WebSocket socket, String message) {
        if (message.equals("{}")) {
            // What was not acknowledged is said again.
            socket.sendText("{\"type\":1,\"invocationId\":\"1\",\"target\":\"SendMessage\",\"arguments\":[\"ada\",\"" + said + "\"]}" + END, true);
        } else if (message.contains("\"type\":3")) {
            socket.sendClose(WebSocket.NORMAL_CLOSURE, "");
            through.complete(null);
        }
    }

    @Override
    public void onError(WebSocket socket, Throwable error) {
        if (!through.isDone()) connect();
    }

    @Override
    public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
        if (!through.isDone()) connect();
        return null;
    }
}
