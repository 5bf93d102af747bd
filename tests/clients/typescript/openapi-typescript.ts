import createClient from "openapi-fetch";
import { ok, play, url } from "./play.js";
import type { components, paths } from "./stich.js";

type Start = components["schemas"]["StartRequest"];
const client = createClient<paths>({ baseUrl: url });
const starts: Start[] = [
  { game: "doudizhu", players: 3, seed: "walk", options: { spring: true } },
  { game: "dasan", players: null, options: { deals: 1 } },
  { game: "zhengfen", options: { deals: 1 } },
  { game: "ninefivetwo", options: { deals: 1 } },
];

await play<components["schemas"]["State"]>({
  games: async () => ok((await client.GET("/v1/games")).data).games.map(({ game }) => game),
  async start(game) {
    const body = ok(starts.find((start) => start.game === game));
    return ok((await client.POST("/v1/start", { body })).data).state;
  },
  async moves(state) {
    const { data } = await client.POST("/v1/moves", { body: { state, details: true } });
    return { moves: ok(data).moves, categories: ok(ok(data).details).map((one) => one.category) };
  },
  async isLegal(state, move) {
    return ok((await client.POST("/v1/validate", { body: { state, move } })).data).legal;
  },
  async advance(state, move) {
    return ok((await client.POST("/v1/advance", { body: { state, moves: [move] } })).data).state;
  },
  async refusal() {
    const body: Start = { game: "dasan", players: 9 };
    return ok((await client.POST("/v1/start", { body })).error).code;
  },
});
