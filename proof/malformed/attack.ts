/** The requests on one connection, and the expected responses. */

export interface Attack {
  /** A description for the report of a violation. */
  readonly what: string;
  readonly requests: readonly Sent[];
  /** After the last request the client continues to read, ends its side, destroys or resets the connection. */
  readonly afterwards: 'read' | 'half-close' | 'abort' | 'reset';
  /** The pause between the pieces of a request. */
  readonly pauseMs: number;
}

export interface Sent {
  readonly pieces: readonly Buffer[];
  /** Responses to `HEAD` have no body. */
  readonly method: string;
  /** Whether it is a complete HTTP request, which must get a response. */
  readonly whole: boolean;
  /** The required status; null if several are allowed. */
  readonly status: number | null;
}

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A complete request in one piece. */
export function request(
  method: string,
  target: string,
  headers: readonly string[],
  body: Buffer | null,
  more: Partial<Sent> = {},
): Sent {
  const length = body === null ? [] : [`Content-Length: ${body.length}`];
  const head = [`${method} ${target} HTTP/1.1`, 'Host: x', ...headers, ...length, '', ''];
  const pieces = [Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), body ?? Buffer.of()])];
  return { pieces, method, whole: true, status: null, ...more };
}

/** Raw bytes: a response is optional, but must be well-formed. */
export function bytes(text: string | Buffer, method = 'GET', more: Partial<Sent> = {}): Sent {
  const pieces = [typeof text === 'string' ? Buffer.from(text, 'latin1') : text];
  return { pieces, method, whole: false, status: null, ...more };
}

/** The targets of the attacks, as wire ids. */
export interface Targets {
  readonly key: string;
  readonly agentId: string;
  readonly executionId: string;
  readonly promptId: string;
  readonly promptVersionId: string;
  readonly apiKeyId: string;
  readonly userId: string;
}

export function bearer({ key }: Pick<Targets, 'key'>): string {
  return `Authorization: Bearer ${key}`;
}

export const json = 'Content-Type: application/json';

export function utf8(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}
