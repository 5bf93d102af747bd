// The bot protocol's types by short names; api.d.ts is generated from the contract, openapi.yaml.
import type { components } from "./api.js";

type Schemas = components["schemas"];

export type Game = Schemas["GameName"];
/** One view for each game; `view.game` tells them apart. */
export type View = Schemas["View"];
export type DoudizhuView = Schemas["DoudizhuView"];
export type DasanView = Schemas["DasanView"];
export type ZhengfenView = Schemas["ZhengfenView"];
export type NinefivetwoView = Schemas["NinefivetwoView"];
export type Move = Schemas["Move"];
export type MoveRequest = Schemas["BotMoveRequest"];
export type MoveAnswer = Schemas["BotMoveAnswer"];
/** A comment and numbers that a bot sends with its move. */
export type Info = NonNullable<MoveAnswer["info"]>;
export type StartRequest = Schemas["BotStart"];
export type EndRequest = Schemas["BotEnd"];
export type Card = Schemas["BotCard"];
