import { keepPreviousData } from '@tanstack/react-query';
import type { ApiKey, PageQuery } from '../../../src/client/index.ts';
import { resource } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';

/** The result of an issued or rotated key has its secret, which is shown once and never cached. */
export const keys = resource('keys', 'Key', cueline.keys);

type KeysQuery = PageQuery & { readonly revoked?: boolean };

export const keysQuery = ({ revoked = false, ...page }: KeysQuery) => ({
  ...keys.list({ ...page, revoked }),
  // The usage of rate limits keeps changing.
  refetchInterval: 10_000,
  placeholderData: keepPreviousData,
});

type KeyState = 'active' | 'expired' | 'revoked';

export function keyStateOf({ revokedAt, expiresAt }: ApiKey): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}
