import createClient from "openapi-fetch";
import { ok, play, url } from "./play.js";
import type { components, paths } from "./stich.js";

const client = createClient<paths>({ baseUrl: url });

await play<components["schemas"]["State"]>({
  games: async () => ok((await client.GET("/v1/games")).data).games,
  start: async (body) => ok((await client.POST("/v1/start", { body })).data).state,
  async moves(state) {
    return ok((await client.POST("/v1/moves", { body: { state, details: true } })).data);
  },
  async isLegal(state, move) {
    return ok((await client.POST("/v1/validate", { body: { state, move } })).data).legal;
  },
  async advance(state, move) {
    return ok((await client.POST("/v1/advance", { body: { state, moves: [move] } })).data).state;
  },
  async refusal() {
    const body = { game: "dasan", players: 9 } as const;
    return ok((await client.POST("/v1/start", { body })).error).code;
  },
});
