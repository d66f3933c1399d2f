import type { PageQuery } from './agents.ts';
import type { CallOptions, Request } from './request.ts';
import type { BodyOf, Output } from './routes.ts';

export type ApiKey = Output<'POST /api/v1/keys/{apiKeyId}/revoke'>;
/** Includes the secret in `key`. It is shown once. */
export type IssuedApiKey = Output<'POST /api/v1/keys'>;
export type ApiKeyInput = BodyOf<'POST /api/v1/keys'>;

export type ApiKeyPatch = BodyOf<'PATCH /api/v1/keys/{apiKeyId}'>;

export function keys(request: Request) {
  return {
    async create(key: ApiKeyInput, options?: CallOptions): Promise<IssuedApiKey> {
      return (await request('POST /api/v1/keys', { body: key }, options)).body;
    },
    async list(query: PageQuery = {}, options?: CallOptions) {
      return (await request('GET /api/v1/keys', { query }, options)).body;
    },
    /** Changes the name and the rate limits. */
    async update(apiKeyId: string, patch: ApiKeyPatch, options?: CallOptions): Promise<ApiKey> {
      const input = { params: { apiKeyId }, body: patch };
      return (await request('PATCH /api/v1/keys/{apiKeyId}', input, options)).body;
    },
    async revoke(apiKeyId: string, options?: CallOptions): Promise<ApiKey> {
      const input = { params: { apiKeyId } };
      return (await request('POST /api/v1/keys/{apiKeyId}/revoke', input, options)).body;
    },
    /** Issues a new key. The old one stays valid for the grace period. */
    async rotate(
      apiKeyId: string,
      { graceSeconds, ...options }: CallOptions & { readonly graceSeconds?: number } = {},
    ): Promise<IssuedApiKey> {
      const body = graceSeconds === undefined ? {} : { graceSeconds };
      const input = { params: { apiKeyId }, body };
      return (await request('POST /api/v1/keys/{apiKeyId}/rotate', input, options)).body;
    },
  };
}
