//! The HTTP server of bot.rs: implements the bot protocol.

mod bot;

use serde_json::{json, Map, Value};
use std::error::Error;
use tiny_http::{Header, Method, Request, Response, Server};

fn decide(request: &Value) -> Result<Value, Box<dyn Error>> {
    let listed = request["moves"].as_array().ok_or("A move request needs moves.")?;
    let moves: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
    let mut info = Map::new();
    let chosen = bot::choose(&request["view"], &moves, request, &mut info)?;
    Ok(json!({ "move": chosen, "info": info }))
}

fn answer(request: &mut Request) -> Result<Value, Box<dyn Error>> {
    match (request.url(), request.method()) {
        ("/", Method::Get) => Ok(json!({
            "name": bot::NAME,
            "version": bot::VERSION,
            "protocol": 1,
            "games": bot::GAMES,
        })),
        ("/move", Method::Post) => decide(&serde_json::from_reader(request.as_reader())?),
        _ => Ok(Value::Null),
    }
}

fn serve(mut request: Request) {
    let (status, body) = match answer(&mut request) {
        Ok(Value::Null) => (404, json!({ "error": "There is no such path." })),
        Ok(body) => (200, body),
        Err(error) => {
            eprintln!("{error}");
            (500, json!({ "error": error.to_string() }))
        }
    };
    let json = Header::from_bytes("Content-Type", "application/json").expect("a header");
    let response = Response::from_string(body.to_string())
        .with_status_code(status)
        .with_header(json);
    if let Err(error) = request.respond(response) {
        eprintln!("The answer was not sent: {error}");
    }
}

fn main() {
    let given = std::env::var("PORT").ok().filter(|port| !port.is_empty());
    let port = given.unwrap_or_else(|| "9000".to_string());
    let name = bot::NAME;
    let server = Server::http(format!("127.0.0.1:{port}")).unwrap_or_else(|error| {
        eprintln!("{name}: cannot listen on port {port}: {error}; set PORT to another port");
        std::process::exit(1);
    });
    eprintln!("{name} {} listens on http://{}", bot::VERSION, server.server_addr());
    for request in server.incoming_requests() {
        // A panic ends only this thread. The request is then answered with status 500.
        std::thread::spawn(|| serve(request));
    }
}
