// Plays one whole game of each kind with any client, and prints what the tests expect.

export interface Position {
  phase: string;
  scores: number[];
  results: unknown[];
}

const starts = [
  { game: "doudizhu", players: 3, seed: "walk", options: { spring: true } },
  { game: "dasan", players: null, options: { deals: 1 } },
  { game: "zhengfen", options: { deals: 1 } },
  { game: "ninefivetwo", options: { deals: 1 } },
] as const;

/** What each generated client does under names of its own. */
export interface Client<State extends Position> {
  games(): Promise<{ game: string }[]>;
  start(body: (typeof starts)[number]): Promise<State>;
  moves(state: State): Promise<{ moves: string[]; details?: { category: string | null }[] | null }>;
  isLegal(state: State, move: string): Promise<boolean>;
  advance(state: State, move: string): Promise<State>;
  /** The code of the problem that a wrong start gets. */
  refusal(): Promise<string>;
}

export const url = process.argv[2] ?? "";

export function ok<T>(answer: T | null | undefined): T {
  if (answer === undefined || answer === null) throw new Error("the service refused a request");
  return answer;
}

export async function play<State extends Position>(client: Client<State>): Promise<void> {
  for (const { game } of await client.games()) {
    let state = await client.start(ok(starts.find((start) => start.game === game)));
    while (state.phase !== "over") {
      const { moves, details } = await client.moves(state);
      const move = ok(moves[moves.length - 1]);
      if (ok(details).length !== moves.length) throw new Error("details are missing");
      if (!(await client.isLegal(state, move))) throw new Error(`${move} is illegal`);
      state = await client.advance(state, move);
    }
    console.log(JSON.stringify({ game, scores: state.scores, results: state.results.length }));
  }
  console.log(JSON.stringify({ code: await client.refusal() }));
}
