"""Client of Cueline, a self-hosted agent execution service.

One file without dependencies, for Python 3.9 and later: copy it into your project.

    from cueline import Cueline

    client = Cueline(base_url="http://127.0.0.1:4000", key="cue_...")
    execution = client.execute_and_wait("explainer", {"topic": "tides"})
    print(execution["status"], execution.get("outputText"))

A failed execution is a result. Everything else that fails raises `CuelineError`.
A client has no state and may be used by several threads.
"""

from __future__ import annotations

import base64
import binascii
import email.utils
import hashlib
import hmac
import http.client
import json
import os
import random
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Dict, IO, Iterable, Iterator, List, Mapping, Optional, Sequence, TypedDict, Union, cast

__all__ = [
    "Accepted", "Batch", "BatchResult", "Batches", "Cueline", "CuelineError", "Event", "Execution",
    "StreamEvent", "verify_webhook",
]


class _Accepted(TypedDict):
    executionId: str
    agentId: str
    agentName: str
    status: str
    statusUrl: str


class Accepted(_Accepted, total=False):
    """The response of `execute`."""

    currentStatus: Optional[str]
    ignoredVariables: List[str]


class _Execution(TypedDict):
    executionId: str
    agentId: str
    agentName: str
    status: str
    source: str
    executedAt: str


class Execution(_Execution, total=False):
    """A record. `status` is processing, success, failed, rate_limited, canceled or unauthorized."""

    output: str
    outputText: str
    outputJson: Any
    toolCalls: List[Dict[str, Any]]
    error: str
    errorCode: str
    inputVariables: Dict[str, Any]
    user: str
    session: str
    tags: List[str]
    metadata: Dict[str, str]
    modelUsed: str
    promptVersionId: str
    promptVersionLabel: str
    attempts: int
    latencyMs: float
    tokensUsed: int
    inputTokens: int
    outputTokens: int
    costUSD: float
    costKnown: bool
    completedAt: str
    finishReason: str


class StreamEvent(TypedDict):
    """An event of a stream.

    `type` is status, text, reasoning, tool, restart (the text so far is void), gone or end, whose
    data is the ended record. `id` is the position after the event.
    """

    type: str
    id: Optional[str]
    data: Any


class Batch(TypedDict):
    """`status` is processing, completed or canceled."""

    batchId: str
    agentId: str
    status: str
    counts: Dict[str, int]
    createdAt: str
    completedAt: Optional[str]


class BatchResult(TypedDict):
    """The result of a line."""

    line: int
    id: Optional[str]
    status: str
    executionId: Optional[str]
    outputText: Optional[str]
    error: Optional[str]
    errorCode: Optional[str]


class Event(TypedDict):
    """What an endpoint receives. Ignore an `id` that you have processed."""

    id: str
    type: str
    timestamp: str
    data: Dict[str, Any]


class CuelineError(Exception):
    """Every failure of the client.

    `code` is that of the server or CONNECTION_FAILED, TIMEOUT, WAIT_TIMEOUT, UNEXPECTED_ANSWER or
    INVALID_SIGNATURE; `status` is 0 without a response. `retry_after` is in seconds.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        body: Any = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.body = body


_RETRY_AFTER_MAX = 60.0
_BACKOFF_FIRST = 0.5
_BACKOFF_MAX = 10.0
_UPLOAD_TIMEOUT = 330.0
# One long poll. Shorter than the timeout of common proxies.
_POLL_MAX = 25
# Consecutive failures that a wait or a stream tolerates, for example during a restart of the server.
_PATIENT_RETRIES = 10
# The server sends a comment every 15 seconds.
_SILENCE_MAX = 60.0
_CHUNK_BYTES = 65_536

_Body = Union[None, bytes, "os.PathLike[str]"]


class Cueline:
    """Calls a Cueline server with an API key.

    `timeout` limits one attempt, in seconds; an upload has 330. `retries` counts those after a failure: of
    any call after 429 and UNAVAILABLE, and of a call that may have been processed only if it is safe.
    """

    def __init__(self, base_url: str, key: str, *, timeout: float = 90.0, retries: int = 2) -> None:
        parts = urllib.parse.urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url must begin with http:// or https://.")
        key = key.strip()
        # Without quoting it: errors end up in logs.
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise ValueError("The API key is empty, or has a blank or another character that no key has.")
        self.base_url = base_url.rstrip("/")
        self.batches = Batches(self)
        self._key = key
        self._timeout = timeout
        self._retries = retries
        # A redirect could turn a POST into a GET, or send the key to another host.
        self._opener = urllib.request.build_opener(_NoRedirect)

    def __repr__(self) -> str:
        return f"Cueline(base_url={self.base_url!r})"

    def execute(
        self,
        agent: str,
        variables: Mapping[str, Any],
        *,
        idempotency_key: Optional[str] = None,
        user: Optional[str] = None,
        session: Optional[str] = None,
        tags: Optional[Sequence[str]] = None,
        metadata: Optional[Mapping[str, str]] = None,
        stream: Optional[bool] = None,
        rerun_of: Optional[str] = None,
        playground: Optional[bool] = None,
    ) -> Accepted:
        """Starts an execution and returns at once. `agent` is an id, a slug or an alias."""
        fields = {
            "user": user,
            "session": session,
            "tags": None if tags is None else list(tags),
            "metadata": None if metadata is None else dict(metadata),
            "stream": stream,
            "rerunOf": rerun_of,
            "playground": playground,
        }
        body: Dict[str, Any] = {"variables": dict(variables)}
        body.update((name, value) for name, value in fields.items() if value is not None)
        path = f"{_agent(agent)}/execute"
        return cast(Accepted, self.request("POST", path, body, idempotency_key=idempotency_key))

    def status(self, agent: str, execution_id: str) -> Execution:
        """The current state of the record."""
        return cast(Execution, self.request("GET", _execution(agent, execution_id)))

    def wait(self, agent: str, execution_id: str, *, timeout: float = 600.0) -> Execution:
        """Waits for the end, whatever its status. Raises WAIT_TIMEOUT; the execution continues."""
        path = _execution(agent, execution_id)
        return cast(Execution, self._wait(path, execution_id, timeout, long_poll=True))

    def execute_and_wait(
        self,
        agent: str,
        variables: Mapping[str, Any],
        *,
        timeout: float = 600.0,
        idempotency_key: Optional[str] = None,
        user: Optional[str] = None,
        session: Optional[str] = None,
        tags: Optional[Sequence[str]] = None,
        metadata: Optional[Mapping[str, str]] = None,
        stream: Optional[bool] = None,
        rerun_of: Optional[str] = None,
        playground: Optional[bool] = None,
    ) -> Execution:
        """Starts an execution and waits for its end. Has an idempotency key, so that retries are safe."""
        accepted = self.execute(
            agent,
            variables,
            idempotency_key=idempotency_key or str(uuid.uuid4()),
            user=user,
            session=session,
            tags=tags,
            metadata=metadata,
            stream=stream,
            rerun_of=rerun_of,
            playground=playground,
        )
        return self.wait(agent, accepted["executionId"], timeout=timeout)

    def cancel(self, agent: str, execution_id: str) -> Execution:
        """Cancels an execution. Raises ALREADY_ENDED if it has ended."""
        return cast(Execution, self.request("POST", _execution(agent, execution_id) + "/cancel"))

    def stream(
        self, agent: str, execution_id: str, *, after: Optional[str] = None
    ) -> Iterator[StreamEvent]:
        """The events of an execution until its end, or those after the `id` of one.

        A lost connection is opened again where it was lost.
        """
        failures = 0
        while True:
            headers = {"accept": "text/event-stream"}
            if after is not None:
                headers["last-event-id"] = after
            try:
                path = _execution(agent, execution_id) + "/stream"
                with self._open("GET", path, headers, None, _SILENCE_MAX) as response:
                    _require(response, "text/event-stream")
                    for event in _events(response):
                        failures = 0
                        after = event["id"] or after
                        yield event
                        if event["type"] == "end":
                            return
                raise CuelineError("CONNECTION_FAILED", "The connection was lost.")
            except (OSError, http.client.HTTPException) as lost:
                error = _connection_error(lost, _SILENCE_MAX)
            except CuelineError as refused:
                error = refused
            failures += 1
            _back_off(error, failures, _PATIENT_RETRIES, True)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
    ) -> Any:
        """Calls any operation of the API, and returns the JSON of its response."""
        headers: Dict[str, str] = {}
        data: Optional[bytes] = None
        if body is not None:
            # NaN and infinity are no JSON.
            data = json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
            headers["content-type"] = "application/json"
        if idempotency_key is not None:
            headers["idempotency-key"] = idempotency_key
        if query:
            path += "?" + urllib.parse.urlencode(query)
        return self._send(method, path, headers, data, self._retries, self._timeout)[0]

    def _wait(self, path: str, name: str, timeout: float, *, long_poll: bool) -> Any:
        ends_at = time.monotonic() + timeout
        while True:
            left = ends_at - time.monotonic()
            seconds = int(max(0.0, min(_POLL_MAX, left, self._timeout / 2))) if long_poll else 0
            query = f"?wait={seconds}" if seconds > 0 else ""
            body, retry_after = self._send("GET", path + query, {}, None, _PATIENT_RETRIES, self._timeout)
            if body["status"] != "processing":
                return body
            left = ends_at - time.monotonic()
            if left <= 0:
                message = f"{name} has not ended within {timeout} seconds."
                raise CuelineError("WAIT_TIMEOUT", message, body=body)
            time.sleep(min(left, 1.0 if retry_after is None else retry_after))

    def _send(
        self, method: str, path: str, headers: Mapping[str, str], body: _Body, retries: int, timeout: float
    ) -> "tuple[Any, Optional[float]]":
        """The JSON of the response, and its Retry-After. Retries what is safe."""
        repeatable = method in ("GET", "PUT") or "idempotency-key" in headers
        failures = 0
        while True:
            try:
                with self._open(method, path, headers, body, timeout) as response:
                    text = _read(response, timeout)
                    return _parsed(response, text), _retry_after(response.headers)
            except (OSError, http.client.HTTPException) as lost:
                error = _connection_error(lost, timeout)
            except CuelineError as refused:
                error = refused
            failures += 1
            _back_off(error, failures, retries, repeatable)

    def _open(
        self, method: str, path: str, headers: Mapping[str, str], body: _Body, timeout: float
    ) -> http.client.HTTPResponse:
        """A response of success. Any other one is raised."""
        sent = {"accept": "application/json", **headers, "authorization": f"Bearer {self._key}"}
        file: Optional[IO[bytes]] = None
        data: Union[None, bytes, IO[bytes]] = body if isinstance(body, bytes) else None
        if body is not None and not isinstance(body, bytes):
            data = file = open(body, "rb")
            sent["content-length"] = str(os.fstat(file.fileno()).st_size)
        request = urllib.request.Request(self.base_url + path, data, sent, method=method)
        try:
            return cast(http.client.HTTPResponse, self._opener.open(request, timeout=timeout))
        except urllib.error.HTTPError as refused:
            with refused:
                raise _refusal(refused, _read(refused, timeout)) from None
        finally:
            if file is not None:
                file.close()


class Batches:
    """Files of calls of one agent."""

    def __init__(self, client: Cueline) -> None:
        self._client = client

    def upload(
        self,
        agent: str,
        lines: Union[str, bytes, "os.PathLike[str]", Iterable[Mapping[str, Any]]],
        *,
        idempotency_key: Optional[str] = None,
    ) -> str:
        """Uploads calls and returns the id of the batch, once all are stored.

        `lines` are objects `{"id", "variables", ...}`, JSON Lines, or the path of a file with them, which is read as
        it is sent. Has an idempotency key, so that retries are safe.
        """
        body: _Body
        if isinstance(lines, (bytes, os.PathLike)):
            body = lines
        elif isinstance(lines, str):
            body = lines.encode()
        else:
            body = b"".join(json.dumps(line, allow_nan=False).encode() + b"\n" for line in lines)
        headers = {
            "content-type": "application/jsonl",
            "idempotency-key": idempotency_key or str(uuid.uuid4()),
        }
        client = self._client
        path = f"{_agent(agent)}/batches"
        answer, _ = client._send("POST", path, headers, body, client._retries, _UPLOAD_TIMEOUT)
        return cast(str, answer["batchId"])

    def get(self, agent: str, batch_id: str) -> Batch:
        """The status and the counts."""
        return cast(Batch, self._client.request("GET", _batch(agent, batch_id)))

    def wait(self, agent: str, batch_id: str, *, timeout: float = 86_400.0) -> Batch:
        """Waits for the end. Raises WAIT_TIMEOUT; the batch continues."""
        path = _batch(agent, batch_id)
        return cast(Batch, self._client._wait(path, batch_id, timeout, long_poll=False))

    def results(
        self, agent: str, batch_id: str, *, status: Union[None, str, Sequence[str]] = None
    ) -> Iterator[BatchResult]:
        """The results in the order of the lines, read as they arrive."""
        path = _batch(agent, batch_id) + "/results"
        if status is not None:
            value = status if isinstance(status, str) else ",".join(status)
            path += "?" + urllib.parse.urlencode({"status": value})
        client = self._client
        try:
            with client._open("GET", path, {}, None, client._timeout) as response:
                _require(response, "application/jsonl")
                for line in _lines(response):
                    if line:
                        yield cast(BatchResult, json.loads(line))
        except (OSError, http.client.HTTPException) as lost:
            raise _connection_error(lost, client._timeout) from lost

    def cancel(self, agent: str, batch_id: str) -> Batch:
        """Cancels what has not ended. Raises ALREADY_ENDED if the batch has."""
        return cast(Batch, self._client.request("POST", _batch(agent, batch_id) + "/cancel"))


def verify_webhook(
    secret: Union[str, Sequence[str]],
    headers: Mapping[str, str],
    body: Union[bytes, str],
    *,
    tolerance: float = 300.0,
) -> Event:
    """The event of a request, once its signature is verified (Standard Webhooks).

    `body` is what was received, before anything parses it. While a secret is replaced, give both. Raises
    INVALID_SIGNATURE if the request does not come from Cueline or is more than `tolerance` seconds old: answer 401.
    """
    received = {name.lower(): value for name, value in headers.items()}
    content = body.encode() if isinstance(body, str) else bytes(body)
    values = [received.get(f"webhook-{name}") or "" for name in ("id", "timestamp", "signature")]
    event_id, timestamp, signatures = values
    if not all(values):
        raise CuelineError("INVALID_SIGNATURE", "The request has no signature.")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > tolerance:
        message = "The timestamp is too old or too new. Check the clock of this machine."
        raise CuelineError("INVALID_SIGNATURE", message)
    signed = f"{event_id}.{timestamp}.".encode() + content
    expected = [_signature(one, signed) for one in ([secret] if isinstance(secret, str) else secret)]
    given = [one.encode() for one in signatures.split(" ")]
    if not any(hmac.compare_digest(one, own) for one in given for own in expected):
        message = "The signature does not match. Check the secret of the endpoint."
        raise CuelineError("INVALID_SIGNATURE", message)
    event = json.loads(content)
    return {"id": event_id, "type": event["type"], "timestamp": event["timestamp"], "data": event["data"]}


def _signature(secret: str, signed: bytes) -> bytes:
    text = secret.strip()
    try:
        if not text.startswith("whsec_"):
            raise ValueError
        key = base64.b64decode(text[len("whsec_"):], validate=True)
    except (ValueError, binascii.Error):
        raise ValueError("The secret is none of an endpoint, which begins with whsec_.") from None
    return b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _agent(agent: str) -> str:
    return f"/api/v1/agents/{_segment(agent)}"


def _execution(agent: str, execution_id: str) -> str:
    return f"{_agent(agent)}/executions/{_segment(execution_id)}"


def _batch(agent: str, batch_id: str) -> str:
    return f"{_agent(agent)}/batches/{_segment(batch_id)}"


def _segment(value: str) -> str:
    """Such a value would address another operation: URLs resolve dots."""
    if value in ("", ".", ".."):
        raise ValueError(f"An identifier cannot be {value!r}.")
    return urllib.parse.quote(value, safe="")


def _read(response: Any, timeout: float) -> bytes:
    """The body. The timeout of the socket alone would allow a body that never ends."""
    ends_at = time.monotonic() + timeout
    chunks: List[bytes] = []
    while True:
        chunk = response.read1(_CHUNK_BYTES) if hasattr(response, "read1") else response.read(_CHUNK_BYTES)
        if not chunk:
            # Python does not say that a body is shorter than announced.
            if getattr(response, "length", None):
                raise http.client.IncompleteRead(b"".join(chunks), response.length)
            return b"".join(chunks)
        chunks.append(chunk)
        if time.monotonic() > ends_at:
            raise TimeoutError


def _parsed(response: http.client.HTTPResponse, text: bytes) -> Any:
    if response.status == 204:
        return None
    if re.match(r"application/([\w.-]+\+)?json\b", response.headers.get("content-type", ""), re.I):
        try:
            return json.loads(text)
        except ValueError:
            pass
    raise _unexpected(response, "JSON", text)


def _require(response: http.client.HTTPResponse, content_type: str) -> None:
    if not response.headers.get("content-type", "").startswith(content_type):
        raise _unexpected(response, content_type)


def _unexpected(response: http.client.HTTPResponse, expected: str, body: Any = None) -> CuelineError:
    """For example a proxy's sign-in page, or another server at this address."""
    message = f"The server returned {response.status} without {expected}, which Cueline never does. Check base_url."
    return CuelineError("UNEXPECTED_ANSWER", message, status=response.status, body=body)


def _refusal(response: urllib.error.HTTPError, text: bytes) -> CuelineError:
    """Uses the server's message if there is one. A proxy may have sent anything."""
    try:
        body = json.loads(text)
    except ValueError:
        body = text
    problem = body if isinstance(body, dict) else {}
    code, message = problem.get("code"), problem.get("message")
    return CuelineError(
        code if isinstance(code, str) else "UNEXPECTED_ANSWER",
        message if isinstance(message, str) else f"The server returned {response.code} without a message.",
        status=response.code,
        request_id=problem.get("requestId") or response.headers.get("x-request-id"),
        retry_after=_retry_after(response.headers),
        body=body,
    )


def _connection_error(error: Exception, timeout: float) -> CuelineError:
    reason = getattr(error, "reason", error)
    # The same only from Python 3.10 on.
    if isinstance(reason, (TimeoutError, socket.timeout)):
        return CuelineError("TIMEOUT", f"No response within {timeout} seconds.")
    failure = CuelineError("CONNECTION_FAILED", f"The connection failed: {reason or type(error).__name__}.")
    failure.__cause__ = error
    return failure


def _retry_after(headers: Any) -> Optional[float]:
    """Cueline sends seconds; a proxy may send a date."""
    value: Optional[str] = headers.get("retry-after")
    if value is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _back_off(error: CuelineError, failures: int, retries: int, repeatable: bool) -> None:
    """Waits before the next attempt. Raises the error if there must be none."""
    if failures > retries or not _may_retry(error, repeatable):
        raise error
    time.sleep(_delay(error, failures))


def _may_retry(error: CuelineError, repeatable: bool) -> bool:
    if (error.retry_after or 0.0) > _RETRY_AFTER_MAX:
        return False
    if error.status == 429 or error.code == "UNAVAILABLE":
        return True
    return repeatable and error.status in (0, 502, 503, 504)


def _delay(error: CuelineError, failures: int) -> float:
    """What the server asks for, else exponential backoff. Jitter spreads the retries of many clients."""
    backoff = min(_BACKOFF_MAX, _BACKOFF_FIRST * 2.0 ** (failures - 1))
    wait = backoff / 2 if error.retry_after is None else error.retry_after
    return wait + random.random() * backoff / 2


def _lines(response: http.client.HTTPResponse) -> Iterator[str]:
    """The complete lines. A last one without an end was cut."""
    while True:
        line = response.readline()
        if not line.endswith(b"\n"):
            if line:
                raise http.client.IncompleteRead(line)
            return
        yield line[:-1].decode()


def _events(response: http.client.HTTPResponse) -> Iterator[StreamEvent]:
    """The server-sent events of a body. An event ends with an empty line."""
    fields: Dict[str, str] = {}
    for line in _lines(response):
        if line:
            name, _, value = line.partition(":")
            fields[name] = value[1:] if value.startswith(" ") else value
            continue
        if "event" in fields:
            data = json.loads(fields.get("data", "null"))
            yield {"type": fields["event"], "id": fields.get("id"), "data": data}
        fields = {}
