import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.List;

/** Your bot: it chooses one of the moves, given the view. */
public final class Bot {
    private Bot() {}

    /** The number of cards in a move: "play:3s3h" has two. */
    static int cards(String move) {
        String list = move.substring(move.indexOf(':') + 1).split("=")[0];
        return move.contains(":") ? list.length() / 2 : 0;
    }

    /**
     * Choose one of the moves, exactly as written.
     *
     * @param view what your seat knows: game, phase, seat, hand, counts, table, history and more
     * @param moves all legal moves: "pass" first, then plays in order of number of cards and rank
     * @param request the whole request; its "clock" has "move_ms" and "bank_ms"
     * @param info a comment and numbers to send: info.addProperty("comment", "a bluff")
     */
    static String choose(
            JsonObject view, List<String> moves, JsonObject request, JsonObject info) {
        List<String> plays = moves.stream().filter(move -> !move.equals("pass")).toList();
        if (plays.isEmpty()) {
            return "pass";
        }
        if (view.get("phase").getAsString().equals("auction")) {
            return plays.get(0).equals("bid:1") ? "bid:1" : "pass";
        }
        JsonElement table = view.get("table");
        if (table != null && table.isJsonObject()) {
            boolean mine = table.getAsJsonObject().get("seat").equals(view.get("seat"));
            return mine ? "pass" : plays.get(0); // Zheng Fen: take my trick; else the lowest play
        }
        int most = plays.stream().mapToInt(Bot::cards).max().getAsInt();
        return plays.stream().filter(move -> cards(move) == most).findFirst().get();
    }

    public static void main(String[] arguments) {
        List<String> games = List.of("doudizhu", "dasan", "zhengfen", "ninefivetwo");
        new Server("my-java-bot", "0.1", games, Bot::choose).listen();
    }
}
