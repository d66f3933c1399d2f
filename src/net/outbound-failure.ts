import { responseBytesMax } from './response-limits.ts';

/**
 * - `refused`: the guard did not let it out;
 * - `unreached`: no connection, so nothing was sent;
 * - `timeout`, `broken`: sent, but no answer, or half of one;
 * - `malformed`: an answer that is not taken.
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

/** Of an error in connecting, TLS included: until that is done nothing is sent. */
export function unreached(error: unknown): OutboundFailure {
  const chain = causes(error);
  const why = chain.some(({ code }) => code === 'UND_ERR_CONNECT_TIMEOUT')
    ? 'the connection took too long.'
    : reason(chain);
  return (
    own(chain) ?? new OutboundFailure('unreached', `The provider was not reached: ${why}`, error)
  );
}

/** Of an error once there was a connection. */
export function interrupted(error: unknown): OutboundFailure {
  const chain = causes(error);
  const fail = (kind: OutboundFailure['kind'], message: string) =>
    own(chain) ?? new OutboundFailure(kind, message, error);
  switch (chain.find(({ code }) => code)?.code) {
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return fail('timeout', 'The provider fell silent.');
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return fail('malformed', `The provider's answer has more than ${responseBytesMax} bytes.`);
    default:
      return fail('broken', `The connection to the provider broke: ${reason(chain)}`);
  }
}

/** What OpenSSL says of itself names its own sources and threads. */
function reason(chain: readonly NodeJS.ErrnoException[]): string {
  const code = chain.find((each) => each.code)?.code ?? '';
  if (/^(ERR_SSL_|EPROTO$)/.test(code)) return `no TLS could be spoken with it (${code}).`;
  if (certificateCode.test(code)) return `its certificate is not accepted (${code}).`;
  return chain.find(({ message }) => message)?.message ?? 'no reason given';
}

/** As Node names what OpenSSL finds wrong with a certificate, or with the list of those that are revoked. */
const certificateCode =
  /^[A-Z_]*(CERT|CRL|ISSUER)[A-Z_]*$|^UNABLE_TO_VERIFY_LEAF_SIGNATURE$|^(INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/;

function own(chain: readonly Error[]): OutboundFailure | undefined {
  return chain.find((each) => each instanceof OutboundFailure);
}

/** The error, what it sums up (one for each address that was tried), and what caused it. */
function causes(error: unknown): NodeJS.ErrnoException[] {
  if (!(error instanceof Error)) return [];
  const parts = error instanceof AggregateError ? error.errors : [];
  return [error, ...parts.flatMap(causes), ...causes(error.cause)];
}
