import type { PageQuery } from './agents.ts';
import type { UploadedFile } from './attempt.ts';
import type { CallOptions, OpenStream, Request } from './request.ts';
import type { Output, QueryOf } from './routes.ts';

/** Batches: files of calls, their progress and their results. */

export type Batch = Output<'GET /api/v1/agents/{agentId}/batches/{batchId}'>;
export type BatchPage = Output<'GET /api/v1/agents/{agentId}/batches'>;
export type BatchAccepted = Output<'POST /api/v1/agents/{agentId}/batches'>;
export type BatchResult = Output<'GET /api/v1/agents/{agentId}/batches/{batchId}/results'>;
export type BatchResultFilters = QueryOf<'GET /api/v1/agents/{agentId}/batches/{batchId}/results'>;
export type { UploadedFile };

export interface UploadOptions extends CallOptions {
  /** Default: generated, so that retries are safe. */
  readonly idempotencyKey?: string;
}

const all = '/api/v1/agents/{agentId}/batches';
const one = '/api/v1/agents/{agentId}/batches/{batchId}';

export function batches(request: Request, open: OpenStream) {
  return {
    /** Uploads JSON Lines. Resolves once all lines are stored. A stream is not sent again after a failure. */
    async upload(
      agentId: string,
      file: UploadedFile,
      options: UploadOptions = {},
    ): Promise<BatchAccepted> {
      const { idempotencyKey = crypto.randomUUID(), ...call } = options;
      const route = `POST ${all}` as const;
      const input = { params: { agentId }, body: '' };
      const upload = {
        ...{ ...call, idempotencyKey, file, headers: { 'content-type': 'application/jsonl' } },
        ...(file instanceof ReadableStream && { retries: 0 }),
      };
      return (await request(route, input, upload)).body;
    },
    /** One page, newest first. */
    async list(agentId: string, query: PageQuery = {}, options?: CallOptions): Promise<BatchPage> {
      return (await request(`GET ${all}`, { params: { agentId }, query }, options)).body;
    },
    async get(agentId: string, batchId: string, options?: CallOptions): Promise<Batch> {
      return (await request(`GET ${one}`, { params: { agentId, batchId } }, options)).body;
    },
    /** Streams the results as JSON Lines, in the order of the file. */
    openResults(
      agentId: string,
      batchId: string,
      query: BatchResultFilters = {},
      options?: CallOptions,
    ): Promise<ReadableStream<Uint8Array>> {
      return open(`GET ${one}/results`, { params: { agentId, batchId }, query }, options);
    },
    /** Cancels a batch. Throws `ALREADY_ENDED` if it has ended. */
    async cancel(agentId: string, batchId: string, options?: CallOptions): Promise<Batch> {
      return (await request(`POST ${one}/cancel`, { params: { agentId, batchId } }, options)).body;
    },
  };
}
