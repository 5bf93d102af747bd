import com.google.gson.JsonObject
import com.google.gson.JsonParser
import org.openapitools.client.apis.GamesApi
import org.openapitools.client.apis.PlayApi
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.AdvanceRequest
import org.openapitools.client.models.MovesRequest
import org.openapitools.client.models.StartRequest
import org.openapitools.client.models.State
import org.openapitools.client.models.ValidateRequest

fun start(game: String, deals: Int): StartRequest =
    Serializer.gson.fromJson(
        """{"game": "$game", "seed": "kotlin", "options": {"deals": $deals}}""",
        StartRequest::class.java,
    )

fun common(state: State): JsonObject = Serializer.gson.toJsonTree(state).asJsonObject

/** Plays one whole game of each kind with the Kotlin client made by openapi-generator. */
fun main(arguments: Array<String>) {
    val play = PlayApi(arguments[0])
    for (brief in GamesApi(arguments[0]).listGames().games) {
        val game = brief.game.value
        var state = play.startGame(start(game, 1)).state
        while (common(state)["phase"].asString != "over") {
            val listed = play.listMoves(MovesRequest(state = state, details = true))
            val move = listed.moves[listed.details!!.size - 1]
            check(play.validateMove(ValidateRequest(state = state, move = move)).legal)
            state = play.makeMoves(AdvanceRequest(state = state, moves = listOf(move))).state
        }
        val over = common(state)
        println("""{"game": "$game", "scores": ${over["scores"]}, "results": ${over["results"].asJsonArray.size()}}""")
    }
    try {
        play.startGame(start("dasan", 2000))
    } catch (refused: ClientException) {
        val body = (refused.response as ClientError<*>).body.toString()
        println("""{"code": ${JsonParser.parseString(body).asJsonObject["code"]}}""")
    }
}
