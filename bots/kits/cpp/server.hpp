// The HTTP server of bot.cpp: implements the bot protocol.
#pragma once

#include <httplib.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using json = nlohmann::json;
using Choose =
    std::function<std::string(const json& view, const std::vector<std::string>& moves,
                              const json& request)>;

namespace protocol {

inline void reply(httplib::Response& response, int status, const json& body) {
    response.status = status;
    // An error message may quote bytes that are not UTF-8.
    response.set_content(body.dump(-1, ' ', false, json::error_handler_t::replace),
                         "application/json");
}

inline void send_error(httplib::Response& response, int status, const std::string& sentence) {
    reply(response, status, {{"error", sentence}});
}

// Whether the request has what a decision needs.
inline bool complete(const json& request) {
    return request.is_object() && request.contains("view") && request["view"].is_object() &&
           request.contains("moves") && request["moves"].is_array() && !request["moves"].empty();
}

inline void move(const httplib::Request& http, httplib::Response& response, const Choose& choose) {
    json request;
    std::vector<std::string> moves;
    try {
        request = json::parse(http.body);
        if (!complete(request)) {
            return send_error(response, 400, "A move request needs view and moves.");
        }
        moves = request["moves"].get<std::vector<std::string>>();
    } catch (const json::exception& error) {
        return send_error(response, 400, std::string("The request is not valid: ") + error.what());
    }
    try {
        reply(response, 200, {{"move", choose(request["view"], moves, request)}});
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        send_error(response, 500, error.what());
    }
}

}  // namespace protocol

// Listen on 127.0.0.1 at $PORT (9000 without it) until the process ends. Returns 1 if it
// cannot.
inline int serve(const std::string& name, const std::string& version, const Choose& choose) {
    httplib::Server server;
    server.set_payload_max_length(16 << 20);  // far above the longest list of moves
    server.set_tcp_nodelay(true);
    // The runner keeps its connection between moves: never close it first.
    server.set_keep_alive_max_count(static_cast<std::size_t>(-1));
    server.set_keep_alive_timeout(24 * 60 * 60);
    // Each open connection occupies a thread.
    server.new_task_queue = [] { return new httplib::ThreadPool(32); };
    const json about = {{"name", name},
                        {"version", version},
                        {"protocol", 1},
                        {"games", {"doudizhu", "dasan", "zhengfen", "ninefivetwo"}}};
    server.Get("/", [&](const httplib::Request&, httplib::Response& response) {
        protocol::reply(response, 200, about);
    });
    server.Post("/move", [&](const httplib::Request& request, httplib::Response& response) {
        protocol::move(request, response, choose);
    });
    const auto nothing = [](const httplib::Request&, httplib::Response& response) {
        protocol::reply(response, 200, json::object());
    };
    server.Post("/start", nothing);
    server.Post("/end", nothing);
    const char* given = std::getenv("PORT");
    const int port = given ? std::atoi(given) : 9000;
    if (!server.bind_to_port("127.0.0.1", port)) {
        std::cerr << "Cannot listen on 127.0.0.1:" << port << std::endl;
        return 1;
    }
    std::cerr << name << " listens on http://127.0.0.1:" << port << std::endl;
    return server.listen_after_bind() ? 0 : 1;
}
