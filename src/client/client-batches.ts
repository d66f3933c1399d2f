import type { UploadedFile } from './client-attempt.ts';
import type { BatchAccepted, BatchResultFilters } from './client-records.ts';
import type { Connection } from './method.ts';
import type { CallOptions } from './request.ts';

export type { UploadedFile };

export interface UploadOptions extends CallOptions {
  /** Default: generated, so that retries are safe. */
  readonly idempotencyKey?: string;
  /** Shown in lists. At most 255 characters on one line. */
  readonly fileName?: string;
}

export function batches({ method, open, plain, request }: Connection) {
  return {
    batches: {
      /** One page, newest first. */
      list: plain('listBatches'),
      get: plain('getBatch'),
      /** Cancels a batch. Throws `ALREADY_ENDED` if it has ended. */
      cancel: plain('cancelBatch'),
      /** Uploads JSON Lines. Resolves once all lines are stored. A stream is not sent again after a failure. */
      async upload(
        agentId: string,
        file: UploadedFile,
        { idempotencyKey = crypto.randomUUID(), fileName, ...options }: UploadOptions = {},
      ): Promise<BatchAccepted> {
        const input = { params: { agentId }, query: { fileName }, body: '' };
        const { body } = await request('POST /api/v1/agents/{agentId}/batches', input, {
          ...options,
          idempotencyKey,
          file,
          headers: { 'content-type': 'application/jsonl' },
          ...(file instanceof ReadableStream && { retries: 0 }),
        });
        return body;
      },
      /** Runs the failed lines of an ended batch again, as a new batch. An `idempotencyKey` makes retries safe. */
      rerun: method('rerunBatch'),
      /** Streams the results as JSON Lines, in the order of the file. */
      openResults(
        agentId: string,
        batchId: string,
        query: BatchResultFilters = {},
        options?: CallOptions,
      ): Promise<ReadableStream<Uint8Array>> {
        const route = 'GET /api/v1/agents/{agentId}/batches/{batchId}/results';
        return open(route, { params: { agentId, batchId }, query }, options);
      },
    },
  };
}
