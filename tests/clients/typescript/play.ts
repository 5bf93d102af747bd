// Plays one whole game of each kind with the types made by openapi-typescript.

import createClient from "openapi-fetch";
import type { components, paths } from "./stich.js";

type State = components["schemas"]["State"];
type Start = components["schemas"]["StartRequest"];

const url = process.argv[2];
if (url === undefined) throw new Error("usage: play.js URL");
const client = createClient<paths>({ baseUrl: url });

async function start(body: Start): Promise<State> {
  const { data, error } = await client.POST("/v1/start", { body });
  if (data === undefined) throw new Error(`${error.code}: ${error.detail}`);
  if (!("state" in data)) throw new Error("the state is sealed");
  return data.state;
}

async function listMoves(state: State): Promise<string[]> {
  const { data, error } = await client.POST("/v1/moves", { body: { state } });
  if (data === undefined) throw new Error(`${error.code}: ${error.detail}`);
  return data.moves;
}

async function advance(state: State, move: string): Promise<State> {
  const { data, error } = await client.POST("/v1/advance", { body: { state, moves: [move] } });
  if (data === undefined) throw new Error(`${error.code}: ${error.detail}`);
  if (!("state" in data)) throw new Error("the state is sealed");
  return data.state;
}

async function play(body: Start): Promise<State> {
  let state = await start(body);
  while (state.phase !== "over") {
    const moves = await listMoves(state);
    const move = moves[moves.length - 1];
    if (move === undefined) throw new Error("there is no legal move");
    state = await advance(state, move);
  }
  return state;
}

const { data } = await client.GET("/v1/games");
for (const { game } of data?.games ?? []) {
  const options = { deals: 1 };
  const state = await play({ game, seed: "typescript", options } as Start);
  console.log(JSON.stringify({ game, scores: state.scores, results: state.results.length }));
}

const refused = await client.POST("/v1/start", { body: { game: "dasan", players: 9 } });
console.log(JSON.stringify({ code: refused.error?.code }));
