"""How a browser gets in: by a code that works once, or by a token. It keeps a token in a cookie."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sestet.server.endpoint import Body, error_response, read_body
from sestet.server.entry import EntryCodes, cookie_name
from sestet.server.errors import ApiError
from sestet.server.limits import RequestLimits
from sestet.server.paths import Path
from sestet.services.tokens import Tokens

_YEAR = 365 * 24 * 3600


class ShownToken(Body):
    token: str


def sign_in_paths(tokens: Tokens, codes: EntryCodes, limits: RequestLimits, scheme: str) -> list[Path]:
    """``scheme``: the one that clients see."""

    def keep(response: Response, token: str) -> Response:
        response.set_cookie(
            cookie_name(scheme), token, _YEAR, httponly=True, samesite="strict", secure=scheme == "https"
        )
        return response

    async def enter_by_code(request: Request) -> Response:
        if not codes.use(request.query_params.get("code", "")):
            refused = "this code was used or has expired"
            return error_response(ApiError("unauthorized", refused, "start 'sestet serve --open' again"))
        return keep(RedirectResponse("/", 303), tokens.new_for_browser())

    async def enter_by_token(request: Request) -> Response:
        address = request.client.host if request.client else ""
        try:
            limits.require_few_wrong_tokens(address)
            shown = await read_body(ShownToken, request)
            if tokens.find(shown.token.strip()) is None:
                limits.count_wrong_token(address)
                raise ApiError(
                    "unauthorized",
                    "this token is unknown or was revoked",
                    "the owner's is in the file 'server-token' of the data directory, "
                    "and 'sestet tokens new NAME' makes others",
                )
        except ApiError as error:
            return error_response(error)
        return keep(Response(status_code=204), shown.token.strip())

    return [
        Path("GET", "/enter", enter_by_code),
        Path("POST", "/enter", enter_by_token),
    ]
