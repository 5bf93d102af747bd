import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.JSON;
import org.openapitools.client.api.GamesApi;
import org.openapitools.client.api.PlayApi;
import org.openapitools.client.model.*;

/** Plays one whole game of each kind with the Java client made by openapi-generator. */
public class Play {
  static StartRequest start(GameName game, int players) {
    return switch (game) {
      case DOUDIZHU -> new StartRequest(
          new DoudizhuStart().game(DoudizhuStart.GameEnum.DOUDIZHU)
              .players(players).options(new DoudizhuOptions().deals(1)));
      case DASAN -> new StartRequest(
          new DasanStart().game(DasanStart.GameEnum.DASAN)
              .players(players).options(new DasanOptions().deals(1)));
      case ZHENGFEN -> new StartRequest(
          new ZhengfenStart().game(ZhengfenStart.GameEnum.ZHENGFEN)
              .players(players).options(new ZhengfenOptions().deals(1)));
      default -> new StartRequest(
          new NinefivetwoStart().game(NinefivetwoStart.GameEnum.NINEFIVETWO)
              .players(players).options(new NinefivetwoOptions().deals(1)));
    };
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    PlayApi play = new PlayApi(client);
    var json = JSON.getDefault().getMapper();
    for (GameBrief brief : new GamesApi(client).listGames().getGames()) {
      State state = play.startGame(start(brief.getGame(), 3)).getState();
      while (!json.valueToTree(state).get("phase").asText().equals("over")) {
        MovesAnswer listed = play.listMoves(new MovesRequest().state(state).details(true));
        String move = listed.getMoves().get(listed.getDetails().size() - 1);
        if (!play.validateMove(new ValidateRequest().state(state).move(move)).getLegal()) {
          throw new IllegalStateException(move);
        }
        state = play.makeMoves(new AdvanceRequest().state(state).moves(List.of(move))).getState();
      }
      var over = json.valueToTree(state);
      String line = "{\"game\": \"%s\", \"scores\": %s, \"results\": %d}%n";
      System.out.printf(line, brief.getGame(), over.get("scores"), over.get("results").size());
    }
    try {
      play.startGame(start(GameName.DASAN, 9));
    } catch (ApiException refused) {
      Problem problem = json.readValue(refused.getResponseBody(), Problem.class);
      System.out.printf("{\"code\": \"%s\"}%n", problem.getCode());
    }
  }
}
