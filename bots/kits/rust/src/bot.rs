//! Your bot: it chooses one of `moves`, given `view`.

use serde_json::{Map, Value};

pub const NAME: &str = "my-rust-bot";
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
pub const GAMES: &[&str] = &["doudizhu", "dasan", "zhengfen", "ninefivetwo"];

/// The number of cards in a move: "play:3s3h" has two.
fn cards(a_move: &str) -> usize {
    let list = a_move.split_once(':').map_or("", |(_, list)| list);
    list.split('=').next().unwrap_or("").len() / 2
}

/// Choose one of `moves`, exactly as written.
///
/// `moves` are all legal moves: `pass` first, then plays in order of number of cards and rank.
/// `request` is the whole request; its `clock` has `move_ms` and `bank_ms`. Several threads may
/// call this function at once. A comment and numbers in `info` are sent with the move, for instance
/// `info.insert("nodes".into(), 480.into())`. An error or a panic is answered with status 500.
pub fn choose<'a>(
    view: &Value,
    moves: &[&'a str],
    _request: &Value,
    _info: &mut Map<String, Value>,
) -> Result<&'a str, Box<dyn std::error::Error>> {
    let plays: Vec<&str> = moves.iter().copied().filter(|m| *m != "pass").collect();
    let least = match plays.first() {
        None => return Ok("pass"),
        Some(first) => *first,
    };
    if view["phase"] == "auction" {
        return Ok(if least == "bid:1" { "bid:1" } else { "pass" });
    }
    if view["table"].is_object() {
        let mine = view["table"]["seat"] == view["seat"];
        return Ok(if mine { "pass" } else { least }); // Zheng Fen: take my trick; else the lowest play
    }
    let most = plays.iter().map(|m| cards(m)).max().unwrap_or(0);
    let lead = plays.iter().find(|m| cards(m) == most);
    Ok(lead.copied().unwrap_or(least)) // lead as many cards as possible
}
