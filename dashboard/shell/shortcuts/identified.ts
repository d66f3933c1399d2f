import { queryOptions } from '@tanstack/react-query';
import { cueline } from '../../data/client/client.ts';
import { isNotFound } from '../../data/client/error-status.ts';

/** The page of a resource whose identifier was pasted. */
export interface Identified {
  readonly id: string;
  readonly label: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, unknown>>;
}

const form = /^(exe|agt|prm|wfl|wfr|bat|key|evt|end)_[0-9a-z]{26}$/;

/** Null if the text is no identifier, or nothing that the user sees has it. */
export const identifiedQuery = (text: string) =>
  queryOptions({
    queryKey: ['identified', text],
    queryFn: async ({ signal }): Promise<Identified | null> => {
      try {
        return await find(text, signal);
      } catch (error) {
        if (isNotFound(error)) return null;
        throw error;
      }
    },
    enabled: form.test(text),
  });

async function find(id: string, signal: AbortSignal): Promise<Identified | null> {
  switch (form.exec(id)?.[1]) {
    case 'agt': {
      const { agentName } = await cueline.agents.get(id, { signal });
      return { id, label: `Agent ${agentName}`, to: `/agents/${id}` };
    }
    case 'prm': {
      const { name } = await cueline.prompts.get(id, { signal });
      return { id, label: `Prompt ${name}`, to: `/prompts/${id}` };
    }
    case 'wfl': {
      const { name } = await cueline.workflows.get(id, { signal });
      return { id, label: `Workflow ${name}`, to: `/workflows/${id}` };
    }
    case 'end': {
      const { url } = await cueline.endpoints.get(id, { signal });
      return { id, label: `Endpoint ${url ?? 'for e-mail'}`, to: `/settings/endpoints/${id}` };
    }
    case 'key':
      return findKey(id, signal);
    case 'wfr':
      return findRun(id, signal);
    case 'bat':
      return findBatch(id, signal);
    case 'evt':
      return findEvent(id, signal);
    default: {
      const query = { executionId: id, include: 'processing' as const, limit: 1 };
      const { body } = await cueline.request('GET /api/v1/executions', { query }, { signal });
      const [execution] = body.executions;
      if (!execution) return null;
      const { agentId, agentName, status } = execution;
      return { id, label: `Execution of ${agentName}, ${status}`, to: `/history/${agentId}/${id}` };
    }
  }
}

const pageMax = 100;

/** The list of keys has no search. */
async function findKey(id: string, signal: AbortSignal): Promise<Identified | null> {
  for (let offset = 0; ; offset += pageMax) {
    const { keys, pagination } = await cueline.keys.list({ limit: pageMax, offset }, { signal });
    const key = keys.find(({ apiKeyId }) => apiKeyId === id);
    if (key) {
      const to = `/keys${key.revokedAt === null ? '' : '?revoked=true'}`;
      return { id, label: `Key ${key.name}`, to };
    }
    if (!pagination.hasMore) return null;
  }
}

/** An identifier does not name the workflow of its run: each of the newest is asked. */
async function findRun(id: string, signal: AbortSignal): Promise<Identified | null> {
  const { workflows } = await cueline.workflows.list({ limit: pageMax }, { signal });
  const found = workflows.map(async ({ workflowId, name }) => {
    await cueline.workflows.status(workflowId, id, { omit: 'bodies', signal });
    return { id, label: `Run of ${name}`, to: `/workflows/${workflowId}/runs/${id}` };
  });
  return Promise.any(found).catch(({ errors }: AggregateError) => {
    const failed = errors.find((error) => !isNotFound(error));
    if (failed) throw failed;
    return null;
  });
}

/** By its executions, which know their agent. */
async function findBatch(id: string, signal: AbortSignal): Promise<Identified | null> {
  const query = { batchId: id, include: 'processing' as const, limit: 1 };
  const { body } = await cueline.request('GET /api/v1/executions', { query }, { signal });
  const [execution] = body.executions;
  if (!execution) return null;
  const { agentId, agentName } = execution;
  return {
    ...{ id, label: `Batch of ${agentName}` },
    to: `/agents/${agentId}/history`,
    search: { batchId: id },
  };
}

/** By the log of the endpoints, at the time that is in the identifier. */
async function findEvent(id: string, signal: AbortSignal): Promise<Identified | null> {
  const atMs = [...id.slice(4, 14)].reduce((ms, char) => 32 * ms + digits.indexOf(char), 0);
  const [startDate, endDate] = [atMs - 1_000, atMs + 1_000].map((ms) => new Date(ms).toISOString());
  const endpoints = await cueline.endpoints.list({ signal });
  for (const { endpointId } of endpoints) {
    const query = { startDate, endDate, limit: pageMax };
    const { deliveries } = await cueline.endpoints.deliveries(endpointId, query, { signal });
    const delivery = deliveries.find(({ eventId }) => eventId === id);
    if (delivery) {
      return { id, label: `Event ${delivery.type}`, to: `/settings/endpoints/${endpointId}` };
    }
  }
  return null;
}

/** Of an identifier, by value. */
const digits = '0123456789abcdefghjkmnpqrstvwxyz';
