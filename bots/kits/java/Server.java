import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executors;

/** The HTTP server of Bot.java: implements the bot protocol. */
record Server(String name, String version, List<String> games, Chooser chooser) {
    /** The decision. Several threads may call it at once. */
    @FunctionalInterface
    interface Chooser {
        String choose(JsonObject view, List<String> moves, JsonObject request, JsonObject info);
    }

    private static final Gson GSON = new Gson();

    /** Listen on 127.0.0.1 at $PORT (default 9000). Exit with status 1 if that is impossible. */
    void listen() {
        // Nagle's algorithm would delay each answer by 40 ms; the other two settings keep the
        // runner's connection open between moves.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.idleInterval", "86400");
        System.setProperty("sun.net.httpserver.maxIdleConnections", "200");
        String given = System.getenv("PORT");
        String port = given == null || given.isEmpty() ? "9000" : given;
        HttpServer server;
        try {
            InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(port));
            server = HttpServer.create(address, 128);
        } catch (IOException | IllegalArgumentException error) {
            System.err.println(name + ": cannot listen on port " + port + ": "
                    + error.getMessage() + "; set PORT to another port");
            System.exit(1);
            return;
        }
        server.createContext("/", this::handle);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.err.println(name + " " + version + " listens on http://127.0.0.1:"
                + server.getAddress().getPort());
    }

    private void handle(HttpExchange exchange) throws IOException {
        int status = 200;
        Object body = Map.of();
        try {
            byte[] bytes = exchange.getRequestBody().readAllBytes();
            switch (exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath()) {
                case "GET /" ->
                        body = Map.of("name", name, "version", version, "protocol", 1, "games", games);
                case "POST /move" -> body = move(new String(bytes, StandardCharsets.UTF_8));
                default -> status = 404;
            }
        } catch (RuntimeException | Error failure) { // Error: StackOverflowError
            failure.printStackTrace();
            status = 500;
            body = Map.of("error", failure.toString());
        }
        byte[] answer = GSON.toJson(body).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, answer.length);
        exchange.getResponseBody().write(answer);
        exchange.close();
    }

    private Map<String, Object> move(String text) {
        JsonObject request = GSON.fromJson(text, JsonObject.class);
        List<String> moves = List.of(GSON.fromJson(request.get("moves"), String[].class));
        JsonObject info = new JsonObject();
        String move = chooser.choose(request.getAsJsonObject("view"), moves, request, info);
        Objects.requireNonNull(move, "choose must return a string, not null");
        return Map.of("move", move, "info", info);
    }
}
