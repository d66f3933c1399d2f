import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Endpoint, keyRight, sessionRight } from '../src/contract/endpoint.ts';
import { bodyBytesMax } from '../src/contract/limits.ts';
import { permissions } from '../src/core/people/key.ts';
import type { CallOptions } from './call.ts';
import type { Service } from './service.ts';

/**
 * Declares tests of the refusals that all management endpoints share: unauthenticated callers, missing permissions,
 * malformed bodies. `path` must exist, and `body` must be valid.
 */
export function testRefusals(
  service: Service,
  endpoint: Endpoint,
  { path, body }: { readonly path: string; readonly body?: object },
): void {
  const { method } = endpoint;
  const sent = body === undefined ? {} : { body };
  const refused = async (status: number, code: string, options: CallOptions, at = path) => {
    const response = await service.call(method, at, { ...sent, ...options });
    assert.deepEqual([response.status, response.body.code], [status, code]);
  };

  test('401 without a valid key', async () => {
    const past = new Date('2020-01-01');
    const revoked = await service.key({ revokedAt: past });
    const expired = await service.key({ expiresAt: past });
    await refused(401, 'UNAUTHORIZED', {});
    await refused(401, 'UNAUTHORIZED', { key: 'cue_nonsense' });
    await refused(401, 'UNAUTHORIZED', { key: revoked.key });
    await refused(401, 'UNAUTHORIZED', { key: expired.key });
    // These checks come before all others.
    await refused(401, 'UNAUTHORIZED', sent.body ? { body: '{' } : {}, `${path}?x=1`);
  });

  test('403 for a key without the permission, or whose issuer lost it', async () => {
    const sufficient = [keyRight(endpoint), endpoint.orPermission, endpoint.ownPermission];
    const weak = permissions.filter((one) => !sufficient.includes(one));
    const { key } = await service.key({ permissions: weak });
    await refused(403, 'PERMISSION_DENIED', { key });
    const userId = await service.member('viewer');
    await refused(403, 'PERMISSION_DENIED', { key: (await service.key({ userId })).key });
    if (sessionRight(endpoint) === 'read') return;
    await refused(403, 'PERMISSION_DENIED', { user: userId });
  });

  test('400 for an unknown query parameter', async () => {
    const { key } = await service.key();
    await refused(400, 'INVALID_REQUEST', { key }, `${path}?unknown=1`);
  });

  if (endpoint.path.includes('{')) {
    test('404 for another workspace, and for a malformed or unknown id', async () => {
      const { workspaceId, ownerId: userId } = await service.workspace();
      const { key } = await service.key({ workspaceId, userId });
      await refused(404, 'NOT_FOUND', { key });
      const own = await service.key();
      await refused(404, 'NOT_FOUND', { key: own.key }, path.replace(/_[0-9a-z]{26}/, '_nonsense'));
      const first = path.replace(/_[0-9a-z]{26}/, '_01jd0000000000000000000000');
      await refused(404, 'NOT_FOUND', { key: own.key }, first);
    });
  }

  if (!endpoint.body) return;
  test('400, 413 and 415 for an invalid body', async () => {
    const { key } = await service.key();
    await refused(400, 'MALFORMED_BODY', { key, body: '{"a":' });
    if (!endpoint.bodyOptional) await refused(400, 'MALFORMED_BODY', { key, body: '' });
    await refused(400, 'INVALID_REQUEST', { key, body: '[]' });
    await refused(400, 'INVALID_REQUEST', { key, body: { ...body, unknown: 1 } });
    await refused(413, 'BODY_TOO_LARGE', { key, body: ' '.repeat(bodyBytesMax + 1) });
    const headers = { 'content-type': 'text/plain' };
    await refused(415, 'UNSUPPORTED_MEDIA_TYPE', { key, headers });
  });
}
