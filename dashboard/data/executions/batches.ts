import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Batch, BatchResult } from '../../../src/client/index.ts';
import { resource } from '../../kit/resource.ts';
import { basePath } from '../client/base-path.ts';
import { cueline, currentWorkspaceId } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';

export type { Batch, BatchResult };

export const batchesPageSize = 20;
/** Poll intervals of a list with and without batches in progress. */
const [activePollMs, idlePollMs] = [2_000, 20_000];

const client = cueline.batches;

const batches = resource('batches', 'Batch', client);

export const batchesQuery = (agentId: string, offset: number) =>
  queryOptions({
    ...batches.list(agentId, { limit: batchesPageSize, offset }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      if (state.error && !state.data) return false;
      const isActive = state.data?.batches.some(({ completedAt }) => completedAt === null);
      return isActive && !state.error ? activePollMs : idlePollMs;
    },
  });

/** Of a batch with many failures, the list shows the first ones. */
const failedLinesMax = 100;

export const failedLinesQuery = (agentId: string, batchId: string) =>
  batches.query([agentId, batchId, 'failed'], async (options) => {
    const filter = { status: ['failed', 'refused'] } as const;
    return firstLines(await client.openResults(agentId, batchId, filter, options), failedLinesMax);
  });

/** Ends the stream after these lines. */
async function firstLines(stream: ReadableStream<Uint8Array>, max: number): Promise<BatchResult[]> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const lines: string[] = [];
  let rest = '';
  while (lines.length < max) {
    const { done, value } = await reader.read();
    if (done) break;
    const complete = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = complete.pop() ?? '';
    lines.push(...complete);
  }
  await reader.cancel();
  return lines.slice(0, max).map((line) => JSON.parse(line));
}

/** Lines whose execution failed, and invalid ones. */
export function failedLines({ counts }: Pick<Batch, 'counts'>): number {
  return counts.failed + counts.refused;
}

export const uploadBatch = (agentId: string) =>
  batches.action((file: File) => {
    // What a name may not contain: controls, line breaks and what reorders the text around it.
    const forbidden = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu;
    const fileName = Array.from(file.name.replace(forbidden, '')).slice(0, fileNameMax).join('');
    return client.upload(agentId, file, fileName === '' ? {} : { fileName });
  }, 'Batch started');

const fileNameMax = 255;

/** The key is made once: a call that is sent again for the same dialog returns the same batch. */
export const rerunBatch = ({ agentId, batchId }: Batch, idempotencyKey: string) =>
  batches.action<void, unknown>(
    () => client.rerun(agentId, batchId, { idempotencyKey }),
    'Batch started',
  );

const costSampleMax = 50;

/** What the last successful executions of a version cost on average; null if there are none, or their cost is unknown. */
export const costPerLineQuery = (agentId: string, promptVersionId: string) =>
  queryOptions({
    queryKey: ['executions', agentId, 'cost', promptVersionId],
    queryFn: async ({ signal }) => {
      const filters = { promptVersionId: [promptVersionId], status: ['success'] } as const;
      const page = { ...filters, limit: costSampleMax, omit: 'bodies' } as const;
      const { executions } = await cueline.list(agentId, page, { signal });
      const known = executions.flatMap(({ costKnown, costUSD }) =>
        costKnown && costUSD !== undefined ? costUSD : [],
      );
      if (known.length === 0) return null;
      const sum = known.reduce((total, cost) => total + cost, 0);
      return { costUSD: sum / known.length, executions: known.length };
    },
    // Executions may have ended since the last file was chosen.
    staleTime: 0,
  });

export const cancelBatch = ({ agentId, batchId }: Batch) =>
  batches.action<void, Batch>(() => client.cancel(agentId, batchId), 'Batch canceled');

/** Downloads the results, of any size, after a check that shows why the server would refuse them. */
export const useDownloadResults = (agentId: string) =>
  useSingleFlight({
    mutationFn: async (batchId: string) => {
      await cueline.batches.get(agentId, batchId);
      const query = new URLSearchParams(
        currentWorkspaceId === null ? {} : { workspace: currentWorkspaceId },
      );
      const [agent, batch] = [agentId, batchId].map(encodeURIComponent);
      const href = `${basePath}/api/v1/agents/${agent}/batches/${batch}/results?${query}`;
      const name = `results-${batchId}.jsonl`;
      Object.assign(document.createElement('a'), { href, download: name }).click();
    },
  });

/** The number of lines that have ended. */
export function endedLines({ counts }: Pick<Batch, 'counts'>): number {
  return counts.total - counts.waiting - counts.processing;
}
