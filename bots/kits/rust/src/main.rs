//! The HTTP server of bot.rs: implements the bot protocol.

mod bot;

use serde_json::{json, Map, Value};
use std::io::Read;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use tiny_http::{Header, Method, Request, Response, Server};

/// Bytes of one request; far above the longest list of moves.
const LIMIT: u64 = 16 << 20;
/// Requests that are answered in parallel.
const THREADS: usize = 4;

/// A response other than 200: its status and message.
struct HttpError(u16, String);

impl HttpError {
    fn new(status: u16, sentence: impl ToString) -> Self {
        HttpError(status, sentence.to_string())
    }
}

fn read(request: &mut Request) -> Result<Value, HttpError> {
    let mut text = String::new();
    let mut body = request.as_reader().take(LIMIT + 1);
    if let Err(error) = body.read_to_string(&mut text) {
        return Err(HttpError::new(400, format!("The request cannot be read: {error}.")));
    }
    if text.len() as u64 > LIMIT {
        return Err(HttpError::new(413, "The request is too large."));
    }
    match serde_json::from_str(&text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(HttpError::new(400, "The request is not a JSON object.")),
        Err(error) => Err(HttpError::new(400, format!("The request is not JSON: {error}."))),
    }
}

fn decide(request: &Value) -> Result<Value, HttpError> {
    let incomplete = || HttpError::new(400, "A move request needs view and moves.");
    let listed = request["moves"].as_array().ok_or_else(incomplete)?;
    let moves: Option<Vec<&str>> = listed.iter().map(Value::as_str).collect();
    let moves = moves.filter(|moves| !moves.is_empty()).ok_or_else(incomplete)?;
    if !request["view"].is_object() {
        return Err(incomplete());
    }
    // Without catch_unwind a panic would end the thread, and the bot after a few of them.
    let mut info = Map::new();
    let chosen = catch_unwind(AssertUnwindSafe(|| {
        bot::choose(&request["view"], &moves, request, &mut info)
    }));
    match chosen {
        Ok(Ok(chosen)) => Ok(json!({ "move": chosen, "info": info })),
        Ok(Err(error)) => {
            eprintln!("{error}");
            Err(HttpError::new(500, error))
        }
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            let text = text.unwrap_or_else(|| "see stderr".to_string());
            Err(HttpError::new(500, format!("choose panicked: {text}")))
        }
    }
}

fn answer(request: &mut Request) -> Result<Value, HttpError> {
    let path = request.url().split('?').next().unwrap_or("").to_string();
    match (path.as_str(), request.method()) {
        ("/", Method::Get) => Ok(json!({
            "name": bot::NAME,
            "version": bot::VERSION,
            "protocol": 1,
            "games": bot::GAMES,
        })),
        ("/move", Method::Post) => decide(&read(request)?),
        _ => Err(HttpError::new(404, "The paths are GET / and POST /move.")),
    }
}

fn serve(server: &Server) {
    for mut request in server.incoming_requests() {
        let (status, body) = match answer(&mut request) {
            Ok(body) => (200, body),
            Err(HttpError(status, sentence)) => (status, json!({ "error": sentence })),
        };
        let json = Header::from_bytes("Content-Type", "application/json").expect("a header");
        let response = Response::from_string(body.to_string())
            .with_status_code(status)
            .with_header(json);
        if let Err(error) = request.respond(response) {
            eprintln!("The answer was not sent: {error}");
        }
    }
}

fn main() {
    let given = std::env::var("PORT").ok().filter(|port| !port.is_empty());
    let port = given.unwrap_or_else(|| "9000".to_string());
    let server = match Server::http(format!("127.0.0.1:{port}")) {
        Ok(server) => Arc::new(server),
        Err(error) => {
            let name = bot::NAME;
            eprintln!(
                "{name}: cannot listen on 127.0.0.1:{port}: {error}; set PORT to another port"
            );
            std::process::exit(1);
        }
    };
    eprintln!("{} {} listens on http://{}", bot::NAME, bot::VERSION, server.server_addr());
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let server = Arc::clone(&server);
            std::thread::spawn(move || serve(&server))
        })
        .collect();
    for thread in threads {
        if thread.join().is_err() {
            std::process::exit(1); // a panic: exit, so that the runner restarts the bot
        }
    }
}
