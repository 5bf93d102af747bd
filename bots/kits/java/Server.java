import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/** The HTTP server of Bot.java: implements the bot protocol. */
final class Server {
    /** The decision. Several threads may call it at once. */
    @FunctionalInterface
    interface Chooser {
        String choose(JsonObject view, List<String> moves, JsonObject request, JsonObject info);
    }

    /** A response other than 200. */
    private static final class HttpError extends Exception {
        private static final long serialVersionUID = 1;
        private final int status;

        HttpError(int status, String sentence) {
            super(sentence);
            this.status = status;
        }
    }

    /** Far above the longest list of moves. */
    private static final int LIMIT = 16 << 20;

    private static final Gson GSON = new Gson();
    private final Chooser chooser;
    private final String name;
    private final String version;
    private final JsonObject about = new JsonObject();

    Server(String name, String version, List<String> games, Chooser chooser) {
        this.name = name;
        this.version = version;
        this.chooser = chooser;
        about.addProperty("name", name);
        about.addProperty("version", version);
        about.addProperty("protocol", 1);
        JsonArray listed = new JsonArray();
        games.forEach(listed::add);
        about.add("games", listed);
    }

    /** Listen on 127.0.0.1 at $PORT (9000 without it) until the process ends. */
    void listen() {
        // Nagle's algorithm would delay each answer by 40 ms; the other two settings keep the
        // runner's connection open between moves.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.idleInterval", "86400");
        System.setProperty("sun.net.httpserver.maxIdleConnections", "200");
        int port = port();
        HttpServer server;
        try {
            server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 128);
        } catch (IOException error) {
            System.err.println(name + ": cannot listen on 127.0.0.1:" + port + ": "
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

    /** The port to listen on: $PORT, or 9000. Ends the process if it is not a port number. */
    private int port() {
        String given = System.getenv("PORT");
        String port = given == null || given.isEmpty() ? "9000" : given;
        if (!port.matches("[0-9]{1,5}") || Integer.parseInt(port) > 65535) {
            System.err.println(
                    name + ": PORT must be a number from 0 to 65535, not \"" + port + "\"");
            System.exit(2);
        }
        return Integer.parseInt(port);
    }

    private void handle(HttpExchange exchange) throws IOException {
        int status = 200;
        JsonObject body;
        try {
            body = answer(exchange);
        } catch (HttpError error) {
            status = error.status;
            body = error(error.getMessage());
        } catch (RuntimeException | Error failure) { // Error: StackOverflowError
            failure.printStackTrace();
            status = 500;
            body = error(failure.toString());
        }
        byte[] bytes = GSON.toJson(body).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private static JsonObject error(String sentence) {
        JsonObject body = new JsonObject();
        body.addProperty("error", sentence);
        return body;
    }

    private JsonObject answer(HttpExchange exchange) throws IOException, HttpError {
        String path = exchange.getRequestURI().getPath();
        switch (exchange.getRequestMethod() + " " + path) {
            case "GET /":
                return about;
            case "POST /move":
                return move(read(exchange));
            default:
                throw new HttpError(404, "The paths are GET / and POST /move.");
        }
    }

    private static void require(boolean right, int status, String sentence) throws HttpError {
        if (!right) {
            throw new HttpError(status, sentence);
        }
    }

    private static JsonObject read(HttpExchange exchange) throws IOException, HttpError {
        byte[] bytes;
        try (InputStream stream = exchange.getRequestBody()) {
            bytes = stream.readNBytes(LIMIT + 1);
        }
        require(bytes.length <= LIMIT, 413, "The request is too large.");
        try {
            String text = new String(bytes, StandardCharsets.UTF_8);
            JsonObject body = GSON.fromJson(text, JsonObject.class);
            require(body != null, 400, "The request is empty.");
            return body;
        } catch (JsonParseException | ClassCastException wrong) {
            throw new HttpError(400, "The request is not a JSON object.");
        }
    }

    private JsonObject move(JsonObject request) throws HttpError {
        JsonElement view = request.get("view");
        JsonElement listed = request.get("moves");
        boolean complete =
                view != null && view.isJsonObject() && listed != null && listed.isJsonArray();
        require(complete && listed.getAsJsonArray().size() > 0, 400,
                "A move request needs view and moves.");
        List<String> moves = new ArrayList<>();
        listed.getAsJsonArray().forEach(move -> moves.add(move.getAsString()));
        JsonObject info = new JsonObject();
        String move = chooser.choose(view.getAsJsonObject(), moves, request, info);
        if (move == null) {
            throw new NullPointerException("choose must return a string, not null");
        }
        JsonObject body = new JsonObject();
        body.addProperty("move", move);
        body.add("info", info);
        return body;
    }
}
