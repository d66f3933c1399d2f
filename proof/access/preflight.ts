import type { Prepare } from './calls.ts';

/** What makes OPTIONS the question of a browser whether a page may call. */
export const asked = { 'access-control-request-method': 'POST' };

export function preflight(prepare: Prepare): Prepare {
  return async (...given) => ({ ...(await prepare(...given)), headers: asked });
}
