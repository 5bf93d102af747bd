// The types of the bot protocol. docs/bots.md explains the requests, and docs/views.md the views.

/** A card: rank, then suit; `Bj` and `Rj` are the jokers. */
export type Card = string;
/** A card, or `??` if it is hidden from this seat. */
export type MaskedCard = string;
/** A move, such as `pass`, `bid:2`, `call:7h`, `trump:h`, `give:3h`, `discard:4d` or `play:3s3h`. */
export type Move = string;

type Rank = "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "T" | "J" | "Q" | "K" | "A";
type Joker = "Bj" | "Rj";

/** A move and the seat that made it. */
export interface Entry {
  seat: number;
  move: Move;
}

/** The fields of every view. `R` has the fields of a finished deal that only this game has. */
interface Position<Name, Phase, Options, R> {
  game: Name;
  players: number;
  options: Options;
  deal: number;
  phase: Phase | "play" | "over";
  turn: number | null;
  dealer: number;
  history: Entry[];
  scores: number[];
  results: (R & { deal: number; scores: number[] })[];
  seat: number | null;
  hand: Card[];
  counts: number[];
}

/** The fields of the climbing games: all but 9-5-2. `table` is the play to beat. */
interface Climbing<Category, Rank> {
  passes: number;
  table: (Entry & { category: Category; rank: Rank; length: number }) | null;
  first: number;
}

export interface DoudizhuView
  extends Position<"doudizhu", "auction", DoudizhuOptions, DoudizhuResult>,
    Climbing<DoudizhuCategory, Rank | Joker> {
  exposed: Card | null;
  talon: MaskedCard[];
  bid: number;
  declarer: number | null;
  doublings: number;
}

interface DoudizhuOptions {
  deals: number;
  redeals: number;
  quad_pair_as_solos: boolean;
  spring: boolean;
  reveal_talon: boolean;
  single_round: boolean;
}

interface DoudizhuResult {
  declarer: number | null;
  bid: number;
  doublings: number;
  out: number | null;
}

type DoudizhuCategory =
  | "solo" | "pair" | "triple" | "triple+solo" | "triple+pair" | "run" | "pair-run" | "triple-run"
  | "triple-run+solos" | "triple-run+pairs" | "quad+solos" | "quad+pairs" | "bomb" | "rocket";

export interface DasanView
  extends Position<"dasan", "auction" | "call", DasanOptions, DasanResult>,
    Climbing<DasanCategory, Rank> {
  talon: MaskedCard[];
  bid: number;
  declarer: number | null;
  called: Card | null;
  partner: number | null;
}

interface DasanOptions {
  deals: number;
  reveal_talon: boolean;
  open_higher: boolean;
}

interface DasanResult {
  declarer: number;
  bid: number;
  out: number;
  called: Card | null;
  partner: number | null;
}

type DasanCategory =
  | "single" | "pair" | "triple" | "quad" | "run" | "pair-run" | "triple-run" | "quad-run";

export interface ZhengfenView
  extends Position<"zhengfen", never, ZhengfenOptions, ZhengfenResult>,
    Climbing<ZhengfenCategory, Rank | Joker> {
  trick: Card[];
  taken: Card[][];
  out: number[];
}

interface ZhengfenOptions {
  target: number;
  deals: number | null;
}

interface ZhengfenResult {
  first: number;
  last: number;
}

type ZhengfenCategory =
  | "single" | "pair" | "triple" | "quad" | "pair-run" | "triple-run" | "quad-run" | "fullhouse"
  | "flush" | "510k" | "510k-suited" | "2222";

type BeforePlay = "exchange" | "trump" | "discard";

export interface NinefivetwoView
  extends Position<"ninefivetwo", BeforePlay, NinefivetwoOptions, NinefivetwoResult> {
  targets: number[];
  trump: "c" | "d" | "h" | "s" | null;
  talon: MaskedCard[];
  discards: MaskedCard[];
  /** The open pairings of the exchange. */
  owed: (Pairing & { count: number })[];
  /** The completed pairings of the exchange. */
  exchanged: (Pairing & { returned: MaskedCard[] })[];
  trick: Entry[];
  tricks: number[];
}

interface NinefivetwoOptions {
  target: number;
  deals: number;
}

interface NinefivetwoResult {
  tricks: number[];
  targets: number[];
}

interface Pairing {
  giver: number;
  debtor: number;
  given: MaskedCard[];
}

/** One view for each game; `view.game` tells them apart. */
export type View = DoudizhuView | DasanView | ZhengfenView | NinefivetwoView;
export type Game = View["game"];

/** A comment and numbers that a bot sends with its move. */
export type Info = { comment?: string; [name: string]: unknown };

/** The time for a move and the time in the bank, in milliseconds. */
export interface Clock {
  move_ms: number;
  bank_ms: number;
}

/** A request for a move. */
export interface MoveRequest {
  protocol: number;
  match: string;
  turn: number;
  view: View;
  moves: Move[];
  clock: Clock;
}

/** A match begins. */
export interface StartRequest {
  protocol: number;
  match: string;
  game: Game;
  seat: number;
  players: number;
  options: { [name: string]: unknown };
  clock: Clock;
  names?: string[];
}

/** A match is over. */
export interface EndRequest {
  protocol: number;
  match: string;
  game: Game;
  seat: number;
  scores: number[];
}
