import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ApiKey, ApiKeyInput, ApiKeyPatch, PageQuery } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useInvalidatingMutation } from '../client/use-invalidating-mutation.ts';

export const keysQuery = (page: PageQuery) =>
  queryOptions({
    queryKey: ['keys', page],
    queryFn: ({ signal }) => cueline.keys.list(page, { signal }),
    // The usage of rate limits keeps changing.
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  });

/** The result holds the secret, which is shown once and never cached. */
export const useIssueKey = () =>
  useInvalidatingMutation((key: ApiKeyInput) => cueline.keys.create(key), ['keys'], 'Key created');

export const useRevokeKey = () =>
  useInvalidatingMutation(
    (apiKeyId: string) => cueline.keys.revoke(apiKeyId),
    ['keys'],
    'Key revoked',
  );

export const useChangeKey = () =>
  useInvalidatingMutation(
    ({ apiKeyId, patch }: { apiKeyId: string; patch: ApiKeyPatch }) =>
      cueline.keys.update(apiKeyId, patch),
    ['keys'],
  );

export const useRotateKey = () =>
  useInvalidatingMutation(
    ({ apiKeyId, graceSeconds }: { apiKeyId: string; graceSeconds: number }) =>
      cueline.keys.rotate(apiKeyId, { graceSeconds }),
    ['keys'],
    'Key rotated',
  );

type KeyState = 'active' | 'expired' | 'revoked';

export function keyStateOf({ revokedAt, expiresAt }: ApiKey): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}
