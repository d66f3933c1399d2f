import { reasonedErrors } from '../core/failure.ts';
import { responseBytesMax } from './response-limits.ts';

/**
 * - `refused`: the guard rejected the call
 * - `unreached`: no connection, so nothing was sent
 * - `timeout`, `broken`: sent, but no response or only part of it
 * - `malformed`: a response that is rejected
 */
export class OutboundFailure extends Error {
  readonly kind: 'refused' | 'unreached' | 'timeout' | 'broken' | 'malformed';

  /** `message` is public text. */
  constructor(kind: OutboundFailure['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'OutboundFailure';
    this.kind = kind;
  }
}

/** An error while connecting, TLS included: nothing has been sent. */
export function unreached(error: unknown): OutboundFailure {
  const chain = causes(error);
  const why = chain.some(({ code }) => code === 'UND_ERR_CONNECT_TIMEOUT')
    ? 'the connection took too long.'
    : reason(chain);
  return (
    own(chain) ?? new OutboundFailure('unreached', `${reasonedErrors.unreached}: ${why}`, error)
  );
}

/** An error after the connection was established. */
export function interrupted(error: unknown): OutboundFailure {
  const chain = causes(error);
  if (chain.some(({ message }) => message === proxyUnauthorized)) return unreached(error);
  const fail = (kind: OutboundFailure['kind'], message: string) =>
    own(chain) ?? new OutboundFailure(kind, message, error);
  switch (chain.find(({ code }) => code)?.code) {
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return fail('timeout', 'The provider stopped sending.');
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return fail('malformed', `The provider's response has more than ${responseBytesMax} bytes.`);
    default:
      return fail('broken', `${reasonedErrors.broken}: ${reason(chain)}`);
  }
}

/** undici's messages about proxies. */
const proxyUnauthorized = 'Proxy Authentication Required (407)';
const proxyRefusal = /^Proxy response \((\d+)\)/;

/** OpenSSL's own texts name source files and threads. */
function reason(chain: readonly NodeJS.ErrnoException[]): string {
  const code = chain.find((each) => each.code)?.code ?? '';
  if (/^(ERR_SSL_|EPROTO$)/.test(code)) return `the TLS handshake failed (${code}).`;
  if (certificateCode.test(code)) return `its certificate was rejected (${code}).`;
  const message = chain.find((each) => each.message)?.message ?? 'no reason given';
  const status = message === proxyUnauthorized ? '407' : proxyRefusal.exec(message)?.[1];
  return status ? `the proxy answered with status ${status}.` : message;
}

/** Node's codes for certificate and revocation-list errors. */
const certificateCode =
  /^[A-Z_]*(CERT|CRL|ISSUER)[A-Z_]*$|^UNABLE_TO_VERIFY_LEAF_SIGNATURE$|^(INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/;

function own(chain: readonly Error[]): OutboundFailure | undefined {
  return chain.find((each) => each instanceof OutboundFailure);
}

/** The error, the errors it aggregates (one per tried address), and their causes. */
function causes(error: unknown): NodeJS.ErrnoException[] {
  if (!(error instanceof Error)) return [];
  const parts = error instanceof AggregateError ? error.errors : [];
  return [error, ...parts.flatMap(causes), ...causes(error.cause)];
}
