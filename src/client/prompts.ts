import type { CallOptions, Request } from './request.ts';

export function prompts(request: Request) {
  return {
    /** Also returns the `etag`, which makes a later update safe against concurrent changes. */
    async getWithEtag(promptId: string, options?: CallOptions) {
      const input = { params: { promptId } };
      const { body, headers } = await request('GET /api/v1/prompts/{promptId}', input, options);
      return { prompt: body, etag: headers.get('etag') };
    },
  };
}
