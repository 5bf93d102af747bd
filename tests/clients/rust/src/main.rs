//! Plays one whole game of each kind at a URL with the Rust client made by openapi-generator.

use openapi::apis::configuration::Configuration;
use openapi::apis::play_api::{list_moves, make_moves, start_game, validate_move};
use openapi::apis::{games_api::list_games, Error};
use openapi::models::{AdvanceRequest, MovesRequest, StartRequest, State, ValidateRequest};
use serde_json::{from_str, from_value, json, to_value, Value};

fn start(game: &Value, deals: u32) -> StartRequest {
    from_value(json!({"game": game, "seed": "rust", "options": {"deals": deals}})).unwrap()
}

fn common(state: &State) -> Value {
    to_value(state).unwrap()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut service = Configuration::new();
    service.base_path = std::env::args().nth(1).expect("usage: play URL");
    for brief in list_games(&service).await.unwrap().games {
        let game = to_value(brief.game).unwrap();
        let mut state = *start_game(&service, start(&game, 1)).await.unwrap().state;
        while common(&state)["phase"] != "over" {
            let mut listing = MovesRequest::new();
            listing.state = Some(Some(Box::new(state.clone())));
            listing.details = Some(Some(true));
            let listed = list_moves(&service, listing).await.unwrap();
            let chosen = listed.moves[listed.details.unwrap().len() - 1].clone();
            let mut checking = ValidateRequest::new(chosen.clone());
            checking.state = Some(Some(Box::new(state.clone())));
            assert!(validate_move(&service, checking).await.unwrap().legal);
            let making = AdvanceRequest::new(state, vec![chosen]);
            state = *make_moves(&service, making).await.unwrap().state;
        }
        let over = common(&state);
        let results = over["results"].as_array().unwrap().len();
        println!("{}", json!({"game": game, "scores": over["scores"], "results": results}));
    }
    match start_game(&service, start(&json!("dasan"), 2000)).await {
        Err(Error::ResponseError(refused)) => {
            let problem: Value = from_str(&refused.content).unwrap();
            println!("{}", json!({"code": problem["code"]}));
        }
        _ => panic!("a wrong start was accepted"),
    }
}
