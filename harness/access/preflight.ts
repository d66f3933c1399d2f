import type { Prepare } from './calls.ts';

/** The header that makes an OPTIONS request a CORS preflight. */
export const preflightHeaders = { 'access-control-request-method': 'POST' };

export function preflight(prepare: Prepare): Prepare {
  return async (...given) => ({ ...(await prepare(...given)), headers: preflightHeaders });
}
