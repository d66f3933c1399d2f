import type { ChangeOptions, PageQuery } from './agents.ts';
import type { CallOptions, Request } from './request.ts';
import type { BodyOf, Output, QueryOf } from './routes.ts';

export type Prompt = Output<'GET /api/v1/prompts/{promptId}'>;
export type PromptVersion = Output<'GET /api/v1/prompts/{promptId}/versions/{promptVersionId}'>;
export type PromptInput = BodyOf<'POST /api/v1/prompts'>;
export type PromptPatch = BodyOf<'PATCH /api/v1/prompts/{promptId}'>;
export type PromptVersionInput = BodyOf<'POST /api/v1/prompts/{promptId}/versions'>;
export type PromptFilters = QueryOf<'GET /api/v1/prompts'>;

export function prompts(request: Request) {
  return {
    async create(prompt: PromptInput, options?: CallOptions): Promise<Prompt> {
      return (await request('POST /api/v1/prompts', { body: prompt }, options)).body;
    },
    async list(filters: PromptFilters = {}, options?: CallOptions) {
      return (await request('GET /api/v1/prompts', { query: filters }, options)).body;
    },
    async get(promptId: string, options?: CallOptions): Promise<Prompt> {
      const input = { params: { promptId } };
      return (await request('GET /api/v1/prompts/{promptId}', input, options)).body;
    },
    /** Also returns the `etag`, which makes a later update safe against concurrent changes. */
    async getWithEtag(promptId: string, options?: CallOptions) {
      const input = { params: { promptId } };
      const { body, headers } = await request('GET /api/v1/prompts/{promptId}', input, options);
      return { prompt: body, etag: headers.get('etag') };
    },
    async update(promptId: string, patch: PromptPatch, options?: ChangeOptions): Promise<Prompt> {
      const input = { params: { promptId }, body: patch };
      return (await request('PATCH /api/v1/prompts/{promptId}', input, options)).body;
    },
    async archive(promptId: string, options?: CallOptions): Promise<Prompt> {
      const input = { params: { promptId } };
      return (await request('POST /api/v1/prompts/{promptId}/archive', input, options)).body;
    },
    async restore(promptId: string, options?: CallOptions): Promise<Prompt> {
      const input = { params: { promptId } };
      return (await request('POST /api/v1/prompts/{promptId}/restore', input, options)).body;
    },
  };
}

export function versions(request: Request) {
  return {
    async create(
      promptId: string,
      version: PromptVersionInput,
      options?: CallOptions,
    ): Promise<PromptVersion> {
      const input = { params: { promptId }, body: version };
      return (await request('POST /api/v1/prompts/{promptId}/versions', input, options)).body;
    },
    /** Newest first, without the templates. */
    async list(promptId: string, query: PageQuery = {}, options?: CallOptions) {
      const input = { params: { promptId }, query };
      return (await request('GET /api/v1/prompts/{promptId}/versions', input, options)).body;
    },
    async get(
      promptId: string,
      promptVersionId: string,
      options?: CallOptions,
    ): Promise<PromptVersion> {
      const route = 'GET /api/v1/prompts/{promptId}/versions/{promptVersionId}';
      return (await request(route, { params: { promptId, promptVersionId } }, options)).body;
    },
  };
}
