import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { CallFailure, invalidRequest } from '../../core/failure.ts';
import { randomHex } from '../../core/random.ts';
import { errorResponse } from '../response/error-response.ts';
import { toJson } from '../response/json-response.ts';
import { drainSocket } from './drain-socket.ts';
import { shownMethods } from './route-table.ts';
import { slowBodyCode } from './slow-senders.ts';

/** Responses written to the socket, for input that never becomes a request of Fastify. */

export function generateRequestId(): string {
  return `req_${randomHex(12)}`;
}

/** Responds to input that is not valid HTTP, in the form of every other error. A connection that was reset is closed. */
export function rejectMalformed(error: ParserError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  if (error.code === 'HPE_INVALID_METHOD' && requestLine.test(lineAtFault(error))) {
    rejectMethod(socket, `The method must be one of ${shownMethods.join(', ')}.`);
    return;
  }
  const [status, failure] = parserErrors[error.code ?? ''] ?? [
    400,
    invalidRequest('The request is not valid HTTP.'),
  ];
  rejectOnSocket(socket, status, failure, []);
}

/** `rawPacket` is what was received at once, `bytesParsed` where the parser gave up. */
type ParserError = NodeJS.ErrnoException & {
  readonly rawPacket?: unknown;
  readonly bytesParsed?: number;
};

/** An earlier request or its body may precede it. */
function lineAtFault({ rawPacket, bytesParsed = 0 }: ParserError): string {
  const text = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '';
  return text.slice(text.lastIndexOf('\n', bytesParsed) + 1);
}

/** With a method that Node's parser does not know. */
const requestLine = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r?\n/;

/** Rejects CONNECT. Without a listener, Node closes the connection without a response. */
export function rejectConnect(app: FastifyInstance): void {
  app.server.on('connect', (_request, socket) => {
    rejectMethod(socket as Socket, 'This server is not a proxy.');
  });
}

function rejectMethod(socket: Socket, message: string): void {
  const failure = new CallFailure('METHOD_NOT_ALLOWED', message);
  rejectOnSocket(socket, 405, failure, [`Allow: ${shownMethods.join(', ')}`]);
}

function rejectOnSocket(
  socket: Socket,
  status: number,
  failure: CallFailure,
  headers: readonly string[],
): void {
  const requestId = generateRequestId();
  const body = toJson(errorResponse(failure, requestId).body);
  socket.write(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...headers,
      '',
      body,
    ].join('\r\n'),
  );
  drainSocket(socket);
}

const timedOut = (message: string) => new CallFailure('REQUEST_TIMEOUT', message);

const parserErrors: Readonly<Record<string, [number, CallFailure]>> = {
  HPE_HEADER_OVERFLOW: [431, invalidRequest('The headers are larger than 16 KiB.')],
  ERR_HTTP_REQUEST_TIMEOUT: [408, timedOut('The request did not arrive in time.')],
  [slowBodyCode]: [
    408,
    timedOut('The body arrived too slowly: it must bring 30 KiB in 30 seconds, or end.'),
  ],
};
