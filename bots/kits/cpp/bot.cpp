// Your bot: it chooses one of `moves`, given `view`.
#include "server.hpp"

namespace {

// The number of cards in a move: "play:3s3h" has two.
std::size_t cards(const std::string& move) {
    const auto colon = move.find(':');
    if (colon == std::string::npos) return 0;
    return (std::min(move.find('='), move.size()) - colon - 1) / 2;
}

// Choose one of `moves`, exactly as written.
//
// `moves` are all legal moves: "pass" first, then plays in order of number of cards and rank.
// `request` is the whole request; its "clock" has "move_ms" and "bank_ms". A comment and numbers in
// `info` are sent with the move: info["comment"] = "a bluff", info["nodes"] = 480. Several threads
// may call this function at once.
std::string choose(const json& view, const std::vector<std::string>& moves, const json& request,
                   json& info) {
    (void)request;
    (void)info;
    std::vector<std::string> plays;
    std::copy_if(moves.begin(), moves.end(), std::back_inserter(plays),
                 [](const std::string& move) { return move != "pass"; });
    if (plays.empty()) return "pass";
    if (view.at("phase") == "auction") return plays.front() == "bid:1" ? "bid:1" : "pass";
    const json table = view.value("table", json());
    if (table.is_object()) {
        if (table.at("seat") == view.at("seat")) return "pass";  // Zheng Fen: take my trick
        return plays.front();                                    // the lowest play that wins
    }
    return *std::max_element(plays.begin(), plays.end(),  // lead as many cards as possible
                             [](const std::string& a, const std::string& b) {
                                 return cards(a) < cards(b);
                             });
}

}  // namespace

int main() {
    return serve("my-cpp-bot", "0.1", {"doudizhu", "dasan", "zhengfen", "ninefivetwo"}, choose);
}
