// The HTTP server of bot.cpp: implements the bot protocol.
#pragma once

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using json = nlohmann::json;
using Choose =
    std::function<std::string(const json& view, const std::vector<std::string>& moves,
                              const json& request, json& info)>;

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

inline void move(const httplib::Request& http, httplib::Response& response, const Choose& choose) {
    json request;
    std::vector<std::string> moves;
    try {
        request = json::parse(http.body);
        moves = request.at("moves").get<std::vector<std::string>>();
        if (moves.empty() || !request.at("view").is_object()) {
            return send_error(response, 400, "A move request needs view and moves.");
        }
    } catch (const json::exception& error) {
        return send_error(response, 400, std::string("The request is not valid: ") + error.what());
    }
    try {
        json info = json::object();
        const std::string chosen = choose(request["view"], moves, request, info);
        reply(response, 200, {{"move", chosen}, {"info", info}});
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        send_error(response, 500, error.what());
    } catch (...) {
        const char* const sentence = "choose threw something that is not a std::exception";
        std::cerr << sentence << std::endl;
        send_error(response, 500, sentence);
    }
}

// Fills in the body of an answer that the library itself decided on.
inline void explain(const httplib::Request&, httplib::Response& response) {
    if (!response.body.empty()) return;
    if (response.status == 404) {
        return send_error(response, 404, "The paths are GET / and POST /move.");
    }
    send_error(response, response.status, "The request is not valid.");
}

// The port to listen on: $PORT, or 9000 without it. -1 if it is not a port number.
inline int port_number(const std::string& name) {
    const char* const given = std::getenv("PORT");
    const std::string port = given && *given ? given : "9000";
    const bool digits = port.find_first_not_of("0123456789") == std::string::npos;
    if (digits && port.size() <= 5 && std::stoi(port) <= 65535) return std::stoi(port);
    std::cerr << name << ": PORT must be a number from 0 to 65535, not \"" << port << "\""
              << std::endl;
    return -1;
}

}  // namespace protocol

// Listen on 127.0.0.1 at $PORT (9000 without it) until the process ends. Returns 1 if it
// cannot, 2 if $PORT is not a port number.
inline int serve(const std::string& name, const std::string& version,
                 const std::vector<std::string>& games, const Choose& choose) {
    int port = protocol::port_number(name);
    if (port < 0) return 2;
    httplib::Server server;
    // The library's default is SO_REUSEPORT: two bots on one port would each get some requests.
    server.set_socket_options([](socket_t socket) {
        const int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
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
                        {"games", games}};
    server.Get("/", [&](const httplib::Request&, httplib::Response& response) {
        protocol::reply(response, 200, about);
    });
    server.Post("/move", [&](const httplib::Request& request, httplib::Response& response) {
        protocol::move(request, response, choose);
    });
    server.set_error_handler(protocol::explain);
    const bool bound = port == 0 ? (port = server.bind_to_any_port("127.0.0.1")) > 0
                                 : server.bind_to_port("127.0.0.1", port);
    if (!bound) {
        std::cerr << name << ": cannot listen on 127.0.0.1:" << port << ": "
                  << std::strerror(errno) << "; set PORT to another port" << std::endl;
        return 1;
    }
    std::cerr << name << " " << version << " listens on http://127.0.0.1:" << port << std::endl;
    return server.listen_after_bind() ? 0 : 1;
}
