// The HTTP server of bot.cpp: implements the bot protocol.
#pragma once

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using json = nlohmann::json;
using Choose =
    std::function<std::string(const json& view, const std::vector<std::string>& moves,
                              const json& request, json& info)>;

// A new thread for each connection: one that is kept open would occupy a thread of a pool.
struct Threads : httplib::TaskQueue {
    using Taken = decltype(std::declval<httplib::TaskQueue>().enqueue({}));  // void, later bool
    Taken enqueue(std::function<void()> work) override {
        std::thread(std::move(work)).detach();
        return static_cast<Taken>(true);
    }
    void shutdown() override {}
};

// Answer a request for a move. An exception, even for invalid JSON, is answered with status 500.
inline void move(const httplib::Request& http, httplib::Response& response, const Choose& choose) {
    json answer;
    try {
        const json request = json::parse(http.body);
        json info = json::object();
        const std::string chosen = choose(request.at("view"), request.at("moves"), request, info);
        answer = {{"move", chosen}, {"info", info}};
    } catch (const std::exception& error) {
        response.status = 500;
        answer = {{"error", error.what()}};
    }
    // An error message may quote bytes that are not UTF-8.
    const std::string text = answer.dump(-1, ' ', false, json::error_handler_t::replace);
    if (response.status == 500) std::cerr << text << std::endl;
    response.set_content(text, "application/json");
}

// Listen on 127.0.0.1 at $PORT (default 9000) until the process ends. Return 1 on failure.
inline int serve(const std::string& name, const std::string& version,
                 const std::vector<std::string>& games, const Choose& choose) {
    httplib::Server server;
    // The library's default is SO_REUSEPORT: two bots on one port would each get some requests.
    server.set_socket_options([](socket_t socket) {
        const int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server.set_tcp_nodelay(true);
    // The runner keeps its connection between moves: never close it first.
    server.set_keep_alive_max_count(static_cast<std::size_t>(-1));
    server.set_keep_alive_timeout(24 * 60 * 60);
    server.new_task_queue = [] { return new Threads; };
    const json about = {{"name", name}, {"version", version}, {"protocol", 1}, {"games", games}};
    server.Get("/", [&](const httplib::Request&, httplib::Response& response) {
        response.set_content(about.dump(), "application/json");
    });
    server.Post("/move", [&](const httplib::Request& request, httplib::Response& response) {
        move(request, response, choose);
    });
    const char* const given = std::getenv("PORT");
    const std::string wanted = given && *given ? given : "9000";
    char* end = nullptr;
    const long port = std::strtol(wanted.c_str(), &end, 10);
    const bool valid = *end == '\0' && port > 0 && port <= 65535;
    if (!valid || !server.bind_to_port("127.0.0.1", static_cast<int>(port))) {
        std::cerr << name << ": cannot listen on port " << wanted << "; set PORT to another port"
                  << std::endl;
        return 1;
    }
    std::cerr << name << " " << version << " listens on http://127.0.0.1:" << port << std::endl;
    return server.listen_after_bind() ? 0 : 1;
}
