// Plays one whole game of each kind with the C# client made by openapi-generator.
//
// Usage: dotnet run -- URL

using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Org.OpenAPITools.Api;
using Org.OpenAPITools.Client;
using Org.OpenAPITools.Model;

StartRequest Start(string game, int deals) => StartRequest.FromJson(
    $$"""{"game": "{{game}}", "seed": "csharp", "options": {"deals": {{deals}}}}""");

JObject Common(State state) => JObject.Parse(state.ToJson());

var play = new PlayApi(args[0]);
foreach (var brief in new GamesApi(args[0]).ListGames().Games)
{
    var game = JToken.FromObject(brief.Game).ToString();
    var state = play.StartGame(Start(game, 1)).State;
    while ((string)Common(state)["phase"] != "over")
    {
        var listed = play.ListMoves(new MovesRequest(state: state, details: true));
        var move = listed.Moves[listed.Details.Count - 1];
        if (!play.ValidateMove(new ValidateRequest(state: state, move: move)).Legal)
        {
            throw new InvalidOperationException(move);
        }
        state = play.MakeMoves(new AdvanceRequest(state: state, moves: [move])).State;
    }
    var over = Common(state);
    Console.WriteLine(JsonConvert.SerializeObject(
        new { game, scores = over["scores"], results = ((JArray)over["results"]).Count }));
}
try
{
    play.StartGame(Start("dasan", 2000));
}
catch (ApiException refused)
{
    var code = JObject.Parse((string)refused.ErrorContent)["code"];
    Console.WriteLine(JsonConvert.SerializeObject(new { code }));
}
