import java.io.BufferedReader;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** Plays a tape to the client, resets its connection, and takes the verdict: {@code java ChatTest.java} after {@code javac ChatClient.java}. */
public final class ChatTest {
    public static void main(String[] words) throws Exception {
        String wiretape = System.getenv().getOrDefault("WIRETAPE_BIN", "wiretape");
        Process replay = new ProcessBuilder(List.of(
                wiretape, "replay", Path.of(words.length > 0 ? words[0] : "chat.tape").toString(), "--speed", "instant",
                "--fault", "reset after ReceiveMessage[1]", "--expect", "delays(0s)",
                "--until", "finished", "--timeout", "30s", "--events", "-", "--exit-with-parent"))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader events = replay.inputReader()) {
            // Always the first line: the listeners accept.
            URI hub = URI.create(member(events.readLine(), "ws"));
            new ChatClient(hub, "hello").run().get(20, TimeUnit.SECONDS);
            // Everything as it happens, to the last line, which has the verdict.
            for (String event; (event = events.readLine()) != null; ) {
                if ("fault".equals(member(event, "event"))) System.out.println("fault: " + member(event, "rule"));
                if ("end".equals(member(event, "event"))) System.out.println("verdict: " + member(event, "verdict"));
            }
        }
        // 0 pass, 2 diverged, 5 a policy or a rule: what any test framework asserts.
        System.exit(replay.waitFor());
    }

    /** A text of a line of JSON; a test of yours has a parser. */
    private static String member(String json, String name) {
        var found = Pattern.compile("\"" + name + "\":\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(json);
        return found.find() ? found.group(1) : null;
    }
}
